"""One direction of bytes: read while there is room, written at once, never kept without bound."""

from __future__ import annotations

import os

PIECE = 16 * 1024  # bytes of one read
ROOM = 64 * 1024  # bytes that may wait for the other side


class Flow:
    """From one descriptor to another, neither of which is waited for.

    ended: the source will give nothing more. broken: the sink takes nothing more; what still comes
    is thrown away, as a terminal that hung up does."""

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._waiting = bytearray()
        self.ended = self.broken = False

    @property
    def has_room(self) -> bool:
        """Whether more may be read."""
        return not self.ended and len(self._waiting) < ROOM

    @property
    def waiting(self) -> bool:
        """Whether something is still to be written."""
        return bool(self._waiting)

    def read(self) -> bytes:
        """What the source has; b"" for nothing now, or nothing ever (ended)."""
        try:
            data = os.read(self._source, PIECE)
        except BlockingIOError:
            return b""
        except OSError:  # EIO: the other side of the terminal is closed
            data = b""
        self.ended = not data
        return data

    def write(self, data: bytes = b"") -> None:
        """Write what waits and then `data`, as far as the sink takes it."""
        if self._waiting:
            self._waiting += data
            data = bytes(memoryview(self._waiting)[:ROOM])
            del self._waiting[: self._written(data)]
        elif data:
            self._waiting += data[self._written(data) :]

    def _written(self, data: bytes) -> int:
        """How many bytes of `data` went through."""
        done = 0
        while done < len(data) and not self.broken:
            try:
                done += os.write(self._sink, data[done:] if done else data)
            except BlockingIOError:
                return done
            except OSError:
                self.broken = True
        return len(data)
