"""`mute unmute pause unpause read forget`: less to hear."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any

import click

from trayagent.cli.ask import ask, pane_args, pane_argument, say
from trayagent.cli.show import moment
from trayagent.config.durations import parse_duration
from trayagent.ipc.schema import Json

_MORNING_HOUR, _NIGHT = 8, 4 * 3600.0


class HowLong(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """`30 min`, `1h`, `tomorrow`, `always` -> seconds from now, None for always."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        """Seconds, or None."""
        if value is None or isinstance(value, float):
            return value
        if value in ("always", "forever"):
            return None
        if value == "tomorrow":
            return until_morning(time.time())
        seconds = parse_duration(value)
        if not seconds:
            self.fail(f"{value!r} is no duration: write 30 min, 1 h, tomorrow or always", param, ctx)
        return seconds


def until_morning(now: float) -> float:
    """Seconds until eight in the morning, local time: the next one that is not this very night's end."""
    morning = datetime.fromtimestamp(now).replace(hour=_MORNING_HOUR, minute=0, second=0, microsecond=0)
    while morning.timestamp() - now < _NIGHT:
        morning += timedelta(days=1)
    return morning.timestamp() - now


def _said(answer: Json) -> None:
    """The answer's sentence, and until when it holds."""
    end = (
        ""
        if "until" not in answer
        else f" until {moment(answer['until'])}"
        if answer["until"]
        else " for good"
    )
    say({"text": f"{answer.get('text', '')}{end}"})


def _scope(pane: str | None, session: str | None, project: str | None, agent: str | None) -> Json:
    given = {"session": session, "project": project, "agent": agent}
    named = [(scope, value) for scope, value in given.items() if value]
    if len(named) + bool(pane) > 1:
        raise click.UsageError("One at a time: a PANE, --session, --project or --agent.")
    if named:
        return {"scope": named[0][0], "value": named[0][1]}
    return {"scope": "pane", **pane_args(pane)}


def _scope_options(function: Any) -> Any:
    for name in ("agent", "project", "session"):
        function = click.option(f"--{name}", metavar="NAME", help=f"A whole {name}.")(function)
    return pane_argument(function)


@click.command()
@_scope_options
@click.option("--for", "seconds", type=HowLong(), default="1 h", show_default=True,
              help="How long: 30 min, 1 h, tomorrow, always.")  # fmt: skip
def mute(
    pane: str | None, session: str | None, project: str | None, agent: str | None, seconds: float | None
) -> None:
    """Tell nothing of a pane, session, project or agent for a while.

    It is listed and counted all the same; what still needs you when the mute ends is told then.
    """
    _said(ask("mute", {**_scope(pane, session, project, agent), "seconds": seconds}))


@click.command()
@_scope_options
def unmute(pane: str | None, session: str | None, project: str | None, agent: str | None) -> None:
    """End a mute."""
    _said(ask("unmute", _scope(pane, session, project, agent)))


@click.command()
@click.argument("duration", type=HowLong(), default="always", metavar="[DURATION]")
def pause(duration: float | None) -> None:
    """Tell nothing at all: no banner, no sound.

    DURATION is 30 min, 1 h, tomorrow ...; without one it lasts until `trayagent unpause`.
    """
    _said(ask("pause", {"seconds": duration}))


@click.command()
def unpause() -> None:
    """End the pause; what still needs you is told in one banner."""
    _said(ask("unpause"))


@click.command()
@pane_argument
@click.option("--all", "everything", is_flag=True, help="All panes.")
def read(pane: str | None, everything: bool) -> None:
    """Mark the ended turns of a pane as read."""
    _said(ask("read", {"all": True} if everything else pane_args(pane)))


@click.command()
@pane_argument
def forget(pane: str | None) -> None:
    """Take a pane off the list until it changes."""
    _said(ask("forget", pane_args(pane)))
