"""`manifests list|check|show`: the rule files of agents, read as the daemon reads them."""

from __future__ import annotations

from pathlib import Path

import click

from trayagent.cli.ask import json_option
from trayagent.cli.show import clean, json_line, table
from trayagent.config.load import default_path
from trayagent.manifest.load import Library, read_file


def library() -> Library:
    """The bundled manifests below the user's own, which lie beside the config file."""
    return Library.standard(default_path().parent / "manifests")


@click.group()
def manifests() -> None:
    """The rule files of agents.

    Your own lie in `manifests` beside the config file, and replace a bundled one of the same id.
    """


@manifests.command("list")
@json_option
def list_(as_json: bool) -> None:
    """All agents that are known, and where each one's rules come from."""
    known = library()
    rows = [
        {
            "id": manifest.id,
            "name": manifest.name,
            "version": manifest.version,
            "source": known.tiers.get(manifest.id, ""),
            "rules": len(manifest.rules),
            "path": manifest.origin,
        }
        for manifest in known.manifests
    ]
    if as_json:
        json_line(rows)
    else:
        titles = ("ID", "NAME", "VERSION", "SOURCE", "RULES", "FILE")
        table(titles, [[clean(value) or "" for value in row.values()] for row in rows], drop=(2, 1))
    for problem in known.problems:
        click.echo(str(problem), err=True)


@manifests.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
def check(files: tuple[Path, ...]) -> None:
    """What is wrong with rule files: these, or all that are in use. Exit code 1 if one is refused."""
    if files:
        problems = [problem for file in files for problem in read_file(file)[1]]
    else:
        problems = list(library().problems)
    for problem in problems:
        click.echo(str(problem))
    refused = any(problem.fatal for problem in problems)
    if not problems:
        click.echo("All in order.")
    click.get_current_context().exit(1 if refused else 0)


@manifests.command()
@click.argument("agent")
@click.option("--path", "only_path", is_flag=True, help="Print only where the file lies.")
def show(agent: str, only_path: bool) -> None:
    """The rule file that is in use for an agent (an id or an alias)."""
    manifest = library().get(agent)
    if manifest is None:
        raise click.ClickException(f"No agent is called {agent!r}; `trayagent manifests list` shows all.")
    if only_path:
        click.echo(manifest.origin)
        return
    click.echo(f"# {manifest.origin}", err=True)
    click.echo(Path(manifest.origin).read_text("utf-8"), nl=False)
