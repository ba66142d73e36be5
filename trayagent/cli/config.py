"""`config init|check|edit|path|schema|get|set`: the config file."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click

from trayagent.cli.ask import json_option
from trayagent.cli.show import json_line, style
from trayagent.config import schema
from trayagent.config.edit import EditRefused, get_value, set_value
from trayagent.config.example import example, reference
from trayagent.config.load import default_path, read, read_text
from trayagent.config.parse import Parsed
from trayagent.config.problems import Problem, did_you_mean
from trayagent.config.write import write_text


@click.group()
@click.option("--file", type=click.Path(path_type=Path), metavar="FILE", help="Another file than your own.")
@click.pass_context
def config(ctx: click.Context, file: Path | None) -> None:
    """The config file. trayagent works without one, and reads it again whenever it is saved."""
    ctx.obj = file or default_path()


@config.command()
@click.pass_obj
def path(file: Path) -> None:
    """Where the file is, or would be."""
    click.echo(str(file))


@config.command()
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--print", "only_print", is_flag=True, help="Print it, and write nothing.")
@click.pass_obj
def init(file: Path, force: bool, only_print: bool) -> None:
    """Write a file with every key, its default and what it does."""
    if only_print:
        click.echo(example(), nl=False)
        return
    if file.exists() and not force:
        raise click.ClickException(f"{file} is there already; --force replaces it, --print shows a new one.")
    _write(file, example())
    click.echo(f"Written: {file}")


@config.command()
@click.argument("other", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
@json_option
@click.pass_obj
def check(file: Path, other: Path | None, as_json: bool) -> None:
    """What is wrong with the file, each with its line. Exit code 1 if it cannot be used."""
    file = other or file
    if other is not None and not other.exists():
        raise click.ClickException(f"{other}: there is no such file.")
    parsed = read(file)
    if as_json:
        names = ("line", "column", "key", "text", "error")
        json_line([{name: getattr(problem, name) for name in names} for problem in parsed.problems])
    else:
        _print_problems(file, parsed)
    click.get_current_context().exit(1 if parsed.errors else 0)


def _print_problems(file: Path, parsed: Parsed) -> None:
    for problem in parsed.problems:
        click.echo(problem.render(str(file)))
    if not parsed.problems:
        click.echo(f"{file}: in order" if file.exists() else f"{file}: not there, the defaults hold")


@config.command()
@click.pass_obj
def edit(file: Path) -> None:
    """Open the file in your editor ($VISUAL, $EDITOR), and check it afterwards."""
    if not file.exists():
        _write(file, example())
    command = _editor()
    try:
        done = subprocess.run([*command, str(file)], check=False)
    except OSError as error:
        raise click.ClickException(f"{command[0]} cannot be run ({error.strerror}); set EDITOR.") from error
    if done.returncode:
        raise click.ClickException(f"{command[0]} ended with {done.returncode}; nothing was checked.")
    parsed = read(file)
    _print_problems(file, parsed)
    click.get_current_context().exit(1 if parsed.errors else 0)


def _editor() -> list[str]:
    for name in ("VISUAL", "EDITOR"):
        if os.environ.get(name, "").strip():
            return shlex.split(os.environ[name])
    found = next((name for name in ("sensible-editor", "nano", "vi") if shutil.which(name)), None)
    if found is None:
        raise click.ClickException("No editor was found; set EDITOR to yours.")
    return [found]


@config.command("schema")
@click.argument("prefix", required=False, metavar="[KEY]")
@json_option
def schema_(prefix: str | None, as_json: bool) -> None:
    """All keys (or those below KEY): what each does, what may be written, its default."""
    rows = [row for row in reference() if not prefix or f"{row['key']}.".startswith(f"{prefix}.")]
    if not rows:
        raise click.ClickException(f"There is no key {prefix}{did_you_mean(prefix or '', schema.BY_PATH)}.")
    if as_json:
        json_line(rows)
        return
    for row in rows:
        click.echo(f"{style(row['key'], bold=True)}: {row['default']}")
        click.echo(f"    {row['doc']}")
        click.echo(style(f"    {row['form']}", dim=True))


def _keys(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [key for key in schema.BY_PATH if key.startswith(incomplete)]


@config.command()
@click.argument("key", shell_complete=_keys)
@click.pass_obj
def get(file: Path, key: str) -> None:
    """The value in force for a key."""
    parsed = read(file)
    value = get_value(parsed, key)
    if parsed.settings is None:
        _print_problems(file, parsed)
        raise click.ClickException("The file cannot be used; mend it first.")
    if value is None:
        raise click.ClickException(f"There is no key {key}{did_you_mean(key, schema.BY_PATH)}.")
    click.echo(value)


@config.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key", shell_complete=_keys)
@click.argument("value")
@click.pass_obj
def set_(file: Path, key: str, value: str) -> None:
    """Change one value in the file, and nothing else of it.

    VALUE is written as in the file: 5 min, off, [blocked, error]. Comments, order and links stay.
    """
    text = read_text(file)
    if isinstance(text, Problem):
        raise click.ClickException(text.render(str(file)))
    try:
        new = set_value(text, key, value)
    except EditRefused as refused:
        raise click.ClickException(str(refused)) from refused
    if new != text:
        _write(file, new)
    click.echo(f"{key}: {_shown(file, key, value)}")


def _shown(file: Path, key: str, value: str) -> Any:
    return get_value(read(file), key) or value


def _write(file: Path, text: str) -> None:
    try:
        write_text(file, text)
    except EditRefused as refused:
        raise click.ClickException(str(refused)) from refused
