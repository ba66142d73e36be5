"""`report release set-state info wait`: what programs say of themselves, and waiting for what they say.

The first three have a module of their own (`report`), which runs without click; here is only their
place in the table of commands.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import click

from trayagent.cli import report as light
from trayagent.cli.ask import ask, json_option, pane_args, pane_argument
from trayagent.cli.show import clean, duration, fields, json_line
from trayagent.ipc import client
from trayagent.ipc.schema import Json

STATES = ("blocked", "error", "done", "working", "idle", "unknown")
GONE = "gone"
_ANSWER = 0.3  # seconds that the first answer may take, however short the wait


def _light(name: str) -> click.Command:
    """The command in click's clothes: its arguments are its own business."""

    @click.pass_context
    def call(ctx: click.Context, arguments: tuple[str, ...]) -> None:
        ctx.exit(light.run(name, arguments))

    return click.Command(
        name,
        callback=call,
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)],
        add_help_option=False,
        context_settings={"ignore_unknown_options": True},
    )


report = _light("report")
release = _light("release")
set_state = _light("set-state")


@click.command()
@pane_argument
@json_option
def info(pane: str | None, as_json: bool) -> None:
    """What programs have said about a pane: reports, hooks, options, and what of it counts.

    Owner, sequence, session and the arguments that open the session again are those of the
    instance that reports.
    """
    answer = ask("info", pane_args(pane))
    if as_json:
        json_line(answer)
        return
    click.echo(answer["pane"])
    record = answer["record"]
    if record is None:
        click.echo("  nobody reports with sequence numbers here")
    else:
        shown = {**record, "age": duration(record["age"]), "resume": " ".join(record["resume"])}
        fields((name, clean(value)) for name, value in shown.items() if value not in ("", None))
    for claim in answer["claims"]:
        click.echo(f"  {_claim(claim)}")
    if not answer["claims"]:
        click.echo("  no claim stands")


def _claim(claim: Json) -> str:
    state = claim["state"] or "no state"
    parts = [f"{claim['source']}: {state}", f"{duration(claim['age'])} old"]
    if claim["id"]:
        parts.insert(0, str(claim["id"]))
    if claim["owner"]:
        parts.append(f"of process {claim['owner']}")
    if claim["event"]:
        parts.append(f"event {claim['event']}")
    if not claim["live"]:
        parts.append("counts no more")
    if claim["message"]:
        parts.append(str(claim["message"]))
    return clean(", ".join(parts))


@click.command()
@pane_argument
@click.option(
    "--until",
    default="blocked,error,done",
    show_default=True,
    metavar="STATES",
    help=f"Any of {', '.join(STATES)} and {GONE} (it left the list), with commas between them.",
)
@click.option("--timeout", type=click.FloatRange(min=0), metavar="S", help="Seconds; without it, for ever.")
@click.option("--change", is_flag=True, help="Only a state that the pane comes into from now on.")
@json_option
def wait(pane: str | None, until: str, timeout: float | None, change: bool, as_json: bool) -> None:
    """Wait until a pane is in one of some states, and print which.

    A pane that is not listed yet is waited for as well. Exit codes: 0 it is, 1 the time is over
    or the pane has gone, 2 usage, 3 no daemon.
    """
    wanted = {word.strip() for word in until.split(",") if word.strip()}
    unknown = sorted(wanted - {*STATES, GONE})
    if unknown or not wanted:
        named = ", ".join(unknown) or "nothing"
        raise click.UsageError(f"--until: {named} is no state; there are {', '.join(STATES)} and {GONE}.")
    end = None if timeout is None else time.monotonic() + max(timeout, _ANSWER)
    seen = False
    for number, item in enumerate(_items(pane_args(pane), end)):
        state = item["state"]
        if state in wanted and not (change and number == 0):
            json_line(item) if as_json else click.echo(state)
            return
        seen = seen or state != GONE
        if state == GONE and seen:
            _fail(f"{item['pane']} has gone")
    _fail(f"none of {', '.join(sorted(wanted))} in {timeout:g} s")


def _items(args: Json, end: float | None) -> Iterator[Json]:
    """The pane's states as they come, until the time is over."""
    try:
        yield from client.stream("wait", args, end=end)
    except client.TimeOver:
        return


def _fail(text: str) -> None:
    click.echo(f"trayagent wait: {text}", err=True)
    click.get_current_context().exit(1)
