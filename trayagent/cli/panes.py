"""`list get jump next back`: panes, and the way to them."""

from __future__ import annotations

from pathlib import PurePath

import click

from trayagent.cli.ask import ask, json_option, pane_args, pane_argument, say
from trayagent.cli.show import clean, fields, is_terminal, json_line, moment, since, state_text, table
from trayagent.ipc import client
from trayagent.ipc.schema import Json

_JUMP_SECONDS = 15.0


@click.command("list")
@json_option
@click.option("--watch", is_flag=True, help="Print the list again whenever it changes.")
def list_(as_json: bool, watch: bool) -> None:
    """All panes with an agent, the loudest first.

    With --json an array of objects, or with --watch one array a line.
    """
    if not watch:
        _print(ask("list")["panes"], as_json)
        return
    try:
        for answer in client.stream("watch"):
            if "panes" in answer:
                if is_terminal() and not as_json:
                    click.clear()
                _print(answer["panes"], as_json)
    except KeyboardInterrupt:
        return


def _print(panes: list[Json], as_json: bool) -> None:
    if as_json:
        json_line(panes)
        return
    if not panes:
        click.echo("No agent is running in a pane that is watched. (trayagent doctor tells what is.)")
        return
    rows = [
        [
            state_text(pane["state"]),
            since(pane["since"]),
            pane["pane"],
            clean(pane["agent"]),
            clean(PurePath(pane["dir"]).name),
            clean(pane["message"] or pane["title"]),
        ]
        for pane in panes
    ]
    table(("STATE", "FOR", "PANE", "AGENT", "FOLDER", "SAYS"), rows, drop=(4, 3, 1))


@click.command()
@pane_argument
@click.option("--field", metavar="NAME", help="Print only this field's value.")
@json_option
def get(pane: str | None, field: str | None, as_json: bool) -> None:
    """One pane, or one field of it.

    Fields are those of `list --json`. Without PANE it is the pane that you type in.
    """
    found = ask("get", pane_args(pane))["pane"]
    if field is not None:
        if field not in found:
            raise click.UsageError(f"There is no field {field!r}; there are {', '.join(found)}.")
        value = found[field]
        json_line(value) if as_json or isinstance(value, bool) else click.echo("" if value is None else value)
    elif as_json:
        json_line(found)
    else:
        shown = {
            **found,
            "state": state_text(found["state"]),
            "needs_you": "yes" if found["needs_you"] else "",
        }
        shown["since"] = f"{moment(found['since'])} ({since(found['since'])} ago)"
        keep = ("state", "since")
        fields((name, value if name in keep else clean(value)) for name, value in shown.items())


@click.command()
@pane_argument
def jump(pane: str | None) -> None:
    """Show a pane: switch the most recently used client to it, and raise its window."""
    say(ask("jump", pane_args(pane), _JUMP_SECONDS))


@click.command("next")
def next_() -> None:
    """Jump to the pane that has needed you longest; called again, to the following ones."""
    say(ask("next", timeout=_JUMP_SECONDS))


@click.command()
def back() -> None:
    """Go back to where you were before the last jump."""
    say(ask("back", timeout=_JUMP_SECONDS))
