r"""Walks over the source of a pattern, sign by sign, for literals.py.

Knows only where things end: groups, classes, escapes, repeats. What it does not
understand it reports as unknown; whether a pattern is legal is the engine's affair.
"""

from __future__ import annotations

_HEX_WIDTH = {"x": 2, "u": 4, "U": 8}
_FLAGS = frozenset("imsUuxR-")


class Reader:
    """A position in a pattern."""

    __slots__ = ("_at", "_source")

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    @property
    def left(self) -> bool:
        """Whether anything is left to read."""
        return self._at < len(self._source)

    @property
    def peek(self) -> str:
        """The next sign, "" at the end."""
        return self._source[self._at : self._at + 1]

    def next(self) -> str:
        """Take the next sign, "" at the end."""
        char = self.peek
        self._at += 1
        return char

    def take(self, sign: str) -> bool:
        """Take the next sign if it is this one."""
        if self.peek != sign:
            return False
        self._at += 1
        return True

    def repeat(self) -> int | None:
        """Take what repeats the piece before; the least number of times, None if nothing does."""
        least = {"*": 0, "?": 0, "+": 1}.get(self.peek)
        if least is not None:
            self._at += 1
        elif self.peek == "{":
            end = self._source.find("}", self._at)
            if end < 0:
                return None
            digits = self._source[self._at + 1 : end].split(",")[0]
            least = int(digits) if digits.isascii() and digits.isdigit() else 0
            self._at = end + 1
        else:
            return None
        self.take("?")
        return least

    def open_group(self) -> tuple[str | None, bool]:
        """Take a group's opening: its flags (None if it has none), and whether it was flags alone."""
        self._at += 1
        if not self.take("?"):
            return None, False
        if self.peek in ("P", "<"):
            end = self._source.find(">", self._at)
            self._at = len(self._source) if end < 0 else end + 1
            return None, False
        start = self._at
        while self.peek and self.peek in _FLAGS:
            self._at += 1
        flags = self._source[start : self._at]
        closing = self.next()
        return flags, closing == ")"

    def rest_of_class(self) -> frozenset[str] | None:
        """Take the rest of a class; its characters, None where it holds more than plain ones."""
        plain = not self.take("^")
        members: set[str] = set()
        first = True
        while self.left and (first or self.peek != "]"):
            first = False
            char = self.next()
            if char == "[" and self.peek == ":":
                end = self._source.find(":]", self._at)
                self._at = len(self._source) if end < 0 else end + 2
                plain = False
            elif char == "\\":
                letter = self.next()
                plain = plain and bool(letter) and not letter.isalnum()
                self.rest_of_escape(letter)
                members.add(letter)
            elif char == "-" and members and self.peek not in ("]", ""):
                plain = False
            else:
                members.add(char)
        self.take("]")
        return frozenset(members) if plain else None

    def rest_of_escape(self, letter: str) -> None:
        """Take what belongs to an escape behind its letter."""
        if letter not in _HEX_WIDTH and letter not in ("p", "P"):
            return
        if self.peek == "{":
            end = self._source.find("}", self._at)
            self._at = len(self._source) if end < 0 else end + 1
        else:
            self._at += _HEX_WIDTH.get(letter, 1)
