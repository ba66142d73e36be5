"""trayagent: the small program in the tray that says which coding agent needs you."""

__version__ = "0.1.0"
