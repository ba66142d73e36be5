"""Help for tests: real tmux servers, a headless desktop, recorded sessions."""
