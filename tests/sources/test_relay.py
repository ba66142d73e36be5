"""Relays as the daemon hears them: whose pane each is, what it says, and what it cannot do."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from trayagent.model.events import Event, Exited, Output, Relayed
from trayagent.model.keys import PaneKey, ProcessKey, ServerKey
from trayagent.model.panes import Screen
from trayagent.relay import wire
from trayagent.sources.drawn import WAITING, Drawn
from trayagent.sources.relay import GREETING, RelaySource
from trayagent.terminal.emulator import Emulator

PANE = PaneKey(ServerKey("tmux", "/tmp/s", 1, 1), "%5")
BARE = PaneKey(ServerKey("bare", "/dev/pts/9", 7, 7), "1:12")
HELLO = wire.pack(wire.HELLO, wire.texts("1", "/dev/pts/8", "/dev/pts/20", 400, 401, 80, 24), 5.0)
RELAYED = Relayed(PANE, "/dev/pts/20", 400)


class House:
    """A source that listens, and relays that connect to it. panes: tty -> the listed pane."""

    def __init__(self, folder: Path) -> None:
        self.events: list[Event] = []
        self.panes: dict[str, PaneKey] = {"/dev/pts/8": PANE}
        self.uid = os.geteuid()
        self.source = RelaySource(
            self.events.append, self.panes.get, {401: 1234}.get, lambda connection: (0, self.uid)
        )
        self._place = str(folder / "relay.sock")
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(self._place)
        listening.listen(8)
        listening.setblocking(False)
        self.source.listen(listening)
        self._relays: list[socket.socket] = []

    def relay(self, *frames: bytes) -> socket.socket:
        """A relay that connects and says this."""
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.connect(self._place)
        made.setblocking(False)
        made.sendall(b"".join(frames))
        self._relays.append(made)
        return made

    def close(self) -> None:
        self.source.close()
        for relay in self._relays:
            relay.close()


@pytest.fixture
async def house() -> AsyncIterator[House]:
    with tempfile.TemporaryDirectory(prefix="relays-") as folder:
        made = House(Path(folder))
        yield made
        made.close()


async def until(true: Callable[[], object]) -> None:
    """Return once it holds."""
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110 - what it waits for sets no event
            await asyncio.sleep(0.005)


async def closed(relay: socket.socket) -> None:
    """Return once the daemon hung up on the relay."""
    async with asyncio.timeout(20):
        try:
            assert await asyncio.get_running_loop().sock_recv(relay, 1) == b""
        except ConnectionResetError:  # with something of ours unread
            return


def output(text: bytes, at: float = 6.0, lost: bool = False) -> bytes:
    return wire.pack(wire.OUTPUT, text, at, lost=lost)


async def test_a_relay_is_its_outer_terminals_pane(house: House):
    relay = house.relay(HELLO, output(b"one"), output(b"two", 7.0, lost=True))
    await until(lambda: len(house.events) == 3)
    assert house.events == [RELAYED, Output(PANE, b"one", 6.0), Output(PANE, b"two", 7.0, True)]
    assert house.source.terminals() == {"/dev/pts/20": "/dev/pts/8"}
    relay.close()
    await until(lambda: house.events[3:] == [Relayed(PANE)])
    assert house.source.terminals() == {}


async def test_frames_may_come_in_any_pieces(house: House):
    relay = house.relay()
    for byte in HELLO + output(b"one"):
        relay.send(bytes([byte]))
        await asyncio.sleep(0)
    await until(lambda: house.events == [RELAYED, Output(PANE, b"one", 6.0)])


async def test_what_is_told_waits_until_the_pane_is_listed(house: House):
    house.panes.clear()
    relay = house.relay(HELLO, output(b"early"))
    await until(lambda: house.source._relays and all(r.hello for r in house.source._relays))
    assert house.events == []
    house.panes["/dev/pts/8"] = PANE
    house.source.listed()
    assert house.events == [RELAYED, Output(PANE, b"early", 6.0)]
    relay.send(output(b"late", 8.0))
    await until(lambda: house.events[2:] == [Output(PANE, b"late", 8.0)])


async def test_a_relay_that_ended_before_its_pane_was_listed_is_forgotten(house: House):
    house.panes.clear()
    relay = house.relay(HELLO)
    await until(lambda: house.source._relays and all(r.hello for r in house.source._relays))
    relay.close()
    house.source.listed()
    assert not house.source._relays and house.events == []


async def test_while_the_command_is_stopped_the_pane_is_the_shells(house: House):
    relay = house.relay(HELLO, wire.pack(wire.PAUSED))
    await until(lambda: house.events == [RELAYED, Relayed(PANE)])
    relay.send(wire.pack(wire.GOES_ON))
    await until(lambda: house.events[2:] == [RELAYED])


@pytest.mark.parametrize(("said", "status", "number"), [(b"0", 0, None), (b"3", 3, None), (b"-9", None, 9)])
async def test_how_the_command_ended_is_known(
    house: House, said: bytes, status: int | None, number: int | None
):
    house.relay(HELLO, wire.pack(wire.ENDED, said))
    await until(lambda: house.events[1:] == [Exited(ProcessKey(401, 1234), status, number)])


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" * 100,
        output(b"no greeting"),
        wire.pack(wire.HELLO, wire.texts("2", "a", "b", 1, 2, 3, 4)),
        wire.pack(wire.HELLO, wire.texts("1", "a", "b", -1, "x", 3, 4)),
        wire.pack(wire.HELLO, b""),
        HELLO + b"\0" * 40,
        HELLO + wire.pack(wire.ENDED, b"no number"),
    ],
)
async def test_garbage_closes_its_own_connection_and_no_other(house: House, garbage: bytes):
    good = house.relay(HELLO)
    bad = house.relay(garbage)
    await closed(bad)
    good.send(output(b"still here"))
    await until(lambda: Output(PANE, b"still here", 6.0) in house.events)


async def test_another_users_relay_is_refused(house: House):
    house.uid += 1
    await closed(house.relay(HELLO))
    assert house.events == []


async def test_who_says_nothing_is_hung_up_on(house: House, monkeypatch: pytest.MonkeyPatch):
    assert GREETING >= 5
    monkeypatch.setattr("trayagent.sources.relay.GREETING", 0.05)
    await closed(house.relay())


async def test_a_flood_is_taken_at_a_bounded_pace(house: House):
    relay = house.relay(HELLO)
    loop = asyncio.get_running_loop()
    flood = loop.create_task(loop.sock_sendall(relay, output(b"x" * wire.MOST) * 2000))
    await asyncio.sleep(0.5)
    flood.cancel()
    assert sum(len(event.data) for event in house.events if isinstance(event, Output)) < 1_500_000


async def test_outside_of_tmux_the_agents_bytes_are_drawn(house: House):
    house.panes["/dev/pts/8"] = BARE
    relay = house.relay(HELLO, output(b"\x1b]2;title\x07one\r\ntwo"))
    await until(lambda: house.source.screen(BARE))
    assert house.source.screen(BARE) == Screen("one\ntwo" + "\n" * 22, "title", "", 80, 24)
    relay.send(wire.pack(wire.SIZE, wire.texts(100, 3)) + output(b"!"))
    await until(lambda: (screen := house.source.screen(BARE)) and (screen.width, screen.height) == (100, 3))
    assert house.source.screen(PANE) is None


# -- the screen that is drawn ---------------------------------------------------------------


def drawn(*pieces: tuple[bytes, bool]) -> str | None:
    """The text of the screen after these pieces, each drawn before the next; None: not known."""
    screen = Drawn(20, 3)
    for data, lost in pieces:
        screen.feed(data, lost)
        while screen.waiting:
            screen.draw(7, Emulator)
    shown = screen.screen()
    return None if shown is None else shown.text


@pytest.mark.parametrize(
    "repaint",
    [b"\x1b[H\x1b[2J", b"\x1b[2J\x1b[H", b"\x1b[H\x1b[J", b"\x1b[1;1H\x1b[0J", b"\x1bc", b"\x1b[?1049h"],
)
def test_after_a_loss_the_screen_is_unknown_until_the_next_full_repaint(repaint: bytes):
    assert drawn((b"one", False), (b"lf of something", True)) is None
    assert drawn((b"one", False), (b"x", True), (b"more", False)) is None
    assert drawn((b"one", False), (b"x", True), (b"ab" + repaint + b"two", False)) == "two\n\n"
    assert drawn((b"one\x1b[3", False), (b"ab" + repaint + b"two", True)) == "two\n\n"


def test_what_comes_too_fast_is_skipped_up_to_the_last_repaint():
    screen = Drawn(20, 3)
    for number in range(20):
        screen.feed(b"\x1b[2J\x1b[H" + f"turn {number}".encode() + b"\x1b[K" * 4000, lost=False)
        assert screen.waiting <= WAITING
    while screen.waiting:
        screen.draw(4096, Emulator)
    shown = screen.screen()
    assert shown is not None and shown.text == "turn 19\n\n"
    screen.feed(b"line\r\n" * WAITING, lost=False)
    assert screen.waiting == 0 and screen.screen() is None


def test_while_bytes_wait_the_screen_is_not_known():
    screen = Drawn(20, 3)
    screen.feed(b"one", lost=False)
    assert screen.screen() is None
