"""Relays (`trayagent run`) as a source: which pane each stands in, and what its command writes.

A relay connects, says HELLO, and from then on only tells (trayagent/relay/wire.py). Its outer
terminal is that of a pane, and the pane's agent is to be looked for on its inner terminal
(Relayed); what the agent writes comes as Output. A relay whose pane is not listed yet is not
read from: it keeps the newest of what there is to tell by itself.

Nothing that a relay says can cost more than its own connection: what is no frame closes it, at
most READ bytes are taken from one every BEAT, and a flood waits in the relay, where its oldest
bytes are dropped. Foreign users are refused by the kernel's word.
"""

from __future__ import annotations

import asyncio
import logging
import os
import select
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from trayagent.model.events import Event, Exited, Output, Relayed
from trayagent.model.keys import PaneKey, ProcessKey
from trayagent.model.panes import Screen
from trayagent.relay import wire
from trayagent.sources.drawn import Drawn

if TYPE_CHECKING:
    from trayagent.terminal.emulator import Emulator

MOST = 256  # relays
READ = 64 * 1024
BEAT = 0.05  # seconds between two readings of one relay
SLICE = 8 * 1024  # bytes drawn in a beat, of all terminals: some 5 ms
GREETING = 10.0  # seconds that a new connection has to say HELLO

log = logging.getLogger("trayagent.relay")


class Hello(NamedTuple):
    """What a relay says of itself. leader: pid of the inner session's leader; pid: of the command."""

    outer: str
    inner: str
    leader: int
    pid: int
    columns: int
    rows: int

    @classmethod
    def read(cls, body: bytes) -> Hello:
        """Of a HELLO's body. Raises WireError."""
        words = body.decode(errors="surrogateescape").split("\0")
        if len(words) != 7 or words[0] != wire.VERSION or not all(word.isdecimal() for word in words[3:]):
            raise wire.WireError("this relay speaks another version")
        numbers = [int(word[:10]) for word in words[3:]]
        return cls(words[1], words[2], *numbers)


@dataclass(eq=False, slots=True)
class _Relay:
    """One connection. pane: None while no list has its terminal."""

    socket: socket.socket
    buffer: bytearray = field(default_factory=bytearray)
    hello: Hello | None = None
    process: ProcessKey | None = None
    pane: PaneKey | None = None
    paused: bool = False
    timer: asyncio.TimerHandle | None = None
    drawn: Drawn | None = None


