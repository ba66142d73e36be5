"""A pane's last frame in the form of a recording: what `trayagent capture` makes a fixture of.

It holds the screen as it is, and what runs there. It goes to the one who asked, over the
socket that serves his own uid only, and is neither kept nor logged here.
"""

from __future__ import annotations

from typing import Any

from trayagent.engine.panes import Pane
from trayagent.model.process import Process

MOST_PROCESSES = 24
MOST_ARGUMENTS = 16


def recorded(pane: Pane) -> dict[str, Any] | None:
    """The pane's last frame, None while nobody has looked at it. Names are those of tests/screens."""
    screen = pane.screen
    if screen is None:
        return None
    return {
        "agent": pane.identity.agent if pane.identity is not None else "",
        "cols": screen.width,
        "rows": screen.height,
        "title": screen.title,
        "progress": screen.progress,
        "screen": screen.text,
        "pane_current_command": pane.info.command,
        "dir": pane.info.dir,
        "process_tree": _tree(pane),
    }


def _tree(pane: Pane) -> list[dict[str, Any]]:
    """The pane's shell, and below it the job in its foreground."""
    job = pane.job
    if job is None:
        return []
    rows = [_row(process, job.foreground) for process in job.processes[:MOST_PROCESSES]]
    if not any(row["pid"] == job.shell.pid for row in rows):
        shell = {"pid": job.shell.pid, "ppid": 0, "pgrp": job.shell.pid, "comm": "sh", "argv": ["sh"]}
        rows.insert(0, {**shell, "tpgid": job.foreground, "cwd": ""})
    return rows


def _row(process: Process, foreground: int) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "ppid": process.ppid,
        "pgrp": process.pgrp,
        "tpgid": foreground,
        "comm": process.comm,
        "argv": list(process.argv[:MOST_ARGUMENTS]),
        "cwd": "",
    }
