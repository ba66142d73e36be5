"""The vocabulary of trayagent: states, keys, events, effects and settings; no behaviour, no I/O."""
