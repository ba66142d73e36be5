"""Where a process stands: its group, its parents, and what its terminal has in front.

Asked when somebody reports about himself or a hook has fired: rarely, and of few processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from trayagent.host import proc
from trayagent.model.keys import ProcessKey

GENERATIONS = 24  # how far up ancestors are followed


@dataclass(frozen=True, slots=True)
class Standing:
    """One living process. front: the foreground group of its controlling terminal, 0 where there is
    none or this system does not say. exe: its executable, None if that may not be known."""

    process: ProcessKey
    parent: int
    group: int
    session: int
    front: int
    exe: str | None = None


Ask = Callable[[int], Standing | None]


def standing(pid: int) -> Standing | None:
    """One process by Linux's /proc, None when it has ended."""
    try:
        stat = proc.read_stat(pid)
        if stat.dead:
            return None
        exe = proc.read_exe(pid)
    except proc.Gone:
        return None
    return Standing(
        ProcessKey(pid, stat.started), stat.ppid, stat.pgrp, stat.session, max(stat.tpgid, 0), exe
    )


def portable_standing(pid: int) -> Standing | None:
    """The same without /proc; front stays unknown there."""
    import psutil

    from trayagent.host.portable import started

    try:
        found = psutil.Process(pid)
        key, parent = ProcessKey(pid, started(found)), found.ppid()
        group, session = os.getpgid(pid), os.getsid(pid)
    except (psutil.Error, OSError):  # gone, or not to be asked
        return None
    return Standing(key, parent, group, session, 0)


def ancestry(pid: int, ask: Ask = standing) -> list[Standing]:
    """The process itself, then its living ancestors, nearest first; empty when it has ended."""
    found: list[Standing] = []
    while pid > 1 and len(found) < GENERATIONS:
        one = ask(pid)
        if one is None:
            break
        found.append(one)
        pid = one.parent
    return found


def in_front(owner: Standing, front: int, ask: Ask = standing) -> bool:
    """Whether a process is in the group that a terminal has in front (`front`), or in front of a
    terminal that somebody in that group opened for it (`sudo` with use_pty, `script`, a relay)."""
    if not front:
        return False
    if owner.group == front:
        return True
    inner = owner.front == owner.group
    return inner and any(one.group == front for one in ancestry(owner.process.pid, ask))
