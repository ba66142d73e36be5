"""Regions, gates and the choice of a rule, against their plain descriptions, on screens that nobody drew."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.manifest import plain
from trayagent.manifest.dialects.jackin import parse_region as jackin_region
from trayagent.manifest.dialects.tuios import screen_region
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.load import read_text
from trayagent.manifest.native import parse_region
from trayagent.manifest.regions import View, unwrap
from trayagent.manifest.trace import Trace
from trayagent.model.panes import Screen

PIECES = [
    "", "", " ", "\u00a0", "\u2003", "›", "› typed", "  › in", "›x", "• said", "■ stop", "✗", "✓ ok", " • in",
    "─", "──", "───", "─── name ──", "  ────────────", "╭────╮", "│ in │", "╰────╯", "━━━", "├───┤",
    "==========", "----------", "═════════", "──────────x", "word", "Two Words", "two", "  words", "(y/n)",
    "1. Yes", "ÄÖ", "ß", "\u212a", "İ", "long " * 30, "\t", "a\tb",
]  # fmt: skip
ROWS = st.sampled_from(PIECES) | st.text(alphabet="ab ›•─│╭╰\u00a0\t=-", max_size=14)
rows_of = st.lists(ROWS, max_size=30)
counts = st.integers(min_value=0, max_value=12)

HERDR = [
    "whole_recent", "after_last_prompt_marker", "before_current_prompt_marker",
    "whole_recent_without_current_prompt_marker", "current_prompt_block_marker",
    "after_current_prompt_block_marker", "prompt_box_body", "above_prompt_box",
    "last_non_empty_above_prompt_box", "after_last_horizontal_rule",
]  # fmt: skip


def shown(rows: list[str]) -> tuple[View, list[str]]:
    """A look at these rows, and the rows as the formats read a text: a last empty piece is none."""
    text = "\n".join(rows)
    split = text.split("\n")
    return View(Screen(text)), split if split[-1] else split[:-1]


@given(rows_of, counts)
def test_regions_of_herdr_are_what_they_are_said_to_be(rows: list[str], count: int) -> None:
    view, read = shown(rows)
    for name in HERDR:
        assert view.slice(parse_region(name)).text == "\n".join(plain.herdr(name, 0, read)), name
    for name in ("bottom_lines", "bottom_non_empty_lines", "top_non_empty_lines"):
        number = max(count, 1) if name.startswith("top") else count
        expected = "\n".join(plain.herdr(name, number, read))
        assert view.slice(parse_region(f"{name}({number})")).text == expected, (name, number)


@given(rows_of, st.integers(min_value=1, max_value=12))
def test_regions_of_tuios_are_what_they_are_said_to_be(rows: list[str], lines: int) -> None:
    view, read = shown(rows)
    for name in ("tail", "prompt_box", "above_prompt_box", "last_non_empty_above_prompt_box",
                 "after_last_horizontal_rule"):  # fmt: skip
        region = screen_region(name, lines)
        assert region is not None
        cut, expected = view.slice(region), plain.tuios(name, lines, read)
        assert cut.matches is (expected is not None), name
        assert cut.text == "\n".join(expected or []), name


@given(rows_of, counts)
def test_regions_of_jackin_are_what_they_are_said_to_be(rows: list[str], count: int) -> None:
    view, read = shown(rows)
    for name in ("bottom", "bottom_nonempty", "prompt_box_body", "above_prompt_box", "after_last_rule",
                 "last_nonempty_line", "last_prompt_marker", "after_last_prompt_marker"):  # fmt: skip
        region = jackin_region(f"{name}:{count}" if name.startswith("bottom") else name)
        assert region is not None
        assert view.slice(region).text == "\n".join(plain.jackin(name, count, read)), (name, count)


# -- gates -------------------------------------------------------------------------------

LITERALS = ["word", "Two Words", "two words", "(y/n)", "1. yes", "äö", "›", "typed", "absent", "k", "in │ ╰"]
PATTERNS = ["wor.", "(?i)TWO", "^word$", "(?m)^word$", "[ab]{2}", "(?s)two.*word", "x?", "(?:typed|said)\\b"]

matchers = st.fixed_dictionaries(
    {},
    optional={
        "contains": st.lists(st.sampled_from(LITERALS), min_size=1, max_size=2),
        "regex": st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=2),
        "line_regex": st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=2),
    },
)


def gates(depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """A gate that the format accepts: something positive at every level."""
    if depth == 0:
        return matchers.filter(bool)
    inner = st.lists(gates(depth - 1), min_size=1, max_size=2)
    optional = {"all": inner, "any": inner, "not": inner}
    nested = st.fixed_dictionaries({}, optional=optional)
    return st.builds(lambda own, more: own | more, matchers, nested).filter(
        lambda gate: bool(set(gate) - {"not"})
    )


def holds(gate: dict[str, Any], text: str) -> bool:
    """The gate's plain meaning in a text of rows."""
    lowered = (text.lower(), unwrap(text.lower().encode().split(b"\n")).decode())
    rows = text.split("\n") if text else []
    return (
        all(any(literal.lower() in copy for copy in lowered) for literal in gate.get("contains", ()))
        and all(re.search(_python(pattern), text) for pattern in gate.get("regex", ()))
        and all(any(re.search(_python(p), row) for row in rows) for p in gate.get("line_regex", ()))
        and all(holds(member, text) for member in gate.get("all", ()))
        and ("any" not in gate or any(holds(member, text) for member in gate["any"]))
        and not any(holds(member, text) for member in gate.get("not", ()))
    )


def _python(pattern: str) -> str:
    return re.sub(r"\$$", r"\\Z", pattern) if "(?m)" not in pattern else pattern


priorities = st.integers(min_value=-2, max_value=2)
rules = st.lists(st.tuples(gates(2), priorities, st.sampled_from(HERDR)), min_size=1, max_size=6)


@settings(max_examples=200)
@given(rules, rows_of)
def test_the_rule_that_wins_is_the_first_of_the_highest_priority_that_holds(
    made: list[tuple[dict[str, Any], int, str]], rows: list[str]
) -> None:
    data = {
        "id": "demo",
        "rules": [
            {"id": str(at), "state": "working", "priority": priority, "region": region, **gate}
            for at, (gate, priority, region) in enumerate(made)
        ],
    }
    manifest, problems = read_text(json.dumps(data).encode(), "demo.json", ".json")
    assert manifest is not None, [str(problem) for problem in problems]
    _, read = shown(rows)
    matching = [
        (-priority, at)
        for at, (gate, priority, region) in enumerate(made)
        if holds(gate, "\n".join(plain.herdr(region, 0, read)))
    ]
    expected = str(min(matching)[1]) if matching else ""
    screen = Screen("\n".join(rows))
    assert evaluate(manifest, screen).rule == expected
    assert evaluate(manifest, screen, Trace()).rule == expected
