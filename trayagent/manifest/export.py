"""A manifest of ours in herdr's format: the rules alone, which mean the same there.

Two things of ours have no word in that format. Tables beside the rules (detect, prompts,
hooks, answers) are left out; with them goes the reason that makes an idle rule an error,
so that such a rule is idle there. And a literal is found here across the end of a row
that an agent has wrapped, which herdr does not do: in regions of several rows such a
literal is written as a pattern that does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_KEPT = ("id", "version", "min_engine_version", "updated_at", "aliases")
_RULE = (
    "id", "state", "priority", "region", "visible_idle", "visible_blocker", "visible_working",
    "skip_state_update",
)  # fmt: skip
_MATCHERS = ("contains", "regex", "line_regex")
_NESTED = ("all", "any", "not")
_ONE_ROW = frozenset(
    {"osc_title", "osc_progress", "current_prompt_block_marker", "last_non_empty_above_prompt_box"}
)
_MOST_CHARS = 512
_GAP = re.compile(r"(?<! ) (?! )")
_META = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")


@dataclass(slots=True)
class Export:
    """text: the TOML file. notes: what it does not say, a line each."""

    text: str
    notes: list[str] = field(default_factory=list)


def to_herdr(data: Mapping[str, Any], family: Mapping[str, Any] | None = None) -> Export:
    """Write a native file, parsed and found good, for herdr. family: the file whose rules it shares."""
    rules = data.get("rules") or (family or {}).get("rules", [])
    prompts = data.get("prompts") or (family or {}).get("prompts") or {}
    writer = _Writer(prompts)
    lines = [f"{key} = {_value(data[key])}" for key in _KEPT if key in data]
    for rule in rules:
        lines += ["", "[[rules]]", *writer.rule(rule)]
    dropped = [f"[{key}]" for key in ("detect", "prompts", "hooks", "answers") if data.get(key)]
    notes = []
    if dropped:
        notes.append(f"left out, since the format has no place for it: {', '.join(dropped)}")
    if family is not None:
        notes.append(f"the rules are those of its family {data.get('family')!r}")
    return Export("\n".join(lines) + "\n", notes + writer.notes())


class _Writer:
    """Writes rules, and remembers what of them the format cannot say."""

    def __init__(self, prompts: Mapping[str, Any]) -> None:
        self._prompts = prompts
        self._errors: list[str] = []
        self._wrapped: set[str] = set()
        self._too_long: list[str] = []
        self._rule = ""

    def rule(self, rule: Mapping[str, Any]) -> list[str]:
        """The lines of one rule."""
        self._rule = str(rule.get("id", ""))
        if _reason(self._prompts, self._rule):
            self._errors.append(self._rule)
        lines = [f"{key} = {_value(rule[key])}" for key in _RULE if key in rule]
        several = rule.get("region", "whole_recent") not in _ONE_ROW
        return lines + [f"{key} = {_value(value)}" for key, value in self._gate(rule, several).items()]

    def notes(self) -> list[str]:
        """What changed on the way."""
        found = []
        if self._errors:
            found.append(f"errors here, idle there: {', '.join(self._errors)}")
        if self._wrapped:
            names = ", ".join(sorted(self._wrapped))
            found.append(f"literals that may be wrapped are written as patterns: {names}")
        if self._too_long:
            names = ", ".join(dict.fromkeys(self._too_long))
            found.append(f"literals too long for that are found in one row only: {names}")
        return found

    def _gate(self, gate: Mapping[str, Any], several: bool) -> dict[str, Any]:
        """A gate's matchers and members, with the literals that may be wrapped among the patterns."""
        literals: list[str] = []
        patterns: list[str] = []
        for text in gate.get("contains", ()):
            pattern = wrapped_pattern(text) if several and " " in text.strip() else ""
            if len(pattern) > _MOST_CHARS:
                self._too_long.append(self._rule)
                pattern = ""
            if pattern:
                self._wrapped.add(self._rule)
            (patterns if pattern else literals).append(pattern or text)
        out: dict[str, Any] = {
            "contains": literals, "regex": [*gate.get("regex", ()), *patterns],
            "line_regex": list(gate.get("line_regex", ())),
        }  # fmt: skip
        for key in _NESTED:
            out[key] = [self._gate(member, several) for member in gate.get(key, ())]
        return {key: value for key, value in out.items() if value}


def _reason(prompts: Mapping[str, Any], rule: str) -> bool:
    """Whether a rule's prompt makes it an error, by itself or by the prompt that it is like."""
    prompt = prompts.get(rule) or {}
    return bool(prompt.get("reason") or (prompts.get(str(prompt.get("like"))) or {}).get("reason"))


def wrapped_pattern(text: str) -> str:
    """The pattern that finds a literal whatever its case, with each single blank a blank or the end of
    a row and the next row's indentation. Rows that are blank part paragraphs, so a blank at
    the literal's edge asks for a letter beyond the row's end."""
    words = [_META.sub(r"\\\g<0>", word) for word in _GAP.split(text)]
    out = words[0]
    for at, word in enumerate(words[1:], 1):
        before = r"\S" if at == 1 and not words[0] else ""
        behind = r"\S" if at == len(words) - 1 and not word else ""
        out += rf"(?: |{before}[ \t]*\n[ \t]*{behind}){word}"
    return f"(?i){out}"


# -- TOML --------------------------------------------------------------------------------


def _value(value: Any) -> str:
    """A value in TOML, lists of tables inline."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(part)}" for key, part in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(part) for part in value) + "]"
    return _string(str(value))


def _string(text: str) -> str:
    """A literal string where that is possible, since patterns are full of backslashes."""
    if "'" not in text and text.isprintable():
        return f"'{text}'" if "\\" in text or '"' in text else f'"{text}"'
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in escaped) + '"'
