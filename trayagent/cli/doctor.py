"""`doctor`: what works here, what does not, and what to do; `--alert`: one whole alert, step by step.

The checks are the daemon's own; where none runs, this process makes them. Each is a mark, a name, what is,
and below it what to do; on a terminal wrapped and never cut, into a pipe one line, for grep.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

import click

from trayagent.cli.ask import ask, json_option
from trayagent.cli.show import clean, is_terminal, json_line, style
from trayagent.ipc.client import NoDaemon
from trayagent.ipc.paths import runtime_folder
from trayagent.ipc.schema import Json
from trayagent.remedies import install

if TYPE_CHECKING:
    from trayagent.demo.trial import Trial

_GAP = "  "
_WIDEST, _NARROWEST = 110, 50  # columns that a line takes on a terminal
_STEPS_ROOM = 8  # columns for the longest name of a step


@click.command()
@json_option
@click.option("--alert", is_flag=True, help="Play one whole alert, with a banner to click, step by step.")
def doctor(as_json: bool, alert: bool) -> None:
    """What works here, what does not, and what to do about it.

    Exit code 1 if something does not work, 3 if the daemon does not run (all that can be
    checked without it is checked).
    """
    logging.getLogger().addHandler(logging.NullHandler())  # the checks say themselves what is wrong
    if alert:
        click.get_current_context().exit(_alert(as_json))
    checks, code = _checks()
    json_line(checks) if as_json else print_checks(checks)
    if any(check["ok"] is False for check in checks):
        code = code or 1
    click.get_current_context().exit(code)


def _checks() -> tuple[list[Json], int]:
    """The checks, whoever makes them, and the exit code that follows from that."""
    try:
        version = ask("version")
        checks: list[Json] = ask("doctor", timeout=15.0)["checks"]
    except NoDaemon as error:
        from trayagent.daemon.alone import without_daemon
        from trayagent.daemon.options import Options

        running = {"name": "daemon", "ok": False, "text": str(error), "hint": ""}
        return [running, *(check.to_json() for check in asyncio.run(without_daemon(Options())))], 3
    text = f"trayagent {version['version']} runs, pid {version['pid']}"
    return [{"name": "daemon", "ok": True, "text": text, "hint": ""}, *checks], 0


# -- one whole alert -----------------------------------------------------------------------


def _alert(as_json: bool) -> int:
    """Play an alert; the exit code says whether every step went well."""
    from trayagent.cli.demo import own_settings
    from trayagent.demo.stage import Stage, StageError
    from trayagent.demo.trial import ACT, Trial

    tmux = shutil.which("tmux")
    if tmux is None:
        raise click.ClickException(f"there is no tmux in PATH to play an alert in; {install('tmux')}")
    if not as_json:
        click.echo("A recorded agent asks something in a private tmux; nothing of yours is touched.\n")
    clicks = sys.stdin.isatty() and sys.stdout.isatty()
    try:
        with Stage([ACT], tmux, runtime_folder().parent) as stage:
            steps = asyncio.run(_steps(Trial(stage, own_settings(), clicks=clicks), as_json))
    except StageError as error:
        raise click.ClickException(str(error)) from error
    json_line(steps) if as_json else click.echo(f"\n{summary(steps)}")
    return int(any(step["ok"] is False for step in steps))


async def _steps(trial: Trial, as_json: bool) -> list[Json]:
    steps = []
    async for step in trial.steps(lambda text: None if as_json else click.echo(f"    {text}")):
        steps.append(step.to_json())
        if not as_json:
            print_check(steps[-1], _STEPS_ROOM)
            sys.stdout.flush()
    return steps


# -- printing ------------------------------------------------------------------------------


def print_checks(checks: list[Json]) -> None:
    """All checks, and the sum in one line."""
    room = max(len(check["name"]) for check in checks)
    for check in checks:
        print_check(check, room)
    click.echo(f"\n{summary(checks)}")


def print_check(check: Json, room: int) -> None:
    """One check. room: columns for its name."""
    for line in _lines(check, room):
        click.echo(line)


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
