"""The relay itself: one loop between two terminals.

    person's terminal (outer) --keys--> relay --keys--> inner terminal: the command
    person's terminal (outer) <-output- relay <-output- inner terminal: the command
                                          |--> Tail --> Link --> the daemon

Output goes to the person first, then to the daemon. Only one thing is ever added: the answer to the
question whether somebody listens to OSC 7501, put among the keys before the question
itself passes on; so it comes before anything that the outer terminal answers.

The command is stopped: the outer terminal is given back, and we stop ourselves in the same way; the
shell continues us, and we continue the command. The command ends: what it wrote is written out, and
we end as it did. The outer terminal hangs up: the inner one does.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import termios
import time

from trayagent.relay import launch, leader, wire
from trayagent.relay.flow import PIECE, Flow
from trayagent.relay.link import Link
from trayagent.relay.outer import NO_SIZE, Outer, size_of
from trayagent.relay.query import Queries
from trayagent.relay.tail import Tail

FORWARDED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
CAUGHT = (*FORWARDED, signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH)
BACKGROUND = 0.25  # seconds between two looks whether we have come to the front
READS = 4  # pieces of output before keys and signals are looked at again
LAST = 1024 * 1024  # bytes that are still passed on after the command ended (others may go on writing)
LAST_WAIT = 10.0  # seconds that a terminal gets to take them
CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Session:
    """A command in a terminal of its own, inside of `outer`."""

    def __init__(self, command: list[str], outer: Outer, streams: list[int]) -> None:
        self._outer = outer
        self._signals = launch.wakeup()
        launch.handle(CAUGHT)
        self._master, slave = os.openpty()
        self._inner_path = os.ttyname(slave)
        self._keys = Flow(outer.fileno(), self._master)
        self._output = Flow(self._master, outer.fileno())
        self._queries = Queries()
        self._tail = Tail()
        self._link = Link(self._tail, self._hello)
        self._size = NO_SIZE
        self._resize()
        termios.tcsetattr(slave, termios.TCSANOW, outer.modes)
        self._leader_pid, self._leader = leader.start(command, slave, outer, streams)
        os.close(slave)
        os.set_blocking(self._master, False)
        self._pid = 0
        self._early: list[int] = []  # signals that came before the command was there
        self._status: int | None = None
        self._poll = select.poll()
        self._polled: dict[int, int] = {}

    def run(self) -> int:
        """Pass everything on until the command has ended; its wait status."""
        try:
            self._take()
            while self._status is None:
                self._turn()
            self._finish()
        finally:
            self._outer.give_back()
        return self._status

    # -- the loop --------------------------------------------------------------------------

    def _turn(self) -> None:
        timeout = self._timeout()
        self._register()
        ready = dict(self._poll.poll(timeout))
        if self._signals in ready:
            self._heed(launch.caught(self._signals))
        if self._master in ready:
            self._pass_output()
            self._keys.write()
        outer = ready.get(self._outer.fileno(), 0)
        if outer & select.POLLOUT:
            self._output.write()
        if outer & select.POLLIN:
            self._pass_keys()
        elif outer & (select.POLLHUP | select.POLLERR):
            self._hang_up()
        if self._leader.reading in ready:
            self._news()
        link = self._link.fileno()
        if link in ready:
            if ready[link] & (select.POLLHUP | select.POLLERR):
                self._link.drop()
            else:
                self._link.write()
        if self._pid:
            self._link.reach(_now())

    def _register(self) -> None:
        """Poll for what can be done something about, and nothing else."""
        keys = self._keys.has_room and self._outer.is_raw
        wanted = {
            self._signals: select.POLLIN,
            self._leader.reading: select.POLLIN,
            self._outer.fileno(): _events(keys, self._output.waiting),
            self._master: _events(not self._output.waiting and not self._output.ended, self._keys.waiting),
            self._link.fileno(): _events(False, self._link.waiting),
        }
        if self._output.ended:
            del wanted[self._master]
        if self._keys.ended:
            del wanted[self._outer.fileno()]
        wanted.pop(-1, None)
        if wanted != self._polled:
            for descriptor in self._polled.keys() - wanted.keys():
                self._poll.unregister(descriptor)
            for descriptor, events in wanted.items():
                self._poll.register(descriptor, events)
            self._polled = wanted

    def _timeout(self) -> float | None:
        """Milliseconds until something is due by itself. Takes the terminal, if we came to the front."""
        again = self._link.again_in(_now())
        if not self._outer.is_raw and not self._keys.ended:
            if self._outer.ours:
                self._take()
            else:
                again = min(BACKGROUND, BACKGROUND if again is None else again)
        return None if again is None else again * 1000

    # -- bytes -----------------------------------------------------------------------------

    def _pass_output(self, most: int = READS * PIECE) -> int:
        """Pass on what the command wrote; how many bytes that was."""
        passed = 0
        while passed < most and not self._output.waiting and (data := self._output.read()):
            passed += len(data)
            for answer in self._queries.answers(data):
                self._keys.write(answer)
            self._output.write(data)
            self._tail.add(time.clock_gettime(CLOCK), data)
        if passed and not self._polled.get(self._link.fileno()):  # else it waits for its turn
            self._link.write()
        return passed

    def _pass_keys(self) -> None:
        """Pass on what the person typed, or find that he has gone."""
        self._keys.write(self._keys.read())
        if self._keys.ended:
            self._hang_up()

    def _hang_up(self) -> None:
        """The outer terminal is gone; so is the inner one, and the command may end or not."""
        if self._output.ended:
            return
        self._keys.ended = self._output.ended = True
        os.close(self._master)
        self._signal(signal.SIGHUP)
        self._signal(signal.SIGCONT)

    def _finish(self) -> None:
        """The command has ended: pass on what it wrote last, and say so to the daemon."""
        left, until = LAST, time.monotonic() + LAST_WAIT
        while left > 0 and not self._output.ended:
            if self._output.waiting:
                wait = select.poll()
                wait.register(self._outer.fileno(), select.POLLOUT)
                wait.poll(max(0.0, until - time.monotonic()) * 1000)
                self._output.write()
                if self._output.waiting and time.monotonic() >= until:
                    return
                continue
            passed = self._pass_output(left)
            if not passed:
                break
            left -= passed
        assert self._status is not None
        self._link.say(wire.pack(wire.ENDED, wire.texts(os.waitstatus_to_exitcode(self._status)), _now()))

    # -- signals and sizes -----------------------------------------------------------------

    def _heed(self, numbers: bytes) -> None:
        """Do what our signals ask for; most are meant for the command."""
        for number in numbers:
            if number == signal.SIGWINCH:
                self._resize()
            elif number == signal.SIGCONT:
                if self._outer.is_raw and self._outer.ours:  # we alone had been stopped
                    self._take()
            else:
                self._signal(number)

    def _signal(self, number: int) -> None:
        if self._pid:
            launch.signal_group(self._pid, number)
        else:
            self._early.append(number)

    def _resize(self) -> None:
        """Give the inner terminal the outer one's size; the kernel tells the command (SIGWINCH)."""
        size = size_of(self._outer.fileno())
        if size != self._size and not self._output.ended:
            self._size = size
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
            self._link.say(wire.pack(wire.SIZE, wire.texts(*self._columns_and_rows()), _now()))

    def _columns_and_rows(self) -> tuple[int, int]:
        rows, columns = memoryview(self._size).cast("H")[:2]
        return columns, rows

    def _take(self) -> None:
        """Make the outer terminal ours, if we are in front of it; else that is tried again."""
        try:
            if self._outer.ours:
                self._outer.take()
        except termios.error:
            self._hang_up()

    # -- the command -----------------------------------------------------------------------

    def _news(self) -> None:
        """What the inner terminal's leader tells of the command."""
        said = self._leader.receive()
        for what, number in leader.NEWS.iter_unpack(said):
            if what == leader.RUNS:
                self._pid = number
                for early in self._early:
                    self._signal(early)
            elif what == leader.STOPPED:
                self._suspend(number)
            else:
                self._status = number
        if not said and self._status is None:  # it was killed: the command hangs up with it
            self._status = signal.SIGHUP

    def _suspend(self, number: int) -> None:
        """The command was stopped: be stopped in the same way, until the shell continues us."""
        self._pass_output()
        self._link.say(wire.pack(wire.PAUSED, at=_now()))
        self._outer.give_back()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(0, number)
        launch.handle((signal.SIGTSTP,))
        try:
            self._outer.take()
        except termios.error:
            self._hang_up()
        self._resize()
        self._link.say(wire.pack(wire.GOES_ON, at=_now()))
        self._leader.send(leader.CONTINUE)

    def _hello(self) -> bytes:
        """How the daemon gets to know us."""
        words = wire.VERSION, self._outer.path, self._inner_path, self._leader_pid, self._pid
        return wire.pack(wire.HELLO, wire.texts(*words, *self._columns_and_rows()), _now())


def _now() -> float:
    """Engine seconds."""
    return time.clock_gettime(CLOCK)


def _events(reads: bool, writes: bool) -> int:
    return (select.POLLIN if reads else 0) | (select.POLLOUT if writes else 0)
