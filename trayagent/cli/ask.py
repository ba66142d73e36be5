"""What commands share: the PANE argument, asking the daemon, `--json`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from trayagent.cli.here import here
from trayagent.ipc import client
from trayagent.ipc.schema import Json

Function = TypeVar("Function", bound=Callable[..., Any])


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    try:
        panes = client.call("list", timeout=0.5)["panes"]
    except (client.NoDaemon, client.VerbError):
        return []  # nothing to offer: a completion has nobody to tell why
    named = [(pane["pane"], f"{pane['state']} {pane['agent']}") for pane in panes]
    return [CompletionItem(name, help=text) for name, text in named if incomplete in name]


def pane_argument(function: Function) -> Function:
    """The optional PANE argument, as `pane`."""
    return click.argument("pane", required=False, metavar="[PANE]", shell_complete=_complete)(function)


def json_option(function: Function) -> Function:
    """`--json`, as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(function)


def pane_args(pane: str | None) -> Json:
    """How the request names the pane: as typed, else the pane or tty that the command runs in."""
    if pane:
        return {"pane": pane}
    found = here()
    if found is not None:
        return found
    raise click.UsageError("Which pane? Name one (SERVER:%5; `trayagent list` shows them).")


def ask(verb: str, args: Json | None = None, timeout: float = client.TIMEOUT) -> Json:
    """The daemon's answer; main() turns NoDaemon and VerbError into words and exit codes."""
    return client.call(verb, args, timeout=timeout)


def say(answer: Json) -> None:
    """The answer's own sentence."""
    text = str(answer.get("text", ""))
    if text:
        click.echo(text)
