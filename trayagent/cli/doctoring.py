"""How `doctor` prints: a mark, a name, what is, and below it what to do; wrapped, never cut."""

from __future__ import annotations

import shutil
import textwrap

import click

from trayagent.cli.show import clean, is_terminal, style
from trayagent.ipc.schema import Json

_GAP = "  "
_WIDEST, _NARROWEST = 110, 50  # columns that a line takes on a terminal


def print_checks(checks: list[Json]) -> None:
    """All checks, and the sum in one line."""
    room = max(len(check["name"]) for check in checks)
    for check in checks:
        for line in _lines(check, room):
            click.echo(line)
    click.echo(f"\n{summary(checks)}")


def mark(ok: bool | None) -> str:
    """`ok` fine, `~` could be better, `NO` missing or broken."""
    if ok is None:
        return style("~ ", fg="yellow")
    return style("ok", fg="green") if ok else style("NO", fg="red", bold=True)


def summary(checks: list[Json]) -> str:
    """The sum of all checks in a sentence."""
    wrong = sum(check["ok"] is False for check in checks)
    weak = sum(check["ok"] is None for check in checks)
    if not wrong:
        return f"Everything that is needed works{f'; {weak} could be better (~)' if weak else ''}."
    return f"{wrong} of {len(checks)} do not work (NO){f', {weak} could be better (~)' if weak else ''}."


def wrapped(text: str, indent: int) -> list[str]:
    """The text in lines for a terminal, all but the first indented; one line into a pipe."""
    if not is_terminal():
        return [text]
    width = max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns)) - indent
    first, *rest = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
    return [first, *(" " * indent + line for line in rest)]


def _lines(check: Json, room: int) -> list[str]:
    """A check's lines. Into a pipe it is one line, for grep."""
    head = f"{mark(check['ok'])}{_GAP}{check['name'].ljust(room)}{_GAP}"
    indent = 2 + len(_GAP) + room + len(_GAP)
    text, hint = clean(check["text"]), clean(check.get("hint"))
    if not is_terminal():
        return [head + (f"{text}; {hint}" if hint else text)]
    first, *rest = wrapped(text, indent)
    lines = [head + first, *rest]
    if hint:
        begin, *more = wrapped(hint, indent + 2)
        lines += [" " * indent + style("> ", dim=True) + begin, *more]
    return lines
