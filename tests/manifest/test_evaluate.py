"""One screen and one manifest give one verdict: gates, priorities, keep, fallback, and the trace of it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.scoring import recorded
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.format import All, Contains, Manifest, Matches, Region, Rule
from trayagent.manifest.gates import holds
from trayagent.manifest.load import Library
from trayagent.manifest.patterns import compile_pattern
from trayagent.manifest.regions import View
from trayagent.manifest.trace import Trace
from trayagent.model.panes import Screen
from trayagent.model.states import Kind, Reason, State

Written = Callable[[str], Manifest]


def rule_for(gate: str) -> str:
    return f'[[rules]]\nid = "r"\nstate = "blocked"\n{gate}\n'


@pytest.mark.parametrize(
    ("gate", "text", "matches"),
    [
        ('contains = ["Ship IT?"]', "please ship it?", True),
        ('contains = ["ship", "it"]', "ship only", False),
        ('contains = ["ÄRGER"]', "kein ärger", True),
        ('contains = ["esc to cancel"]', "press esc to\n   cancel", True),
        ('contains = ["esc to cancel"]', "press esc to\n\n   cancel", False),
        ('contains = ["△ permission required"]', "△ Permission\n  required", True),
        ('contains = ["kelvin"]', "\u212aelvin", True),
        ('contains = ["i̇x"]', "\u0130x", True),
        ('regex = ["Ship"]', "ship", False),
        ('regex = ["^a", "c$"]', "abc", True),
        ('regex = ["^b"]', "a\nb", False),
        ('line_regex = ["^b$"]', "a\nb\nc", True),
        ('line_regex = ["^a$", "^c$"]', "a\nb\nc", True),
        ('line_regex = ["^$"]', "", False),
        ('any = [{ contains = ["x"] }, { line_regex = ["^y"] }]', "a\ny", True),
        ('any = [{ contains = ["x"] }, { line_regex = ["^y"] }]', "a\nz", False),
        ('all = [{ contains = ["a"] }, { any = [{ contains = ["b"] }, { contains = ["c"] }] }]', "a c", True),
        ('contains = ["a"]\nnot = [{ contains = ["b"] }]', "a", True),
        ('contains = ["a"]\nnot = [{ contains = ["x"] }, { contains = ["b"] }]', "a b", False),
        ('contains = ["a"]\nnot = [{ contains = ["b"], regex = ["c"] }]', "a b", True),
        ('contains = ["a"]\nnot = [{ not = [{ contains = ["b"] }], contains = ["a"] }]', "a b", True),
    ],
)
def test_a_gate(written: Written, gate: str, text: str, matches: bool) -> None:
    verdict = evaluate(written(rule_for(gate)), Screen(text))
    assert (verdict.rule == "r") is matches


@pytest.mark.parametrize(
    ("gate", "text", "expected"),
    [
        (Contains("Ship", fold=False), "ship", False),
        (Contains("ship it", fold=False), "ship\n  it", True),
        (Contains("ship it", wrapped=False), "ship\nit", False),
        (Contains("done", whole_token=True), "All DONE.", False),
        (Contains("done", whole_token=True), "all done, really", True),
        (Contains("done", whole_token=True), "undone and done", True),
        (Contains("⚠ x", whole_token=True), "a⚠ x", True),
        (Matches(compile_pattern("ready", ignore_case=True), lowered=True), "READY", True),
        (All(()), "", True),
    ],
)
def test_what_other_dialects_ask_of_a_matcher(
    gate: Contains | Matches | All, text: str, expected: bool
) -> None:
    manifest = Manifest("demo", (Rule("r", State.IDLE, Region("whole"), gate),))
    assert (evaluate(manifest, Screen(text)).state is State.IDLE) is expected


def test_the_highest_priority_wins_and_among_equals_the_earlier(written: Written) -> None:
    manifest = written("""
        [[rules]]
        id = "low"
        state = "idle"
        contains = ["x"]
        [[rules]]
        id = "first"
        state = "working"
        priority = 5
        contains = ["x"]
        [[rules]]
        id = "second"
        state = "blocked"
        priority = 5
        contains = ["x"]
    """)
    assert evaluate(manifest, Screen("x")).rule == "first"


def test_title_rules_and_screen_rules_compete_by_priority(written: Written) -> None:
    manifest = written("""
        [[rules]]
        id = "title"
        state = "working"
        priority = 10
        region = "osc_title"
        regex = ['^⠹ ']
        [[rules]]
        id = "dialog"
        state = "blocked"
        priority = 20
        contains = ["really?"]
        [[rules]]
        id = "prompt"
        state = "idle"
        priority = 5
        contains = ["❯"]
    """)
    assert evaluate(manifest, Screen("❯", title="⠹ x")).rule == "title"
    assert evaluate(manifest, Screen("❯ really?", title="⠹ x")).rule == "dialog"
    assert evaluate(manifest, Screen("❯", title="x")).rule == "prompt"


def test_a_rule_may_say_that_the_state_stays(written: Written) -> None:
    manifest = written('[[rules]]\nid = "pager"\nskip_state_update = true\ncontains = ["(end)"]\n')
    verdict = evaluate(manifest, Screen("(END)"))
    assert verdict.state is None
    assert verdict.keep
    assert verdict.rule == "pager"


def test_without_a_matching_rule_the_format_says_idle_and_nothing_firm(written: Written) -> None:
    verdict = evaluate(written(rule_for('contains = ["never"]')), Screen("else"))
    assert (verdict.state, verdict.rule, verdict.keep, verdict.firm_idle) == (State.IDLE, "", False, False)


def test_a_manifest_without_a_fallback_has_no_opinion() -> None:
    verdict = evaluate(Manifest("demo", ()), Screen("x"))
    assert verdict.state is None
    assert not verdict.keep


def test_visible_flags_count_for_their_own_state_only(written: Written) -> None:
    manifest = written("""
        [[rules]]
        id = "a"
        state = "idle"
        visible_idle = true
        visible_blocker = true
        contains = ["a"]
        [[rules]]
        id = "b"
        state = "blocked"
        visible_idle = true
        visible_blocker = true
        contains = ["b"]
    """)
    idle, blocked = evaluate(manifest, Screen("a")), evaluate(manifest, Screen("b"))
    assert (idle.firm_idle, idle.blocker) == (True, False)
    assert (blocked.firm_idle, blocked.blocker) == (False, True)


def test_an_idle_rule_with_a_reason_is_an_error(written: Written) -> None:
    manifest = written("""
        [[rules]]
        id = "broke"
        state = "idle"
        contains = ["error"]
        [prompts.broke]
        reason = "limit"
        patterns = ['(?m)^(?P<ask>error.*)$']
        message = "{ask}"
    """)
    verdict = evaluate(manifest, Screen("x\nerror: too many\ny"))
    assert (verdict.state, verdict.reason, verdict.message) == (State.ERROR, Reason.LIMIT, "error: too many")


def test_a_blocked_rule_without_a_prompt_is_of_another_kind(written: Written) -> None:
    assert evaluate(written(rule_for('contains = ["x"]')), Screen("x")).kind is Kind.OTHER


def test_the_trace_names_every_rule_and_the_matcher_that_failed(written: Written) -> None:
    manifest = written("""
        [[rules]]
        id = "asks"
        state = "blocked"
        priority = 2
        region = "bottom_lines(1)"
        contains = ["sure"]
        regex = ['\\(y\\)']
        [[rules]]
        id = "rests"
        state = "idle"
        contains = ["sure"]
    """)
    trace = Trace()
    verdict = evaluate(manifest, Screen("top\nsure?"), trace)
    assert verdict == evaluate(manifest, Screen("top\nsure?"))
    asks, rests = trace.rules
    assert (asks.id, asks.matched, asks.won, asks.decided) == ("asks", False, False, r"regex '\\(y\\)'")
    assert asks.rows == ["sure?"]
    assert asks.asked == [
        {"matcher": "contains 'sure'", "found": True},
        {"matcher": r"regex '\\(y\\)'", "found": False},
    ]
    assert (rests.matched, rests.won) == (True, True)
    assert json.loads(json.dumps(trace.to_json()))["rules"][1]["state"] == "idle"


AGENTS = ("claude", "codex", "opencode")


@pytest.mark.parametrize("agent", AGENTS)
def test_the_trace_never_changes_the_verdict(library: Library, agent: str) -> None:
    manifest = library.get(agent)
    assert manifest is not None
    for item in recorded(agent):
        assert evaluate(manifest, item.screen, Trace()) == evaluate(manifest, item.screen), item.name


@pytest.mark.parametrize("agent", AGENTS)
def test_the_prefilter_never_hides_a_rule_that_would_match(library: Library, agent: str) -> None:
    manifest = library.get(agent)
    assert manifest is not None
    for item in recorded(agent):
        trace = Trace()
        evaluate(manifest, item.screen, trace)
        view = View(item.screen)
        for rule, told in zip(manifest.ranked, trace.rules, strict=True):
            assert holds(rule.gate, view.slice(rule.region)) is told.matched, (item.name, rule.id)


PIECES = st.sampled_from(
    ["esc to ", "interrupt", "❯ 1. Yes", "\n", "\n\n", "─────", "  ", "… ", "✻ Cooked for 1s", "› ", "• ",
     "\u00a0", "\u212a", "┃  △ x", "╹▀▀▀", "Enter to select", "■ ", "a", "\x00", "\ud800", "│"]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=5), max_size=40), st.text(max_size=20))
@settings(max_examples=150, deadline=None)
def test_no_text_makes_a_look_fail(pieces: list[str], title: str) -> None:
    screen = Screen("".join(pieces), title)
    for agent in AGENTS:
        manifest = _LIBRARY.get(agent)
        assert manifest is not None
        assert evaluate(manifest, screen, Trace()) == evaluate(manifest, screen)


_LIBRARY = Library.standard()
