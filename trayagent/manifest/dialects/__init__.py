"""Foreign manifest formats, each by a translator of its own into format.py's classes.

| dialect | a file of it holds | translator |
| --- | --- | --- |
| native | `rules` (herdr's and ThinkTerm's own files are the same) | ../native.py |
| herdr | a folder: `detection.toml` beside `agent.toml`, `process.toml` | herdr.py |
| tuios | `schema_version` and `[detect]`, `[screen]`, `[title]` | tuios.py |
| tmux-ide | JSON with `commands` and `states`; a pack: `manifests` | tmux_ide.py |
| jackin | `agent` and `[[rule]]` | jackin.py |

What a file is shows in its keys, not in its name or place. Where the dialects disagree
(case, wrapped rows, a region without its anchor, what holds when no rule matches) the
difference is a field of the internal form, and the evaluator never asks which it was.
Two of their habits are not taken over: keys that nobody knows are told, not passed over
(jackin's own rules carry one that was meant to exclude something), and a pattern
that RE2 cannot run is refused with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trayagent.manifest.dialects.jackin import read_jackin
from trayagent.manifest.dialects.tmux_ide import read_pack, read_tmux_ide
from trayagent.manifest.dialects.tuios import read_tuios
from trayagent.manifest.format import Manifest
from trayagent.manifest.native import read_native
from trayagent.manifest.reading import Report

_TUIOS_KEYS = frozenset({"screen", "title", "notify", "transcript", "input"})
_TUIOS_DETECT = frozenset({"comm", "argv0", "argv_path", "exe_glob", "require"})


def sniff(data: Mapping[str, Any]) -> str:
    """The dialect of a parsed file: `native tuios tmux-ide tmux-ide-pack jackin`."""
    if "rules" in data:
        return "native"
    if isinstance(data.get("manifests"), list) and "id" not in data:
        return "tmux-ide-pack"
    if "states" in data or "commands" in data:
        return "tmux-ide"
    if "agent" in data or "rule" in data or "validated_versions" in data:
        return "jackin"
    detect = data.get("detect")
    own = isinstance(detect, Mapping) and not _TUIOS_DETECT.isdisjoint(detect)
    return "tuios" if "schema_version" in data or own or not _TUIOS_KEYS.isdisjoint(data) else "native"


def read(data: Mapping[str, Any], report: Report) -> list[Manifest]:
    """The manifests that a parsed file holds: one, several of a pack, none where it was refused."""
    dialect = sniff(data)
    if dialect == "tmux-ide-pack":
        return read_pack(data, report)
    translate = {"tuios": read_tuios, "tmux-ide": read_tmux_ide, "jackin": read_jackin}
    manifest = translate.get(dialect, read_native)(data, report)
    return [] if manifest is None else [manifest]
