"""`trayagent` without a command: the daemon in the foreground, or what the running one has to say."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import click

from trayagent.cli.daemon import print_status
from trayagent.ipc import client


def start(only_server: str | None, config_file: str | None, *, tray: bool, verbose: bool) -> int:
    """Run until stopped, and return the exit code; where a daemon runs, show its status instead."""
    try:
        running = client.call("status", timeout=2.0)
    except (client.NoDaemon, client.VerbError):
        running = None
    if running is not None:
        click.echo("trayagent is running already.")
        print_status(running)
        return 0
    if config_file is not None and not Path(config_file).exists():
        raise click.BadParameter(f"{config_file}: there is no such file", param_hint="--config")
    # What imports make lives as long as we do: looking for garbage in it is a sixth of their time.
    gc.disable()
    from trayagent.daemon.app import run
    from trayagent.daemon.options import Options

    options = Options(
        only_server=Path(only_server) if only_server else None,
        config=Path(config_file) if config_file else None,
        tray=tray,
        verbose=verbose,
        live=sys.stderr.isatty(),
    )
    return run(options)
