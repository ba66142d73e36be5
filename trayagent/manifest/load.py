"""The only file of this room that reads: folders of manifests, and the files in them.

Precedence is by folder: the user's own, the folders of other tools that he wants read,
updates, and what came with the program (choice.py). A file that is bad in any way that
matters is refused whole and reported, and the agent is served from the next folder, so
that an error in one file never takes an agent away. `[hooks]` and `[answers]` act on the
user's machine: they are taken from trusted folders only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trayagent import resources
from trayagent.manifest import dialects
from trayagent.manifest.choice import BUNDLED, UPDATED, Choice, Shadowed, Shelf, choose, names_of
from trayagent.manifest.dialects import herdr
from trayagent.manifest.format import LIMITS, Manifest, Problem
from trayagent.manifest.languages import parse
from trayagent.manifest.reading import Report


@dataclass(frozen=True, slots=True)
class Folder:
    """One place of manifests, or one file that holds several. tier: its name for lists (`user`, a
    tool's, `updated`, `bundled`). trusted: its hooks and answers count. suffixes: which files are
    read. named: a file must be named like its agent. last_wins: of two files with one id the later
    in the order of their names serves, as that tool has it. only: the one entry that is read."""

    path: Path
    tier: str
    trusted: bool = True
    suffixes: tuple[str, ...] = (".toml", ".yaml", ".yml", ".json")
    named: bool = False
    last_wins: bool = False
    only: str = ""


def tool_folders(tool: str, home: Path, environ: Mapping[str, str]) -> list[Folder]:
    """Where a tool keeps the user's own rules, the strongest place first. Raises KeyError for a tool
    that is none of `thinkterm herdr tmux-ide tuios jackin`."""
    configured = [home / ".config"]
    if environ.get("XDG_CONFIG_HOME"):
        configured.insert(0, Path(environ["XDG_CONFIG_HOME"]))
    own = _TOOLS[tool]
    places = [Path(environ[own.variable])] if own.variable and environ.get(own.variable) else []
    if own.below_config:
        places += [folder / own.default for folder in dict.fromkeys(configured)]
    elif not places:
        places = [home / own.default]
    return [
        Folder(place / below if below else place, tool, False, own.suffixes, own.named, own.last_wins)
        for place in places
        for below in own.below
    ]


@dataclass(frozen=True, slots=True)
class _Tool:
    """default: below the home or configuration folder. variable: of the environment, names another.
    below: what is read in it, the strongest first."""

    default: str
    variable: str = ""
    below_config: bool = True
    below: tuple[str, ...] = ("",)
    suffixes: tuple[str, ...] = (".toml",)
    named: bool = False
    last_wins: bool = False


_TOOLS = {
    "thinkterm": _Tool("thinkterm/agent-detection"),
    "herdr": _Tool("herdr/agent-detection", named=True),
    "tuios": _Tool("tuios/harnesses", "TUIOS_HARNESS_DIR"),
    "tmux-ide": _Tool(
        ".tmux-ide", "TMUX_IDE_HOME", below_config=False, suffixes=(".json",), last_wins=True,
        below=("agent-detection", "pack/manifest-pack.json"),
    ),
    "jackin": _Tool(
        ".jackin/agent-status/packs", "JACKIN_STATUS_PACK_DIR", below_config=False, last_wins=True
    ),
}  # fmt: skip
TOOLS = tuple(_TOOLS)


class Library:
    """The manifests of all folders, the strongest folder first. Construction reads them."""

    def __init__(self, folders: Iterable[Folder]) -> None:
        self._folders = tuple(folders)
        self._by_name: dict[str, Manifest] = {}
        self._choice = Choice()
        self.problems: tuple[Problem, ...] = ()
        self.reload()

    @classmethod
    def standard(
        cls,
        user: Path | None = None,
        *,
        imports: Iterable[str] = (),
        updated: Path | None = None,
        home: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Library:
        """All manifests by their precedence. user: the user's own folder, which need not exist.
        imports: tools whose folders are read too, the strongest first. updated: the folder of updates.
        home, environ: where tools keep their files; the process's own environment is never read here."""
        return cls(standard_folders(user, imports, updated, home, environ or {}))

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """Those that serve, each agent once."""
        return self._choice.manifests

    @property
    def tiers(self) -> Mapping[str, str]:
        """From where each agent is served, by its id."""
        return self._choice.tiers

    @property
    def shadowed(self) -> tuple[Shadowed, ...]:
        """Those that do not serve since a stronger one does."""
        return tuple(self._choice.shadowed)

    @property
    def folders(self) -> tuple[Folder, ...]:
        """The folders, whether they exist or not."""
        return self._folders

    def use(self, folders: Iterable[Folder]) -> None:
        """Read these folders at the next `reload`."""
        self._folders = tuple(folders)

    def reload(self) -> None:
        """Read all folders anew; the old manifests serve until the new ones are complete."""
        problems: list[Problem] = []
        shelves = [_shelf(folder, problems) for folder in self._folders]
        choice = choose(shelves)
        self._by_name = names_of(choice.manifests)
        self._choice, self.problems = choice, (*problems, *choice.problems)

    def get(self, name: str) -> Manifest | None:
        """The manifest of an agent, by its id or one of its aliases."""
        return self._by_name.get(name)


def standard_folders(
    user: Path | None,
    imports: Iterable[str] = (),
    updated: Path | None = None,
    home: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> list[Folder]:
    """The folders of `Library.standard`, the strongest first."""
    folders = [] if user is None else [Folder(user, "user")]
    for tool in imports:
        folders += tool_folders(tool, home or Path.home(), environ or {})
    if updated is not None:
        folders.append(Folder(updated, UPDATED, trusted=False))
    return [*folders, Folder(resources.folder("manifests"), BUNDLED)]


def updated_folder(state: Path) -> Path:
    """Where the updates in force lie, below the program's state folder: a link to one of its versions."""
    return state / "manifests" / "current"


# -- one folder --------------------------------------------------------------------------


def _shelf(folder: Folder, problems: list[Problem]) -> Shelf:
    """What a folder holds, each id once."""
    found: dict[str, Manifest] = {}
    for manifest, own in read_folder(folder):
        problems.extend(own)
        if manifest is None:
            continue
        origin = Path(manifest.origin)
        named = origin.parent.name if origin.name == herdr.RULES else origin.stem
        if folder.named and named not in (manifest.id, *manifest.aliases):
            text = f"the file is not named like its agent {manifest.id!r}, nor like one of its aliases"
            problems.append(Problem(manifest.origin, text, key="id"))
            continue
        earlier = found.get(manifest.id)
        if earlier is not None:
            text = f"{manifest.id!r} is already defined in {earlier.origin}"
            problems.append(Problem(manifest.origin, text, key="id", fatal=not folder.last_wins))
            if not folder.last_wins:
                continue
        found[manifest.id] = manifest
        if not folder.trusted and folder.tier != UPDATED:
            problems.extend(_unheard_acts(manifest))
    return Shelf(folder.tier, tuple(found.values()), folder.trusted)


def _unheard_acts(manifest: Manifest) -> Iterator[Problem]:
    for key, value in (("hooks", manifest.hooks), ("answers", manifest.answers)):
        if value:
            text = "is taken from bundled and your own files only"
            yield Problem(manifest.origin, text, key=key, fatal=False)


def read_folder(folder: Folder) -> Iterator[tuple[Manifest | None, tuple[Problem, ...]]]:
    """Every manifest of a folder in the order of the files' names, None where one was refused; below
    it, folders of herdr's layout. A folder that does not exist is empty."""
    try:
        if folder.path.is_file():
            yield from read_all(folder.path)
            return
        entries = sorted(folder.path.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield None, (Problem(str(folder.path), f"the folder cannot be read: {error.strerror}"),)
        return
    for path in entries:
        if folder.only and path.name != folder.only:
            continue
        if (path / herdr.RULES).is_file():
            yield _read_registry(path)
        elif path.suffix in folder.suffixes:
            yield from read_all(path)


def _read_registry(path: Path) -> tuple[Manifest | None, tuple[Problem, ...]]:
    """One agent of herdr's newest layout: a folder of its own."""
    parts: dict[str, tuple[Mapping[str, Any], Report]] = {}
    problems: list[Problem] = []
    for name in herdr.FILES:
        if (path / name).is_file():
            raw, problem = _bytes_of(path / name)
            parsed = problem or parse(raw, str(path / name), ".toml")
            if isinstance(parsed, Problem):
                problems.append(parsed)
            else:
                parts[name] = parsed
    manifest = herdr.read_folder(parts) if not problems else None
    return manifest, (*problems, *(own for _, report in parts.values() for own in report.problems))


# -- one file ----------------------------------------------------------------------------


def read_file(path: Path) -> tuple[Manifest | None, tuple[Problem, ...]]:
    """Read one file; the manifest is None if it was refused. Never raises for what a file holds."""
    raw, problem = _bytes_of(path)
    return (None, (problem,)) if problem is not None else read_text(raw, str(path), path.suffix)


def read_all(path: Path) -> Iterator[tuple[Manifest | None, tuple[Problem, ...]]]:
    """Read one file, which may be a pack of several manifests; the problems come with the first."""
    raw, problem = _bytes_of(path)
    found, problems = ([], (problem,)) if problem is not None else _read(raw, str(path), path.suffix)
    yield (found[0] if found else None), problems
    yield from ((manifest, ()) for manifest in found[1:])


def read_text(raw: bytes, name: str, suffix: str = ".toml") -> tuple[Manifest | None, tuple[Problem, ...]]:
    """Read a manifest's bytes, of whatever dialect; suffix says the language (`.toml .yaml .yml .json`)."""
    found, problems = _read(raw, name, suffix)
    return (found[0] if found else None), problems


def _bytes_of(path: Path) -> tuple[bytes, Problem | None]:
    try:
        if not path.is_file():  # a pipe or a device would keep us waiting
            return b"", Problem(str(path), "cannot be read: it is no file, or not there")
        with path.open("rb") as file:
            return file.read(LIMITS.file_bytes + 1), None
    except OSError as error:
        return b"", Problem(str(path), f"cannot be read: {error.strerror}")


def _read(raw: bytes, name: str, suffix: str) -> tuple[list[Manifest], tuple[Problem, ...]]:
    parsed = parse(raw, name, suffix)
    if isinstance(parsed, Problem):
        return [], (parsed,)
    data, report = parsed
    return dialects.read(data, report), tuple(report.problems)
