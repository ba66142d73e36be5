"""Our own format: the herdr/ThinkTerm rule format, version 3, with more tables beside it.

The rules part is exact: what herdr accepts is accepted and means the same, and what it
refuses is refused. Unknown keys warn at the top level (newer herdr files carry more
tables there) and refuse the file inside rules and gates, where they would change
meaning. TOML, YAML and JSON give the same mapping, which is all this module sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any as AnyValue

from trayagent.manifest import tables
from trayagent.manifest.format import (
    ENGINE_VERSION,
    LIMITS,
    All,
    Any,
    Contains,
    Gate,
    Manifest,
    Matches,
    Missing,
    Not,
    Region,
    Rule,
    Source,
)
from trayagent.manifest.patterns import PatternRefused, compile_pattern
from trayagent.manifest.reading import Report, Table
from trayagent.model.states import State

_TOP = (
    "id", "name", "version", "min_engine_version", "updated_at", "aliases", "family", "rules",
    "detect", "prompts", "hooks", "answers",
)  # fmt: skip
_GATE = ("contains", "regex", "line_regex", "all", "any", "not")
_RULE = (
    "id", "state", "priority", "region", "visible_idle", "visible_blocker", "visible_working",
    "skip_state_update", *_GATE,
)  # fmt: skip
_STATES = {"idle": State.IDLE, "working": State.WORKING, "blocked": State.BLOCKED, "unknown": State.UNKNOWN}
_TOP_REGION_FLOOR = 3  # `top_non_empty_lines` came with version 3 of the format

# name -> (slice, what it is without its anchor, source)
_REGIONS: dict[str, tuple[str, Missing, Source]] = {
    "whole_recent": ("whole", Missing.ALL, Source.SCREEN),
    "after_last_prompt_marker": ("after_last_prompt_marker", Missing.ALL, Source.SCREEN),
    "before_current_prompt_marker": ("before_current_prompt_marker", Missing.ALL, Source.SCREEN),
    "whole_recent_without_current_prompt_marker": (
        "whole_without_current_prompt_marker", Missing.ALL, Source.SCREEN,
    ),
    "current_prompt_block_marker": ("current_prompt_block_marker", Missing.EMPTY, Source.SCREEN),
    "after_current_prompt_block_marker": ("after_current_prompt_block_marker", Missing.EMPTY, Source.SCREEN),
    "prompt_box_body": ("prompt_box_body", Missing.EMPTY, Source.SCREEN),
    "above_prompt_box": ("above_prompt_box", Missing.ALL, Source.SCREEN),
    "last_non_empty_above_prompt_box": ("last_non_empty_above_prompt_box", Missing.ALL, Source.SCREEN),
    "after_last_horizontal_rule": ("after_last_border", Missing.ALL, Source.SCREEN),
    "osc_title": ("whole", Missing.ALL, Source.TITLE),
    "osc_progress": ("whole", Missing.ALL, Source.PROGRESS),
}  # fmt: skip
_COUNTED = ("bottom_lines", "bottom_non_empty_lines", "top_non_empty_lines")
_MOST_LINES = 65535


class RegionRefused(ValueError):
    """The region's name is unknown or its number is wrong; the text says which."""


@lru_cache(maxsize=512)
def parse_region(text: str) -> Region:
    """A region by its name in the file; equal names give the same object. Raises RegionRefused."""
    if text in _REGIONS:
        name, missing, source = _REGIONS[text]
        return Region(name, missing=missing, source=source, label=text)
    name, sign, rest = text.partition("(")
    if name not in _COUNTED or not sign or not rest.endswith(")"):
        raise RegionRefused(f"unknown region {text!r}")
    digits = rest[:-1]
    if not digits.isascii() or not digits.isdigit() or int(digits) > _MOST_LINES:
        raise RegionRefused(f"{text!r}: the number must be a whole number up to {_MOST_LINES}")
    if name == "top_non_empty_lines" and digits.startswith("0"):
        raise RegionRefused(f"{text!r}: the number must be 1 or more, without a leading zero")
    return Region(name, count=int(digits), label=text)


def read_native(data: Mapping[str, AnyValue], report: Report) -> Manifest | None:
    """The manifest that a parsed file holds, None if it was refused; all problems are in the report."""
    top = Table(data, report)
    top.only(_TOP, fatal=False)
    agent = top.string("id").strip()
    if not agent:
        top.wrong("id", "is required and must not be blank")
    version = top.string("version")
    if version and not all(part.isascii() and part.isdigit() for part in version.split(".")):
        top.wrong("version", f"must be numbers joined by dots, not {version!r}")
    floor = top.integer("min_engine_version")
    if not 0 <= floor <= ENGINE_VERSION:
        top.wrong("min_engine_version", f"{floor} is not an engine version up to {ENGINE_VERSION}")
    family = top.string("family")
    rules = _rules(top, floor if "min_engine_version" in data else None, optional=bool(family))
    manifest = Manifest(
        id=agent,
        rules=rules,
        name=top.string("name"),
        version=version,
        aliases=top.strings("aliases"),
        family=family,
        detect=tables.read_detect(top),
        prompts=MappingProxyType(tables.read_prompts(top, rules, parse_region)),
        hooks=tables.read_hooks(top),
        answers=tables.read_answers(top),
        fallback=State.IDLE,
        dialect="native",
        origin=report.file,
    )
    return None if report.refused else manifest


