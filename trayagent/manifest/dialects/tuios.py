"""TUIOS's harness files: a process table, and rules over the last rows of the screen and over the title.

`[screen]` reads the last N rows that are not blank (6 if not said), `[title]` the title or
the progress; each rule is flat lists of literals and RE2 patterns in Go's syntax, with line
ends for `^` and `$`. Literals fold case where the block says so and count as whole tokens
in a title. A rule without anything positive never matches. Nothing matches: no opinion.

There each block gives a state of its own; here both compete in one order. Within a block
that order is the file's own. Between blocks it is TUIOS's: a title that asks goes before
the screen, a screen that asks before a title that works, and a title that says idle
gives way to anything louder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any as AnyValue

from trayagent.manifest.dialects.gates_of_tuios import Budget, gate_of, proven_idle
from trayagent.manifest.dialects.matchers import Style
from trayagent.manifest.format import Border, Detect, Manifest, Missing, Prompt, Region, Rule, Source
from trayagent.manifest.reading import Report, Table
from trayagent.model.states import Kind, State

_TOP = (
    "schema_version", "id", "display_name", "priority", "detect", "screen", "title", "notify",
    "transcript", "input",
)  # fmt: skip
_DETECT = ("comm", "argv0", "argv_path", "exe_glob", "require")
_BLOCK = ("enabled", "fold_case", "lines", "rule")
_STATES = {"working": State.WORKING, "needs_input": State.BLOCKED, "idle": State.IDLE}
_KINDS = {"approval": Kind.PERMISSION, "question": Kind.QUESTION}
_SHORTEST_NAME = 5
_LINES, _MOST_LINES = 6, 200
_ASKS = re.compile(r"(?i)\b(?:allow|approv\w*|permission|permit|proceed|run|trust)\b")
_CHOOSES = re.compile(r"(?i)\b(?:answer\w*|choose|pick|question\w*|select)\b")

_SLICES = {
    "tail": ("whole", Missing.ALL), "whole_recent": ("whole", Missing.ALL), "": ("whole", Missing.ALL),
    "prompt_box": ("prompt_box_body", Missing.NO_MATCH),
    "prompt_box_body": ("prompt_box_body", Missing.NO_MATCH),
    "above_prompt_box": ("above_prompt_box", Missing.NO_MATCH),
    "last_non_empty_above_prompt_box": ("last_non_empty_above_prompt_box", Missing.NO_MATCH),
    "after_last_horizontal_rule": ("after_last_border", Missing.ALL),
}  # fmt: skip
_BOTTOM = re.compile(r"bottom_non_empty_lines\(([0-9]{1,3})\)")
_TITLE_SOURCES = {"": Source.TITLE, "osc_title": Source.TITLE, "osc_progress": Source.PERCENT}


@lru_cache(maxsize=512)
def screen_region(text: str, lines: int) -> Region | None:
    """A region of the screen's tail of so many rows; equal ones give the same object."""
    if text in _SLICES:
        name, missing = _SLICES[text]
        return Region(
            name, missing=missing, border=Border.BAR, blanks=False, tail=lines, label=text or "tail"
        )
    found = _BOTTOM.fullmatch(text)
    if found is None or not 1 <= int(found[1]) <= min(lines, _MOST_LINES):
        return None
    return Region("bottom_non_empty_lines", count=int(found[1]), blanks=False, tail=lines, label=text)


@lru_cache(maxsize=8)
def title_region(text: str) -> Region | None:
    """A region of a title block."""
    source = _TITLE_SOURCES.get(text)
    return None if source is None else Region("whole", source=source, label=text or "osc_title")


@dataclass(slots=True)
class _Block:
    """What one block gave: its rules from the first to be asked to the last."""

    rules: list[Rule]
    prompts: dict[str, Prompt]


def read_tuios(data: Mapping[str, AnyValue], report: Report) -> Manifest | None:
    """The manifest that a parsed file holds, None if it was refused; all problems are in the report."""
    top = Table(data, report)
    top.only(_TOP, fatal=False)
    if top.integer("schema_version") != 1:
        top.wrong("schema_version", "must be 1")
    agent = top.string("id").strip()
    if not agent:
        top.wrong("id", "is required and must not be blank")
    detect = _detect(top)
    budget = Budget()
    screen, title = _block(top, "screen", budget), _block(top, "title", budget)
    budget.check(top)
    _notify(top)
    if report.refused:
        return None
    return Manifest(
        id=agent,
        rules=merged(title.rules, screen.rules),
        name=top.string("display_name"),
        detect=detect,
        prompts={**screen.prompts, **title.prompts},
        dialect="tuios",
        origin=report.file,
        rank=top.integer("priority"),
    )


