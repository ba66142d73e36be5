"""The whole thing in a quarter of a minute, with recorded agents: the daemon's parts on a private tmux."""
