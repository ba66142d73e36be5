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


Rows are UTF-8 bytes. Each function gives (first row, row after the last), or None
where its anchor is not on the screen; what that means is the region's own `missing`.
Names and rules are herdr's; fields of Region carry what other dialects do otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trayagent.manifest.format import Border, Missing, Region

Span = tuple[int, int] | None
Rows = Sequence[bytes]

_PROMPT = "›".encode()
_PROMPT_TEXT = "› ".encode()
_BLOCK = tuple(mark.encode() for mark in "•■✗✓")
_RULE = "─".encode()
_RULE_3 = _RULE * 3
_BAR_3 = (_RULE_3, "━".encode() * 3)
_CORNERS = tuple(corner.encode() for corner in "╭╰┌└├┏┗┣")
_TEN = 10
_TEN_MARKS = "─-═="
_WIDE_SPACE_LEADS = (0xC2, 0xE1, 0xE2, 0xE3)  # first bytes of the blanks that bytes.strip does not know


def blank(row: bytes) -> bool:
    """Whether a row holds nothing but white space, Unicode's included."""
    kept = row.strip()
    if not kept:
        return True
    return kept[0] in _WIDE_SPACE_LEADS and not kept.decode("utf-8", "replace").strip()


def is_rule(row: bytes) -> bool:
    """herdr's horizontal rule: `─` alone, or at least three of them and anything behind."""
    kept = row.strip()
    if not kept.startswith(_RULE):
        return False
    return kept.startswith(_RULE_3) or not kept.replace(_RULE, b"")


def _is_bar(row: bytes) -> bool:
    kept = row.strip()
    while kept.startswith(_CORNERS):
        kept = kept[3:]
    return kept.startswith(_BAR_3)


def _is_ten(row: bytes) -> bool:
    kept = row.decode("utf-8", "replace").strip()
    return len(kept) >= _TEN and not kept.strip(_TEN_MARKS)


_IS_BORDER: dict[Border, Callable[[bytes], bool]] = {
    Border.RULE: is_rule,
    Border.BAR: _is_bar,
    Border.TEN: _is_ten,
}


# -- the slices --------------------------------------------------------------------------


def nth_last(rows: Rows, count: int) -> int:
    """Where the count-th last non-blank row is; 0 when there are fewer."""
    for at in range(len(rows) - 1, -1, -1):
        if not blank(rows[at]):
            count -= 1
            if count == 0:
                return at
    return 0


def _whole(rows: Rows, region: Region) -> Span:
    return 0, len(rows)


def _bottom(rows: Rows, region: Region) -> Span:
    return max(0, len(rows) - region.count), len(rows)


def _bottom_non_empty(rows: Rows, region: Region) -> Span:
    return (nth_last(rows, region.count) if region.count else len(rows)), len(rows)


def _top_non_empty(rows: Rows, region: Region) -> Span:
    left = region.count
    for at, row in enumerate(rows):
        if not blank(row):
            left -= 1
            if left == 0:
                return 0, at + 1
    return 0, len(rows)


def _last_non_empty(rows: Rows, region: Region) -> Span:
    for at in range(len(rows) - 1, -1, -1):
        if not blank(rows[at]):
            return at, at + 1
    return 0, 0


def _marked(row: bytes, region: Region) -> bool:
    if region.trimmed:
        row = row.lstrip()
    return row.startswith(_PROMPT) and (row.startswith(_PROMPT_TEXT) or row == _PROMPT)


def _last_marker(rows: Rows, region: Region) -> int | None:
    return next((at for at in range(len(rows) - 1, -1, -1) if _marked(rows[at], region)), None)


def _current_marker(rows: Rows, region: Region) -> int | None:
    for at in range(len(rows) - 1, -1, -1):
        if rows[at].startswith(_BLOCK):
            return None
        if _marked(rows[at], region):
            return at
    return None


def _after_marker(rows: Rows, region: Region) -> Span:
    at = _last_marker(rows, region)
    return None if at is None else (at + 1, len(rows))


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
    return next((at for at in range(below - 1, -1, -1) if rows[at].startswith(_BLOCK)), None)


def _current_block(rows: Rows, region: Region) -> Span:
    at = _block_marker(rows, region)
    return None if at is None else (at, at + 1)


def _after_current_block(rows: Rows, region: Region) -> Span:
    at = _block_marker(rows, region)
    return None if at is None else (at, len(rows))


def _box(rows: Rows, region: Region) -> tuple[int, int] | None:
    """Rows of the last prompt box's upper and lower border."""
    if region.border is Border.CORNERS:
        return _corner_box(rows)
    is_border = _IS_BORDER[region.border]
    lower = None
    for at in range(len(rows) - 1, -1, -1):
        if is_border(rows[at]):
            if lower is not None:
                return at, lower
            lower = at
    return None


def _corner_box(rows: Rows) -> tuple[int, int] | None:
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
    if box is not None:
        return _last_non_empty(rows[: box[0]], region)
    return None if region.missing is Missing.NO_MATCH else _last_non_empty(rows, region)


def _after_border(rows: Rows, region: Region) -> Span:
    is_border = _IS_BORDER[region.border]
    for at in range(len(rows) - 1, -1, -1):
        if is_border(rows[at]):
            return at + 1, len(rows)
    return None


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
