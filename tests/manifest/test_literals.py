"""The prefilter's promise: what it asks for is in every text that matches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trayagent.manifest.format import All, Any, Contains, Matches, Not
from trayagent.manifest.literals import met, needs_of_pattern
from trayagent.manifest.patterns import PatternRefused, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "needs"),
    [
        (r"^✻ Waiting for \d+ agents? to", [{"✻ waiting for "}, {" agent"}, {" to"}]),
        (r"(?:Interrupted|Rejected)\b", [{"interrupted", "rejected"}]),
        (r"(?i)ESC to cancel", [{"esc to cancel"}]),
        (r"^ *[■⬝]{4,}", [{"■", "⬝"}]),
        (r"API Error: (?:401|403)", [{"api error: 401", "api error: 403"}]),
        (r"(?:retrying in|retrying)", [{"retrying"}]),
        (r"abc?def", [{"def"}]),
        (r"(abc)*def", [{"def"}]),
        (r"abc{0,2}def", [{"def"}]),
        (r"foo\nbar", [{"foo"}, {"bar"}]),
        (r"foo|x", []),
        (r"[a-z]+", []),
        (r"(?s).*", []),
        (r"(?i)é", []),
    ],
)
def test_what_a_pattern_needs(pattern: str, needs: list[set[str]]) -> None:
    found = [{literal.decode() for literal in alternatives} for alternatives in needs_of_pattern(pattern)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, needs))


def test_a_gate_needs_what_its_members_need() -> None:
    press, cancel, select = Contains("press"), Contains("cancel"), Matches(compile_pattern("select"))
    assert set(All((press, cancel)).needs) == {(b"press",), (b"cancel",)}
    assert [set(needs) for needs in Any((cancel, select)).needs] == [{b"cancel", b"select"}]
    assert Any((cancel, Not(select))).needs == ()
    assert Not(cancel).needs == ()


def test_a_wrapped_literal_needs_its_words_only() -> None:
    assert set(Contains("esc to cancel").needs) == {(b"cancel",), (b"esc",)}


ATOMS = st.sampled_from(
    [
        "a",
        "B",
        "esc",
        "❯",
        "é",
        r"\d",
        r"\s",
        ".",
        "[ab]",
        "[^a]",
        r"\.",
        r"\b",
        "^",
        "$",
        r"\n",
        "(?:a|bc)",
        "(?i:K)",
        "(?i)",
        "x{2}",
        "y{0,1}",
        "(?:❯|›)",
        r"\x{276f}",
        "(abc)",
        "(?:de)?",
        "|",
        "s",
        "[❯›]",
    ]
)
TEXTS = st.text(alphabet="aAbBeEsScCdDkKxyY ❯›é.1\n", max_size=30)


@given(st.lists(st.tuples(ATOMS, st.sampled_from(["", "", "", "*", "+", "?", "+?"])), max_size=7), TEXTS)
@settings(max_examples=400, deadline=None)
def test_whatever_matches_meets_its_needs(pieces: list[tuple[str, str]], text: str) -> None:
    try:
        pattern = compile_pattern("".join(atom + repeat for atom, repeat in pieces))
    except PatternRefused:
        return
    if pattern.found_in(text.encode()):
        assert met(pattern.needs, text.encode().lower()), pattern
