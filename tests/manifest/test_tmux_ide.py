"""tmux-ide's manifests: each field, JavaScript's patterns, and joined rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.manifest.foreign import says, tmux_ide, wrong
from trayagent.manifest.dialects.javascript import NotPossible, translate
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.load import read_text
from trayagent.manifest.patterns import compile_pattern
from trayagent.manifest.trace import Trace
from trayagent.model.panes import Screen
from trayagent.model.states import State


def blocked(**matcher: Any) -> Any:
    return tmux_ide(blocked={"any": [matcher]})


def test_the_documented_example_means_what_it_says() -> None:
    manifest = tmux_ide(
        blocked={"all": [{"contains": "ship it?", "caseInsensitive": True}]},
        working={"any": [{"region": "title", "regex": "^[\\u2801-\\u28ff] "}]},
    )
    assert manifest.detect is not None
    assert (manifest.dialect, manifest.detect.names) == ("tmux-ide", ("democli",))
    assert says(manifest, "Ship It?", title="⠋ x") == "blocked"
    assert says(manifest, "x", title="⠋ x") == "working"


def test_blocked_goes_before_working_and_working_before_done() -> None:
    matcher = {"any": [{"contains": "x"}]}
    assert says(tmux_ide(done=matcher, working=matcher, blocked=matcher), "x") == "blocked"
    assert says(tmux_ide(done=matcher, working=matcher), "x") == "working"
    done = tmux_ide(done=matcher)
    assert says(done, "x") == "idle"
    assert done.rules[0].turn_ended


def test_without_a_match_the_agent_is_idle() -> None:
    verdict = evaluate(blocked(contains="x"), Screen("y"))
    assert (verdict.state, verdict.rule) == (State.IDLE, "")


def test_all_and_any_must_both_hold_and_empty_ones_never_do() -> None:
    manifest = tmux_ide(blocked={"all": [{"contains": "a"}, {"contains": "b"}],
                                 "any": [{"contains": "c"}, {"contains": "d"}]})  # fmt: skip
    assert [says(manifest, text) for text in ("a b d", "a c", "a b")] == ["blocked", "idle", "idle"]
    assert says(tmux_ide(blocked={}, working={"all": [], "any": []}), "x") == "idle"


def test_each_matcher_reads_its_own_region() -> None:
    manifest = tmux_ide(blocked={"all": [{"contains": "a"}, {"region": "title", "contains": "b"},
                                         {"region": "text", "regex": "^top"}]})  # fmt: skip
    rows = "\n".join(["top", *("row" for _ in range(20)), "a"])
    assert says(manifest, rows, title="b") == "blocked"
    assert says(manifest, rows, title="a") == "idle"
    assert says(manifest, f"x{rows}", title="b") == "idle"


def test_bottom_is_the_last_twenty_rows_that_are_not_blank() -> None:
    def rows(count: int) -> str:
        return "edge\n\n" + "\n\n".join("row" for _ in range(count)) + "\n\n"

    assert says(blocked(contains="edge\nrow\nrow"), rows(19)) == "blocked"
    assert says(blocked(contains="edge"), rows(20)) == "idle"


def test_rows_that_the_terminal_wrapped_are_joined() -> None:
    manifest = blocked(contains="ship it now")
    assert manifest.needs_joined
    assert says(manifest, "ship it\n now", joined="ship it now") == "blocked"
    assert says(manifest, "ship it now", joined="ship it\nnow") == "idle"
    assert says(manifest, "ship it\nnow") == "idle"


def test_literals_keep_their_case_unless_asked() -> None:
    assert says(blocked(contains="Ship"), "ship") == "idle"
    assert says(blocked(contains="Ship", caseInsensitive=True), "sHIP") == "blocked"
    assert says(blocked(regex="^ship"), "SHIP") == "idle"
    assert says(blocked(regex="^ship", caseInsensitive=True), "SHIP") == "blocked"


def test_ends_are_those_of_the_text() -> None:
    assert says(blocked(regex="^b"), "a\nb") == "idle"
    assert says(blocked(regex="a$"), "a\nb") == "idle"


def test_a_state_that_nobody_knows_is_told_and_dropped() -> None:
    text = json.dumps({"id": "demo", "commands": ["x"], "states": {"paused": {}, "blocked": {"any": []}}})
    manifest, problems = read_text(text.encode(), "demo.json", ".json")
    assert manifest is not None
    assert [rule.id for rule in manifest.rules] == ["blocked"]
    assert [(problem.key, problem.fatal) for problem in problems] == [("states.paused", False)]


def test_contains_goes_before_regex_and_that_is_told() -> None:
    matcher = {"contains": "a", "regex": "b"}
    text = json.dumps({"id": "demo", "commands": ["x"], "states": {"blocked": {"any": [matcher]}}}, indent=1)
    manifest, problems = read_text(text.encode(), "demo.json", ".json")
    assert manifest is not None
    assert says(manifest, "a") == "blocked"
    (problem,) = problems
    assert (problem.rule, problem.key, problem.fatal) == ("blocked", "any[0].regex", False)
    assert problem.line == next(n for n, line in enumerate(text.split("\n"), 1) if "regex" in line)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"id": ""}, "id"),
        ({"id": 3}, "id"),
        ({"commands": []}, "commands"),
        ({"commands": "x"}, "commands"),
        ({"states": None}, "states"),
        ({"states": {"blocked": {"any": [{"region": "top", "contains": "x"}]}}}, "any[0].region"),
        ({"states": {"blocked": {"any": [{}]}}}, "any[0]."),
        ({"states": {"blocked": {"any": [{"regex": "a(?=b)"}]}}}, "any[0].regex"),
    ],
)
def test_what_is_wrong_refuses_the_file(change: dict[str, Any], key: str) -> None:
    data = {"id": "demo", "commands": ["x"], "states": {"blocked": {"any": [{"contains": "x"}]}}, **change}
    problems = wrong(json.dumps(data), ".json")
    assert key in [problem.key for problem in problems]


def test_a_pattern_that_javascript_cannot_compile_never_matches_and_is_told() -> None:
    text = json.dumps({"id": "demo", "commands": ["x"], "states": {"blocked": {"any": [{"regex": "("}]}}})
    manifest, problems = read_text(text.encode(), "demo.json", ".json")
    assert manifest is not None
    assert says(manifest, "(") == "idle"
    assert "never matches" in problems[0].text


def test_explain_hears_the_matchers_of_other_regions() -> None:
    trace = Trace()
    evaluate(blocked(region="title", contains="busy"), Screen("x", title="calm"), trace)
    assert trace.rules[0].decided == "contains 'busy'"


# -- JavaScript's patterns -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\d", "\u0663", False),
        (r"\w", "é", False),
        (r"\W", "é", True),
        (r"[\W]", "é", True),
        (r"[^\W]", "é", False),
        (r"\D", "7", False),
        (r"\s", "\u00a0", True),
        (r"\s", "\ufeff", True),
        (r"\s", "\u0085", False),
        (r"\S", "\u0085", True),
        (r"[\s]", "\u3000", True),
        (r"[^\s]", "\u3000", False),
        (r"\bé", "aé", True),
        (r".", "\u2028", False),
        (r"a.b", "a\nb", False),
        (r"\u2801", "⠁", True),
        (r"[\u2801-\u28ff]", "⠋", True),
        (r"\ud83d\ude00", "😀", True),
        (r"\x41", "A", True),
        (r"\cA", "\x01", True),
        (r"\0", "\x00", True),
        (r"[\b]", "\x08", True),
        (r"[]", "x", False),
        (r"[^]", "\n", True),
        (r"a]b", "a]b", True),
        (r"\A\z", "Az", True),
        (r"\-\_\/\e", "-_/e", True),
        (r"[[a]", "[", True),
        (r"[&&a]", "&", True),
        (r"x{2}", "xx", True),
        (r"a{b", "a{b", True),
        (r"(?<name>a)b", "ab", True),
        (r"(?:a|b)c", "bc", True),
        (r"a+?", "a", True),
        (r"\p{L}", "p{L}", True),
        (r"\p{L}", "x", False),
        (r"\k", "k", True),
    ],
)
def test_a_javascript_pattern_means_what_it_means_there(pattern: str, text: str, found: bool) -> None:
    compiled = compile_pattern(translate(pattern).source, verbatim=True)
    assert compiled.found_in(text.encode()) is found


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"a(?=b)", "look-ahead"),
        (r"a(?!b)", "look-ahead"),
        (r"(?<=a)b", "look-behind"),
        (r"(?<!a)b", "look-behind"),
        (r"(a)\1", "back-reference"),
        (r"(?<x>a)\k<x>", "back-reference"),
    ],
)
def test_what_cannot_run_in_linear_time_is_refused_with_its_reason(pattern: str, reason: str) -> None:
    with pytest.raises(NotPossible, match=reason):
        translate(pattern)


@pytest.mark.parametrize(
    ("pattern", "note"),
    [(r"\p{L}", "without the flag u"), ("[😀]", "halves"), (r"\ud83d", "half a surrogate")],
)
def test_what_its_author_will_not_have_meant_is_told(pattern: str, note: str) -> None:
    assert note in translate(pattern).notes[0]
