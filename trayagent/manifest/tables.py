"""The tables that our format has beside herdr's rules: detect, prompts, hooks, answers.

    [detect]                      how a process is recognised (format.Detect)
    [prompts.<rule id>]           what is read off the screen once that rule has won
    kind = "permission"           of a blocked state
    reason = "api"                on an idle rule: the turn broke, the state is error
    interrupted = true            on an idle rule: the user ended the turn himself
    region = "whole_recent"       where the patterns look; default: the rule's own region
    patterns = ['(?P<ask>..)']    or tables { region = "..", regex = '..' }
    message = "{ask}"             a template, or a list of its lines; `ask_lines` fills it too
    options = '(?P<key>\\d)\\. (?P<label>.*)'
    options_region = "..."        default: region
    like = "<rule id>"            takes what is not said here from that prompt

`error` has no word in herdr's format: a rule says idle, and `reason` makes it an error,
so that an exported rule set keeps its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from trayagent.manifest.format import (
    LIMITS,
    Detect,
    Extraction,
    HookRule,
    Hooks,
    Prompt,
    Region,
    Rule,
)
from trayagent.manifest.patterns import Pattern, PatternRefused, compile_pattern
from trayagent.manifest.prompts import KEEP_ROWS, template_names
from trayagent.manifest.reading import Table
from trayagent.model.states import Kind, Reason, State

_DETECT = ("names", "packages", "exe_globs", "require_exe", "entry_points", "versioned", "headless")
_PROMPT = (
    "kind", "reason", "interrupted", "region", "patterns", "message", "options", "options_region", "like",
)  # fmt: skip
_HOOKS = ("complete", "fields", "events")
_EVENT = ("event", "state", "where", "kind", "reason", "only_if", "clear", "message")

RegionParser = Callable[[str], Region]
Word = TypeVar("Word", bound=StrEnum)


def _word(table: Table, key: str, words: type[Word]) -> Word | None:
    """A word of one of our enumerations, None where the key is absent."""
    text = table.string(key)
    if not text:
        return None
    if text in set(words):
        return words(text)
    table.wrong(key, f"must be one of {', '.join(words)}, not {text!r}")
    return None


# -- detect and answers ------------------------------------------------------------------


def read_detect(top: Table) -> Detect | None:
    """The `[detect]` table, None where the file has none."""
    table = top.table("detect")
    if table is None:
        return None
    table.only(_DETECT, fatal=True)
    headless: list[tuple[str, ...]] = []
    for entry in table.entries("headless", list, "lists of arguments", LIMITS.list_entries):
        if entry and all(isinstance(word, str) and word for word in entry):
            headless.append(tuple(entry))
        else:
            table.wrong("headless", "each entry must be a list of arguments, none of them empty")
    return Detect(
        names=tuple(name.lower() for name in table.strings("names")),
        packages=table.strings("packages"),
        exe_globs=table.strings("exe_globs"),
        require_exe=table.strings("require_exe"),
        entry_points=table.strings("entry_points"),
        versioned=table.boolean("versioned"),
        headless=tuple(headless),
    )


def read_answers(top: Table) -> tuple[tuple[str, str], ...]:
    """The `[answers]` table: option to key."""
    table = top.table("answers")
    if table is None:
        return ()
    return tuple((str(name), table.string(str(name))) for name in table.data)


# -- prompts -----------------------------------------------------------------------------


def read_prompts(top: Table, rules: tuple[Rule, ...], parse: RegionParser) -> dict[str, Prompt]:
    """The `[prompts]` tables by rule id."""
    table = top.table("prompts")
    if table is None:
        return {}
    by_id = {rule.id: rule for rule in rules}
    prompts: dict[str, Prompt] = {}
    for name in table.data:
        own = table.table(str(name))
        if own is None:
            continue
        own.rule, own.prefix = str(name), ""
        if name not in by_id:
            own.wrong("", "no rule has this id", fatal=False)
            continue
        own.only(_PROMPT, fatal=True)
        merged = Table({**_model(table, own), **own.data}, own.report, own.rule)
        prompts[str(name)] = _prompt(merged, by_id[str(name)], parse)
    return prompts


def _model(table: Table, own: Table) -> Mapping[str, Any]:
    """The prompt that `like` names, without a `like` of its own."""
    name = own.string("like")
    if not name:
        return {}
    model = table.data.get(name)
    if not isinstance(model, Mapping):
        own.wrong("like", f"there is no prompt {name!r}")
        return {}
    if "like" in model:
        own.wrong("like", f"{name!r} is itself like another prompt")
    return model


def _prompt(table: Table, rule: Rule, parse: RegionParser) -> Prompt:
    region = _region(table, "region", rule.region, parse)
    kind, reason = _word(table, "kind", Kind), _word(table, "reason", Reason)
    interrupted = table.boolean("interrupted")
    if kind is not None and rule.state is not State.BLOCKED:
        table.wrong("kind", "only a blocked rule has a kind")
    if (reason is not None or interrupted) and rule.state is not State.IDLE:
        table.wrong("reason" if reason else "interrupted", "only an idle rule may say this")
    extractions = _extractions(table, region, parse)
    message = _message(table, extractions)
    options: Pattern | None = None
    if text := table.string("options"):
        options = _pattern(table, "options", text)
        if options is not None and "label" not in options.names:
            table.wrong("options", "the pattern needs a group named label")
    return Prompt(
        rule=rule.id,
        kind=kind,
        reason=reason,
        interrupted=interrupted,
        message=message,
        extractions=extractions,
        options=options,
        options_region=_region(table, "options_region", region, parse),
    )


def _region(table: Table, key: str, default: Region, parse: RegionParser) -> Region:
    text = table.string(key)
    if not text:
        return default
    try:
        return parse(text)
    except ValueError as refused:
        table.wrong(key, str(refused))
        return default


def _pattern(table: Table, key: str, text: str) -> Pattern | None:
    if len(text) > LIMITS.matcher_chars:
        table.wrong(key, f"a pattern of {len(text)} characters; at most {LIMITS.matcher_chars} are allowed")
        return None
    try:
        return compile_pattern(text, captures=True)
    except PatternRefused as refused:
        table.wrong(key, f"the pattern {text!r} is refused: {refused}")
        return None


def _extractions(table: Table, default: Region, parse: RegionParser) -> tuple[Extraction, ...]:
    found: list[Extraction] = []
    for at, entry in enumerate(table.entries("patterns", object, "patterns", LIMITS.matchers_per_gate)):
        region = default
        if isinstance(entry, Mapping):
            own = Table(entry, table.report, table.rule, f"patterns[{at}].")
            own.only(("region", "regex"), fatal=True)
            region = _region(own, "region", default, parse)
            text: object = own.string("regex")
        else:
            text = entry
        if not isinstance(text, str) or not text:
            table.wrong("patterns", "each entry must be a pattern or a table with region and regex")
            continue
        pattern = _pattern(table, "patterns", text)
        if pattern is not None and not pattern.names:
            table.wrong("patterns", f"the pattern {text!r} has no named group")
        elif pattern is not None:
            found.append(Extraction(region, pattern))
    return tuple(found)


def _message(table: Table, extractions: tuple[Extraction, ...]) -> tuple[str, ...]:
    value = table.data.get("message", "")
    lines = tuple(value.split("\n")) if isinstance(value, str) else table.strings("message")
    known = {name.removesuffix(KEEP_ROWS) for extraction in extractions for name in extraction.pattern.names}
    for line in lines:
        for name in template_names(line):
            if name not in known:
                table.wrong("message", f"no pattern has a group named {name!r}")
    return tuple(line for line in lines if line.strip())


# -- hooks -------------------------------------------------------------------------------


def read_hooks(top: Table) -> Hooks | None:
    """The `[hooks]` table, None where the file has none."""
    table = top.table("hooks")
    if table is None:
        return None
    table.only(_HOOKS, fatal=True)
    return Hooks(
        complete=table.boolean("complete"),
        fields=table.strings("fields"),
        rules=tuple(_hook(event) for event in table.tables("events")),
    )


def _hook(table: Table) -> HookRule:
    table.only(_EVENT, fatal=True)
    name = table.string("event")
    if not name:
        table.wrong("event", "is required and must not be blank")
    where = table.table("where")
    only_if = tuple(State(word) for word in table.strings("only_if") if word in set(State))
    if len(only_if) != len(table.strings("only_if")):
        table.wrong("only_if", f"must hold states: {', '.join(State)}")
    return HookRule(
        event=name,
        state=_word(table, "state", State),
        where=() if where is None else tuple((str(key), where.strings(str(key))) for key in where.data),
        kind=_word(table, "kind", Kind),
        reason=_word(table, "reason", Reason),
        only_if=only_if,
        clear=table.boolean("clear"),
        message_field=table.string("message"),
    )
