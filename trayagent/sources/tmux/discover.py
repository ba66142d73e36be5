"""Finds the tmux servers of this user.

Two ways, joined by the socket's path:

1. /proc: `/proc/net/unix` names every listening socket and its inode; the process called
   `tmux: server` that has this inode open is the server. A relative path is relative to
   the server's working folder. This finds servers wherever their socket lies.
2. Folders: `$TMUX_TMPDIR/tmux-UID` (or the system's temporary folder), and the sockets
   named in the settings. What the first way does not explain (no /proc on this system, a
   server in another network namespace, a stale socket) is asked who it is.

Reading every process costs some 15 us each (13 ms for 850), so it is done in portions,
and only when a listening socket appears that no earlier discovery has seen: inode numbers
of sockets are not used again. Most discoveries read one file and list one folder (0.3 ms).
A socket that did not answer is not asked again until another takes its place; stale
sockets are silent.

A path that is listened on twice (its socket was removed, a new server took the name)
belongs to the server that started last; the other one cannot be reached.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trayagent.model.keys import ServerKey
from trayagent.sources.base import Problem
from trayagent.sources.tmux.proc import Proc
from trayagent.sources.tmux.safety import Checked, RefusedError, check, check_folder, sockets_in
from trayagent.sources.tmux.wire import Head

_AT_ONCE = 100  # processes read between two turns of the event loop: about 1.5 ms
_NAMES = ("tmux", ".tmux")  # `tmux: server`; `.tmux-wrapped: s` where a package manager wraps it

Ask = Callable[[str], Awaitable[Head | str | None]]
"""Asks a socket who serves it: the answer, a problem, or None if nobody does."""


@dataclass(frozen=True, slots=True)
class _Process:
    """A server process as /proc shows it. path: of its socket, absolute."""

    pid: int
    started: int
    path: Path
    foreign: bool


@dataclass(slots=True)
class Survey:
    """The servers that may be watched now, and what was refused."""

    servers: list[ServerKey] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


class Discovery:
    """Repeated search for servers; each `survey` costs only what has changed since the last.

    sockets: further sockets to watch. only: watch this socket and nothing else, even if
    its folder asks to be ignored. environ: where TMUX_TMPDIR is looked for.
    """

    def __init__(
        self,
        ask: Ask,
        *,
        sockets: Iterable[str] = (),
        only: str | None = None,
        proc: Proc | None = None,
        environ: Mapping[str, str] = os.environ,
        uid: int | None = None,
    ) -> None:
        self.sockets = tuple(sockets)
        self._ask = ask
        self._only = Path(only).expanduser().absolute() if only else None
        self._proc = proc or Proc()
        self._environ = environ
        self._uid = os.getuid() if uid is None else uid
        self._owners: dict[int, _Process | None] = {}
        self._answers: dict[Path, tuple[tuple[int, int, int], Head | None]] = {}

    async def survey(self) -> Survey:
        """Find the servers as they are now."""
        survey = Survey()
        processes = await self._processes()
        checked = self._checked(processes, survey)
        for path, (socket, named) in checked.items():
            if socket.ignored and not (named and self._only):
                continue
            key = await self._key(socket, processes.get(path), survey)
            if key is not None:
                survey.servers.append(key)
        self._answers = {path: kept for path, kept in self._answers.items() if path in checked}
        survey.servers.sort()
        return survey

    def default_folder(self) -> Path:
        """Where tmux puts sockets that are named with -L (tmux(1), TMUX_TMPDIR)."""
        return Path(self._environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{self._uid}"

    # -- sockets --------------------------------------------------------------------------

    def _checked(
        self, processes: Mapping[Path, _Process], survey: Survey
    ) -> dict[Path, tuple[Checked, bool]]:
        """The sockets that may be talked to, by path without links, and whether the user named them."""
        if self._only:
            named, other = [self._only], []
        else:
            named = [Path(socket).expanduser().absolute() for socket in self.sockets]
            other = [*self._in_default_folder(survey), *processes]
        found: dict[Path, tuple[Checked, bool]] = {}
        refused: set[Path] = set()
        for path in (*named, *other):
            if path in refused:
                continue
            try:
                socket = check(path, self._uid)
            except RefusedError as error:
                refused.add(path)
                survey.problems.append(Problem(str(path), f"not watched: {error}"))
                continue
            if socket is not None:
                found.setdefault(socket.path, (socket, path in named))
        return found

    def _in_default_folder(self, survey: Survey) -> list[Path]:
        folder = self.default_folder()
        try:
            return sockets_in(check_folder(folder, self._uid))
        except RefusedError as error:
            survey.problems.append(Problem(str(folder), f"not watched: {error}"))
        except OSError:  # no server has ever been started, or the folder was removed
            pass
        return []

    async def _key(self, socket: Checked, process: _Process | None, survey: Survey) -> ServerKey | None:
        place = str(socket.path)
        if process is not None:
            if process.foreign:
                survey.problems.append(Problem(place, "not watched: its server counts processes otherwise"))
                return None
            return ServerKey("tmux", place, process.pid, process.started)
        known = self._answers.get(socket.path)
        if known is None or known[0] != socket.mark or (known[1] and self._started(known[1]) is None):
            answer = await self._ask(place)
            if isinstance(answer, str):
                survey.problems.append(Problem(place, answer))
                return None
            known = self._answers[socket.path] = (socket.mark, answer)
        head = known[1]
        if head is None:
            return None
        started = self._started(head)
        if started is None:
            survey.problems.append(Problem(place, "not watched: its server process cannot be seen from here"))
            return None
        return ServerKey("tmux", place, head.pid, started)

    def _started(self, head: Head) -> int | None:
        """The start of a server that was asked: clock ticks where there is /proc, else epoch seconds.
        None if no such process is to be seen: it ended, or counts its pids in a namespace of its own."""
        if not self._proc.available:
            return head.started
        return self._proc.started(head.pid) if self._proc.comm(head.pid).startswith(_NAMES) else None

    # -- processes ------------------------------------------------------------------------

    async def _processes(self) -> dict[Path, _Process]:
        """The server processes of this user by the path of their socket, without links."""
        listening = self._proc.listening()
        self._owners = {
            inode: owner
            for inode, owner in self._owners.items()
            if inode in listening and (owner is None or self._proc.started(owner.pid) == owner.started)
        }
        new = {inode: path for inode, path in listening.items() if inode not in self._owners}
        if new:
            self._owners |= dict.fromkeys(new)
            await self._find_owners(new)
        found: dict[Path, _Process] = {}
        for owner in self._owners.values():
            if owner is None:
                continue
            other = found.get(owner.path)
            if other is None or (other.started, other.pid) < (owner.started, owner.pid):
                found[owner.path] = owner
        return found

    async def _find_owners(self, listening: Mapping[int, str]) -> None:
        """Find who has these sockets open. A server that starts a program is for a moment two
        processes of the same name with the same sockets: the parent is the server."""
        holders: dict[int, dict[int, tuple[int, int]]] = {}
        for count, pid in enumerate(self._proc.owned(self._uid), 1):
            if count % _AT_ONCE == 0:
                await asyncio.sleep(0)
            if not self._proc.comm(pid).startswith(_NAMES):
                continue
            born = self._proc.parent_and_start(pid)
            for inode in self._proc.sockets(pid) & listening.keys():
                if born is not None:
                    holders.setdefault(inode, {})[pid] = born
        for inode, pids in holders.items():
            for pid, (parent, started) in pids.items():
                path = self._absolute(pid, listening[inode])
                if path is not None and parent not in pids:
                    self._owners[inode] = _Process(pid, started, path, self._proc.foreign_namespace(pid))

    def _absolute(self, pid: int, path: str) -> Path | None:
        """A socket's path as this process means it; links only in its last step are left for `check`."""
        base = Path("/") if path.startswith("/") else self._proc.folder(pid)
        if base is None:
            return None
        given = base / path
        try:
            parent = given.parent
            return (parent if parent.is_symlink() else parent.resolve(strict=True)) / given.name
        except OSError:  # the folder is gone, and with it the way to this server
            return None
