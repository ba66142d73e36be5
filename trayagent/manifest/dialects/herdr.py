"""herdr's newest layout: a folder for each agent, of which four files concern us.

`detection.toml` holds the rules, in the native format. `agent.toml` names the agent,
`process.toml` says how its process is recognised; what else lies there (launching,
resuming, integrations) is about things that are not done here. A folder without
`detection.toml` is no agent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any as AnyValue

from trayagent.manifest.format import Detect, Manifest
from trayagent.manifest.native import read_native
from trayagent.manifest.reading import Report, Table

RULES, AGENT, PROCESS = "detection.toml", "agent.toml", "process.toml"
FILES = (RULES, AGENT, PROCESS)

_AGENT = ("schema", "id", "name", "aliases", "startable", "launch", "sound")
_PROCESS = (
    "schema", "names", "secondary_runtime_argv_fallback", "versioned_basename_prefix", "package_paths",
    "bundled_node",
)  # fmt: skip
_ID = re.compile(r"[a-z][a-z0-9-]{0,63}")
_MOST = 64
_MOST_PACKAGES = 256
_KINDS = ("normalized_components", "exact_suffix")
_PACKAGE_FOLDERS = ("node_modules", "site-packages", "dist-packages")


def read_folder(parts: Mapping[str, tuple[Mapping[str, AnyValue], Report]]) -> Manifest | None:
    """The manifest of one agent's folder: file name to its parsed text and report. None if one was
    refused."""
    rules, report = parts[RULES]
    agent = parts.get(AGENT)
    named = Table(*agent) if agent is not None else None
    if named is not None:
        _check_agent(named)
        rules = {"id": named.string("id"), "aliases": list(named.strings("aliases", _MOST)), **rules}
    manifest = read_native(rules, report)
    process = parts.get(PROCESS)
    detect = read_process(Table(*process)) if process is not None else None
    if manifest is None or any(own.refused for _, own in parts.values()):
        return None
    name = manifest.name or (named.string("name") if named is not None else "")
    return replace(manifest, name=name, detect=manifest.detect or detect, dialect="herdr")


def _check_agent(table: Table) -> None:
    table.only(_AGENT, fatal=False)
    if table.integer("schema", 1) != 1:
        table.wrong("schema", "must be 1")
    if not _ID.fullmatch(table.string("id")):
        table.wrong("id", "must be up to 64 of a-z, 0-9 and `-`, beginning with a letter")


def read_process(table: Table) -> Detect:
    """How the process is recognised, in our own words."""
    table.only(_PROCESS, fatal=False)
    globs: list[str] = []
    prefix = table.string("versioned_basename_prefix")
    if prefix:
        if prefix.endswith("-") and prefix == prefix.lower():
            globs.append(f"{prefix}[0-9]*")
        else:
            table.wrong("versioned_basename_prefix", "must be in lower case and end with `-`")
    packages: list[str] = []
    entries: list[str] = []
    for each in table.tables("package_paths", _MOST_PACKAGES):
        _package(each, packages, entries, globs)
    node = table.table("bundled_node")
    if node is not None:
        keys = ("package_directory", "versions_directory", "runtime_basename", "entrypoint_basename")
        node.only(keys, fatal=False)
        globs.append("/".join([node.string(keys[0]), node.string(keys[1]), "*", node.string(keys[2])]))
    return Detect(
        names=tuple(name.lower() for name in table.strings("names", _MOST)),
        packages=tuple(dict.fromkeys(packages)),
        exe_globs=tuple(globs),
        entry_points=tuple(dict.fromkeys(entries)),
    )


def _package(table: Table, packages: list[str], entries: list[str], globs: list[str]) -> None:
    """A path below a package folder is a package and its entry point; any other a suffix."""
    table.only(("kind", "components"), fatal=False)
    kind, parts = table.string("kind"), list(table.strings("components", _MOST))
    if kind not in _KINDS or not parts:
        table.wrong("kind", f"must be one of {', '.join(_KINDS)}, with components")
        return
    at = max((at for at, part in enumerate(parts) if part in _PACKAGE_FOLDERS), default=-1)
    scoped = at >= 0 and len(parts) > at + 2 and parts[at + 1].startswith("@")
    end = at + (3 if scoped else 2)
    if kind == "exact_suffix" or at < 0 or len(parts) < end:
        globs.append("/".join(parts))
        return
    packages.append("/".join(parts[at + 1 : end]))
    if parts[end:]:
        entries.append("/".join(parts[end:]).removesuffix(".js"))
