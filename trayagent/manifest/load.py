"""The only file of this room that reads: folders of manifests, and which of them serves.

Precedence is by folder: the user's own before the bundled one (others may stand
between). A file replaces a whole agent, by its id or one of its aliases; nothing is
merged. A file that is bad in any way that matters is refused whole and reported, and
the agent is served from the next folder, so that an error in one file never takes an
agent away. `[hooks]` and `[answers]` act on the user's machine: they are taken from
trusted folders only.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trayagent import resources
from trayagent.manifest.format import LIMITS, Manifest, Problem
from trayagent.manifest.native import read_native
from trayagent.manifest.reading import Report


@dataclass(frozen=True, slots=True)
class Folder:
    """One place of manifests. tier: its name for lists (`user bundled`).
    trusted: its hooks and answers count."""

    path: Path
    tier: str
    trusted: bool = True


class Library:
    """The manifests of all folders, the strongest folder first. Construction reads them."""

    def __init__(self, folders: Iterable[Folder]) -> None:
        self._folders = tuple(folders)
        self._by_name: dict[str, Manifest] = {}
        self.manifests: tuple[Manifest, ...] = ()
        self.problems: tuple[Problem, ...] = ()
        self.tiers: Mapping[str, str] = {}
        self.reload()

    @classmethod
    def standard(cls, user: Path | None = None) -> Library:
        """The bundled manifests below those of the user's folder, which need not exist."""
        bundled = Folder(resources.folder("manifests"), "bundled")
        return cls([bundled] if user is None else [Folder(user, "user"), bundled])

    def reload(self) -> None:
        """Read all folders anew; the old manifests serve until the new ones are complete."""
        problems: list[Problem] = []
        chosen: dict[str, Manifest] = {}
        tiers: dict[str, str] = {}
        for folder in self._folders:
            taken = {name for manifest in chosen.values() for name in (manifest.id, *manifest.aliases)}
            for manifest in _read_folder(folder, problems):
                if manifest.id not in taken:
                    chosen[manifest.id] = manifest
                    tiers[manifest.id] = folder.tier
        complete = [_with_family(manifest, chosen, problems) for manifest in chosen.values()]
        manifests = tuple(sorted((m for m in complete if m is not None), key=lambda m: m.id))
        self._by_name = _names(manifests)
        self.manifests, self.problems, self.tiers = manifests, tuple(problems), tiers

    def get(self, name: str) -> Manifest | None:
        """The manifest of an agent, by its id or one of its aliases."""
        return self._by_name.get(name)


def _names(manifests: tuple[Manifest, ...]) -> dict[str, Manifest]:
    """Every id, and every alias that is no id; among equal aliases the first id in order has it."""
    names = {manifest.id: manifest for manifest in manifests}
    for manifest in manifests:
        for alias in manifest.aliases:
            names.setdefault(alias, manifest)
    return names


def _with_family(
    manifest: Manifest, chosen: Mapping[str, Manifest], problems: list[Problem]
) -> Manifest | None:
    """A file without rules of its own is read by those of its family; without either it cannot serve."""
    if manifest.rules:
        return manifest
    family = chosen.get(manifest.family)
    if family is None or not family.rules:
        problems.append(
            Problem(manifest.origin, f"the family {manifest.family!r} has no rules", key="family")
        )
        return None
    return replace(manifest, rules=family.rules, prompts=family.prompts, fallback=family.fallback)


def _read_folder(folder: Folder, problems: list[Problem]) -> list[Manifest]:
    try:
        files = sorted(path for path in folder.path.iterdir() if path.suffix in _PARSERS)
    except FileNotFoundError:
        return []
    except OSError as error:
        problems.append(Problem(str(folder.path), f"the folder cannot be read: {error.strerror}"))
        return []
    found: dict[str, Manifest] = {}
    for path in files:
        manifest, own = read_file(path)
        problems.extend(own)
        if manifest is None:
            continue
        if manifest.id in found:
            other = found[manifest.id].origin
            problems.append(Problem(str(path), f"{manifest.id!r} is already defined in {other}", key="id"))
            continue
        found[manifest.id] = manifest if folder.trusted else _without_acts(manifest, problems)
    return list(found.values())


def _without_acts(manifest: Manifest, problems: list[Problem]) -> Manifest:
    for key, value in (("hooks", manifest.hooks), ("answers", manifest.answers)):
        if value:
            text = "is taken from bundled and your own files only"
            problems.append(Problem(manifest.origin, text, key=key, fatal=False))
    return replace(manifest, hooks=None, answers=())


# -- one file ----------------------------------------------------------------------------


def read_file(path: Path) -> tuple[Manifest | None, tuple[Problem, ...]]:
    """Read one file; the manifest is None if it was refused. Never raises for what a file holds."""
    try:
        with path.open("rb") as file:
            raw = file.read(LIMITS.file_bytes + 1)
    except OSError as error:
        return None, (Problem(str(path), f"cannot be read: {error.strerror}"),)
    return read_text(raw, str(path), path.suffix)


def read_text(raw: bytes, name: str, suffix: str = ".toml") -> tuple[Manifest | None, tuple[Problem, ...]]:
    """Read a manifest's bytes; suffix says the language (`.toml .yaml .yml .json`)."""
    if len(raw) > LIMITS.file_bytes:
        return None, (Problem(name, f"larger than {LIMITS.file_bytes // 1024} KiB"),)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        return None, (Problem(name, "is not UTF-8", line=line),)
    report = Report(name, text)
    try:
        data = _PARSERS[suffix](text)
    except _Broken as broken:
        return None, (Problem(name, broken.text, line=broken.line),)
    except RecursionError:
        return None, (Problem(name, "is nested too deeply"),)
    if not isinstance(data, Mapping):
        return None, (Problem(name, "must hold a table at its top"),)
    return read_native(data, report), tuple(report.problems)


class _Broken(Exception):
    """The text is no TOML, YAML or JSON. line: 1-based, None where the parser does not say."""

    def __init__(self, text: str, line: int | None) -> None:
        super().__init__(text)
        self.text = text
        self.line = line


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        before, sign, after = said.partition("(at line ")
        line = after.split(",")[0] if sign else ""
        raise _Broken(before.strip() or said, int(line) if line.isdigit() else None) from None


def _json(text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise _Broken(f"the key {twice!r} occurs twice", None)
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise _Broken(error.msg, error.lineno) from None


def _yaml(text: str) -> Any:
    import yaml  # 20 ms that only a YAML file should cost

    class Loader(yaml.SafeLoader):
        """Safe YAML that refuses a key which occurs twice."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            seen: dict[str, int] = {}
            for key, _ in node.value:
                if key.value in seen:
                    first, line = seen[key.value], key.start_mark.line + 1
                    raise _Broken(f"the key {key.value!r} occurs twice, first in line {first}", line)
                seen[str(key.value)] = key.start_mark.line + 1
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader)  # a subclass of SafeLoader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = str(getattr(error, "problem", None) or error)
        raise _Broken(said, None if mark is None else mark.line + 1) from None


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    ".toml": _toml,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".json": _json,
}
