"""The daemon's end of relays' links, played by a test: it hears what a relay tells, or does not listen."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

from tests.support.terminal import DEADLINE
from trayagent.relay import wire

Frames = list[tuple[bytes, bool, float, bytes]]


class FakeDaemon:
    """Listens where the daemon does."""

    def __init__(self, runtime: Path) -> None:
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._place = runtime / "trayagent" / "relay.sock"
        self._place.unlink(missing_ok=True)
        self.listening.bind(str(self._place))
        self.listening.listen(4)
        self.listening.settimeout(DEADLINE)
        self._buffer = bytearray()
        self.heard: socket.socket | None = None

    def accept(self) -> None:
        """The next relay that connects."""
        self.heard, _ = self.listening.accept()
        self.heard.settimeout(DEADLINE)

    def frame(self) -> tuple[bytes, bool, float, bytes] | None:
        """The next frame, None once the relay has gone."""
        assert self.heard is not None
        while (frame := wire.unpack(self._buffer)) is None:
            data = self.heard.recv(4096)
            if not data:
                return None
            self._buffer += data
        return frame

    def frames(self) -> Frames:
        """All frames until the relay has gone."""
        found = []
        while (frame := self.frame()) is not None:
            found.append(frame)
        return found

    def close(self) -> None:
        """End, as a daemon does that is stopped."""
        self._place.unlink()
        self.listening.close()
        if self.heard is not None:
            self.heard.close()


@contextlib.contextmanager
def listening(runtime: Path) -> Iterator[FakeDaemon]:
    daemon = FakeDaemon(runtime)
    try:
        yield daemon
    finally:
        daemon.close()


def output(frames: Frames) -> bytes:
    """What the command wrote, as far as it was told."""
    return b"".join(body for kind, _, _, body in frames if kind == wire.OUTPUT)
