"""The tmux source: discovery, looks and jumps of all servers of this user, joined.

State kept per server: its name, the version and start time that it gave, and what its panes
were when they were last read. A server that answers with another
pid or start time than its key is another server: the old one is gone, with all its panes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePath

from trayagent.model.effects import Look
from trayagent.model.events import Clients, Frame, LookEnded, Panes, ServerFound, ServerGone
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.panes import Screen
from trayagent.sources.base import Emit, JumpResult, Problem, Spot
from trayagent.sources.tmux import clients, panes, wire
from trayagent.sources.tmux.command import LookCost, Reply, Runner
from trayagent.sources.tmux.discover import Discovery
from trayagent.sources.tmux.jump import jump
from trayagent.sources.tmux.look import Command, Request, commands
from trayagent.sources.tmux.proc import Proc

NO_PROGRAM = "no tmux program was found in PATH, so no tmux pane is watched; install tmux"
_NOBODY = re.compile("no server running|error connecting")  # what tmux says of a stale socket
_NO_SESSIONS = "no current target"  # and what every list says while a server has no session


@dataclass(slots=True)
class _Server:
    """What is known of one server."""

    key: ServerKey
    name: str
    head: wire.Head | None = None
    known: panes.Known = field(default_factory=panes.Known)

    @property
    def version(self) -> tuple[int, int] | None:
        return self.head.version if self.head else None


class TmuxSource:
    """All tmux servers of this user (base.Source).

    now: the engine's clock, in seconds. sockets: further sockets (`watch.tmux.sockets`);
    only: watch this one alone. proc: for systems and tests without /proc.
    """

    def __init__(
        self,
        emit: Emit,
        now: Callable[[], float],
        *,
        sockets: tuple[str, ...] = (),
        only: str | None = None,
        runner: Runner | None = None,
        proc: Proc | None = None,
    ) -> None:
        self.emit = emit
        self._now = now
        self._runner = runner or Runner()
        self._proc = proc or Proc()
        self._discovery = Discovery(self._who, sockets=sockets, only=only, proc=self._proc)
        self._clients = clients.Clients(self._proc)
        self._servers: dict[ServerKey, _Server] = {}
        self._problems: tuple[Problem, ...] = ()
        self._searching: asyncio.Lock = asyncio.Lock()
        self._closed = False

    @property
    def cost(self) -> LookCost:
        """What all commands cost so far."""
        return self._runner.cost

    def watch(self, sockets: tuple[str, ...]) -> None:
        """Replace the further sockets to watch; the next discovery goes by them."""
        self._discovery.sockets = sockets

    @property
    def program(self) -> str:
        """The tmux program that asks, "" where there is none."""
        return self._runner.program or ""

    def versions(self) -> dict[ServerKey, str]:
        """The servers that are watched, and their version as they gave it (`3.4`), "" before they did."""
        return {
            key: ".".join(map(str, server.version)) if server.version else ""
            for key, server in self._servers.items()
        }

    def problems(self) -> tuple[Problem, ...]:
        """What the last discovery refused or could not do."""
        if self._runner.program is None:
            return (Problem("tmux", NO_PROGRAM), *self._problems)
        return self._problems

    # -- discovery ------------------------------------------------------------------------

    async def discover(self) -> None:
        """Look for servers: ServerFound for each new one, ServerGone for each lost one."""
        async with self._searching:
            self._runner.find()
            survey = await self._discovery.survey()
            if self._closed:
                return
            self._problems = tuple(survey.problems)
            for key in [key for key in self._servers if key not in survey.servers]:
                self._gone(key)
            for key in survey.servers:
                if key not in self._servers:
                    name = PurePath(key.place).name
                    self._servers[key] = _Server(key, name)
                    self.emit(ServerFound(key, name))

    async def _who(self, place: str) -> wire.Head | str | None:
        mark = wire.mark()
        reply = await self._runner.run(place, [*wire.head(mark), ";", *wire.say(mark, "z")])
        if reply.problem:
            return f"not watched: {reply.problem}"
        try:
            head = wire.read(reply.out, mark).head
        except ValueError as error:
            return f"not watched: senseless reply ({error})"
        return head if head or _NOBODY.match(reply.err) else f"not watched: {reply.err}"

    def _gone(self, key: ServerKey) -> None:
        if self._servers.pop(key, None) is not None and not self._closed:
            self.emit(ServerGone(key))

    # -- looks ----------------------------------------------------------------------------

    async def look(self, look: Look) -> None:
        """Read a server once: Panes, Frame and Clients as asked, then always LookEnded.

        A pane that has vanished gets no Frame. A server that has gone gives ServerGone."""
        server = self._servers.get(look.server)
        if server is None:
            problem: str | None = "the server is gone"
        else:
            try:
                problem = await self._read(server, look)
            except ValueError as error:
                problem = f"senseless reply from tmux: {error}"
        if not self._closed:
            self.emit(LookEnded(look.server, problem))

    async def _read(self, server: _Server, wanted: Look) -> str | None:
        request = Request(
            tuple(pane.id for pane in wanted.panes),
            wanted.listing,
            wanted.listing or wanted.clients,
            frozenset(pane.id for pane in wanted.joined),
        )
        for command in commands(request, server.version):
            at = self._now()
            reading = await self._ask(server, command.mark, command.args)
            if isinstance(reading, str):
                return reading
            if self._closed:
                return None
            problem = self._deliver(server, command, reading, at)
            if problem:
                return problem
        return None

    def _deliver(self, server: _Server, command: Command, reading: wire.Reading, at: float) -> str | None:
        key = server.key
        rows = panes.rows(reading.panes, command.names, key, server.name, server.known)
        if command.listing and reading.all_panes:
            server.known.listed(rows)
            self.emit(Panes(key, tuple(row.info for row in rows.values())))
        for id in command.ids:
            row, text = rows.get(id), reading.screens.get(id)
            if row is not None and text is not None:
                info = row.info
                joined = reading.joined.get(id)
                screen = Screen(text, info.title, row.progress, info.width, info.height, joined)
                self.emit(Frame(PaneKey(key, id), info, screen, at))
        if command.clients and reading.all_clients:
            self.emit(Clients(key, self._clients.read(reading.clients, key)))
        return None if reading.complete else "tmux did not answer to the end"

    async def _ask(self, server: _Server, mark: str, chain: list[str]) -> wire.Reading | str:
        """Run a chain that begins with `head` and make sure that it is this server that answers."""
        reply = await self._runner.run(server.key.place, chain)
        if reply.problem:
            return reply.problem
        reading = wire.read(reply.out, mark)
        if reply.err == _NO_SESSIONS:
            reading.all_panes = reading.all_clients = reading.complete = True
        head = reading.head
        if head is None:
            return reading if reading.complete else self._silent(server, reply)
        known = server.head
        expected = (server.key.pid, known.started if known else head.started)
        if not self._proc.available:
            expected = (server.key.pid, server.key.started)
        if (head.pid, head.started) != expected:
            self._gone(server.key)
            return "the server has ended; another one has taken its place"
        server.head = head
        return reading

    def _silent(self, server: _Server, reply: Reply) -> str:
        """Why a server said nothing: it is gone if its process is, or, without /proc, if tmux says so."""
        key = server.key
        if self._proc.available:
            gone = self._proc.started(key.pid) != key.started
        else:
            gone = bool(_NOBODY.match(reply.err))
        if gone:
            self._gone(key)
            return "the server has ended"
        return reply.err or "tmux said nothing"

    # -- jumps ----------------------------------------------------------------------------

    async def jump(self, target: PaneKey | Spot) -> JumpResult:
        """Show a pane in the client of its server that was used last; a Spot names its own."""
        pane = target.pane if isinstance(target, Spot) else target
        server = self._servers.get(pane.server)
        if server is None:
            return JumpResult(False, "the tmux server of this pane has ended")
        try:
            return await jump(
                lambda mark, chain: self._ask(server, mark, chain),
                lambda records: self._clients.read(records, server.key),
                server.version or (3, 0),
                target,
            )
        except ValueError as error:
            return JumpResult(False, f"senseless reply from tmux: {error}")

    async def close(self) -> None:
        """Give up all commands; nothing is emitted afterwards."""
        self._closed = True
        await self._runner.close()
