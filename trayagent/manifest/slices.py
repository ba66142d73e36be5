"""Which rows a region takes of a screen: one small function for each slice.

| slice | rows |
| --- | --- |
| whole | all |
| bottom_lines(N) | the last N, blank ones counted |
| bottom_non_empty_lines(N) | from the N-th last non-blank row to the end |
| top_non_empty_lines(N) | from the start through the N-th non-blank row |
| last_non_empty | the last non-blank row |
| after_last_prompt_marker | below the last `›` row |
| last_prompt_marker | that row |
| before_current_prompt_marker | above the current one: below it no row starts with `• ■ ✗ ✓` |
| whole_without_current_prompt_marker | all, nothing if there is a current one |
| current_prompt_block_marker | the last `• ■ ✗ ✓` row above it |
| after_current_prompt_block_marker | from that row (included) to the end |
| prompt_box_body | between the last two borders |
| above_prompt_box | above the second-last border |
| last_non_empty_above_prompt_box | the last non-blank row of that |
| after_last_border | below the last border |


Rows are UTF-8 bytes; what several slices ask of them is found once. Each function
gives (first row, row after the last), or None where its anchor is not on the screen;
what that means is the region's own `missing`.
Names and rules are herdr's; fields of Region carry what other dialects do otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trayagent.manifest.format import Border, Missing, Region

Span = tuple[int, int] | None

_PROMPT = "›".encode()
_PROMPT_TEXT = "› ".encode()
_BLOCK = tuple(mark.encode() for mark in "•■✗✓")
_RULE = "─".encode()
_RULE_3 = _RULE * 3
_BAR_3 = (_RULE_3, "━".encode() * 3)
_CORNERS = tuple(corner.encode() for corner in "╭╰┌└├┏┗┣")
_TEN = 10
_TEN_MARKS = "─-═="
# Where the blanks begin that bytes.strip does not know (U+2000 and its like among others).
_WIDE_BLANKS = (b"\xc2\x85", b"\xc2\xa0", b"\xe1\x9a", b"\xe2\x80", b"\xe2\x81", b"\xe3\x80")


def blank(row: bytes) -> bool:
    """Whether a row holds nothing but white space, Unicode's included."""
    kept = row.lstrip()
    if not kept:
        return True
    return kept.startswith(_WIDE_BLANKS) and not kept.decode("utf-8", "replace").strip()


def _trimmed(row: bytes) -> bytes:
    """Without the white space around it, Unicode's included."""
    kept = row.strip()
    if kept.startswith(_WIDE_BLANKS) or not kept[-1:].isascii():
        return kept.decode("utf-8", "replace").strip().encode()
    return kept


def is_rule(row: bytes) -> bool:
    """herdr's horizontal rule: `─` alone, or at least three of them and anything behind."""
    if _RULE not in row:
        return False
    kept = _trimmed(row)
    if not kept.startswith(_RULE):
        return False
    return kept.startswith(_RULE_3) or not kept.replace(_RULE, b"")


def _is_bar(row: bytes) -> bool:
    kept = _trimmed(row)
    while kept.startswith(_CORNERS):
        kept = kept[3:]
    return kept.startswith(_BAR_3)


def _is_ten(row: bytes) -> bool:
    kept = row.decode("utf-8", "replace").strip()
    return len(kept) >= _TEN and not kept.strip(_TEN_MARKS)


class Rows:
    """The rows of one text, and where in them the blank ones and the borders are."""

    __slots__ = ("_borders", "_filled", "rows")

    def __init__(self, rows: Sequence[bytes]) -> None:
        self.rows = rows
        self._filled: list[int] | None = None
        self._borders: dict[Border, list[int]] = {}

    @property
    def filled(self) -> list[int]:
        """The rows that are not blank."""
        if self._filled is None:
            self._filled = [
                at
                for at, row in enumerate(self.rows)
                if row and (kept := row.lstrip()) and not (kept.startswith(_WIDE_BLANKS) and blank(kept))
            ]
        return self._filled

    def nth_last(self, count: int) -> int:
        """Where the count-th last non-blank row is; 0 when there are fewer."""
        filled = self.filled
        return filled[-count] if len(filled) >= count else 0

    def borders(self, border: Border) -> list[int]:
        """The rows that are a border of this kind."""
        found = self._borders.get(border)
        if found is None:
            mark, is_border = _BORDERS[border]
            found = [at for at, row in enumerate(self.rows) if mark in row and is_border(row)]
            self._borders[border] = found
        return found


# Which bytes a border row holds in any case, and whether a row that holds them is one.
_BORDERS: dict[Border, tuple[bytes, Callable[[bytes], bool]]] = {
    Border.RULE: (_RULE, is_rule),
    Border.BAR: (b"", _is_bar),
    Border.TEN: (b"", _is_ten),
}


