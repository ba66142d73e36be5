"""Panes of tmux servers: found, listed, read and shown through short-lived plain commands only."""

from trayagent.sources.tmux.source import TmuxSource

__all__ = ["TmuxSource"]
