"""Slices of a screen, computed when a rule first asks for them and once a look.

A `View` is one look: the screen as rows of UTF-8 bytes, at most 64 rows of 1000
characters, counted from the bottom. A region is a contiguous run of those rows; a
`Slice` is its text, with the copies that matching needs (lower-cased, wraps folded),
each made at its first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from trayagent.manifest.format import Missing, Region, Source
from trayagent.manifest.slices import SLICES, blank, nth_last
from trayagent.model.panes import Screen

MAX_ROWS = 64
MAX_COLUMNS = 1000

_BARE = "│ \t"


class Slice:
    """The text of one region at one look. matches is False where the rule cannot match at all."""

    __slots__ = ("__dict__", "matches", "rows")

    def __init__(self, rows: Sequence[bytes], matches: bool = True) -> None:
        self.rows = rows
        self.matches = matches

    @cached_property
    def data(self) -> bytes:
        """The rows joined by newlines."""
        return b"\n".join(self.rows)

    @cached_property
    def text(self) -> str:
        """The same as text."""
        return self.data.decode("utf-8", "replace")

    @cached_property
    def lowered(self) -> bytes:
        """Lower-cased by Unicode's rules.

        bytes.lower does ASCII and is a hundred times faster than str.lower; it suffices
        for ASCII needles, as only two other characters become ASCII when lower-cased.
        """
        return self.text.lower().encode() if self._odd_case else self.data.lower()

    @cached_property
    def lowered_text(self) -> str:
        """Lower-cased by Unicode's rules, for needles that are not ASCII."""
        return self.text.lower()

    @cached_property
    def _odd_case(self) -> bool:
        return "\u212a".encode() in self.data or "\u0130".encode() in self.data

    @cached_property
    def unwrapped(self) -> bytes:
        """A row's end and the next row's indentation read as one space; blank rows part paragraphs."""
        return unwrap(self.rows)

    @cached_property
    def unwrapped_lowered(self) -> bytes:
        """The same of the lower-cased text (ASCII needles)."""
        return unwrap(self.lowered.split(b"\n"))

    @cached_property
    def unwrapped_lowered_text(self) -> str:
        """The same of the lower-cased text."""
        return unwrap(self.lowered_text.encode().split(b"\n")).decode()


EMPTY = Slice(())
NO_MATCH = Slice((), matches=False)


def unwrap(rows: Sequence[bytes]) -> bytes:
    """Join rows that a narrow pane may have parted: newline and indentation become one space."""
    out: list[bytes] = []
    open_row = False
    for row in rows:
        content = row.strip(b" \t")
        if blank(content):
            out.append(b"\n")
            open_row = False
        else:
            out.append(b" " + content if open_row else content)
            open_row = True
    return b"".join(out)


class View:
    """One look at one screen. Slices are kept by the identity of their Region objects."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self._slices: dict[int, Slice] = {}
        self._rows: dict[Source, Sequence[bytes]] = {}

    def slice(self, region: Region) -> Slice:
        """The region's text; the same object for the same Region."""
        found = self._slices.get(id(region))
        if found is None:
            found = self._slices[id(region)] = self._cut(region)
        return found

    def _cut(self, region: Region) -> Slice:
        rows = self._tail(self._source(region.source), region)
        span = SLICES[region.name](rows, region)
        if span is None:
            if region.missing is Missing.NO_MATCH:
                return NO_MATCH
            if region.missing is Missing.EMPTY:
                return EMPTY
            span = (0, len(rows))
        cut = rows[span[0] : span[1]]
        if not region.blanks:
            cut = [row for row in cut if not blank(row)]
        if region.bare:
            cut = [row.decode("utf-8", "replace").strip(_BARE).encode() for row in cut]
        return Slice(cut)

    def _source(self, source: Source) -> Sequence[bytes]:
        rows = self._rows.get(source)
        if rows is None:
            rows = self._rows[source] = _rows_of(self.screen, source)
        return rows

    def _tail(self, rows: Sequence[bytes], region: Region) -> Sequence[bytes]:
        if region.window:
            rows = rows[-region.window :]
        if region.tail:
            rows = rows[nth_last(rows, region.tail) :]
        return rows


def _rows_of(screen: Screen, source: Source) -> list[bytes]:
    if source is Source.TITLE:
        text = screen.title
    elif source is Source.PROGRESS:
        text = screen.progress
    elif source is Source.JOINED and screen.joined is not None:
        text = screen.joined
    else:
        text = screen.text
    rows = text.encode("utf-8", "replace").split(b"\n")
    if not rows[-1]:
        rows.pop()
    if len(rows) > MAX_ROWS:
        rows = rows[-MAX_ROWS:]
    if len(text) > MAX_COLUMNS:
        rows = [row if len(row) <= MAX_COLUMNS else _narrowed(row) for row in rows]
    return rows


def _narrowed(row: bytes) -> bytes:
    return row.decode("utf-8", "replace")[:MAX_COLUMNS].encode()
