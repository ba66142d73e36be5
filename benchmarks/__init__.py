"""What trayagent costs and how fast it is, measured on real tmux servers that play recorded sessions."""
