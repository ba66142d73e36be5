"""Jobs, their use and their ends where there is no /proc (macOS, the BSDs), asked of psutil.

No system but Linux tells psutil which group a foreign terminal has in front (tcgetpgrp(3) answers for
one's own terminal alone), so it is guessed: of the groups that the pane's own process started on
its terminal, the newest in which a member neither stopped nor ended; and where a shell leads
that one, the same again below it. The limits: a job in the background of a prompt is taken for one in
front until it ends; what runs behind a terminal of its own (`sudo` with use_pty, `script`) is not
looked for; how a process ended is not known. One reading of all processes serves all
panes of a call.

Start times are clock ticks since a boot time that is read once, so they neither move with the
wall clock nor differ from /proc's by more than its rounding.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import psutil

from trayagent.host.base import HINTS, Emit, Insight, NoInsight, Pane
from trayagent.model.events import Exited, Physics
from trayagent.model.keys import PaneKey, ProcessKey
from trayagent.model.process import Job, Process

A = TypeVar("A")
T = TypeVar("T")
POLL = 1.0
LEVELS = 4
MEMBERS = 24
COMM = 15  # characters of a name that Linux keeps, and so manifests expect
SHELLS = frozenset(
    {"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "tcsh", "csh", "nu", "xonsh", "elvish"}
)
_TICKS = os.sysconf("SC_CLK_TCK")
_BOOT: float = psutil.boot_time()
_ENDED = frozenset({psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD})
_UNKNOWN = (psutil.Error, OSError)  # gone, refused, or no longer what it was


def started(process: psutil.Process) -> int:
    """Its start in clock ticks since boot; raises psutil.Error."""
    begun: float = process.create_time()
    return round((begun - _BOOT) * _TICKS)


def start_of(pid: int) -> int | None:
    """When a process started, None if it is gone or may not be seen."""
    try:
        return started(psutil.Process(pid))
    except _UNKNOWN:
        return None


def measure(panes: Iterable[tuple[PaneKey, ProcessKey]]) -> list[Physics]:
    """What these jobs have used; a leader that ended is left out. See host.physics."""
    household: _Household | None = None
    found = []
    for pane, leader in panes:
        process = _find(leader)
        if process is None:
            continue
        household = household or _Household()
        below = household.below(process.pid, levels=16)
        starts = [start for child in below if (start := _try(started, child)) is not None]
        cpu = sum(_try(_used, each) or 0.0 for each in (process, *below))
        found.append(Physics(pane, cpu, len(below), max(starts, default=0)))
    return found


class PolledExits:
    """The ExitWatch of systems without pidfds: looks once a second; no status is known."""

    def __init__(
        self, emit: Emit, loop: asyncio.AbstractEventLoop | None = None, every: float = POLL
    ) -> None:
        self._emit = emit
        self._loop = loop or asyncio.get_running_loop()
        self._every = every
        self._watched: frozenset[ProcessKey] = frozenset()
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, processes: frozenset[ProcessKey]) -> None:
        """Watch exactly these processes from now on."""
        new = processes - self._watched
        self._watched = processes
        if new or not processes:
            self._arm(0.0 if new else None)

    def close(self) -> None:
        """Watch nothing any more."""
        self.watch(frozenset())

    def _arm(self, delay: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if delay is None else self._loop.call_later(delay, self._poll)

    def _poll(self) -> None:
        self._timer = None
        for process in sorted(self._watched, key=lambda key: key.pid):
            if process in self._watched and _find(process) is None:
                self._watched -= {process}
                self._emit(Exited(process))
        if self._watched and self._timer is None:
            self._arm(self._every)


class PsutilReader:
    """The ProcessReader of systems without /proc. Not thread-safe."""

    def __init__(self, insight: Insight | None = None) -> None:
        self._insight: Insight = insight or NoInsight()
        self._last: dict[PaneKey, Job] = {}

    def learn(self, insight: Insight) -> None:
        """Read by another insight from now on."""
        self._insight = insight

    def examine(self, panes: Iterable[Pane], fresh: bool = False) -> list[Job]:
        """The job of each pane, in order; the same object as before where nothing changed."""
        household = _Household()
        jobs = []
        for key, pid, _ in panes:
            job = self._examine(key, pid, household)
            last = self._last.get(key)
            if last is None or job != last:
                self._last[key] = last = job
            jobs.append(last)
        return jobs

    def retain(self, panes: Iterable[PaneKey]) -> None:
        """Forget all panes but these."""
        wanted = frozenset(panes)
        self._last = {key: job for key, job in self._last.items() if key in wanted}

    def close(self) -> None:
        """Nothing is held open."""
        self._last = {}

    def _examine(self, key: PaneKey, pid: int, household: _Household) -> Job:
        shell = household.processes.get(pid)
        begun = None if shell is None or not _lives(shell) else _try(started, shell)
        if shell is None or begun is None:
            last = self._last.get(key)
            return Job(key, last.shell if last else ProcessKey(pid, 0), 0, alive=False)
        group, members = household.front(shell)
        found = [process for member in members if (process := self._read(member, group)) is not None]
        return Job(key, ProcessKey(pid, begun), group, tuple(found))

    def _read(self, process: psutil.Process, group: int) -> Process | None:
        """One process as identity sees it; None if it is gone by now."""
        try:
            with process.oneshot():
                name, begun, parent = process.name(), started(process), process.ppid()
        except psutil.Error:
            return None
        argv = tuple(_try(psutil.Process.cmdline, process) or ())
        exe = _try(psutil.Process.exe, process) or None
        environment = _try(psutil.Process.environ, process) or {}
        hints = tuple((hint, environment[hint]) for hint in HINTS if hint in environment)
        script = self._script(process, name[:COMM], argv, exe)
        return Process(process.pid, parent, group, begun, name[:COMM], argv, exe, hints, script)

    def _script(
        self, process: psutil.Process, comm: str, argv: tuple[str, ...], exe: str | None
    ) -> str | None:
        """The script argument with all links followed, None if there is none or no such file."""
        argument = self._insight.script_argument(comm, argv, exe) if argv else None
        if not argument or "\0" in argument:
            return None
        folder = "/" if argument.startswith("/") else _try(psutil.Process.cwd, process)
        if not folder:
            return None
        try:
            return str(Path(folder, argument).resolve(strict=True))
        except (OSError, RuntimeError):  # a module's name, a link loop, a folder that may not be entered
            return None


class _Household:
    """All processes at one moment, and who started whom."""

    def __init__(self) -> None:
        self.processes: dict[int, psutil.Process] = {}
        self._children: dict[int, list[psutil.Process]] = defaultdict(list)
        for process in psutil.process_iter(["ppid"]):
            self.processes[process.pid] = process
            parent = process.info["ppid"]
            if parent and parent != process.pid:
                self._children[parent].append(process)

    def below(self, pid: int, levels: int = LEVELS) -> list[psutil.Process]:
        """The living descendants of a process, nearest first, bounded."""
        found: list[psutil.Process] = []
        row = [pid]
        for _ in range(levels):
            children = [child for above in row for child in self._children[above] if _lives(child)]
            found += children
            row = [child.pid for child in children]
        return found[: 512 if levels > LEVELS else None]

    def front(self, shell: psutil.Process) -> tuple[int, list[psutil.Process]]:
        """The group that looks as if it were in front of the shell's terminal, and its members."""
        terminal = _try(psutil.Process.terminal, shell)
        here = [child for child in self.below(shell.pid) if _try(psutil.Process.terminal, child) == terminal]
        groups: dict[int, list[psutil.Process]] = defaultdict(list)
        for process in (shell, *here):
            group = _group(process)
            if group is not None:
                groups[group].append(process)
        leader, group = shell.pid, _group(shell) or shell.pid
        for _ in range(LEVELS):
            below = {each.pid for each in self.below(leader)}
            inner = [
                number
                for number, members in groups.items()
                if number != group and members[0].pid in below and not any(map(_stopped, members))
            ]
            if not inner:
                break
            group = max(inner, key=lambda number: (_try(started, groups[number][0]) or 0, number))
            leader = groups[group][0].pid
            if (_try(psutil.Process.name, groups[group][0]) or "").lstrip("-") not in SHELLS:
                break
        members = sorted(groups[group], key=lambda process: process.pid != group)
        return group, members[:MEMBERS]


def _find(key: ProcessKey) -> psutil.Process | None:
    """This very process, None if it ended."""
    process = _try(psutil.Process, key.pid)
    alive = process is not None and _lives(process) and _try(started, process) == key.started
    return process if alive else None


def _lives(process: psutil.Process) -> bool:
    """Whether it is there and no zombie; one that may not be asked is there."""
    try:
        return str(process.status()) not in _ENDED
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True


def _stopped(process: psutil.Process) -> bool:
    return bool(_try(psutil.Process.status, process) == psutil.STATUS_STOPPED)


def _group(process: psutil.Process) -> int | None:
    return _try(os.getpgid, process.pid)


def _used(process: psutil.Process) -> float:
    """Seconds of processor time, with that of ended children where the system tells it."""
    times = process.cpu_times()
    fields = ("user", "system", "children_user", "children_system")
    return float(sum(getattr(times, name, 0.0) for name in fields))


def _try(function: Callable[[A], T], argument: A) -> T | None:
    """The function's answer, None where the process is gone or may not be asked."""
    try:
        return function(argument)
    except _UNKNOWN:
        return None
