"""`manifests`: the rule files of agents, read as the daemon reads them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import platformdirs

from trayagent.cli.ask import json_option
from trayagent.cli.show import clean, json_line, table
from trayagent.cli.updating import rollback, update
from trayagent.config.load import default_path, read
from trayagent.identity import Index
from trayagent.manifest.format import Manifest, Problem
from trayagent.manifest.load import Folder, Library, read_all, read_folder, updated_folder
from trayagent.model.settings import Settings


def settings() -> Settings:
    """The user's settings; the defaults where his file is broken."""
    return read(default_path()).settings or Settings()


def library() -> Library:
    """All manifests by their precedence, as the daemon has them."""
    return Library.standard(
        default_path().parent / "manifests",
        imports=settings().manifests.imports,
        updated=updated_folder(Path(platformdirs.user_state_dir("trayagent"))),
        home=Path.home(),
        environ=os.environ,
    )


def known(agent: str, among: Library | None = None) -> Manifest:
    """The manifest in use for an agent (an id or an alias)."""
    manifest = (among or library()).get(agent)
    if manifest is None:
        raise click.ClickException(f"No agent is called {agent!r}; `trayagent manifests list` shows all.")
    return manifest


@click.group()
def manifests() -> None:
    """The rule files of agents.

    Your own lie in `manifests` beside the config file, and replace those of the same agent: imported
    ones (setting manifests.import), then updates, then what came with the program.
    """


manifests.add_command(update)
manifests.add_command(rollback)


@manifests.command("list")
@json_option
def list_(as_json: bool) -> None:
    """All agents that are known, where each one's rules come from, and what they stand before."""
    found = library()
    rows = [_row(manifest, found.tiers.get(manifest.id, "")) for manifest in found.manifests]
    for row in rows:
        row["shadows"] = [
            {"source": one.tier, "version": one.manifest.version, "path": one.manifest.origin, "why": one.why}
            for one in found.shadowed
            if one.manifest.id == row["id"]
        ]
    if as_json:
        json_line(rows)
    else:
        _table(rows)
    for problem in found.problems:
        click.echo(str(problem), err=True)


def _row(manifest: Manifest, tier: str) -> dict[str, Any]:
    return {
        "id": manifest.id,
        "name": manifest.name,
        "version": manifest.version,
        "source": tier,
        "dialect": manifest.dialect,
        "rules": len(manifest.rules),
        "path": manifest.origin,
    }


def _table(rows: list[dict[str, Any]]) -> None:
    lines = []
    for row in rows:
        cells = {key: value for key, value in row.items() if key != "shadows"}
        lines.append([clean(value) or "" for value in cells.values()])
        for one in row["shadows"]:
            lines.append(["", "  not in use:", one["version"], one["source"], "", "", clean(one["path"])])
    table(("ID", "NAME", "VERSION", "SOURCE", "DIALECT", "RULES", "FILE"), lines, drop=(4, 2, 1))


@manifests.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@json_option
def check(files: tuple[Path, ...], as_json: bool) -> None:
    """What is odd in rule files of any dialect: these (or folders), or all that are in use.

    Exit code 1 if one is refused. What is merely odd (an unknown key) leaves a file in use."""
    problems = _problems_of(files) if files else _all_problems()
    if as_json:
        json_line([{name: getattr(one, name) for name in Problem.__slots__} for one in problems])
    else:
        for problem in problems:
            click.echo(f"{problem}{'' if problem.fatal else ' (not fatal)'}")
        if not problems:
            click.echo("All in order.")
    click.get_current_context().exit(1 if any(problem.fatal for problem in problems) else 0)


def _problems_of(files: tuple[Path, ...]) -> list[Problem]:
    found: list[Problem] = []
    for file in files:
        read_ones = read_folder(Folder(file.parent, "", only=file.name)) if file.is_dir() else read_all(file)
        found += [problem for _, own in read_ones for problem in own]
    return found


def _all_problems() -> list[Problem]:
    found = library()
    conflicts = Index.build(found.manifests, settings().detect.agents).conflicts
    return [*found.problems, *(Problem("processes", text, fatal=False) for text in conflicts)]


@manifests.command()
@click.argument("agent")
@click.option("--path", "only_path", is_flag=True, help="Print only where the file lies.")
@click.option("--text", is_flag=True, help="Print the file as it stands.")
@json_option
def show(agent: str, only_path: bool, text: bool, as_json: bool) -> None:
    """The rules in use for an agent (an id or an alias), in the order in which they are asked."""
    found = library()
    manifest = known(agent, found)
    if only_path:
        click.echo(manifest.origin)
    elif text:
        click.echo(Path(manifest.origin).read_text("utf-8"), nl=False)
    else:
        from trayagent.cli.ruletext import as_data, as_text

        data = as_data(manifest, found)
        json_line(data) if as_json else click.echo(as_text(data))


@manifests.command()
@click.argument("agent")
@click.option("--herdr", is_flag=True, required=True, help="In herdr's format, which ThinkTerm reads too.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file.")
def export(agent: str, herdr: bool, out: Path | None) -> None:
    """The rules of an agent for another tool. What that format cannot say is told on stderr."""
    from trayagent.manifest.export import to_herdr
    from trayagent.manifest.languages import parse

    found = library()
    manifest = known(agent, found)
    if manifest.dialect not in ("native", "herdr"):
        raise click.ClickException(
            f"{manifest.origin} is in the format of {manifest.dialect}; only files in our own are exported."
        )
    parsed = parse(Path(manifest.origin).read_bytes(), manifest.origin, Path(manifest.origin).suffix)
    assert not isinstance(parsed, Problem)  # it is in use
    family = None
    if not parsed[0].get("rules"):
        path = Path(known(manifest.family, found).origin)
        shared = parse(path.read_bytes(), str(path), path.suffix)
        assert not isinstance(shared, Problem)
        family = shared[0]
    exported = to_herdr(parsed[0], family)
    for note in exported.notes:
        click.echo(note, err=True)
    if out is None:
        click.echo(exported.text, nl=False)
    else:
        out.write_text(exported.text, "utf-8")
