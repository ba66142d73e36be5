"""`history`: what happened, and why it was told or not."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import click

from trayagent.cli.ask import ask, json_option
from trayagent.cli.show import clean, json_line, moment, state_text, table
from trayagent.config.durations import parse_duration
from trayagent.ipc.schema import Json

_STATES = ("blocked", "error", "done", "working", "idle", "unknown")


class Since(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """`2 h` (ago), `today`, or a date with or without a time -> epoch seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Epoch seconds."""
        if isinstance(value, float):
            return value
        if value == "today":
            return datetime.now().replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
        ago = parse_duration(value)
        if ago is not None:
            return time.time() - ago
        try:
            return datetime.fromisoformat(value).timestamp()
        except ValueError:
            self.fail(f"{value!r} is no time: write 2 h, today or 2026-03-01 14:00", param, ctx)


@click.command()
@click.option(
    "-n", "--limit", type=click.IntRange(1, 100_000), default=30, show_default=True, help="How many."
)
@click.option("--since", type=Since(), help="Not before: 2 h, today, 2026-03-01.")
@click.option("--pane", help="Of this pane: SERVER:%5 or %5.")
@click.option("--agent", help="Of this agent.")
@click.option("--project", help="Of this project.")
@click.option("--state", type=click.Choice(_STATES), help="Only changes into this state.")
@click.option("--reason", help="Only what this rule held back: watching, muted, quiet-hours ...")
@click.option("--unread", is_flag=True, help="Only what you have not seen.")
@json_option
def history(as_json: bool, unread: bool, **given: Any) -> None:
    """What happened, the newest first, and why you were told or not."""
    args = {name: value for name, value in given.items() if value is not None}
    entries = ask("history", {**args, "unread": True} if unread else args)["entries"]
    if as_json:
        json_line(entries)
    elif not entries:
        click.echo("Nothing.")
    else:
        titles = ("WHEN", "PANE", "AGENT", "PROJECT", "BECAME", "TOLD", "WHY")
        table(titles, [_row(entry) for entry in entries], drop=(3, 2, 5))


def _row(entry: Json) -> list[str]:
    ended = entry["type"] == "ended"
    held = f"{entry['outcome']}: {entry['held_by']}" if entry.get("held_by") else entry.get("outcome", "")
    return [
        moment(entry["at"]),
        entry["pane"],
        clean(entry["agent"]),
        clean(entry["project"]),
        "ended mid-turn" if ended else state_text(entry["after"]),
        clean(held),
        "" if ended else clean(entry["text"] or entry["why"]),
    ]
