"""A tmux source with its events kept, and private servers for it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import pytest_asyncio

from tests.support.tmux import TmuxServer
from trayagent.model.effects import Look
from trayagent.model.events import Clients, Event, Frame, LookEnded, Panes, ServerFound
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.panes import Client, PaneInfo
from trayagent.sources.tmux import TmuxSource
from trayagent.sources.tmux.command import Runner
from trayagent.sources.tmux.proc import Proc


class Watch:
    """A source and what it emitted since the last question."""

    def __init__(
        self,
        *,
        only: str | None = None,
        sockets: tuple[str, ...] = (),
        proc: Proc | None = None,
        runner: Runner | None = None,
    ) -> None:
        self.events: list[Event] = []
        self.source = TmuxSource(
            self.events.append, time.monotonic, sockets=sockets, only=only, proc=proc, runner=runner
        )

    async def discover(self) -> list[Event]:
        """One discovery and its events."""
        self.events.clear()
        await self.source.discover()
        return list(self.events)

    async def found(self, server: TmuxServer) -> ServerKey:
        """The key of a server, which this discovery finds."""
        for event in await self.discover():
            if isinstance(event, ServerFound) and event.server.place == str(server.socket.resolve()):
                return event.server
        raise AssertionError(f"{server.socket} was not found: {self.events} {self.source.problems()}")

    async def look(self, look: Look) -> list[Event]:
        """One look and its events; it ends with exactly one LookEnded."""
        self.events.clear()
        await self.source.look(look)
        assert [type(event) for event in self.events].count(LookEnded) == 1
        assert isinstance(self.events[-1], LookEnded)
        return list(self.events)

    async def panes(self, server: ServerKey) -> dict[str, PaneInfo]:
        """The complete list of panes by id."""
        events = await self.look(Look(server, listing=True))
        assert events[-1] == LookEnded(server)
        (panes,) = [event.panes for event in events if isinstance(event, Panes)]
        assert len({info.key.id for info in panes}) == len(panes)
        return {info.key.id: info for info in panes}

    async def frames(self, server: ServerKey, *ids: str, joined: bool = False) -> dict[str, Frame]:
        """The frames of these panes by id."""
        keys = tuple(PaneKey(server, id) for id in ids)
        events = await self.look(Look(server, panes=keys, joined=frozenset(keys if joined else ())))
        assert events[-1] == LookEnded(server)
        return {event.pane.id: event for event in events if isinstance(event, Frame)}

    async def clients(self, server: ServerKey) -> dict[str, Client]:
        """All clients by name."""
        (clients,) = [
            event.clients
            for event in await self.look(Look(server, clients=True))
            if isinstance(event, Clients)
        ]
        return {client.name: client for client in clients}


@pytest.fixture
def server() -> Iterator[TmuxServer]:
    """A private server, not started yet."""
    with TmuxServer("a") as server:
        yield server


@pytest_asyncio.fixture
async def watching() -> AsyncIterator[Callable[..., Watch]]:
    """Makes Watches, and closes their sources at the end."""
    made: list[Watch] = []

    def make(**options: object) -> Watch:
        made.append(Watch(**options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for watch in made:
        await watch.source.close()
