"""The way to the daemon: never waited for, dropped when it fails, taken up again quietly.

The relay's loop asks `wants` what to poll for, and calls `write` when that comes true. What is
told is always read from the Tail, so that nothing but one unfinished frame is ever kept here.
The daemon must be of our user, in a folder that nobody else can write to (`ipc.folder`).
"""

from __future__ import annotations

import os

from trayagent.relay import wire
from trayagent.relay.tail import Tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

AGAIN_ACTIVE = 1.0  # seconds between two attempts while the command writes
AGAIN_IDLE = 2.0  # and while it does not
BUFFER = 32 * 1024  # bytes in the kernel; more would only be older


class Link:
    """One relay's link. hello: the first frame, made anew for each connection."""

    def __init__(self, tail: Tail, hello: Callable[[], bytes]) -> None:
        self._tail, self._hello = tail, hello
        self._socket: socket.socket | None = None
        self._rest = b""
        self._told = 0
        self._tried = float("-inf")

    def fileno(self) -> int:
        """The socket's descriptor, -1 while there is none."""
        return -1 if self._socket is None else self._socket.fileno()

    @property
    def waiting(self) -> bool:
        """Whether something is left to be told."""
        return self._socket is not None and (bool(self._rest) or self._told < self._tail.end)

    def again_in(self, now: float) -> float | None:
        """Seconds until an attempt is due without anything being written; None while connected."""
        return None if self._socket is not None else max(0.0, self._tried + AGAIN_IDLE - now)

    def reach(self, now: float) -> bool:
        """Connect, if it is time for that; whether that was done."""
        if self._socket is not None or now - self._tried < AGAIN_ACTIVE:
            return False
        self._tried = now
        self._socket = _connected()
        self._rest, self._told = self._hello(), 0
        return self._socket is not None

    def say(self, frame: bytes) -> None:
        """Tell something that is not output; after what has been told so far."""
        self.write()
        if self._socket is not None and len(self._rest) < 2 * wire.MOST:
            self._rest += frame
            self.write()

    def write(self) -> None:
        """Tell as much as goes."""
        while self._socket is not None:
            if not self._rest and not self._next():
                return
            try:
                sent = self._socket.send(self._rest)
            except BlockingIOError:
                return
            except OSError:  # the daemon has gone
                self.drop()
                return
            self._rest = self._rest[sent:]

    def _next(self) -> bool:
        found = self._tail.after(self._told, wire.MOST)
        if found is None:
            return False
        at, data = found
        start = max(self._told, self._tail.start)
        self._rest = wire.pack(wire.OUTPUT, data, at, lost=start > self._told)
        self._told = start + len(data)
        return True

    def drop(self) -> None:
        """Hang up."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _connected() -> socket.socket | None:
    """A connection to this user's daemon, None if there is no such daemon."""
    import socket  # late: the command runs by now, and nobody waits for it

    from trayagent.ipc import folder

    place = folder.runtime_path(os.environ)
    try:
        descriptor = folder.open_trusted(place, create=False)
    except folder.FolderError:
        return None
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        made.connect(folder.address(place, descriptor, folder.RELAYS))
        if folder.credentials(made)[1] == os.geteuid():
            return made
    except OSError:  # nobody listens, or too many wait to be heard
        pass
    finally:
        os.close(descriptor)
    made.close()
    return None
