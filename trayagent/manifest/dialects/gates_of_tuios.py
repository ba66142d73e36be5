"""The gates of TUIOS's rules: flat lists, and the nested gates of its newer files.

A rule, and every member of `all_of any_of none_of`, holds the same predicates, which must
all hold: each of `all`, one of `any`, none of `not`, each of `regex`, none of
`not_regex`, each of `all_of`, one of `any_of`, none of `none_of`. An empty list asks for
nothing; where nothing positive is asked at all, the gate never holds.
"""

from __future__ import annotations

from trayagent.manifest.dialects.matchers import NEVER, Style, all_of, any_of, literals, none_of, patterns
from trayagent.manifest.format import LIMITS, All, Any, Gate, Matches
from trayagent.manifest.reading import Table

_FLAT = ("all", "any", "not", "regex", "not_regex")
_NESTED = ("all_of", "any_of", "none_of")
_RULE = ("state", "priority", "region", "message", "kind")
_MEMBER = (*_FLAT, *_NESTED)


class Budget:
    """What a file has used of its gates and predicates."""

    def __init__(self) -> None:
        self.gates = 0
        self.predicates = 0

    def check(self, top: Table) -> None:
        """Refuse a file that has used more than it may."""
        if self.gates > LIMITS.gates:
            top.wrong("", f"{self.gates} gates; at most {LIMITS.gates} are allowed")
        if self.predicates > LIMITS.matchers:
            top.wrong("", f"{self.predicates} predicates; at most {LIMITS.matchers} are allowed")


def gate_of(table: Table, style: Style, budget: Budget, depth: int) -> Gate:
    """The gate whose predicates stand in the table. depth: 1 for a rule."""
    budget.gates += depth > 1
    if depth > LIMITS.depth:
        table.wrong("", f"gates are nested deeper than {LIMITS.depth}")
        return NEVER
    if budget.gates > LIMITS.gates:
        return NEVER
    table.only((*_RULE, *_MEMBER) if depth == 1 else _MEMBER, fatal=False)
    budget.predicates += sum(len(table.strings(key)) for key in _FLAT)
    nested = {key: [gate_of(each, style, budget, depth + 1) for each in table.tables(key)] for key in _NESTED}
    members = literals(table, "all", style) + any_of(literals(table, "any", style))
    members += patterns(table, "regex", style) + nested["all_of"] + any_of(nested["any_of"])
    if not members:
        return NEVER
    members += none_of(literals(table, "not", style)) + none_of(patterns(table, "not_regex", style))
    return all_of(members + none_of(nested["none_of"]))


def proven_idle(gate: Gate) -> bool:
    """Whether the gate asks for a pattern on every path on which it can hold."""
    if isinstance(gate, All):
        return any(map(proven_idle, gate.members))
    if isinstance(gate, Any):
        return all(map(proven_idle, gate.members))  # none at all: it never holds
    return isinstance(gate, Matches)
