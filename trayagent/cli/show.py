"""How things are printed: columns, glyphs, colour, times.

Colour and cutting to the width only where a person reads (a terminal; NO_COLOR is honoured);
into a pipe whole lines of plain text. What agents wrote (titles, questions) is cleaned of
control and bidi characters first: a title must not be able to command the terminal.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from trayagent.model.states import ASCII, GLYPH, State

_COLOUR = {
    "blocked": "yellow",
    "error": "red",
    "done": "green",
    "working": "cyan",
    "idle": None,
    "unknown": None,
}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_GAP = "  "


def json_line(value: Any) -> None:
    """One JSON value on a line of its own."""
    click.echo(json.dumps(value, ensure_ascii=False))


def is_terminal() -> bool:
    """A person reads what we print."""
    return sys.stdout.isatty()


def colour_on() -> bool:
    """Colour is wanted: a terminal that can, and NO_COLOR (no-color.org) is not set."""
    return is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, **how: Any) -> str:
    """click.style where colour is on."""
    return click.style(text, **how) if colour_on() else text


def glyph(state: str) -> str:
    """The state's glyph, in ASCII where the output's encoding has no other."""
    known = State(state) if state in State.__members__.values() else State.UNKNOWN
    try:
        GLYPH[known].encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return ASCII[known]
    return GLYPH[known]


def state_text(state: str) -> str:
    """Glyph and word, in the state's colour."""
    text = f"{glyph(state)} {state}"
    needs = state in ("blocked", "error")
    return style(text, fg=_COLOUR.get(state), bold=needs)


def clean(text: object) -> str:
    """The text on one line, without anything that a terminal would act upon."""
    words = "".join(" " if ch in "\t\n\r" else ch for ch in str("" if text is None else text))
    return "".join(ch for ch in words if unicodedata.category(ch) not in _UNSEEN).strip()


def duration(seconds: float) -> str:
    """`4 s`, `3 min`, `2 h 5 min`, `3 d`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86400:
        minutes = whole % 3600 // 60
        return f"{whole // 3600} h {minutes} min" if minutes else f"{whole // 3600} h"
    return f"{whole // 86400} d"


def since(epoch: float | None) -> str:
    """How long ago an epoch time is."""
    return "" if epoch is None else duration(time.time() - epoch)


def moment(epoch: float | None) -> str:
    """A time today as `14:03`, on another day with its date."""
    if epoch is None:
        return ""
    then, today = time.localtime(epoch), time.localtime()
    same = (then.tm_year, then.tm_yday) == (today.tm_year, today.tm_yday)
    return time.strftime("%H:%M:%S" if same else "%Y-%m-%d %H:%M", then)


def cells(text: str) -> int:
    """How many columns of a terminal the text takes, escape sequences of ours not counted."""
    plain = click.unstyle(text)
    wide = sum(unicodedata.east_asian_width(ch) in "WF" for ch in plain)
    marks = sum(unicodedata.combining(ch) != 0 for ch in plain)
    return len(plain) + wide - marks


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns, with an ellipsis where it was longer."""
    if cells(text) <= width:
        return text
    if width <= 0:
        return ""
    kept = ""
    for ch in click.unstyle(text):
        if cells(kept + ch) > width - 1:
            break
        kept += ch
    return f"{kept.rstrip()}…"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], drop: Sequence[int] = ()) -> None:
    """Aligned columns with a header; the last takes what is left of a terminal's width.

    drop: columns that go, in this order, where a terminal is too narrow for a useful last one."""
    body = [[str(cell) for cell in row] for row in rows]
    columns = list(range(len(titles)))
    room = shutil.get_terminal_size().columns if is_terminal() else 0

    def width(column: int) -> int:
        return max(cells(row[column]) for row in [list(titles), *body])

    if room:
        for column in drop:
            if sum(width(c) + len(_GAP) for c in columns[:-1]) + 16 <= room:
                break
            columns.remove(column)
    widths = {column: width(column) for column in columns}
    for number, row in enumerate([[style(title, dim=True) for title in titles], *body]):
        *first, last = columns
        line = "".join(row[c] + " " * (widths[c] - cells(row[c])) + _GAP for c in first)
        line += cut(row[last], room - cells(line)) if room and number else row[last]
        click.echo(line.rstrip())


def fields(values: Iterable[tuple[str, object]], indent: str = "") -> None:
    """`name  value` lines, aligned; empty values are left out."""
    shown = [(name, str(value)) for name, value in values if value not in (None, "", [], {})]
    room = max((cells(name) for name, _ in shown), default=0)
    for name, value in shown:
        click.echo(f"{indent}{style(name.ljust(room), dim=True)}{_GAP}{value}")


def printer(as_json: bool, text: Callable[[Any], None]) -> Callable[[Any], None]:
    """What prints one value: as JSON, or as `text` does."""
    return json_line if as_json else text
