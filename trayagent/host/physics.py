"""What a pane's job has used: processor time and children, for the question whether silence is work.

A job is its leader and everything below it, in whatever group: a tool that an agent runs may
have a group, or a session, of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from trayagent.host import proc
from trayagent.host.family import Family
from trayagent.host.proc import Gone
from trayagent.model.events import Physics
from trayagent.model.keys import PaneKey, ProcessKey

_LEVELS = 16
_PROCESSES = 512
_TICKS = os.sysconf("SC_CLK_TCK")


def measure(panes: Iterable[tuple[PaneKey, ProcessKey]]) -> list[Physics]:
    """Read what these jobs have used; a leader that ended is left out (Exited tells of it).
    Never rises in cost above some hundred processes a pane."""
    family = Family()
    found = []
    for pane, leader in panes:
        try:
            stat = proc.read_stat(leader.pid)
        except Gone:
            continue
        if stat.started != leader.started or stat.dead:
            continue
        below = family.below(stat, _LEVELS, _PROCESSES)
        found.append(
            Physics(
                pane=pane,
                cpu=(stat.cpu + sum(child.cpu for child in below)) / _TICKS,
                children=len(below),
                newest=max((child.started for child in below), default=0),
            )
        )
    return found
