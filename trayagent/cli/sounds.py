"""`sounds list|mode|test`: how alerts are heard."""

from __future__ import annotations

import click

from trayagent.cli.ask import ask, json_option, say
from trayagent.cli.show import clean, json_line, table
from trayagent.ipc.schema import Json

_TEST_SECONDS = 30.0  # a player that hangs is ended by the daemon before that


@click.group()
def sounds() -> None:
    """How alerts are heard.

    Files and volume are in the config (`trayagent config schema sounds`).
    """


@sounds.command("list")
@json_option
def list_(as_json: bool) -> None:
    """The mode, and the file of each state, agent and project."""
    answer = ask("sounds")
    if as_json:
        json_line(answer)
        return
    chosen = "" if answer["mode"] == answer["config_mode"] else f" (the config says {answer['config_mode']})"
    click.echo(f"Mode {answer['mode']}{chosen}, volume {answer['volume']:g}.")
    click.echo(f"Players: {', '.join(answer['players']) or 'none'}.")
    rows = [[row["scope"], clean(row["name"]), _file(row)] for row in answer["sounds"]]
    table(("FOR", "NAME", "SOUND"), rows)


def _file(row: Json) -> str:
    if row["file"] is None:
        return "none"
    return clean(row["file"]) if row["found"] else f"{clean(row['file'])} (there is no such file)"


@sounds.command()
@click.argument("mode", type=click.Choice(("audio", "bell", "both", "off")))
def mode(mode: str) -> None:
    """Choose how alerts are heard: audio, bell, both, off.

    It holds, also over a restart, until another mode is chosen or written into the config.
    """
    say(ask("sounds-mode", {"mode": mode}))


class Volume(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """`0.5` or `50%` -> 0 to 1."""

    name = "volume"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The factor."""
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            number = -1.0
        if not 0 <= number <= 1:
            self.fail(f"{text!r} is no volume: write 0 to 1, or 50%", param, ctx)
        return number


@sounds.command()
@click.argument(
    "state", type=click.Choice(("blocked", "done", "error")), default="blocked", metavar="[STATE]"
)
@click.option("--volume", type=Volume(), metavar="VOLUME", help="0 to 1, or 50%, in place of the config's.")
def test(state: str, volume: float | None) -> None:
    """Play the sound of a state (blocked, done, error), and say what was heard.

    Without a mode that plays files or rings the bell it is played all the same.
    """
    say(ask("sounds-test", {"state": state, **({} if volume is None else {"volume": volume})}, _TEST_SECONDS))