# -- the slices --------------------------------------------------------------------------


def _whole(rows: Rows, region: Region) -> Span:
    return 0, len(rows.rows)


def _bottom(rows: Rows, region: Region) -> Span:
    return max(0, len(rows.rows) - region.count), len(rows.rows)


def _bottom_non_empty(rows: Rows, region: Region) -> Span:
    return (rows.nth_last(region.count) if region.count else len(rows.rows)), len(rows.rows)


def _top_non_empty(rows: Rows, region: Region) -> Span:
    filled = rows.filled
    return 0, (filled[region.count - 1] + 1 if len(filled) >= region.count else len(rows.rows))


def _last_non_empty(rows: Rows, region: Region) -> Span:
    filled = rows.filled
    return (filled[-1], filled[-1] + 1) if filled else (0, 0)


def _marked(row: bytes, region: Region) -> bool:
    if region.trimmed and not row.startswith(_PROMPT):
        row = row.decode("utf-8", "replace").lstrip().encode()
    return row.startswith(_PROMPT) and (row.startswith(_PROMPT_TEXT) or row == _PROMPT)


def _last_marker(rows: Rows, region: Region) -> int | None:
    return next((at for at in reversed(rows.filled) if _marked(rows.rows[at], region)), None)


def _current_marker(rows: Rows, region: Region) -> int | None:
    for at in reversed(rows.filled):
        if rows.rows[at].startswith(_BLOCK):
            return None
        if _marked(rows.rows[at], region):
            return at
    return None


def _after_marker(rows: Rows, region: Region) -> Span:
    at = _last_marker(rows, region)
    return None if at is None else (at + 1, len(rows.rows))


def _marker(rows: Rows, region: Region) -> Span:
    at = _last_marker(rows, region)
    return None if at is None else (at, at + 1)


def _before_current(rows: Rows, region: Region) -> Span:
    at = _current_marker(rows, region)
    return None if at is None else (0, at)


def _without_current(rows: Rows, region: Region) -> Span:
    return None if _current_marker(rows, region) is None else (0, 0)


def _block_marker(rows: Rows, region: Region) -> int | None:
    below = _current_marker(rows, region)
    if below is None:
        return None
    return next((at for at in range(below - 1, -1, -1) if rows.rows[at].startswith(_BLOCK)), None)


def _current_block(rows: Rows, region: Region) -> Span:
    at = _block_marker(rows, region)
    return None if at is None else (at, at + 1)


def _after_current_block(rows: Rows, region: Region) -> Span:
    at = _block_marker(rows, region)
    return None if at is None else (at, len(rows.rows))


def _box(rows: Rows, region: Region) -> tuple[int, int] | None:
    """Rows of the last prompt box's upper and lower border."""
    if region.border is Border.CORNERS:
        return _corner_box(rows.rows)
    borders = rows.borders(region.border)
    return (borders[-2], borders[-1]) if len(borders) > 1 else None


def _corner_box(rows: Sequence[bytes]) -> tuple[int, int] | None:
    upper = next((at for at in range(len(rows) - 1, -1, -1) if _CORNERS[0] in rows[at]), None)
    if upper is None:
        return None
    lower = next((at for at in range(upper + 1, len(rows)) if _CORNERS[1] in rows[at]), None)
    return None if lower is None else (upper, lower)


def _box_body(rows: Rows, region: Region) -> Span:
    box = _box(rows, region)
    return None if box is None else (box[0] + 1, box[1])


def _above_box(rows: Rows, region: Region) -> Span:
    box = _box(rows, region)
    return None if box is None else (0, box[0])


def _last_above_box(rows: Rows, region: Region) -> Span:
    box = _box(rows, region)
    if box is None and region.missing is Missing.NO_MATCH:
        return None
    above = [at for at in rows.filled if box is None or at < box[0]]
    return (above[-1], above[-1] + 1) if above else (0, 0)


def _after_border(rows: Rows, region: Region) -> Span:
    borders = rows.borders(region.border)
    return (borders[-1] + 1, len(rows.rows)) if borders else None


SLICES: dict[str, Callable[[Rows, Region], Span]] = {
    "whole": _whole,
    "bottom_lines": _bottom,
    "bottom_non_empty_lines": _bottom_non_empty,
    "top_non_empty_lines": _top_non_empty,
    "last_non_empty": _last_non_empty,
    "after_last_prompt_marker": _after_marker,
    "last_prompt_marker": _marker,
    "before_current_prompt_marker": _before_current,
    "whole_without_current_prompt_marker": _without_current,
    "current_prompt_block_marker": _current_block,
    "after_current_prompt_block_marker": _after_current_block,
    "prompt_box_body": _box_body,
    "above_prompt_box": _above_box,
    "last_non_empty_above_prompt_box": _last_above_box,
    "after_last_border": _after_border,
}
