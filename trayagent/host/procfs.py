"""The foreground job of terminals, read from Linux's /proc.

Two speeds. The quick one tells that nothing changed: one read of the kept-open stat file
of the pane's first process (field 8: the terminal's foreground group) and one of its
leader's (name and state); measured 0.7 ms for 50 panes on a busy machine. It then returns the same
Job object.
The full one reads the leader, and, unless the leader settles the matter (Insight), its
descendants in the group, the rest of a pipeline, and what is in front of a terminal that
one of them opened for its child (`sudo` with use_pty, `script`).

A full reading is due when the quick one sees a change, every 5 s (1 s for a group without its
leader), and at each call while the group is younger than 3 s: a launcher starts its child a
moment after it is seen.
A stat file that is kept open answers ESRCH for ever once its process ended, so a reused
pid is never mistaken for the old process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from trayagent.host import proc
from trayagent.host.base import HINTS, Insight, NoInsight, Pane
from trayagent.host.family import Family
from trayagent.host.proc import Gone, Stat
from trayagent.model.keys import PaneKey, ProcessKey
from trayagent.model.process import Job, Process

LEVELS = 4
MEMBERS = 24
FULL_EVERY = 5.0
LEADERLESS_EVERY = 1.0
YOUNG = 3.0
UNASKED = 120.0  # a pane that nobody asks about for so many seconds, or twice that, is forgotten


@dataclass(slots=True)
class _Watched:
    """One pane's open files and last job. comm: the leader's name as it stands in its stat file."""

    pid: int
    shell: int
    leader: int = -1
    job: Job | None = None
    comm: bytes = b""
    read_at: float = -FULL_EVERY
    group_since: float = 0.0
    known: dict[int, Process] = field(default_factory=dict)
    settled: tuple[Process, bool] | None = None

    def drop_leader(self) -> None:
        """Close the leader's file, if it is one of its own."""
        if self.leader not in (-1, self.shell):
            os.close(self.leader)
        self.leader = -1