def _rules(top: Table, floor: int | None, *, optional: bool) -> tuple[Rule, ...]:
    found = top.tables("rules", LIMITS.rules)
    if not found and not optional and not top.report.refused:
        top.wrong("rules", "at least one rule is required")
    budget = _Budget()
    rules: list[Rule] = []
    for at, table in enumerate(found):
        rule = _rule(table, at, floor, budget)
        if any(rule.id == other.id for other in rules):
            table.wrong("id", f"the rule id {rule.id!r} occurs twice", fatal=False)
        rules.append(rule)
    if budget.gates > LIMITS.gates:
        top.wrong("rules", f"{budget.gates} gates; at most {LIMITS.gates} are allowed")
    if budget.matchers > LIMITS.matchers:
        top.wrong("rules", f"{budget.matchers} matchers; at most {LIMITS.matchers} are allowed")
    return tuple(rules)


def _rule(table: Table, at: int, floor: int | None, budget: _Budget) -> Rule:
    named = table.data.get("id")
    table.rule = named if isinstance(named, str) and named.strip() else f"#{at + 1}"
    table.prefix = ""
    if table.rule == f"#{at + 1}":
        table.wrong("id", "is required and must not be blank")
    table.only(_RULE, fatal=True)
    word = table.string("state", "unknown")
    state: State | None = _STATES.get(word)
    if state is None:
        table.wrong("state", f"must be one of {', '.join(_STATES)}, not {word!r}")
    flags = {name: table.boolean(f"visible_{name}") for name in ("idle", "blocker", "working")}
    keep = table.boolean("skip_state_update")
    if keep and (state is not State.UNKNOWN or any(flags.values())):
        table.wrong("skip_state_update", "is only possible with the state unknown and no visible flag")
    return Rule(
        id=table.rule,
        state=None if keep else state,
        region=_region(table, floor),
        gate=_gate(table, 1, budget, positive=True),
        priority=table.integer("priority"),
        firm_idle=flags["idle"] and state is State.IDLE,
        blocker=flags["blocker"] and state is State.BLOCKED,
        visible_working=flags["working"] and state is State.WORKING,
    )


def _region(table: Table, floor: int | None) -> Region:
    text = table.string("region", "whole_recent")
    try:
        region = parse_region(text)
    except RegionRefused as refused:
        table.wrong("region", str(refused))
        return parse_region("whole_recent")
    if region.name == "top_non_empty_lines" and floor is not None and floor < _TOP_REGION_FLOOR:
        table.wrong(
            "region", f"{text!r} needs min_engine_version {_TOP_REGION_FLOOR}, the file declares {floor}"
        )
    return region


class _Budget:
    """What a file has used of its gates and matchers."""

    def __init__(self) -> None:
        self.gates = 0
        self.matchers = 0


def _gate(table: Table, depth: int, budget: _Budget, *, positive: bool) -> Gate:
    """The gate whose fields stand in the table. positive: a lone `not` is refused."""
    budget.gates += 1
    if depth > LIMITS.depth:
        table.wrong("", f"gates are nested deeper than {LIMITS.depth}")
        return All(())
    if budget.gates > LIMITS.gates:
        return All(())
    members = _matchers(table, budget)
    members += [_member(child, depth, budget, positive=True) for child in table.tables("all", LIMITS.gates)]
    either = [_member(child, depth, budget, positive=True) for child in table.tables("any", LIMITS.gates)]
    if either:
        members.append(Any(tuple(either)))
    if positive and not members and not _refused(table):
        table.wrong("", "needs at least one of contains, regex, line_regex, all, any")
    vetoes = [_member(child, depth, budget, positive=False) for child in table.tables("not", LIMITS.gates)]
    members += [Not(veto) for veto in vetoes]
    if not positive and not members and not _refused(table):
        table.wrong("", "a member of `not` needs a matcher")
    return members[0] if len(members) == 1 else All(tuple(members))


def _refused(table: Table) -> bool:
    """Whether something is wrong with this rule already: what only follows from that needs no saying."""
    return any(problem.fatal and problem.rule == table.rule for problem in table.report.problems)


def _member(table: Table, depth: int, budget: _Budget, *, positive: bool) -> Gate:
    table.only(_GATE, fatal=True)
    return _gate(table, depth + 1, budget, positive=positive)


def _matchers(table: Table, budget: _Budget) -> list[Gate]:
    found: list[Gate] = []
    for text in table.strings("contains", LIMITS.matchers):
        _short(table, "contains", text)
        found.append(Contains(text.lower()))
    for key in ("regex", "line_regex"):
        for text in table.strings(key, LIMITS.matchers):
            _short(table, key, text)
            try:
                by_line = key == "line_regex"
                found.append(Matches(compile_pattern(text, by_line=by_line), by_line))
            except PatternRefused as refused:
                table.wrong(key, f"the pattern {text!r} is refused: {refused}")
    budget.matchers += len(found)
    if len(found) > LIMITS.matchers_per_gate:
        table.wrong("", f"{len(found)} matchers in one gate; at most {LIMITS.matchers_per_gate} are allowed")
    return found


def _short(table: Table, key: str, text: str) -> None:
    if len(text) > LIMITS.matcher_chars:
        table.wrong(key, f"a matcher of {len(text)} characters; at most {LIMITS.matcher_chars} are allowed")
