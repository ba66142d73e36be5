"""Where a command was typed, as the daemon finds panes. Standard library only, since hooks wait for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any


def here(env: Mapping[str, str] | None = None) -> dict[str, Any] | None:
    """The tmux pane that the command runs in, else its terminal, as arguments of a request, or None."""
    env = os.environ if env is None else env
    tmux_pane = env.get("TMUX_PANE", "")
    if tmux_pane:
        socket, pid, _ = (*env.get("TMUX", "").rsplit(",", 2), "", "")[:3]  # a path may hold commas
        return {"tmux_pane": tmux_pane, "socket": socket, "server_pid": int(pid) if pid.isdigit() else 0}
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        try:
            return {"tty": os.ttyname(stream.fileno())}
        except (OSError, ValueError, AttributeError):
            continue  # no terminal, or closed; the next one may be one
    return None
