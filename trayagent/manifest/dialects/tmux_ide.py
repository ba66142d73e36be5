"""tmux-ide's manifests: JSON, no priorities, one rule a state.

Blocked goes before working, working before done; `done` is idle here, and the end of a
turn. A pane of the agent that matches nothing is idle. Each matcher reads its own region:
the title, the whole text, or its last 20 non-blank rows; the text is what the agent
wrote, with rows that the terminal wrapped joined again (`capture-pane -J`). Patterns are
JavaScript's (javascript.py). Twenty rows of scrolled-off history, which tmux-ide reads
too, are not: the agents that scroll show less than a screen below their last words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any as AnyValue

from trayagent.manifest.dialects import javascript
from trayagent.manifest.dialects.matchers import NEVER, Style, all_of, any_of, literal
from trayagent.manifest.format import LIMITS, Detect, Gate, Manifest, Matches, Region, Rule, Source, Within
from trayagent.manifest.patterns import PatternRefused, compile_pattern
from trayagent.manifest.reading import Report, Table
from trayagent.model.states import State

_TOP = ("id", "commands", "states", "confidence", "name")
_STATE = ("all", "any")
_MATCHER = ("region", "contains", "regex", "caseInsensitive")
_CONFIDENCE = ("tuned", "conservative")
_BOTTOM_ROWS = 20

# state -> (priority, our state)
_STATES = {"blocked": (300, State.BLOCKED), "working": (200, State.WORKING), "done": (100, State.IDLE)}
_PARTS = {
    "bottom": Region(
        "bottom_non_empty_lines", count=_BOTTOM_ROWS, blanks=False, source=Source.JOINED, label="bottom"
    ),
    "text": Region("whole", source=Source.JOINED, label="text"),
    "title": Region("whole", source=Source.TITLE, label="title"),
}
_REGION = Region("whole", source=Source.JOINED, parts=tuple(_PARTS.values()), label="text, bottom, title")
_PART = {name: at for at, name in enumerate(_PARTS)}


def read_pack(data: Mapping[str, AnyValue], report: Report) -> list[Manifest]:
    """The manifests of a pack (`{"manifests": [...]}`); one that is bad is left out alone."""
    found: list[Manifest] = []
    for at, entry in enumerate(data["manifests"]):
        own = Report(report.file)
        if isinstance(entry, Mapping):
            manifest = read_tmux_ide(entry, own)
            found += [] if manifest is None else [manifest]
        else:
            own.add("must be an object", key=f"manifests[{at}]")
        report.problems += own.problems
    return found


def read_tmux_ide(data: Mapping[str, AnyValue], report: Report) -> Manifest | None:
    """The manifest that a parsed file holds, None if it was refused; all problems are in the report."""
    top = Table(data, report)
    top.only(_TOP, fatal=False)
    agent = top.string("id").strip()
    if not agent:
        top.wrong("id", "is required and must not be blank")
    commands = top.strings("commands")
    if not commands:
        top.wrong("commands", "is required and must not be empty")
    confidence = top.string("confidence", "conservative")
    if confidence not in _CONFIDENCE:
        top.wrong("confidence", f"must be tuned or conservative, not {confidence!r}", fatal=False)
    states = top.table("states")
    if states is None:
        top.wrong("states", "is required")
        return None
    states.only(_STATES, fatal=False)
    rules = [rule for name in _STATES if (rule := _rule(states, name)) is not None]
    if report.refused:
        return None
    return Manifest(
        id=agent,
        rules=tuple(rules),
        name=top.string("name"),
        detect=Detect(names=tuple(command.strip().lower() for command in commands)),
        fallback=State.IDLE,
        dialect="tmux-ide",
        origin=report.file,
    )


def _rule(states: Table, name: str) -> Rule | None:
    states.report.begins(name, f'"{name}"')
    table = states.table(name)
    if table is None:
        return None
    table.rule, table.prefix = name, ""
    table.only(_STATE, fatal=False)
    members = [_matcher(each) for each in table.tables("all")]
    members += any_of([_matcher(each) for each in table.tables("any")])
    priority, state = _STATES[name]
    gate = all_of(members) if members else NEVER
    return Rule(name, state, _REGION, gate, priority, turn_ended=name == "done")


def _matcher(table: Table) -> Gate:
    table.only(_MATCHER, fatal=False)
    region = table.string("region", "bottom")
    if region not in _PART:
        table.wrong("region", f"must be bottom, text or title, not {region!r}")
        return NEVER
    fold = table.boolean("caseInsensitive")
    given = [key for key in ("contains", "regex") if key in table.data]
    if not given:
        table.wrong("", "needs contains or regex")
        return NEVER
    if len(given) > 1:
        table.wrong("regex", "is not asked: contains stands beside it", fatal=False)
    key = given[0]
    text = table.string(key)
    if len(text) > LIMITS.matcher_chars:
        table.wrong(key, f"a matcher of {len(text)} characters; at most {LIMITS.matcher_chars} are allowed")
        return NEVER
    member = literal(text, Style(fold=fold)) if key == "contains" else _pattern(table, text, fold)
    return Within(_PART[region], member)


def _pattern(table: Table, text: str, fold: bool) -> Gate:
    """A pattern; what JavaScript itself cannot compile never matches there, and so it does here."""
    try:
        translated = javascript.translate(text)
    except javascript.NotPossible as refused:
        table.wrong("regex", f"the pattern {text!r} is refused: {refused}")
        return NEVER
    for note in translated.notes:
        table.wrong("regex", f"the pattern {text!r}: {note}", fatal=False)
    try:
        compiled = compile_pattern(translated.source, ignore_case=fold, verbatim=True)
    except PatternRefused as refused:
        table.wrong("regex", f"the pattern {text!r} never matches: {refused}", fatal=False)
        return NEVER
    return Matches(replace(compiled, source=text))
