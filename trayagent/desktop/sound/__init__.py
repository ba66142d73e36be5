"""Sounds: a table of players, each a child process with a deadline."""
