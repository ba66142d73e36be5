"""Updates of manifests: what an index says, and which of its files may be taken.

    schema_version = 1
    [[agents]]
    id = "claude"
    path = "claude.toml"          # beside the index, or below it
    version = "2026.3.1"          # the file's own
    min_engine_version = 3        # the file's own
    sha256 = "9f86d08..."

Every file is checked before any is taken, and one that is bad refuses the whole update:
an index that names a file which is not what it says is not one to believe. A file for a
newer engine, or not newer than the bundled one, is passed over. `[hooks]` and
`[answers]` of an update are never heard (choice.py). Nothing here reads or fetches;
the command line does, when the user says so.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace

from trayagent.manifest import dialects
from trayagent.manifest.choice import newer, version_key
from trayagent.manifest.format import ENGINE_VERSION, LIMITS, Manifest, Problem
from trayagent.manifest.languages import parse
from trayagent.manifest.reading import Table

SCHEMA = 1
MOST_AGENTS = 256

_TOP = ("schema_version", "updated_at", "agents")
_AGENT = ("id", "path", "version", "min_engine_version", "sha256")
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*\.toml")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One agent of an index. floor: the rule format that its file asks for."""

    id: str
    path: str
    version: str
    floor: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Bundled:
    """What is there without any update: the manifest and the hash of its file."""

    manifest: Manifest
    sha256: str


def read_index(raw: bytes, name: str, suffix: str = ".toml") -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
    """The entries of an index; none where there is a fatal problem."""
    parsed = parse(raw, name, suffix)
    if isinstance(parsed, Problem):
        return (), (parsed,)
    top = Table(*parsed)
    top.only(_TOP, fatal=False)
    if top.integer("schema_version") != SCHEMA:
        top.wrong("schema_version", f"must be {SCHEMA}")
    tables = top.tables("agents", MOST_AGENTS)
    if not tables:
        top.wrong("agents", "at least one agent is required")
    entries: list[Entry] = []
    for table in tables:
        entry = _entry(table)
        if any(entry.id == other.id for other in entries):
            table.wrong("id", f"{entry.id!r} occurs twice")
        entries.append(entry)
    return (() if top.report.refused else tuple(entries)), tuple(top.report.problems)


def _entry(table: Table) -> Entry:
    table.only(_AGENT, fatal=False)
    entry = Entry(
        table.string("id"),
        table.string("path"),
        table.string("version"),
        table.integer("min_engine_version"),
        table.string("sha256").lower(),
    )
    if not _ID.fullmatch(entry.id):
        table.wrong("id", f"is required, of a-z, 0-9 and `-`, not {entry.id!r}")
    table.rule = entry.id
    if not _PATH.fullmatch(entry.path):
        table.wrong("path", f"must be a .toml file below the index, not {entry.path!r}")
    if not version_key(entry.version):
        table.wrong("version", "is required, of numbers and dots")
    if entry.floor < 1:
        table.wrong("min_engine_version", "is required")
    if not _SHA256.fullmatch(entry.sha256):
        table.wrong("sha256", "must be 64 hexadecimal digits")
    return entry


def passed_over(entry: Entry, bundled: Bundled | None) -> str:
    """Why an entry need not even be fetched; "" where it is wanted."""
    if entry.floor > ENGINE_VERSION:
        return f"needs rule format {entry.floor}; this program knows {ENGINE_VERSION}"
    if bundled is None or newer(_versioned(entry), bundled.manifest):
        return ""
    if version_key(entry.version) < version_key(bundled.manifest.version):
        return f"older than the bundled version {bundled.manifest.version}"
    return "the same as the bundled version" if entry.sha256 == bundled.sha256 else ""


def refused(entry: Entry, raw: bytes, name: str, bundled: Bundled | None) -> tuple[Problem, ...]:
    """What is wrong with the file that an entry names; nothing where it may be taken."""
    if len(raw) > LIMITS.file_bytes:
        return (Problem(name, f"larger than {LIMITS.file_bytes // 1024} KiB"),)
    if hashlib.sha256(raw).hexdigest() != entry.sha256:
        return (Problem(name, "is not the file that the index names: another sha256"),)
    if bundled is not None and not newer(_versioned(entry), bundled.manifest):
        text = f"has the bundled version {entry.version} and another content"
        return (Problem(name, text, key="version"),)
    parsed = parse(raw, name, ".toml")
    if isinstance(parsed, Problem):
        return (parsed,)
    data, report = parsed
    if dialects.sniff(data) != "native" or "rules" not in data:
        return (Problem(name, "is not in the native format, or has no rules"),)
    found = dialects.read(data, report)
    for manifest in found:
        told = (manifest.id, version_key(manifest.version), data.get("min_engine_version"))
        if told != (entry.id, version_key(entry.version), entry.floor):
            report.add("says another id, version or min_engine_version than the index", key="id")
    return tuple(problem for problem in report.problems if problem.fatal)


def _versioned(entry: Entry) -> Manifest:
    return replace(_NOTHING, id=entry.id, version=entry.version)


_NOTHING = Manifest("", ())
