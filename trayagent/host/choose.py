"""Which readers of processes serve here: Linux's own where /proc is mounted, else psutil's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from trayagent.host import standing
from trayagent.host.base import Emit, ExitWatch, Insight, ProcessReader
from trayagent.model.events import Physics
from trayagent.model.keys import PaneKey, ProcessKey

Measure = Callable[[Iterable[tuple[PaneKey, ProcessKey]]], list[Physics]]


def has_proc(stat: str = "/proc/self/stat") -> bool:
    """Whether this system tells of processes as Linux does (proc(5))."""
    return Path(stat).is_file()


def process_reader(insight: Insight, report: Callable[[str], None]) -> ProcessReader:
    """The reader of foreground jobs. report: told once per pane that cannot be read."""
    if has_proc():
        from trayagent.host.procfs import Procfs

        return Procfs(insight, report=report)
    from trayagent.host.portable import PsutilReader

    return PsutilReader(insight)


def exit_watch(emit: Emit, loop: asyncio.AbstractEventLoop | None = None) -> ExitWatch:
    """The watch over the ends of processes."""
    if has_proc():
        from trayagent.host.exits import ProcessWatch

        return ProcessWatch(emit, loop)
    from trayagent.host.portable import PolledExits

    return PolledExits(emit, loop)


def measurer() -> Measure:
    """What reads the processor time and children of jobs."""
    if has_proc():
        from trayagent.host.physics import measure

        return measure
    from trayagent.host.portable import measure as portable

    return portable


def start_of(pid: int) -> int | None:
    """When a process started (as ProcessKey.started), None if it is gone."""
    if has_proc():
        from trayagent.host.proc import Gone, read_stat

        try:
            return read_stat(pid).started
        except Gone:
            return None
    from trayagent.host.portable import start_of as portable

    return portable(pid)


def standings() -> standing.Ask:
    """What tells where a process stands."""
    return standing.standing if has_proc() else standing.portable_standing
