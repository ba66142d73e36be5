"""The inner terminal's session: its leader, which starts the command and tells what becomes of it.

The relay stays in the shell's session, so the inner terminal needs a leader of its own; and
the command must not be it: a group whose parents are all outside of its session is orphaned, and
the kernel does not stop orphaned groups (^Z; setpgid(2)). So there is one process between,
forked from the relay, that does nothing but wait.

It tells over a pair of pipes: RUNS and the command's pid, STOPPED and the signal, ENDED and the wait
status. It is told CONTINUE. When the relay's end closes before the command ended, the relay was
killed: the outer terminal is then given back from here, unless somebody has set its modes since.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import sys
import termios
import time

from trayagent.relay import launch
from trayagent.relay.outer import Outer, raw, set_modes

RUNS, STOPPED, ENDED = b"R", b"S", b"E"
CONTINUE = b"C"
NEWS = struct.Struct("=ci")
CAUGHT = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP, signal.SIGCHLD)
GRACE = 0.05  # seconds for a shell to take its terminal back, before that is done for a killed relay


class Channel:
    """One end of a pair of pipes (a socket's library would cost a tenth of the start)."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading, self.writing = reading, writing

    @classmethod
    def pair(cls) -> tuple[Channel, Channel]:
        """Two ends of one channel."""
        (first, to_first), (second, to_second) = os.pipe(), os.pipe()
        return cls(first, to_second), cls(second, to_first)

    def close(self) -> None:
        """Close this end."""
        os.close(self.reading)
        os.close(self.writing)

    def send(self, data: bytes) -> None:
        """Say something short; nobody may be listening any more, which is found out by reading."""
        try:
            os.write(self.writing, data)
        except BrokenPipeError:
            return

    def receive(self) -> bytes:
        """What was said; b"" once the other end is closed."""
        return os.read(self.reading, 64 * NEWS.size)


def start(command: list[str], inner: int, outer: Outer, streams: list[int]) -> tuple[int, Channel]:
    """Start the session of the terminal `inner` (its slave) and the command in it.

    streams: which of the descriptors 0 to 2 are to be that terminal. Returns the leader's pid
    and where it tells. Raises OSError when no process can be had."""
    mine, theirs = Channel.pair()
    pid = os.fork()
    if pid:
        theirs.close()
        return pid, mine
    status = 1
    try:
        mine.close()
        Leader(theirs, inner, outer).live(command, streams)
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(status)


class Leader:
    """The forked process."""

    def __init__(self, relay: Channel, inner: int, outer: Outer) -> None:
        self._relay, self._inner, self._outer = relay, inner, outer
        self._pid = 0
        self._stopped = False

    def live(self, command: list[str], streams: list[int]) -> None:
        """Start the command and stay until it ends."""
        os.setsid()
        fcntl.ioctl(self._inner, termios.TIOCSCTTY, 0)
        os.environ[launch.MARK] = f"{os.ttyname(self._inner)}:{os.getpid()}"
        signals = launch.wakeup()
        launch.handle(CAUGHT)
        self._pid = os.fork()
        if self._pid == 0:
            _become(command, self._inner, streams)
        in_front(self._inner, self._pid)
        self._tell(RUNS, self._pid)
        poller = select.poll()
        poller.register(signals, select.POLLIN)
        poller.register(self._relay.reading, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poller.poll()}
            if signals in ready:
                if signal.SIGHUP in launch.caught(signals):  # the inner terminal is gone
                    launch.signal_group(self._pid, signal.SIGHUP)
                if self._ended():
                    return
            if self._relay.reading in ready and not self._listen():
                poller.unregister(self._relay.reading)
                self._relay_died()

    def _ended(self) -> bool:
        """Tell what the command did; whether it ended."""
        while True:
            pid, status = os.waitpid(self._pid, os.WNOHANG | os.WUNTRACED)
            if pid == 0:
                return False
            if not os.WIFSTOPPED(status):
                self._tell(ENDED, status)
                return True
            self._stopped = True
            self._tell(STOPPED, os.WSTOPSIG(status))

    def _listen(self) -> bool:
        """Do what the relay says; False when it is gone."""
        said = self._relay.receive()
        if CONTINUE in said:
            self._stopped = False
            in_front(self._inner, self._pid)
            launch.signal_group(self._pid, signal.SIGCONT)
        return bool(said)

    def _tell(self, what: bytes, number: int) -> None:
        self._relay.send(NEWS.pack(what, number))

    def _relay_died(self) -> None:
        """End the command as a closed terminal would, and give the outer terminal back."""
        launch.signal_group(self._pid, signal.SIGHUP)
        launch.signal_group(self._pid, signal.SIGCONT)
        if self._stopped:
            return
        time.sleep(GRACE)
        try:
            now = termios.tcgetattr(self._outer.descriptor)
        except termios.error:  # it hung up
            return
        if now == raw(self._outer.modes):
            set_modes(self._outer.descriptor, self._outer.modes)


def _become(command: list[str], inner: int, streams: list[int]) -> None:
    """Be the command; never returns."""
    try:
        signal.set_wakeup_fd(-1)
        in_front(inner, os.getpid())
        for number in streams:
            os.dup2(inner, number)
        launch.run(command)
    finally:
        os._exit(launch.NOT_RUN)


def in_front(inner: int, group: int) -> None:
    """Make the process a group of its own, in front of the terminal. Parent and child both do it, so
    that it is done for whoever comes first; a caller in the background is not stopped for it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTTOU,))
    try:
        os.setpgid(group, group)
    except OSError:  # the command runs already, or has ended
        pass
    try:
        os.tcsetpgrp(inner, group)
    except OSError:  # it has ended
        pass
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTTOU,))
