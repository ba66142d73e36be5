"""`status events reload stop version test-alert`: the daemon itself."""

from __future__ import annotations

import sys

import click

from trayagent import __version__
from trayagent.cli.ask import ask, json_option, say
from trayagent.cli.show import clean, duration, glyph, json_line, moment, state_text, style
from trayagent.ipc import client
from trayagent.ipc.client import NoDaemon
from trayagent.ipc.schema import Json

_LOUDEST_FIRST = ("blocked", "error", "done", "working", "idle", "unknown")


@click.command()
@json_option
@click.option("--waybar", is_flag=True, help="One line for a waybar custom module (return-type json).")
@click.option("--tmux", is_flag=True, help="One short text for tmux's status line.")
def status(as_json: bool, waybar: bool, tmux: bool) -> None:
    """The whole in a few lines."""
    answer = ask("status")
    if as_json:
        json_line(answer)
    elif waybar:
        json_line(_waybar(answer))
    elif tmux:
        click.echo(_short(answer))
    else:
        print_status(answer)


def _short(answer: Json) -> str:
    shown = [s for s in _LOUDEST_FIRST[:4] if answer["counts"].get(s)]
    return " ".join(f"{glyph(state)}{answer['counts'][state]}" for state in shown)


def _waybar(answer: Json) -> Json:
    loudest = next((state for state in _LOUDEST_FIRST if answer["counts"].get(state)), "unknown")
    name = "paused" if answer["paused"]["on"] else loudest
    return {"text": _short(answer), "tooltip": answer["tooltip"], "class": name, "alt": name}


def print_status(answer: Json) -> None:
    """A few lines for a person."""
    counts = [f"{answer['counts'][s]} {s}" for s in _LOUDEST_FIRST if answer["counts"].get(s)]
    click.echo(", ".join(counts) if counts else "No agent is running in a pane that is watched.")
    if answer.get("longest_wait") is not None:
        click.echo(f"The longest wait is {duration(answer['longest_wait'])}.")
    paused = answer.get("paused") or {}
    if paused.get("on"):
        click.echo(f"Alerts are paused {_until(paused.get('until'))}.")
    for line in _quieter(answer.get("quiet") or {}, answer.get("sounds")):
        click.echo(line)
    for problem in answer.get("problems") or []:
        click.echo(style(f"! {clean(problem)}", fg="yellow"))
    click.echo(
        style(f"trayagent {answer['version']}, pid {answer['pid']}, config {answer['config']}", dim=True)
    )


def _quieter(quiet: Json, sounds: str | None) -> list[str]:
    """What else keeps alerts back, or silent."""
    lines = []
    if quiet.get("on"):
        lines.append(f"Quiet hours until {moment(quiet['until'])}.")
    elif quiet.get("next"):
        lines.append(f"The next quiet hours begin at {moment(quiet['next'])}.")
    if quiet.get("dnd"):
        lines.append("The desktop's do not disturb is on.")
    if sounds == "off":
        lines.append("Sounds are off.")
    return lines


def _until(epoch: float | None) -> str:
    return f"until {moment(epoch)}" if epoch else "until you unpause them"


@click.command()
@click.argument("pane", required=False, metavar="[PANE]")
@json_option
def events(pane: str | None, as_json: bool) -> None:
    """What happens, as it happens, until you stop it (with Ctrl-C)."""
    try:
        for event in client.stream("events", {"pane": pane} if pane else None):
            if pane and not _is_of(event, pane):
                continue
            json_line(event) if as_json else click.echo(_event(event))
            sys.stdout.flush()
    except KeyboardInterrupt:
        return


def _is_of(event: Json, pane: str) -> bool:
    name = str(event.get("pane", ""))
    return name == pane or name.endswith(f":{pane}") or "pane" not in event


def _event(event: Json) -> str:
    at = moment(event.get("at"))
    if event.get("type") == "transition":
        where = f"{event['pane']}  {clean(event.get('agent'))}"
        return f"{at}  {where}  {event['from']} → {state_text(event['to'])}  {clean(event.get('why'))}"
    rest = {
        name: value for name, value in event.items() if name not in ("type", "at") and value not in (None, "")
    }
    words = "  ".join(f"{name} {clean(value)}" for name, value in rest.items())
    return f"{at}  {event.get('type', '')}  {words}".strip()


@click.command()
def reload() -> None:
    """Read config and manifests again (they are also read when they are saved)."""
    answer = ask("reload", timeout=15.0)
    say(answer)
    for problem in answer.get("problems") or []:
        click.echo(clean(problem), err=True)
    click.get_current_context().exit(1 if answer.get("problems") else 0)


@click.command()
def stop() -> None:
    """End the daemon, with everything saved."""
    say(ask("stop"))


@click.command()
@json_option
def version(as_json: bool) -> None:
    """Versions of the command and of the daemon, if one runs."""
    try:
        running = ask("version", timeout=1.0)
    except NoDaemon:
        running = None
    if as_json:
        json_line({"version": __version__, "daemon": running})
        return
    click.echo(f"trayagent {__version__}")
    if running is not None and running["version"] != __version__:
        click.echo(
            f"The daemon that runs is {running['version']}; restart it: trayagent stop, then trayagent."
        )


@click.command("test-alert")
@click.option(
    "--state",
    type=click.Choice(("blocked", "error", "done")),
    default="blocked",
    show_default=True,
    help="As if a pane had come into this state.",
)
@click.option("--delay", type=click.FloatRange(0, 3600), default=0.0, help="Seconds from now.")
def test_alert(state: str, delay: float) -> None:
    """Show a banner and play its sound, to see that both work."""
    say(ask("test-alert", {"state": state, "delay": delay}))