def _detect(top: Table) -> Detect:
    table = top.table("detect")
    if table is None:
        top.wrong("detect", "is required")
        return Detect()
    table.only(_DETECT, fatal=False)
    lists = {key: _words(table, key) for key in ("comm", "argv0", "argv_path", "exe_glob")}
    if not any(lists.values()):
        table.wrong("", "needs at least one of comm, argv0, argv_path, exe_glob")
    require = table.table("require")
    proof: tuple[str, ...] = ()
    if require is not None:
        require.only(("exe_base", "exe_glob"), fatal=False)
        proof = (*_words(require, "exe_base"), *_words(require, "exe_glob"))
    for key in ("comm", "argv0"):
        short = [name for name in lists[key] if len(name) < _SHORTEST_NAME]
        if short and not proof:
            text = f"{short[0]!r} is shorter than {_SHORTEST_NAME} characters and needs detect.require"
            table.wrong(key, text)
    names = dict.fromkeys((*lists["comm"], *lists["argv0"]))
    return Detect(tuple(names), lists["argv_path"], lists["exe_glob"], proof)


def _words(table: Table, key: str) -> tuple[str, ...]:
    return tuple(word for text in table.strings(key) if (word := text.strip().lower()))


def _block(top: Table, name: str, budget: Budget) -> _Block:
    """The rules of `[screen]` or `[title]`, in the order in which they are asked."""
    block = _Block([], {})
    table = top.table(name)
    if table is None:
        return block
    table.only(_BLOCK, fatal=False)
    lines = table.integer("lines", _LINES)
    if not 1 <= lines <= _MOST_LINES:
        table.wrong("lines", f"must be 1 to {_MOST_LINES}, not {lines}")
    fold = table.boolean("fold_case")
    style = Style(fold=fold, whole_token=name == "title", verbatim=True, before="(?m)")
    tables = table.tables("rule")
    for at, each in enumerate(tables):
        each.rule, each.prefix = f"{name}.{at + 1}", ""
        top.report.begins(each.rule, f"[[{name}.rule]]", at)
        text = each.string("region")
        region = title_region(text) if name == "title" else screen_region(text, lines)
        rule = _rule(each, region, style, budget)
        block.rules.append(rule)
        prompt = _prompt(each, rule)
        if prompt is not None:
            block.prompts[rule.id] = prompt
    if tables and not table.boolean("enabled"):
        table.wrong("enabled", "is not set to true, so the rules of this block do not count", fatal=False)
        return _Block([], {})
    block.rules.sort(key=lambda rule: -rule.priority)
    return block


def _rule(table: Table, region: Region | None, style: Style, budget: Budget) -> Rule:
    word = table.string("state")
    state = _STATES.get(word)
    if state is None:
        table.wrong("state", f"must be one of {', '.join(_STATES)}, not {word!r}")
    if region is None:
        table.wrong("region", f"unknown region {table.string('region')!r}, or its number is not within lines")
        region = Region("whole")
    gate = gate_of(table, style, budget, 1)
    unproven = state is State.IDLE and region.source is Source.SCREEN and region.name != "prompt_box_body"
    if unproven and not proven_idle(gate):
        table.wrong("state", "an idle rule must read the prompt box, or have a regex on every path")
    return Rule(
        id=table.rule,
        state=state,
        region=region,
        gate=gate,
        priority=table.integer("priority"),
        blocker=state is State.BLOCKED,
    )


def _prompt(table: Table, rule: Rule) -> Prompt | None:
    """What a rule that asks says of the question: its kind, told or guessed from its words."""
    if rule.state is not State.BLOCKED:
        return None
    said = table.string("kind")
    if said and said not in _KINDS:
        table.wrong("kind", f"must be approval or question, not {said!r}", fatal=False)
    message = table.string("message")
    words = " ".join([message, *(text for key in ("all", "any", "regex") for text in table.strings(key))])
    guessed = Kind.PERMISSION if _ASKS.search(words) else Kind.QUESTION if _CHOOSES.search(words) else None
    plain = message.replace("{", "(").replace("}", ")")  # it is no template
    return Prompt(rule.id, kind=_KINDS.get(said, guessed), message=(plain,) if plain.strip() else ())


def merged(title: list[Rule], screen: list[Rule]) -> tuple[Rule, ...]:
    """Both blocks in one order that keeps the order of each. Priorities are those of the file unless
    the order needs others; then rules count down from how many there are."""
    order: list[Rule] = []
    title, screen = list(title), list(screen)
    while title and screen:
        order.append(title.pop(0) if _title_first(title[0], screen[0]) else screen.pop(0))
    order += title + screen
    if any(before.priority < after.priority for before, after in pairwise(order)):
        order = [replace(rule, priority=len(order) - at) for at, rule in enumerate(order)]
    return tuple(order)


def _title_first(title: Rule, screen: Rule) -> bool:
    if title.state is State.BLOCKED:
        return True
    if screen.state is State.BLOCKED:
        return False
    return title.state is State.WORKING or screen.state is not State.WORKING


def _notify(top: Table) -> None:
    """`[notify]` reads notifications, which do not pass through the screen; it is told, not read."""
    table = top.table("notify")
    if table is not None and table.boolean("enabled"):
        table.wrong("", "is not read: notifications are heard as signals, not by rules", fatal=False)
