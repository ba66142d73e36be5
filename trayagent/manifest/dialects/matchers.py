"""What the translators share: matchers that keep to a length, and compile or are refused."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trayagent.manifest.format import LIMITS, All, Any, Contains, Gate, Matches, Not
from trayagent.manifest.patterns import PatternRefused, compile_pattern
from trayagent.manifest.reading import Table

NEVER = Any(())
ALWAYS = All(())


@dataclass(frozen=True, slots=True)
class Style:
    """How a dialect matches. fold: literals ignore case (`ascii`: of ASCII letters only). lowered:
    patterns run on lower-cased text. ignore_case: patterns do themselves. before: what is put before
    every pattern. verbatim: patterns are in RE2's own syntax."""

    fold: bool = False
    ascii: bool = False
    whole_token: bool = False
    lowered: bool = False
    ignore_case: bool = False
    verbatim: bool = False
    before: str = ""


def literals(table: Table, key: str, style: Style) -> list[Gate]:
    """The matchers of a list of literals."""
    return [literal(text, style) for text in table.strings(key) if _fits(table, key, text)]


def literal(text: str, style: Style) -> Gate:
    """A literal of the dialect. Only terminals' own wraps are joined in foreign formats, not an agent's."""
    folded = _ascii_lower(text) if style.ascii else text.lower()
    return Contains(
        folded if style.fold else text,
        fold=style.fold,
        whole_token=style.whole_token,
        wrapped=False,
        ascii=style.fold and style.ascii,
    )


def _ascii_lower(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def patterns(table: Table, key: str, style: Style, *, by_line: bool = False) -> list[Gate]:
    """The matchers of a list of patterns; one that is refused refuses the file."""
    found = (pattern(table, key, text, style, by_line=by_line) for text in table.strings(key))
    return [gate for gate in found if gate is not None]


def pattern(table: Table, key: str, text: str, style: Style, *, by_line: bool = False) -> Gate | None:
    """One pattern; None, and a fatal problem, where it is refused."""
    if not _fits(table, key, text):
        return None
    try:
        compiled = compile_pattern(
            style.before + text, ignore_case=style.ignore_case, by_line=by_line, verbatim=style.verbatim
        )
    except PatternRefused as refused:
        table.wrong(key, f"the pattern {text!r} is refused: {refused}")
        return None
    return Matches(replace(compiled, source=text), by_line, style.lowered)


def _fits(table: Table, key: str, text: str) -> bool:
    size = len(text.encode())
    if size > LIMITS.matcher_chars:
        table.wrong(key, f"a matcher of {size} bytes; at most {LIMITS.matcher_chars} are allowed")
    return size <= LIMITS.matcher_chars


def all_of(members: list[Gate]) -> Gate:
    """One gate for several that must all hold."""
    return members[0] if len(members) == 1 else All(tuple(members))


def none_of(members: list[Gate]) -> list[Gate]:
    """The gates that hold where none of these does."""
    return [Not(member) for member in members]


def any_of(members: list[Gate]) -> list[Gate]:
    """The gate that holds where one of these does; an empty list asks for nothing."""
    return [Any(tuple(members))] if members else []
