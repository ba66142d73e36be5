"""The tty pulse on real terminals."""

from __future__ import annotations

import asyncio
import errno
import os
import pty
import sys
import threading
import time
import tty
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from trayagent.host import inotify, pulse
from trayagent.host.pulse import TtyPulse
from trayagent.host.watches import FLOOD, Watches
from trayagent.model.effects import WatchTerminals
from trayagent.model.events import Event, Pulse, PulseState, TerminalsChanged

DEADLINE = 20.0


class Pty:
    """A terminal with both ends in our hands."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self.slave)

    def write(self, data: bytes = b"x") -> None:
        """A program writes to the terminal."""
        os.write(self.slave, data)
        os.read(self.master, 65536)

    def type(self, data: bytes = b"k") -> None:
        """A person types, and the program reads it."""
        os.write(self.master, data)
        os.read(self.slave, 100)

    def close(self) -> None:
        """The terminal goes."""
        os.close(self.slave)
        os.close(self.master)


class Told:
    """Events as they come. Other programs' terminals come and go too while the tests run, so what
    is not asked for is passed over."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Event] = asyncio.Queue()
        self.states: list[PulseState] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, PulseState):
            self.states.append(event)
        self.queue.put_nowait(event)

    async def wrote(self, path: str) -> Pulse:
        """The next pulse that names the path as written to."""
        while True:
            event = await asyncio.wait_for(self.queue.get(), DEADLINE)
            if isinstance(event, Pulse) and path in event.wrote:
                return event

    async def typed(self, path: str) -> Pulse:
        """The next pulse that names the path as typed in."""
        while True:
            event = await asyncio.wait_for(self.queue.get(), DEADLINE)
            if isinstance(event, Pulse) and path in event.typed:
                return event

    async def overflow(self) -> Pulse:
        """The next pulse that makes every pane due."""
        while True:
            event = await asyncio.wait_for(self.queue.get(), DEADLINE)
            if isinstance(event, Pulse) and event.overflow:
                return event

    async def of(self, kind: type[Event]) -> Event:
        """The next event of a kind."""
        while True:
            event = await asyncio.wait_for(self.queue.get(), DEADLINE)
            if isinstance(event, kind):
                return event

    def pulses(self) -> list[Pulse]:
        """All pulses that wait."""
        found = []
        while not self.queue.empty():
            event = self.queue.get_nowait()
            if isinstance(event, Pulse):
                found.append(event)
        return found


@pytest.fixture
def terminal() -> Iterator[Pty]:
    """One terminal."""
    terminal = Pty()
    yield terminal
    terminal.close()


@pytest.fixture
def other() -> Iterator[Pty]:
    """Another one."""
    terminal = Pty()
    yield terminal
    terminal.close()


@pytest.fixture
async def told() -> Told:
    """What was emitted."""
    return Told()


@pytest.fixture
async def watch(told: Told, tmp_path: Path) -> AsyncIterator[TtyPulse]:
    """A pulse with a doorbell of its own, so that nobody else rings it."""
    bell = tmp_path / "tty"
    bell.write_bytes(b"")
    watch = TtyPulse(told, doorbell=str(bell))
    yield watch
    watch.close()


async def test_a_write_is_told_with_its_terminal(
    watch: TtyPulse, told: Told, terminal: Pty, other: Pty
) -> None:
    watch.watch(WatchTerminals(frozenset({terminal.path, other.path})))
    terminal.write()
    event = await told.wrote(terminal.path)
    assert event == Pulse(frozenset({terminal.path}))


async def test_what_is_typed_is_told_when_it_is_read(watch: TtyPulse, told: Told, terminal: Pty) -> None:
    watch.watch(WatchTerminals(frozenset({terminal.path})))
    terminal.type()
    assert terminal.path in (await told.typed(terminal.path)).typed


async def test_a_clients_typing_is_not_told_but_its_writes_are(
    watch: TtyPulse, told: Told, terminal: Pty
) -> None:
    watch.watch(WatchTerminals(frozenset(), frozenset({terminal.path})))
    terminal.type()
    terminal.write()
    assert (await told.wrote(terminal.path)).typed == frozenset()


async def test_each_drain_tells_anew(watch: TtyPulse, told: Told, terminal: Pty) -> None:
    watch.watch(WatchTerminals(frozenset({terminal.path})))
    for _ in range(3):
        terminal.write()
        await told.wrote(terminal.path)


async def test_a_terminal_that_is_not_wanted_any_more_is_silent(
    watch: TtyPulse, told: Told, terminal: Pty, other: Pty
) -> None:
    watch.watch(WatchTerminals(frozenset({terminal.path, other.path})))
    watch.watch(WatchTerminals(frozenset({other.path})))
    terminal.write()
    other.write()
    assert (await told.wrote(other.path)).wrote == {other.path}


async def test_terminals_that_come_and_go_are_told(watch: TtyPulse, told: Told) -> None:
    watch.watch(WatchTerminals(frozenset()))
    new = Pty()
    await told.of(TerminalsChanged)
    new.close()
    await told.of(TerminalsChanged)


