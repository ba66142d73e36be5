"""`trayagent run`, for the help's sake: it is recognised before the command line is imported."""

from __future__ import annotations

import click

from trayagent.relay import program


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def run(ctx: click.Context, command: tuple[str, ...]) -> None:
    """Run an agent so that its states are exact."""
    ctx.exit(program.main(list(command)))
