"""Slices of a screen, computed when a rule first asks for them and once a look.

A `View` is one look: the screen as rows of UTF-8 bytes, at most 64 rows of 1000
characters, counted from the bottom. A region is a contiguous run of those rows; a
`Slice` is its text, with the copies that matching needs (lower-cased, wraps folded),
each made at its first use.
"""

from __future__ import annotations

from collections.abc import Sequence

from trayagent.manifest.format import Missing, Region, Source
from trayagent.manifest.slices import SLICES, Rows, blank
from trayagent.model.panes import Screen

MAX_ROWS = 64
MAX_COLUMNS = 1000

_BARE = "│ \t"
_WITH_PERCENT = ("1", "2", "4")
_ODD = ("\u212a", "\u0130", "\u017f")


class Slice:
    """The text of one region at one look, and the copies of it that matching needs.

    matches is False where the rule cannot match at all. odd_case: the screen holds the
    Kelvin sign, the dotted capital I or the long s, which fold into ASCII. Without them
    bytes.lower, a hundred times faster than str.lower, is exact for ASCII needles,
    and literals can be trusted. parts: the slices of the region's parts.
    """

    __slots__ = ("_data", "_lowered", "_lowered_text", "_unwrapped", "matches", "odd_case", "parts", "rows")

    def __init__(
        self,
        rows: Sequence[bytes],
        odd_case: bool = False,
        matches: bool = True,
        parts: Sequence[Slice] = (),
    ) -> None:
        self.rows = rows
        self.parts = parts
        self.odd_case = odd_case
        self.matches = matches
        self._data: bytes | None = None
        self._lowered: bytes | None = None
        self._lowered_text: str | None = None
        self._unwrapped: dict[str, bytes] = {}

    @property
    def data(self) -> bytes:
        """The rows joined by newlines."""
        if self._data is None:
            self._data = b"\n".join(self.rows)
        return self._data

    @property
    def text(self) -> str:
        """The same as text."""
        return self.data.decode("utf-8", "replace")

    @property
    def lowered(self) -> bytes:
        """Lower-cased, exact for ASCII needles."""
        if self._lowered is None:
            self._lowered = self.lowered_text.encode() if self.odd_case else self.data.lower()
        return self._lowered

    @property
    def lowered_text(self) -> str:
        """Lower-cased by Unicode's rules, for needles that are not ASCII."""
        if self._lowered_text is None:
            self._lowered_text = self.text.lower()
        return self._lowered_text

    def unwrapped(self, copy: str) -> bytes:
        """A copy (`data`, `lowered` or `lowered_text`) in which a row's end and the next row's
        indentation read as one space; blank rows part paragraphs."""
        found = self._unwrapped.get(copy)
        if found is None:
            text = getattr(self, copy)
            rows = (text.encode() if isinstance(text, str) else text).split(b"\n")
            found = self._unwrapped[copy] = unwrap(rows)
        return found


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

    __slots__ = ("_rows", "_slices", "lowered", "odd_case", "screen")

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self._slices: dict[int, tuple[Region, Slice]] = {}
        self._rows: dict[str, Rows] = {}
        self.odd_case = any(char in text for text in (screen.text, screen.title) for char in _ODD)
        whole = b"\n".join(self._source(Source.SCREEN).rows)
        # The whole screen in lower case, for literals; None where they prove nothing.
        self.lowered = None if self.odd_case else whole.lower()

    def slice(self, region: Region) -> Slice:
        """The region's text; the same object for the same Region."""
        found = self._slices.get(id(region))
        if found is None:
            # The region is kept too, so that no other one can come to have its id.
            found = self._slices[id(region)] = (region, self._cut(region))
        return found[1]

    def _cut(self, region: Region) -> Slice:
        rows = self._source(region.source)
        if region.window or region.tail:
            rows = self._tail(rows, region)
        span = SLICES[region.name](rows, region)
        if span is None:
            if region.missing is Missing.NO_MATCH:
                return NO_MATCH
            if region.missing is Missing.EMPTY:
                return EMPTY
            span = (0, len(rows.rows))
        cut = rows.rows[span[0] : span[1]]
        if not region.blanks:
            cut = [row for row in cut if not blank(row)]
        if region.bare:
            cut = [row.decode("utf-8", "replace").strip(_BARE).encode() for row in cut]
        return Slice(cut, self.odd_case, parts=[self.slice(part) for part in region.parts])

    def _source(self, source: Source) -> Rows:
        key = source._value_  # hashing the member itself costs ten times as much
        rows = self._rows.get(key)
        if rows is None:
            rows = self._rows[key] = Rows(_cut_to_size(_text_of(self.screen, source)))
        return rows

    def _tail(self, rows: Rows, region: Region) -> Rows:
        if region.window:
            rows = Rows(rows.rows[-region.window :])
        if region.tail:
            rows = Rows(rows.rows[rows.nth_last(region.tail) :])
        return rows


def _text_of(screen: Screen, source: Source) -> str:
    if source is Source.TITLE:
        return screen.title
    if source is Source.PROGRESS:
        return screen.progress
    if source is Source.PERCENT or source is Source.CODE:
        return _progress(screen.progress, percent=source is Source.PERCENT)
    if source is Source.JOINED and screen.joined is not None:
        return screen.joined
    return screen.text


def _progress(payload: str, *, percent: bool) -> str:
    """OSC 9;4 as the dialects write it: the state, and on demand the percentage where there is one."""
    fields = payload.split(";")
    if len(fields) < 2 or fields[0] != "4":
        return payload
    state, rest = fields[1], fields[2] if len(fields) > 2 else ""
    told = percent and state in _WITH_PERCENT and rest.isdigit()
    return f"4;{state};{rest}" if told else f"4;{state}"


def _cut_to_size(text: str) -> list[bytes]:
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
