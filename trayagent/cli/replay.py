"""`replay`: a recorded session run through the engine, in the recording's own time."""

from __future__ import annotations

from pathlib import Path

import click

from trayagent.cli.ask import json_option
from trayagent.cli.show import clean


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.cast")
@click.option("--agent", metavar="ID", help="The agent in the recording, where it does not tell.")
@json_option
def replay(file: Path, agent: str | None, as_json: bool) -> None:
    """Run a recorded session (asciinema) through the engine, and print each change of state.

    With --json one object a line: t from to agent rule why alert.
    """
    from trayagent.cli.manifests import library
    from trayagent.replay.cast import CastError
    from trayagent.replay.run import run

    try:
        for line in run(file, agent, as_json, library()):
            click.echo(line if as_json else clean(line))
    except CastError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{file}: cannot be read ({error.strerror})") from error