class RelaySource:
    """All relays of this user. emit: gets the events. pane_of: the listed pane whose terminal has
    this path. started: a process's start time, None if it is gone. peer: pid and uid of a connection."""

    def __init__(
        self,
        emit: Callable[[Event], None],
        pane_of: Callable[[str], PaneKey | None],
        started: Callable[[int], int | None],
        peer: Callable[[socket.socket], tuple[int, int]],
    ) -> None:
        self._emit, self._pane_of, self._started, self._peer = emit, pane_of, started, peer
        self._relays: set[_Relay] = set()
        self._listening: socket.socket | None = None
        self._drawing: asyncio.Task[None] | None = None

    def listen(self, listening: socket.socket) -> None:
        """Serve relays at this socket from now on; it is closed by `close`."""
        self._listening = listening
        asyncio.get_running_loop().add_reader(listening, self._accept)

    def close(self) -> None:
        """Hang up on all relays; they come back to the next daemon. Nothing is emitted."""
        loop = asyncio.get_running_loop()
        if self._listening is not None:
            loop.remove_reader(self._listening)
            self._listening.close()
            self._listening = None
        for relay in list(self._relays):
            self._release(relay)
        if self._drawing is not None:
            self._drawing.cancel()

    def terminals(self) -> dict[str, str]:
        """Each relay's own terminal -> the one it stands in: what runs in the one is seen in the other."""
        return {relay.hello.inner: relay.hello.outer for relay in self._relays if relay.hello}

    def listed(self) -> None:
        """The list of panes has changed: relays find theirs."""
        for relay in list(self._relays):
            if relay.pane is None and _hung_up(relay.socket):
                self._release(relay)
            elif relay.hello is not None:
                self._place(relay, relay.hello)

    def screen(self, pane: PaneKey) -> Screen | None:
        """The pane's screen as its agent drew it; None while it is not known, and for panes without a
        relay or whose server draws them itself."""
        drawn = next((relay.drawn for relay in self._relays if relay.pane == pane), None)
        return None if drawn is None else drawn.screen()

    # -- connections -----------------------------------------------------------------------

    def _accept(self) -> None:
        assert self._listening is not None
        try:
            made, _ = self._listening.accept()
        except OSError as error:  # it hung up already, or we are out of descriptors for now
            log.debug("a relay could not be heard: %s", error)
            return
        _, uid = self._peer(made)
        if uid != os.geteuid() or len(self._relays) >= MOST:
            made.close()
            return
        made.setblocking(False)
        relay = _Relay(made)
        self._relays.add(relay)
        loop = asyncio.get_running_loop()
        relay.timer = loop.call_later(GREETING, self._release, relay)
        loop.add_reader(made, self._read, relay)

    def _release(self, relay: _Relay) -> None:
        """Close a connection without a word."""
        asyncio.get_running_loop().remove_reader(relay.socket)
        relay.socket.close()
        self._relays.discard(relay)
        if relay.timer is not None:
            relay.timer.cancel()

    def _end(self, relay: _Relay) -> None:
        """A relay is gone: its pane is what it was before."""
        self._release(relay)
        if relay.pane is not None and not relay.paused:
            self._emit(Relayed(relay.pane))

    def _read(self, relay: _Relay) -> None:
        """Take what a relay has told, and let some time pass before the next reading."""
        loop = asyncio.get_running_loop()
        try:
            data = relay.socket.recv(READ)
        except BlockingIOError:
            return
        except OSError:  # reset
            data = b""
        if not data:
            self._end(relay)
            return
        loop.remove_reader(relay.socket)
        relay.buffer += data
        if self._heard(relay) and relay.hello is not None:
            if relay.timer is not None:
                relay.timer.cancel()
            relay.timer = loop.call_later(BEAT, self._listen_on, relay) if relay.pane else None
        elif relay in self._relays:
            loop.add_reader(relay.socket, self._read, relay)

    def _listen_on(self, relay: _Relay) -> None:
        relay.timer = None
        asyncio.get_running_loop().add_reader(relay.socket, self._read, relay)

    # -- frames ----------------------------------------------------------------------------

    def _heard(self, relay: _Relay) -> bool:
        """Take the complete frames off a relay's buffer; False if the relay is not heard any more."""
        try:
            while relay.hello is None or relay.pane is not None:
                frame = wire.unpack(relay.buffer)
                if frame is None:
                    return True
                self._frame(relay, *frame)
        except wire.WireError as error:
            log.debug("a relay is not understood: %s", error)
            self._end(relay)
            return False
        return True

    def _frame(self, relay: _Relay, kind: bytes, lost: bool, at: float, body: bytes) -> None:
        if relay.hello is None:
            if kind != wire.HELLO:
                raise wire.WireError("a relay begins with HELLO")
            relay.hello = Hello.read(body)
            started = self._started(relay.hello.pid)
            relay.process = None if started is None else ProcessKey(relay.hello.pid, started)
            self._place(relay, relay.hello)
            return
        assert relay.pane is not None
        if kind == wire.OUTPUT:
            if relay.drawn is not None:
                relay.drawn.feed(body, lost)
                self._draw_soon()
            self._emit(Output(relay.pane, body, at, lost))
        elif kind == wire.SIZE:
            if relay.drawn is not None:
                relay.drawn.resize(*_whole(body, 2))
        elif kind == wire.PAUSED:
            relay.paused = True
            self._emit(Relayed(relay.pane))
        elif kind == wire.GOES_ON:
            relay.paused = False
            self._announce(relay, relay.hello, relay.pane)
        elif kind == wire.ENDED and relay.process is not None:
            (status,) = _whole(body, 1)
            known = (status, None) if status >= 0 else (None, -status)
            self._emit(Exited(relay.process, *known))

    def _place(self, relay: _Relay, hello: Hello) -> None:
        """Find a relay's pane by its outer terminal."""
        pane = self._pane_of(hello.outer)
        if pane == relay.pane:
            return
        if relay.pane is not None and not relay.paused:
            self._emit(Relayed(relay.pane))
        resting, relay.pane = relay.pane is None, pane
        if pane is None:
            return
        if pane.server.kind != "tmux" and relay.drawn is None:
            relay.drawn = Drawn(hello.columns, hello.rows)
        if not relay.paused:
            self._announce(relay, hello, pane)
        if resting and self._heard(relay) and relay.timer is None:
            relay.timer = asyncio.get_running_loop().call_later(BEAT, self._listen_on, relay)

    def _announce(self, relay: _Relay, hello: Hello, pane: PaneKey) -> None:
        self._emit(Relayed(pane, hello.inner, hello.leader))

    # -- drawing ---------------------------------------------------------------------------

    def _draw_soon(self) -> None:
        if self._drawing is None:
            self._drawing = asyncio.get_running_loop().create_task(self._draw())

    async def _draw(self) -> None:
        """Draw what waits, a little at a time, until nothing does."""
        try:
            emulator = await asyncio.to_thread(_emulator)
            while waiting := [r.drawn for r in self._relays if r.drawn is not None and r.drawn.waiting]:
                for drawn in waiting:
                    drawn.draw(max(SLICE // len(waiting), 256), emulator)
                await asyncio.sleep(BEAT)
        finally:
            self._drawing = None


def _emulator() -> type[Emulator]:
    """What draws; its import takes long, and most people's terminals are all in tmux."""
    from trayagent.terminal.emulator import Emulator

    return Emulator


def _hung_up(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, 0)
    return bool(poll.poll(0))


def _whole(body: bytes, count: int) -> list[int]:
    """Whole numbers of a body. Raises WireError."""
    try:
        numbers = [int(word) for word in body[:64].split(b"\0")]
    except ValueError as error:
        raise wire.WireError("no number") from error
    if len(numbers) != count:
        raise wire.WireError("too few numbers, or too many")
    return numbers
