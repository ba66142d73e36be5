"""The regions and gates once more, written for reading: what the properties hold the engine to.

Rows are text, nothing is remembered, nothing is skipped. Slow, and as short as the formats' descriptions.
"""

from __future__ import annotations

from collections.abc import Callable

BLOCK = "•■✗✓"


def is_marker(row: str) -> bool:
    return row == "›" or row.startswith("› ")


def is_rule(row: str) -> bool:
    kept = row.strip()
    return kept.startswith("───") or (kept != "" and set(kept) == {"─"})


def is_bar(row: str) -> bool:
    return row.strip().lstrip("╭╰┌└├┏┗┣").startswith(("───", "━━━"))


def is_ten(row: str) -> bool:
    kept = row.strip()
    return len(kept) >= 10 and set(kept) <= set("─-═=")


def filled(rows: list[str]) -> list[int]:
    return [at for at, row in enumerate(rows) if row.strip()]


def last(rows: list[str], holds: Callable[[str], bool]) -> int | None:
    found = [at for at, row in enumerate(rows) if holds(row)]
    return found[-1] if found else None


def current(rows: list[str]) -> int | None:
    at = last(rows, is_marker)
    if at is None or any(row.startswith(tuple(BLOCK)) for row in rows[at + 1 :]):
        return None
    return at


def herdr(name: str, count: int, rows: list[str]) -> list[str]:
    """A region of herdr's, as manifest-formats describes it."""
    at = filled(rows)
    borders = [n for n, row in enumerate(rows) if is_rule(row)]
    marker, here = last(rows, is_marker), current(rows)
    block = None if here is None else last(rows[:here], lambda row: row.startswith(tuple(BLOCK)))
    above = rows[: borders[-2]] if len(borders) > 1 else rows
    match name:
        case "whole_recent":
            return rows
        case "bottom_lines":
            return rows[len(rows) - count :] if count <= len(rows) else rows
        case "bottom_non_empty_lines":
            return [] if count == 0 else rows[at[-count] if len(at) >= count else 0 :]
        case "top_non_empty_lines":
            return rows[: at[count - 1] + 1] if len(at) >= count else rows
        case "after_last_prompt_marker":
            return rows if marker is None else rows[marker + 1 :]
        case "before_current_prompt_marker":
            return rows if here is None else rows[:here]
        case "whole_recent_without_current_prompt_marker":
            return rows if here is None else []
        case "current_prompt_block_marker":
            return [] if block is None else [rows[block]]
        case "after_current_prompt_block_marker":
            return [] if block is None else rows[block:]
        case "prompt_box_body":
            return rows[borders[-2] + 1 : borders[-1]] if len(borders) > 1 else []
        case "above_prompt_box":
            return above
        case "last_non_empty_above_prompt_box":
            return [above[filled(above)[-1]]] if filled(above) else []
        case "after_last_horizontal_rule":
            return rows[borders[-1] + 1 :] if borders else rows
    raise LookupError(name)


def tuios(name: str, lines: int, rows: list[str]) -> list[str] | None:
    """A region of TUIOS's, None where the rule cannot match."""
    tail = [rows[at] for at in filled(rows)][-lines:]
    borders = [n for n, row in enumerate(tail) if is_bar(row)]
    boxed = len(borders) > 1
    match name:
        case "tail":
            return tail
        case "prompt_box":
            return tail[borders[-2] + 1 : borders[-1]] if boxed else None
        case "above_prompt_box":
            return tail[: borders[-2]] if boxed else None
        case "last_non_empty_above_prompt_box":
            return (tail[: borders[-2]][-1:]) if boxed else None
        case "after_last_horizontal_rule":
            return tail[borders[-1] + 1 :] if borders else tail
    raise LookupError(name)


def jackin(name: str, count: int, rows: list[str]) -> list[str]:
    """A region of jackin's."""
    upper = last(rows, lambda row: "╭" in row)
    lower = None if upper is None else next((n for n in range(upper + 1, len(rows)) if "╰" in rows[n]), None)
    rule = last(rows, is_ten)
    marker = last(rows, lambda row: is_marker(row.lstrip()))
    match name:
        case "bottom":
            return rows[max(0, len(rows) - count) :]
        case "bottom_nonempty":
            window = rows[max(0, len(rows) - 2 * count) :]
            return [window[at] for at in filled(window)][-count:] if count else []
        case "prompt_box_body":
            if upper is None or lower is None:
                return []
            return [row.strip("│ \t") for row in rows[upper + 1 : lower]]
        case "above_prompt_box":
            return rows if upper is None or lower is None else rows[:upper]
        case "after_last_rule":
            return rows if rule is None else rows[rule + 1 :]
        case "last_nonempty_line":
            return [rows[filled(rows)[-1]]] if filled(rows) else []
        case "last_prompt_marker":
            return [] if marker is None else [rows[marker]]
        case "after_last_prompt_marker":
            return [] if marker is None else rows[marker + 1 :]
    raise LookupError(name)
