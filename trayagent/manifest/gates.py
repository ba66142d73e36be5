"""Whether a gate holds in a slice.

One function for each gate class, found by class. `ear` is None in production; explain
hands one in, and hears of each matcher that decided. There is no second evaluator.
Cheap tests come first within a matcher: a pattern's literals before the engine, the
text as it stands before its unwrapped copy.
"""

from __future__ import annotations

from collections.abc import Callable

from trayagent.manifest.format import All, Any, Contains, Gate, Matches, Not, Within
from trayagent.manifest.literals import met
from trayagent.manifest.regions import Slice

Ear = Callable[[Gate, bool], None]

_TOKEN_EXTRA = "_-."


def holds(gate: Gate, cut: Slice, ear: Ear | None = None) -> bool:
    """Whether the gate holds in the slice; `ear` is told of every matcher that was asked."""
    return _TESTS[gate.__class__](gate, cut, ear)


def _contains(gate: Contains, cut: Slice, ear: Ear | None) -> bool:
    found = _literal(gate, cut)
    if ear is not None:
        ear(gate, found)
    return found


def _literal(gate: Contains, cut: Slice) -> bool:
    if gate.whole_token:
        return _has_token(gate.text, cut.lowered_text if gate.fold else cut.text)
    if gate.ascii:
        return gate.needle in cut.data.lower()
    if not gate.fold:
        return gate.needle in cut.data or (_may_wrap(gate, cut) and gate.needle in cut.unwrapped("data"))
    if gate.text.isascii():
        if gate.needle in cut.lowered:
            return True
        return _may_wrap(gate, cut) and gate.needle in cut.unwrapped("lowered")
    if gate.text in cut.lowered_text:
        return True
    return _may_wrap(gate, cut) and gate.needle in cut.unwrapped("lowered_text")


def _may_wrap(gate: Contains, cut: Slice) -> bool:
    """Whether looking at the unwrapped copy can help."""
    if not gate.wrapped or len(cut.rows) < 2 or " " not in gate.text:
        return False
    return cut.odd_case or met(gate.needs, cut.lowered)


def _has_token(needle: str, text: str) -> bool:
    """Whether needle occurs with no token character against either of its own token ends."""
    at = text.find(needle) if needle else -1
    while at >= 0:
        end = at + len(needle)
        before = at == 0 or not _in_token(needle[0]) or not _in_token(text[at - 1])
        after = end == len(text) or not _in_token(needle[-1]) or not _in_token(text[end])
        if before and after:
            return True
        at = text.find(needle, at + 1)
    return False


def _in_token(char: str) -> bool:
    return char.isalnum() or char in _TOKEN_EXTRA


def _matches(gate: Matches, cut: Slice, ear: Ear | None) -> bool:
    found = _pattern(gate, cut)
    if ear is not None:
        ear(gate, found)
    return found


def _pattern(gate: Matches, cut: Slice) -> bool:
    if gate.by_line and not cut.rows:
        return False
    if not cut.odd_case and not met(gate.pattern.needs, cut.lowered):
        return False
    return gate.pattern.found_in(cut.data.lower() if gate.lowered else cut.data)


def _all(gate: All, cut: Slice, ear: Ear | None) -> bool:
    return all(_TESTS[member.__class__](member, cut, ear) for member in gate.members)


def _any(gate: Any, cut: Slice, ear: Ear | None) -> bool:
    return any(_TESTS[member.__class__](member, cut, ear) for member in gate.members)


def _not(gate: Not, cut: Slice, ear: Ear | None) -> bool:
    return not holds(gate.member, cut, ear)


def _within(gate: Within, cut: Slice, ear: Ear | None) -> bool:
    part = cut.parts[gate.part]
    return part.matches and holds(gate.member, part, ear)


_TESTS: dict[type, Callable[..., bool]] = {
    Contains: _contains,
    Matches: _matches,
    All: _all,
    Any: _any,
    Not: _not,
    Within: _within,
}
