"""The last of what the command wrote, with its times: all that the daemon can still be told.

One bounded memory serves a daemon that is slow, hung, gone or not there yet: who reads too late
finds the oldest bytes gone, and is told so. The newest are kept, because they say how things are now.
"""

from __future__ import annotations

from collections import deque

LIMIT = 64 * 1024  # bytes
PARTS = 512  # pieces with times of their own
JOIN_WITHIN = 0.05  # seconds; what follows so closely shares the time of the piece before
JOIN_UP_TO = 1024


class Tail:
    """Bytes by their offset in all that was ever written. end: the offset after the last."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._pieces: deque[tuple[float, bytes]] = deque()
        self._size = 0
        self.end = 0

    @property
    def start(self) -> int:
        """The offset of the oldest byte that is kept."""
        return self.end - self._size

    def add(self, at: float, data: bytes) -> None:
        """Keep `data`, written at engine seconds `at`; the oldest go."""
        self.end += len(data)
        data = data[-self._limit :]
        self._size += len(data)
        if self._pieces and len(data) <= JOIN_UP_TO:
            last_at, last = self._pieces[-1]
            if at - last_at < JOIN_WITHIN and len(last) <= JOIN_UP_TO:
                self._pieces[-1] = last_at, last + data
                data = b""
        if data:
            self._pieces.append((at, data))
        while self._size > self._limit or len(self._pieces) > PARTS:
            _, gone = self._pieces.popleft()
            self._size -= len(gone)

    def after(self, offset: int, most: int) -> tuple[float, bytes] | None:
        """At most `most` bytes from `offset` on (or from the start, if that is later), of one time."""
        offset = max(offset, self.start)
        at = self.end
        for time, data in reversed(self._pieces):
            at -= len(data)
            if at <= offset:
                found = data[offset - at : offset - at + most]
                return (time, found) if found else None
        return None
