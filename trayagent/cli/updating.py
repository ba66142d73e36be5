"""`manifests update` and `rollback`: newer rule files from a place that the user names.

Nothing is fetched unless this command runs, and no place is known to the program: `--from`
names an index (a file, a folder that holds `index.toml`, or an https address), else the
setting `manifests.update_url`. What an index is, and what of it may be taken, says
manifest/updates.py.

Updates lie in the state folder: `manifests/versions/0001` and so on, each complete, and a
link `current` to the one in force. A version is written beside the others, synced,
renamed to its number, and then the link is replaced, so that at no moment half an update
is there. `rollback` points the link at the version before, or takes it away.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click
import platformdirs

from trayagent import resources
from trayagent.manifest.choice import version_key
from trayagent.manifest.format import LIMITS, Problem
from trayagent.manifest.load import read_file, read_text, updated_folder
from trayagent.manifest.updates import Bundled, Entry, passed_over, read_index, refused

if TYPE_CHECKING:
    from trayagent.cli.fetching import Place

KEPT_VERSIONS = 5


class Store:
    """The versions of updates below the program's state folder."""

    def __init__(self, state: Path) -> None:
        self.current = updated_folder(state)
        self._versions = self.current.parent / "versions"

    def numbers(self) -> list[int]:
        """The versions that are there, the oldest first."""
        try:
            return sorted(int(path.name) for path in self._versions.iterdir() if path.name.isdigit())
        except FileNotFoundError:
            return []

    def number(self) -> int:
        """The version in force, 0 for none."""
        try:
            name = self.current.readlink().name
        except OSError:  # no link: nothing is in force
            return 0
        return int(name) if name.isdigit() else 0

    def files(self) -> dict[str, bytes]:
        """What is in force: file name to content."""
        if not self.number():
            return {}
        return {path.name: path.read_bytes() for path in sorted(self.current.glob("*.toml"))}

    def put(self, files: dict[str, bytes]) -> int:
        """Make these files a new version and put it in force; returns its number. Raises OSError."""
        self._versions.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=self._versions))
        try:
            for name, content in files.items():
                with (fresh / name).open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            number = max([*self.numbers(), self.number()], default=0) + 1
            fresh.rename(self._versions / f"{number:04}")
        except OSError:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        self._point_at(number)
        for old in self.numbers()[:-KEPT_VERSIONS]:
            shutil.rmtree(self._versions / f"{old:04}", ignore_errors=True)
        return number

    def back(self) -> int | None:
        """Put the version before in force; returns its number, 0 for none, None if none was in force."""
        now = self.number()
        if not now:
            return None
        before = max((number for number in self.numbers() if number < now), default=0)
        if before:
            self._point_at(before)
        else:
            self.current.unlink()
        return before

    def _point_at(self, number: int) -> None:
        link = self.current.with_name(f".current-{os.getpid()}")
        link.unlink(missing_ok=True)
        link.symlink_to(Path("versions") / f"{number:04}")
        link.replace(self.current)


def store() -> Store:
    """The user's own."""
    return Store(Path(platformdirs.user_state_dir("trayagent")))


def bundled() -> dict[str, Bundled]:
    """What came with the program, by id."""
    found: dict[str, Bundled] = {}
    for path in sorted(resources.folder("manifests").glob("*.toml")):
        manifest, _ = read_file(path)
        if manifest is not None:
            found[manifest.id] = Bundled(manifest, hashlib.sha256(path.read_bytes()).hexdigest())
    return found


@dataclass(slots=True)
class Plan:
    """What an index comes to. files: to be in force. taken, passed: id to what is said of it."""

    files: dict[str, bytes] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    passed: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def plan(place: Place, in_force: dict[str, bytes]) -> Plan:
    """Fetch and check everything that an index names. Raises FetchError."""
    raw = place.index()
    entries, problems = read_index(raw, place.name, place.suffix)
    made = Plan(problems=[problem for problem in problems if problem.fatal])
    mine = bundled()
    for entry in entries:
        why = passed_over(entry, mine.get(entry.id))
        name = f"{entry.id}.toml"
        if not why and _older(entry, in_force.get(name)):
            why, made.files[name] = "older than the update in force", in_force[name]
        if why:
            made.passed[entry.id] = why
            continue
        content = place.file(entry.path, LIMITS.file_bytes + 1)
        made.problems += refused(entry, content, f"{place.name}: {entry.path}", mine.get(entry.id))
        made.files[name] = content
        if content != in_force.get(name):
            before = mine[entry.id].manifest.version if entry.id in mine else ""
            made.taken[entry.id] = f"{before or 'new'} -> {entry.version}"
    return made


def _older(entry: Entry, content: bytes | None) -> bool:
    if content is None:
        return False
    manifest, _ = read_text(content, entry.id)
    return manifest is not None and version_key(entry.version) < version_key(manifest.version)


def _lines(made: Plan) -> Iterator[str]:
    yield from (f"{agent}: {said}" for agent, said in made.taken.items())
    yield from (f"{agent}: passed over, {why}" for agent, why in made.passed.items())


@click.command()
@click.option(
    "--from", "place", metavar="INDEX", help="A file, a folder with index.toml, or an https address."
)
@click.option("--dry-run", is_flag=True, help="Fetch and check, and change nothing.")
def update(place: str | None, dry_run: bool) -> None:
    """Newer rule files, from an index that you name.

    Every file is checked before any is taken. They never bring hooks or answers, and never replace a
    newer bundled file, nor one of your own. `rollback` undoes the last update.
    """
    from trayagent.cli.fetching import FetchError, Place
    from trayagent.cli.manifests import settings

    where = place or settings().manifests.update_url
    if not where:
        raise click.UsageError("Update from where? Give --from INDEX, or set manifests.update_url.")
    mine = store()
    try:
        made = plan(Place(where), mine.files())
    except FetchError as error:
        raise click.ClickException(str(error)) from None
    if made.problems:
        for problem in made.problems:
            click.echo(str(problem), err=True)
        raise click.ClickException("nothing was taken")
    for line in _lines(made):
        click.echo(line)
    if not made.taken:
        click.echo("Nothing newer.")
    elif dry_run:
        click.echo("Nothing was changed.")
    else:
        try:
            number = mine.put(made.files)
        except OSError as error:
            raise click.ClickException(f"{mine.current.parent}: {error.strerror}; nothing changed") from None
        click.echo(f"In force as version {number}; a daemon that runs has them now.")


@click.command()
def rollback() -> None:
    """Undo the last update: the version before it serves, or what came with the program."""
    try:
        before = store().back()
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
    if before is None:
        raise click.ClickException("no update is in force")
    click.echo(f"Version {before} is in force." if before else "What came with the program is in force.")
