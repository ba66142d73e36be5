"""Cuts OSC sequences out of a stream of bytes that is split anywhere (ECMA-48).

A sequence begins with `ESC ]` or the C1 byte 9d and ends with BEL, `ESC \\` or the C1 byte 9c.
CAN, SUB and any other escape cancel it. C1 bytes are also continuation bytes of UTF-8 ("✳" has
a 9c, "”" a 9d): in the middle of a character they are text. What tmux is asked to pass through
(`ESC P tmux; … ESC \\`, each ESC doubled) is unwrapped. `ESC c`, the reset, is reported as RIS.

Nearly all bytes are text and are skipped by one search; only what may be a sequence is looked
at. What is too long is read to its end and dropped, so that memory is bounded.
"""

from __future__ import annotations

import re

RIS = b"\x1bc"
LIMIT = 8192  # bytes of one body; the longest that is understood is 4096 and its number
WRAPPED = 4 * LIMIT
DEPTH = 2  # tmux in tmux

_ESC = 0x1B
_OSC, _DCS = "osc", "dcs"
_OPENERS = {0x5D: _OSC, 0x50: _DCS, 0x9D: _OSC, 0x90: _DCS}
_BEGINS = re.compile(rb"[\x1b\x90\x9d]")
_ENDS = re.compile(rb"[\x07\x18\x1a\x1b\x9c]")
_TMUX = b"tmux;"


class Scanner:
    """Of one stream. `feed` returns the bodies of the sequences that its bytes complete, and RIS."""

    def __init__(self, depth: int = DEPTH) -> None:
        self._depth = depth
        self.reset()

    def reset(self) -> None:
        """Forget what has begun: bytes are missing from here on."""
        self._kind = ""  # of the sequence that is open
        self._escape = False  # the last byte was an ESC
        self._body = bytearray()
        self._too_long = False
        self._tail = b""  # of the text, as much as a character may have before a C1 byte

    def feed(self, data: bytes) -> list[bytes]:
        """Take the stream's next bytes."""
        found: list[bytes] = []
        at = 0
        while at < len(data):
            at = self._inside(data, at, found) if self._kind else self._text(data, at, found)
        return found

    def _text(self, data: bytes, at: int, found: list[bytes]) -> int:
        """Go on outside of sequences; returns where in the data."""
        if self._escape:
            byte = data[at]
            self._escape = byte == _ESC
            if byte in (0x5D, 0x50):
                self._open(_OPENERS[byte])
            elif byte == RIS[1]:
                found.append(RIS)
            elif byte != _ESC:
                return self._skip(data, at)
            return at + 1
        return self._skip(data, at)

    def _skip(self, data: bytes, at: int) -> int:
        begin = at
        while (match := _BEGINS.search(data, at)) is not None:
            at = match.end()
            if data[match.start()] == _ESC:
                self._escape, self._tail = True, b""
                return at
            if not _in_character(self._tail + data[max(begin, at - 4) : at - 1]):
                self._open(_OPENERS[data[at - 1]])
                return at
        self._tail = (self._tail + data[max(begin, len(data) - 3) :])[-3:]
        return len(data)

    def _open(self, kind: str) -> None:
        self._kind, self._escape, self._too_long, self._tail = kind, False, False, b""
        self._body.clear()

    def _close(self) -> None:
        self._kind = ""
        self._body.clear()

    def _inside(self, data: bytes, at: int, found: list[bytes]) -> int:
        """Go on in a sequence; returns where in the data."""
        if self._escape:
            return self._escaped(data, at, found)
        match = _ENDS.search(data, at)
        end = len(data) if match is None else match.start()
        self._keep(data[at:end])
        if match is None:
            return end
        byte = data[end]
        if byte == _ESC:
            self._escape = True
        elif byte in (0x18, 0x1A):
            self._close()
        elif (byte == 0x07 and self._kind == _OSC) or (byte == 0x9C and not _in_character(self._body[-3:])):
            self._finish(found)
        else:
            self._keep(data[end : end + 1])
        return end + 1

    def _escaped(self, data: bytes, at: int, found: list[bytes]) -> int:
        byte = data[at]
        if byte == 0x5C:
            self._escape = False
            self._finish(found)
        elif byte == _ESC and self._kind == _DCS:
            self._escape = False
            self._keep(data[at : at + 1])
        else:
            self._close()  # the ESC begins something else
            return at
        return at + 1

    def _keep(self, part: bytes) -> None:
        limit = WRAPPED if self._kind == _DCS else LIMIT
        self._body += part
        if len(self._body) > limit:
            self._too_long = True
        if self._too_long:
            del self._body[:-3]

    def _finish(self, found: list[bytes]) -> None:
        body = bytes(self._body)
        whole, wrapped = not self._too_long, self._kind == _DCS
        self._close()
        if whole and not wrapped:
            found.append(body)
        elif whole and body.startswith(_TMUX) and self._depth > 0:
            found += Scanner(self._depth - 1).feed(body[len(_TMUX) :])


def _in_character(before: bytes | bytearray) -> bool:
    """Whether a byte of 80 to bf that follows these goes on with a UTF-8 character."""
    for back, byte in enumerate(reversed(before[-3:]), 1):
        if not 0x80 <= byte <= 0xBF:
            return 0xC2 <= byte <= 0xF4 and back <= (1 if byte < 0xE0 else 2 if byte < 0xF0 else 3)
    return False
