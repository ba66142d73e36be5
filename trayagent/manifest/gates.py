"""Whether a gate holds in a slice.

One function for each gate class, found by class. `ear` is None in production; explain
hands one in, and hears of each matcher that decided. There is no second evaluator.
Cheap tests come first within a matcher: the pattern's literal before the engine, the
text as it stands before its unwrapped copy.
"""

from __future__ import annotations

from collections.abc import Callable

from trayagent.manifest.format import All, Any, Contains, Gate, Matches, Not
from trayagent.manifest.regions import Slice

Ear = Callable[[Gate, bool], None]

_TOKEN_EXTRA = "_-."


def holds(gate: Gate, cut: Slice, ear: Ear | None = None) -> bool:
    """Whether the gate holds in the slice; `ear` is told of every matcher that was asked."""
    return _TESTS[type(gate)](gate, cut, ear)


def _contains(gate: Contains, cut: Slice, ear: Ear | None) -> bool:
    found = _literal(gate, cut)
    if ear is not None:
        ear(gate, found)
    return found


def _literal(gate: Contains, cut: Slice) -> bool:
    if gate.whole_token:
        return _has_token(gate.text, cut.lowered_text if gate.fold else cut.text)
    wraps = gate.wrapped and " " in gate.text and len(cut.rows) > 1
    if not gate.fold:
        needle = gate.text.encode()
        return needle in cut.data or (wraps and needle in cut.unwrapped)
    if gate.text.isascii():
        needle = gate.text.encode()
        if needle in cut.lowered:
            return True
        first = needle[: needle.index(b" ")] if wraps else b""
        return wraps and first in cut.lowered and needle in cut.unwrapped_lowered
    return gate.text in cut.lowered_text or (wraps and gate.text in cut.unwrapped_lowered_text)


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
    pattern = gate.pattern
    if gate.by_line and not cut.rows:
        return False
    text = cut.lowered_text.encode() if gate.lowered else cut.data
    if pattern.needs and pattern.needs not in (cut.lowered if pattern.folded else text):
        return False
    return pattern.found_in(text)


def _all(gate: All, cut: Slice, ear: Ear | None) -> bool:
    return all(holds(member, cut, ear) for member in gate.members)


def _any(gate: Any, cut: Slice, ear: Ear | None) -> bool:
    return any(holds(member, cut, ear) for member in gate.members)


def _not(gate: Not, cut: Slice, ear: Ear | None) -> bool:
    return not holds(gate.member, cut, ear)


_TESTS: dict[type, Callable[..., bool]] = {
    Contains: _contains,
    Matches: _matches,
    All: _all,
    Any: _any,
    Not: _not,
}