class Procfs:
    """The ProcessReader of Linux. Not thread-safe. report: told once per pane when it cannot be
    read for a reason that is not its end (no file descriptors left); its last job stands."""

    def __init__(
        self,
        insight: Insight | None = None,
        clock: Callable[[], float] = time.monotonic,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._insight: Insight = insight or NoInsight()
        self._clock = clock
        self._report = report
        self._watched: dict[PaneKey, _Watched] = {}
        self._ended: dict[PaneKey, tuple[int, Job]] = {}
        self._swept_at = clock()
        self._recent: set[PaneKey] = set()
        self._reported: set[PaneKey] = set()
        self._family = Family()

    def learn(self, insight: Insight) -> None:
        """Read by another insight from now on (the manifests changed); everything is read anew."""
        self._insight = insight
        for watched in self._watched.values():
            watched.known, watched.settled = {}, None
            watched.read_at = -FULL_EVERY

    def examine(self, panes: Iterable[Pane], fresh: bool = False) -> list[Job]:
        """The job of each pane, in order; the same object as before where nothing changed."""
        self._family = Family(self._family.has_files)
        now = self._clock()
        asked = list(panes)
        self._recent.update(key for key, _, _ in asked)
        if now - self._swept_at >= UNASKED:
            self.retain(self._recent)
            self._swept_at, self._recent = now, {key for key, _, _ in asked}
        return [self._one(key, pid, now, fresh) for key, pid, _ in asked]

    def retain(self, panes: Iterable[PaneKey]) -> None:
        """Forget all panes but these."""
        wanted = frozenset(panes)
        for key in [key for key in self._watched if key not in wanted]:
            self._forget(key)
        self._ended = {key: ended for key, ended in self._ended.items() if key in wanted}
        self._reported &= wanted

    def close(self) -> None:
        """Close all files."""
        self.retain(())

    # -- one pane ------------------------------------------------------------------------

    def _one(self, key: PaneKey, pid: int, now: float, fresh: bool) -> Job:
        """The pane's job; never raises."""
        ended = self._ended.get(key)
        if ended is not None and ended[0] == pid:
            return ended[1]
        watched = self._watched.get(key)
        if watched is not None and watched.pid != pid:
            self._forget(key)
            watched = None
        try:
            if watched is None:
                watched = self._watched[key] = _Watched(pid, proc.open_stat(pid))
            return self._job(key, watched, now, fresh)
        except Gone:
            return self._end(key, pid)
        except OSError as error:
            if key not in self._reported:
                self._reported.add(key)
                self._report(f"the processes of pane {key.id} cannot be read now: {error}")
            last = watched.job if watched else None
            return last or Job(key, ProcessKey(pid, 0), 0)

    def _job(self, key: PaneKey, watched: _Watched, now: float, fresh: bool) -> Job:
        """The pane's job, the same object if it is equal; raises Gone when its first process ended."""
        data = proc.read_open(watched.shell)
        old = watched.job
        if old is not None and not fresh and self._quiet(watched, old, data, now):
            return old
        shell = proc.parse_stat(data)
        if shell.dead:
            raise Gone(shell.pid)
        foreground = max(shell.tpgid, 0)
        if old is None or old.foreground != foreground:
            watched.group_since = now
        if fresh or now - watched.group_since < YOUNG:
            watched.known = {}
        job = Job(
            key, ProcessKey(shell.pid, shell.started), foreground, self._processes(shell, foreground, watched)
        )
        watched.known = {process.pid: process for process in job.processes}
        watched.read_at = now
        if old is None or watched.leader < 0 or job.processes[:1] != old.processes[:1]:
            self._keep_leader(watched, shell, foreground)
        if job != old:
            watched.job = job
        self._reported.discard(key)
        return watched.job or job

    def _quiet(self, watched: _Watched, old: Job, data: bytes, now: float) -> bool:
        """Whether group and leader are as they were, and the last full reading still good."""
        if now - watched.read_at >= FULL_EVERY or now - watched.group_since < YOUNG:
            return False
        name_end = data.rindex(b")")
        fields = data[name_end + 2 :].split(b" ", 6)
        if int(fields[5]) != (old.foreground or -1) or fields[0] in b"ZXx":
            return False
        if watched.leader < 0:
            return now - watched.read_at < LEADERLESS_EVERY
        if watched.leader == watched.shell:
            return data[data.index(b"(") : name_end] == watched.comm
        try:
            data = proc.read_open(watched.leader)
        except Gone:
            return False
        name_end = data.rindex(b")")
        return (
            data[data.index(b"(") : name_end] == watched.comm
            and data[name_end + 2 : name_end + 3] not in b"ZXx"
        )

    def _keep_leader(self, watched: _Watched, shell: Stat, foreground: int) -> None:
        """Hold the leader's stat file open for the next quick reading."""
        watched.drop_leader()
        if foreground == shell.pid:
            watched.leader = watched.shell
        elif foreground:
            try:
                watched.leader = proc.open_stat(foreground)
            except Gone:
                return
        if watched.leader >= 0:
            try:
                data = proc.read_open(watched.leader)
            except Gone:
                watched.drop_leader()
                return
            watched.comm = data[data.index(b"(") : data.rindex(b")")]

    def _end(self, key: PaneKey, pid: int) -> Job:
        """The job of a pane whose first process ended."""
        watched = self._watched.get(key)
        shell = watched.job.shell if watched and watched.job else ProcessKey(pid, 0)
        self._forget(key)
        job = Job(key, shell, 0, alive=False)
        self._ended[key] = (pid, job)
        return job

    def _forget(self, key: PaneKey) -> None:
        """Close the pane's files."""
        watched = self._watched.pop(key, None)
        if watched is not None:
            watched.drop_leader()
            os.close(watched.shell)
        self._ended.pop(key, None)

    # -- the group -----------------------------------------------------------------------

    def _processes(self, shell: Stat, foreground: int, watched: _Watched) -> tuple[Process, ...]:
        """Leader first, then its descendants, then the other members, bounded."""
        if not foreground:
            return ()
        try:
            leader = shell if shell.pid == foreground else proc.read_stat(foreground)
            first = (
                None if leader.dead or leader.pgrp != foreground else self._read(leader, watched, hints=False)
            )
        except Gone:
            first = None
        if first is None:
            return self._leaderless(shell, foreground, watched)
        if watched.settled is None or watched.settled[0] is not first:
            watched.settled = (first, self._insight.conclusive(first))
        if watched.settled[1]:
            return (first,)
        found = {first.pid: self._hinted(first, watched)}
        for stat in self._family.members(leader, LEVELS, MEMBERS):
            if stat.pid not in found and len(found) < MEMBERS:
                self._add(stat, watched, found)
        return tuple(found.values())

    def _leaderless(self, shell: Stat, foreground: int, watched: _Watched) -> tuple[Process, ...]:
        """The members of a group whose leader ended: the shell's children, else found by a full search."""
        found: dict[int, Process] = {}
        below = self._group(self._family.below(shell, LEVELS, MEMBERS), foreground)
        for stat in below or self._group(self._family.everyone(), foreground):
            if len(found) < MEMBERS:
                self._add(stat, watched, found)
        return tuple(found.values())

    @staticmethod
    def _group(stats: Iterable[Stat], group: int) -> list[Stat]:
        """The living members of a group."""
        return [stat for stat in stats if stat.pgrp == group and not stat.dead]

    def _add(self, stat: Stat, watched: _Watched, found: dict[int, Process]) -> None:
        """Read one more member, if it is still there."""
        try:
            found[stat.pid] = self._read(stat, watched, hints=True)
        except Gone:
            return

    # -- one process ---------------------------------------------------------------------

    def _read(self, stat: Stat, watched: _Watched, hints: bool) -> Process:
        """The process, from the last reading where name and executable are what they were; raises Gone."""
        exe = proc.read_exe(stat.pid)
        known = watched.known.get(stat.pid)
        if known is not None and (known.started, known.comm, known.exe) == (stat.started, stat.comm, exe):
            if (known.ppid, known.pgrp) == (stat.ppid, stat.pgrp):
                return known
            return replace(known, ppid=stat.ppid, pgrp=stat.pgrp)
        argv = proc.read_argv(stat.pid)
        return Process(
            pid=stat.pid,
            ppid=stat.ppid,
            pgrp=stat.pgrp,
            started=stat.started,
            comm=stat.comm,
            argv=argv,
            exe=exe,
            hints=proc.read_variables(stat.pid, HINTS) if hints else (),
            script=self._script(stat.pid, stat.comm, argv, exe),
        )

    def _hinted(self, process: Process, watched: _Watched) -> Process:
        """The leader with its hints, which are read only once it is known that they may matter."""
        if process is watched.known.get(process.pid):
            return process
        try:
            hints = proc.read_variables(process.pid, HINTS)
        except Gone:
            return process
        return replace(process, hints=hints)

    def _script(self, pid: int, comm: str, argv: tuple[str, ...], exe: str | None) -> str | None:
        """The script argument with all links followed, None if there is none or no such file."""
        argument = self._insight.script_argument(comm, argv, exe) if argv else None
        if not argument or "\0" in argument:
            return None
        folder = "" if argument.startswith("/") else proc.read_cwd(pid)
        if folder is None:
            return None
        try:
            return str(Path(folder, argument).resolve(strict=True))
        except (OSError, RuntimeError):  # a module's name, a link loop, a folder that may not be entered
            return None
