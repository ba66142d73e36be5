"""`capture`: a pane's screen as a fixture, fit to be shown to others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from trayagent.cli.ask import ask, pane_args, pane_argument
from trayagent.cli.redact import Redactor, own_words
from trayagent.cli.show import clean, fields

STATES = ("idle", "working", "blocked", "errored", "exited", "starting")


@click.command()
@pane_argument
@click.option("--state", type=click.Choice(STATES), required=True, help="What is true, not what is shown.")
@click.option("--agent-version", default="", metavar="V", help="The agent's version.")
@click.option("--note", default="", metavar="TEXT", help="How it came to this.")
@click.option("--out", metavar="FILE", help="Write here; `-` prints. Else AGENT_STATE_N.json, here.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def capture(pane: str | None, state: str, agent_version: str, note: str, out: str | None, yes: bool) -> None:
    """The last screen of a pane as a test screen, for rules that do not know it yet.

    Names, paths and secrets are replaced, and the result is shown before anything is written.
    """
    told = ask("capture", pane_args(pane))
    fixture, redactor = fixture_of(told, state, agent_version, note)
    text = json.dumps(fixture, ensure_ascii=False, indent=1) + "\n"
    if out == "-":
        click.echo(text, nl=False)
        return
    path = Path(out) if out is not None else _free(fixture["agent"] or "unknown", state)
    _show(fixture, redactor, path)
    if not yes and not click.confirm("Is nothing left in it that must not be shown? Write it"):
        raise click.ClickException("nothing was written")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from None
    click.echo(f"written: {path}")


def fixture_of(told: dict[str, Any], state: str, version: str, note: str) -> tuple[dict[str, Any], Redactor]:
    """The fixture (the form of tests/screens), and what was replaced in it."""
    agent = str(told.get("agent") or "")
    folder = str(told.get("dir") or "")
    redactor = Redactor(own_words(folder), kept=[agent, *agent.split("-")])
    known = {key: value for key, value in told.items() if key not in ("agent", "dir")}
    fixture = {"agent": agent, "version": version, "state": state, "scenario": redactor.text(note), **known}
    return redactor.value(fixture), redactor


def _free(agent: str, state: str) -> Path:
    """The first name that is free here."""
    number = 1
    while (path := Path(f"{agent}_{state}_{number}.json")).exists():
        number += 1
    return path


def _show(fixture: dict[str, Any], redactor: Redactor, path: Path) -> None:
    width = int(fixture.get("cols") or 80)
    click.echo("─" * width)
    for row in str(fixture["screen"]).split("\n"):
        click.echo("".join(char if char.isprintable() else " " for char in row))
    click.echo("─" * width)
    processes = " > ".join(" ".join(row["argv"]) or row["comm"] for row in fixture["process_tree"])
    replaced = ", ".join(f"{clean(was)} -> {now}" for was, now in redactor.replaced.items())
    fields(
        [
            ("agent", fixture["agent"]),
            ("state", fixture["state"]),
            ("title", clean(fixture["title"])),
            ("processes", clean(processes)),
            ("replaced", replaced or "nothing"),
            ("not replaced", ", ".join(redactor.kept)),
            ("file", path),
        ]
    )