async def test_a_reused_number_is_heard_again(watch: TtyPulse, told: Told) -> None:
    first = Pty()
    watch.watch(WatchTerminals(frozenset({first.path})))
    first.write()
    await told.wrote(first.path)
    first.close()
    again: list[Pty] = []
    for _ in range(50):  # others may take the number; then it comes back to us when they are done
        again.append(Pty())
        if again[-1].path == first.path:
            break
    else:
        for terminal in again:
            terminal.close()
        pytest.skip("another program took the terminal's number")
    await told.of(TerminalsChanged)
    again[-1].write()
    await told.wrote(first.path)
    for terminal in again:
        terminal.close()


async def test_a_flood_neither_overflows_nor_is_read_event_by_event(
    watch: TtyPulse, told: Told, terminal: Pty, other: Pty
) -> None:
    """Two terminals that write in turn, so that the kernel cannot merge their events."""
    watch.watch(WatchTerminals(frozenset({terminal.path, other.path})))
    end = time.monotonic() + 1.5
    stop = threading.Event()

    def flood() -> None:
        while not stop.is_set() and time.monotonic() < end:
            terminal.write()
            other.write()

    thread = threading.Thread(target=flood)
    thread.start()
    await told.wrote(terminal.path)
    await asyncio.to_thread(thread.join, DEADLINE)
    pulses = told.pulses()
    assert sum(terminal.path in event.wrote for event in pulses) >= 5
    assert not any(event.overflow for event in pulses)
    other.write()
    await told.wrote(other.path)
    stop.set()


