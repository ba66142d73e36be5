"""What explain wants to know of one look: every rule, what it read, and which matcher decided.

A Trace is handed to `evaluate`, which then asks all rules instead of stopping at the
winner, and hands the same gate code an ear. Its contents are plain data for JSON. It
holds screen text: it is shown to the person who asked, and never stored or logged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any as AnyValue

from trayagent.manifest.format import Contains, Gate, Matches, Rule
from trayagent.manifest.regions import Slice


@dataclass(slots=True)
class RuleTrace:
    """One rule at one look. decided: the matcher that made it fail (or, matched, the last one that
    was asked), "" where no matcher was asked. rows: the region's text."""

    id: str
    state: str
    priority: int
    region: str
    matched: bool
    won: bool
    decided: str
    rows: list[str]
    asked: list[dict[str, AnyValue]]


@dataclass(slots=True)
class Trace:
    """All rules of one manifest at one look, in the order in which they are ranked."""

    manifest: str = ""
    origin: str = ""
    rules: list[RuleTrace] = field(default_factory=list)

    def ear(self) -> tuple[list[tuple[Gate, bool]], AnyValue]:
        """A fresh list and the ear that fills it."""
        heard: list[tuple[Gate, bool]] = []
        return heard, lambda gate, found: heard.append((gate, found))

    def add(
        self, rule: Rule, cut: Slice, heard: list[tuple[Gate, bool]], *, matched: bool, won: bool
    ) -> None:
        """Keep what one rule read and said."""
        asked = [{"matcher": describe(gate), "found": found} for gate, found in heard]
        decided = str(asked[-1]["matcher"]) if asked else ("" if cut.matches else "the region is not there")
        self.rules.append(
            RuleTrace(
                rule.id,
                rule.state.value if rule.state is not None else "keep",
                rule.priority,
                str(rule.region),
                matched,
                won,
                decided,
                [row.decode("utf-8", "replace") for row in cut.rows],
                asked,
            )
        )

    def to_json(self) -> dict[str, AnyValue]:
        """Everything as JSON values."""
        rules = [{name: getattr(rule, name) for name in RuleTrace.__slots__} for rule in self.rules]
        return {"manifest": self.manifest, "origin": self.origin, "rules": rules}


def describe(gate: Gate) -> str:
    """A matcher in the words of the file."""
    if isinstance(gate, Contains):
        return f"contains {gate.text!r}"
    if isinstance(gate, Matches):
        return f"{'line_regex' if gate.by_line else 'regex'} {gate.pattern.source!r}"
    return type(gate).__name__.lower()
