"""jackin's rule packs: flat lists of literals and patterns, on lower-cased text.

Literals and text fold ASCII letters; patterns run on that text and ignore case besides,
so that an upper-case class works. A rule without any matcher always holds. The first rule
that matches decides, and `freeze` means that the state stays. A weak rule names a state
but may not change the pane's: only `strength = "strong"` does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any as AnyValue

from trayagent.manifest.dialects.matchers import (
    Style,
    all_of,
    any_of,
    literal,
    literals,
    none_of,
    pattern,
    patterns,
)
from trayagent.manifest.format import (
    LIMITS,
    All,
    Any,
    Border,
    Gate,
    Manifest,
    Missing,
    Not,
    Region,
    Rule,
    Source,
)
from trayagent.manifest.reading import Report, Table
from trayagent.model.states import State

ENGINE_VERSION = 2  # of jackin's rule engine, all of which is here
GATES_SINCE = 2
MOST_MATCHERS = 32
DEEPEST = 16

_TOP = ("schema_version", "agent", "validated_versions", "min_engine_version", "rule")
_LISTS = ("requires_all", "requires_any", "forbids", "regex", "line_regex", "forbids_regex")
_RULE = ("id", "state", "priority", "region", "strength", "gate", *_LISTS)
_GATE = ("all", "any", "not", "contains", "regex", "line_regex")
_STATES: dict[str, State | None] = {
    "working": State.WORKING, "blocked": State.BLOCKED, "idle": State.IDLE, "freeze": None,
}  # fmt: skip
_STYLE = Style(fold=True, ascii=True, lowered=True, ignore_case=True)

# name -> region; all of them know a marker by its row without indentation.
_REGIONS = {
    "prompt_box_body": Region("prompt_box_body", missing=Missing.EMPTY, border=Border.CORNERS, bare=True),
    "above_prompt_box": Region("above_prompt_box", border=Border.CORNERS),
    "after_last_rule": Region("after_last_border", border=Border.TEN),
    "last_nonempty_line": Region("last_non_empty"),
    "last_prompt_marker": Region("last_prompt_marker", missing=Missing.EMPTY, trimmed=True),
    "after_last_prompt_marker": Region("after_last_prompt_marker", missing=Missing.EMPTY, trimmed=True),
    "before_current_prompt_marker": Region("before_current_prompt_marker", trimmed=True),
    "whole_recent_without_current_prompt_marker": Region("whole_without_current_prompt_marker", trimmed=True),
    "osc_title": Region("whole", source=Source.TITLE),
    "osc_progress": Region("whole", source=Source.CODE),
}
_COUNTED = re.compile(r"(bottom|bottom_nonempty):([0-9]{1,5})")


@lru_cache(maxsize=256)
def parse_region(text: str) -> Region | None:
    """A region by its name in the file, None where there is none of that name; equal names give the
    same object."""
    known = _REGIONS.get(text)
    if known is not None:
        return replace(known, label=text)
    found = _COUNTED.fullmatch(text)
    if found is None:
        return None
    count = int(found[2])
    if found[1] == "bottom":
        return Region("bottom_lines", count=count, label=text)
    return Region("bottom_non_empty_lines", count=count, window=2 * count, blanks=False, label=text)


def read_jackin(data: Mapping[str, AnyValue], report: Report) -> Manifest | None:
    """The manifest that a parsed pack holds, None if it was refused; all problems are in the report."""
    top = Table(data, report)
    top.only(_TOP, fatal=False)
    if top.integer("schema_version") != 1:
        top.wrong("schema_version", "must be 1")
    agent = top.string("agent").strip()
    if not agent:
        top.wrong("agent", "is required and must not be blank")
    versions = top.string("validated_versions")
    if not _has_upper_bound(versions):
        top.wrong("validated_versions", "must be a version, or a range that has an upper bound")
    floor = top.integer("min_engine_version", 1)
    if not 1 <= floor <= ENGINE_VERSION:
        top.wrong("min_engine_version", f"{floor} is not an engine version up to {ENGINE_VERSION}")
    rules = [_rule(table, at, floor) for at, table in enumerate(top.tables("rule", LIMITS.rules))]
    if report.refused:
        return None
    return Manifest(id=agent, rules=tuple(rules), dialect="jackin", origin=report.file)


def _has_upper_bound(versions: str) -> bool:
    """Whether a semver range (`>=1.0.0, <2.0.0`, `^1.2`, `1.2.3`) ends somewhere; `1.2` is `^1.2`."""
    parts = [part.strip() for part in versions.split(",")]
    if not versions.strip() or not all(_COMPARATOR.fullmatch(part) for part in parts):
        return False
    return any(not part.startswith(">") and part != "*" for part in parts)


_COMPARATOR = re.compile(r"(?:[<>]=?|=|\^|~)?\s*[0-9]+(?:\.(?:[0-9]+|[*xX])){0,2}(?:[-+][0-9A-Za-z.+-]+)?|\*")


def _rule(table: Table, at: int, floor: int) -> Rule:
    named = table.data.get("id")
    table.rule = named if isinstance(named, str) and named.strip() else f"#{at + 1}"
    table.prefix = ""
    for key in ("id", "state", "region"):
        if not table.string(key).strip():
            table.wrong(key, "is required and must not be blank")
    if "priority" not in table.data:
        table.wrong("priority", "is required")
    table.only(_RULE, fatal=False)
    word = table.string("state")
    if word and word not in _STATES:
        table.wrong("state", f"must be one of {', '.join(_STATES)}, not {word!r}")
    strength = table.string("strength", "weak")
    if strength not in ("weak", "strong"):
        table.wrong("strength", f"must be weak or strong, not {strength!r}")
    name = table.string("region")
    region = parse_region(name)
    if region is None and name:
        table.wrong("region", f"unknown region {name!r}")
    return Rule(
        id=table.rule,
        state=_STATES.get(word),
        region=region or Region("whole"),
        gate=_matchers(table, floor),
        priority=table.integer("priority"),
        strong=strength == "strong",
        blocker=strength == "strong" and word == "blocked",
    )


def _matchers(table: Table, floor: int) -> Gate:
    count = sum(len(table.strings(key)) for key in _LISTS)
    members = literals(table, "requires_all", _STYLE)
    members += any_of(literals(table, "requires_any", _STYLE))
    members += patterns(table, "regex", _STYLE)
    members += patterns(table, "line_regex", _STYLE, by_line=True)
    members += none_of(literals(table, "forbids", _STYLE))
    members += none_of(patterns(table, "forbids_regex", _STYLE, by_line=True))
    own = table.table("gate")
    if own is not None:
        if floor < GATES_SINCE:
            table.wrong("gate", f"needs min_engine_version {GATES_SINCE}, the pack declares {floor}")
        counted = _Counted(count)
        members.append(_gate(own, 1, counted))
        count = counted.matchers
    if count > MOST_MATCHERS:
        table.wrong("", f"{count} matchers in one rule; at most {MOST_MATCHERS} are allowed")
    return all_of(members)


@dataclass(slots=True)
class _Counted:
    """What a rule has used of its matchers and gates."""

    matchers: int
    gates: int = 0


def _gate(table: Table, depth: int, counted: _Counted) -> Gate:
    """A gate of one key. counted: what the rule has used so far, counted on."""
    counted.gates += 1
    if counted.gates > LIMITS.gates:
        if counted.gates == LIMITS.gates + 1:
            table.wrong("", f"more than {LIMITS.gates} gates in one rule")
        return All(())
    if depth > DEEPEST:
        table.wrong("", f"gates are nested deeper than {DEEPEST}")
        return All(())
    keys = [key for key in _GATE if key in table.data]
    if len(keys) != 1 or len(table.data) != 1:
        table.wrong("", f"must hold exactly one of {', '.join(_GATE)}")
        return All(())
    key = keys[0]
    if key == "not":
        inner = table.table(key)
        return Not(_gate(inner, depth + 1, counted)) if inner is not None else All(())
    if key in ("all", "any"):
        members = tuple(_gate(member, depth + 1, counted) for member in table.tables(key))
        if not members:
            table.wrong(key, "must not be empty")
        return All(members) if key == "all" else Any(members)
    counted.matchers += 1
    text = table.string(key)
    if key == "contains":
        return literal(text, _STYLE)
    return pattern(table, key, text, _STYLE, by_line=key == "line_regex") or All(())
