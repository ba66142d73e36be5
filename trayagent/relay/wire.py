"""What a relay tells the daemon: frames on a stream socket, in one direction only.

A frame is its kind (one byte), a flag, the length of its body, the moment it is about
(CLOCK_BOOTTIME, seconds), and the body. The first one is HELLO. The daemon says nothing, so that a
relay has nothing to wait for and nothing to understand.

| kind | body |
| --- | --- |
| HELLO | texts with NUL between: version, outer and inner tty, pid of the inner's session leader, |
| | pid of the command (0: not started yet), columns, rows |
| SIZE | columns, rows (two texts) |
| OUTPUT | bytes as the command wrote them; the flag says that bytes before these are missing |
| PAUSED | the command was stopped, and the shell has the terminal |
| GOES_ON | it was continued |
| ENDED | exit status, or minus the signal that killed it |
"""

from __future__ import annotations

import struct

VERSION = "1"
HELLO, SIZE, OUTPUT, PAUSED, GOES_ON, ENDED = b"H", b"S", b"O", b"P", b"G", b"E"
KINDS = frozenset((HELLO, SIZE, OUTPUT, PAUSED, GOES_ON, ENDED))
MOST = 16 * 1024  # bytes of a body

_HEAD = struct.Struct("!c?Hd")
HEAD = _HEAD.size


class WireError(ValueError):
    """What came is no frame."""


def pack(kind: bytes, body: bytes = b"", at: float = 0.0, *, lost: bool = False) -> bytes:
    """One frame; body: at most MOST bytes."""
    return _HEAD.pack(kind, lost, len(body), at) + body


def texts(*words: object) -> bytes:
    """A body of texts."""
    return b"\0".join(str(word).encode(errors="surrogateescape") for word in words)


def unpack(buffer: bytearray) -> tuple[bytes, bool, float, bytes] | None:
    """Take the first frame off the buffer: kind, lost, at, body; None if it is not complete yet.

    Raises WireError for what cannot be a frame."""
    if len(buffer) < HEAD:
        return None
    kind, lost, length, at = _HEAD.unpack_from(buffer)
    if kind not in KINDS or length > MOST or not 0 <= at < 1e10:  # also false for NaN
        raise WireError("no frame begins here")
    if len(buffer) < HEAD + length:
        return None
    body = bytes(memoryview(buffer)[HEAD : HEAD + length])
    del buffer[: HEAD + length]
    return kind, lost, at, body