async def test_lost_events_make_every_pane_due(
    watch: TtyPulse, told: Told, terminal: Pty, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.watch(WatchTerminals(frozenset({terminal.path})))
    read = inotify.Inotify.read

    def overflowing(instance: inotify.Inotify) -> list[tuple[int, int, bytes]]:
        return [*read(instance), (-1, inotify.OVERFLOW, b"")]

    with monkeypatch.context() as patch:
        patch.setattr(inotify.Inotify, "read", overflowing)
        terminal.write()
        await told.overflow()
    terminal.write()
    await told.wrote(terminal.path)


async def test_a_quiet_system_sets_no_timer_but_the_slow_one(
    told: Told, terminal: Pty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    delays: list[float] = []
    later = loop.call_later

    def noted(delay: float, *rest: object, **more: object) -> asyncio.TimerHandle:
        if getattr(rest[0], "__self__", None).__class__ is TtyPulse:
            delays.append(delay)
        return later(delay, *rest, **more)  # type: ignore[arg-type]

    bell, folder = tmp_path / "tty", tmp_path / "pts"
    bell.write_bytes(b"")
    folder.mkdir()
    watch = TtyPulse(told, folder=str(folder), doorbell=str(bell))
    monkeypatch.setattr(loop, "call_later", noted)
    watch.watch(WatchTerminals(frozenset({terminal.path})))
    assert delays == [pytest.approx(pulse.RENEW_QUIET, abs=1)]
    terminal.write()
    await told.wrote(terminal.path)
    drains_after_the_event = len(delays)
    await asyncio.sleep(0.5)
    assert len(delays) <= drains_after_the_event + 1
    watch.close()


async def test_no_instances_left_is_said_once_and_mended_later(
    told: Told, terminal: Pty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bell = tmp_path / "tty"
    bell.write_bytes(b"")
    monkeypatch.setattr(pulse, "RENEW_QUIET", 0.3)
    watch = TtyPulse(told, doorbell=str(bell))

    def refused(self: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(inotify.Inotify, "__init__", refused)
        watch.watch(WatchTerminals(frozenset({terminal.path})))
        watch.watch(WatchTerminals(frozenset({terminal.path})))
        await asyncio.sleep(0.5)
        assert told.states == [PulseState(False)]
    while not told.states[-1].available:
        await told.of(PulseState)
    assert told.states == [PulseState(False), PulseState(True)]
    terminal.write()
    await told.wrote(terminal.path)
    watch.close()


async def test_a_terminal_that_may_not_be_watched_is_named(
    watch: TtyPulse, told: Told, terminal: Pty, other: Pty, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = inotify.Inotify.add

    def guarded(instance: inotify.Inotify, path: bytes, mask: int) -> int:
        if path == other.path.encode():
            raise OSError(errno.EACCES, "Permission denied")
        return add(instance, path, mask)

    monkeypatch.setattr(inotify.Inotify, "add", guarded)
    watch.watch(WatchTerminals(frozenset({terminal.path, other.path})))
    assert told.states == [PulseState(True, frozenset({other.path}))]
    watch.watch(WatchTerminals(frozenset({terminal.path})))
    assert told.states[1:] == [PulseState(True)]


async def test_a_terminal_that_does_not_exist_is_no_trouble(
    watch: TtyPulse, told: Told, terminal: Pty
) -> None:
    watch.watch(WatchTerminals(frozenset({"/dev/pts/99999", terminal.path})))
    assert told.states == [PulseState(True)]
    terminal.write()
    await told.wrote(terminal.path)


async def test_what_is_written_past_a_terminal_makes_it_deaf_until_it_is_heard(
    watch: TtyPulse, told: Told, terminal: Pty, other: Pty, tmp_path: Path
) -> None:
    """The modification time moves as it does for a write through /dev/tty; the doorbell rings."""
    watch.watch(WatchTerminals(frozenset({terminal.path, other.path})))
    later = time.time() + 9
    os.utime(terminal.path, (later, later))
    (tmp_path / "tty").write_bytes(b"rings")
    assert (await told.wrote(terminal.path)).wrote == {terminal.path}
    assert told.states == [PulseState(True), PulseState(True, frozenset({terminal.path}))]
    (tmp_path / "tty").write_bytes(b"rings again")
    assert terminal.path in (await told.wrote(terminal.path)).wrote
    assert len(told.states) == 2
    os.utime(terminal.path, (0, 0))
    other.write()
    terminal.write()
    await told.of(PulseState)
    assert told.states[-1] == PulseState(True)


async def test_a_write_through_the_real_doorbell_is_noticed(told: Told) -> None:
    """A process on a terminal of its own writes through /dev/tty only."""
    watch = TtyPulse(told)
    master, slave = pty.openpty()
    path = os.ttyname(slave)
    os.utime(path, (0, 0))
    code = "import os, fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); input(); "
    code += "fd = os.open('/dev/tty', os.O_RDWR); os.write(fd, b'password: '); input()"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdin=slave, stdout=slave)
    watch.watch(WatchTerminals(frozenset({path})))
    watch._heard[path] = 1.0  # its last event was long ago
    os.write(master, b"\n")
    event = await told.wrote(path)
    assert path in event.wrote
    assert told.states[-1].deaf == {path}
    watch.close()
    os.write(master, b"\n")
    await asyncio.wait_for(child.wait(), DEADLINE)
    os.close(master)
    os.close(slave)


async def test_a_ring_that_nothing_explains_makes_every_pane_due_once(
    told: Told, terminal: Pty, tmp_path: Path
) -> None:
    """The terminal's time has moved in these eight seconds already: it cannot move for a second write."""
    bell = tmp_path / "tty"
    bell.write_bytes(b"")
    os.utime(terminal.path, (1_000_001, 1_000_001))
    watch = TtyPulse(told, doorbell=str(bell), wall=lambda: 1_000_004.0)
    watch.watch(WatchTerminals(frozenset({terminal.path})))
    bell.write_bytes(b"ring")
    await told.overflow()
    for _ in range(3):
        bell.write_bytes(b"ring")
        await asyncio.sleep(0.15)
    assert not any(event.overflow for event in told.pulses())
    watch.close()


async def test_a_ring_of_somebody_elses_terminal_means_nothing(
    told: Told, terminal: Pty, other: Pty, tmp_path: Path
) -> None:
    bell = tmp_path / "tty"
    bell.write_bytes(b"")
    os.utime(terminal.path, (1_000, 1_000))
    watch = TtyPulse(told, doorbell=str(bell), wall=lambda: 1_000_004.0)
    watch.watch(WatchTerminals(frozenset({terminal.path}), frozenset({other.path})))
    bell.write_bytes(b"ring")
    await asyncio.sleep(0.3)
    other.write()
    assert await told.wrote(other.path) == Pulse(frozenset({other.path}))
    assert told.states == [PulseState(True)]
    watch.close()


async def test_closing_gives_everything_back(told: Told, terminal: Pty) -> None:
    def descriptors() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    before = descriptors()
    watch = TtyPulse(told)
    watch.watch(WatchTerminals(frozenset({terminal.path})))
    assert descriptors() == before + 2
    watch.close()
    assert descriptors() == before


def test_only_what_floods_is_told_once_a_drain(terminal: Pty, other: Pty) -> None:
    watches = Watches(inotify.MODIFY)
    watches.want(frozenset({terminal.path, other.path}))

    def writes(count: int) -> int:
        """Events that the kernel queued for `count` writes of each terminal in turn."""
        for _ in range(count):
            terminal.write()
            other.write()
        events = inotify.Inotify.read(watches.instance)
        return sum(1 for _, mask, _ in events if mask & inotify.MODIFY)

    assert writes(FLOOD) == 2 * FLOOD
    for _ in range(FLOOD + 1):
        terminal.write()
        other.write()
    assert watches.drain()[0] == {terminal.path, other.path}
    watches.rearm()
    assert writes(FLOOD) == 2
    watches.close()


def test_watches_follow_a_path_to_another_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"1")
    watches = Watches(inotify.MODIFY)
    assert watches.want(frozenset({str(path)})) == {str(path)}
    path.rename(tmp_path / "moved")
    path.write_bytes(b"2")
    path.write_bytes(b"3")
    assert watches.drain()[0] == set()
    assert watches.renew() == {str(path)}
    assert watches.renew() == set()
    path.write_bytes(b"4")
    assert watches.drain()[0] == {str(path)}
    watches.close()
