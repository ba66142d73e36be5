"""jackin's rule packs: each field, and each point in which they differ from ours."""

from __future__ import annotations

import pytest

from tests.manifest.foreign import JACKIN, good, jackin, says, wrong
from trayagent.manifest.dialects.jackin import parse_region
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.load import read_text
from trayagent.manifest.regions import View
from trayagent.model.panes import Screen

RULE = '[[rule]]\nid = "r"\nstate = "blocked"\npriority = 1\nregion = "bottom:9"\nrequires_all = ["x"]\n'


def test_the_documented_example_means_what_it_says() -> None:
    manifest = good("""
        schema_version = 1
        agent = "demo"
        validated_versions = ">=1.0.0, <2.0.0"
        [[rule]]
        id = "asks"
        state = "blocked"
        priority = 900
        region = "bottom_nonempty:12"
        strength = "strong"
        requires_all = ["ship it?"]
        requires_any = ["(y)", "1. ok"]
    """)
    assert (manifest.id, manifest.dialect, manifest.detect) == ("demo", "jackin", None)
    assert says(manifest, "Ship It?\n(Y)") == "blocked"
    assert says(manifest, "ship it?") == "none"


def test_states_and_freeze() -> None:
    for state in ("working", "blocked", "idle"):
        assert says(jackin(f'state = "{state}"'), "x") == state
    assert says(jackin('state = "freeze"'), "x") == "keep"


def test_a_weak_rule_names_a_state_that_does_not_change_the_panes() -> None:
    strong, weak = evaluate(jackin(""), Screen("x")), evaluate(jackin('strength = "weak"'), Screen("x"))
    assert (strong.state, strong.keep, strong.blocker) == (weak.state, False, True)
    assert (weak.keep, weak.blocker) == (True, False)


def test_a_weak_rule_that_goes_first_still_decides() -> None:
    manifest = good(
        JACKIN + RULE.replace("priority = 1", "priority = 9").replace('"r"', '"first"')
        + RULE.replace("blocked", "working") + 'strength = "strong"\n'
    )  # fmt: skip
    assert evaluate(manifest, Screen("x")).rule == "first"


def test_a_rule_without_matchers_always_holds() -> None:
    assert says(jackin(""), "") == "blocked"


def test_literals_fold_ascii_letters_only() -> None:
    assert says(jackin('requires_all = ["SHIP"]'), "sHiP") == "blocked"
    assert says(jackin('requires_all = ["É"]'), "É") == "blocked"
    assert says(jackin('requires_all = ["É"]'), "é") == "none"
    assert says(jackin('requires_all = ["key"]'), "\u212aey") == "none"


def test_rows_are_never_joined() -> None:
    assert says(jackin('requires_all = ["ship it"]'), "ship\nit") == "none"


def test_all_any_and_forbidden_literals() -> None:
    manifest = jackin('requires_all = ["a", "b"]\nrequires_any = ["c", "d"]\nforbids = ["e", "f"]')
    assert [says(manifest, text) for text in ("a b d", "a c", "a b", "a b c f")] == [
        "blocked", "none", "none", "none",
    ]  # fmt: skip


def test_patterns_ignore_case_and_end_with_the_text() -> None:
    assert says(jackin("regex = ['^[A-Z]+ NOW$']"), "Run now") == "blocked"
    assert says(jackin("regex = ['^now$']"), "run\nnow") == "none"
    assert says(jackin("regex = ['a', 'b']"), "a") == "none"


def test_line_patterns_match_some_line_and_forbidden_ones_none() -> None:
    assert says(jackin("line_regex = ['^now$', '^run$']"), "RUN\nNow") == "blocked"
    assert says(jackin("line_regex = ['run.now']"), "run\nnow") == "none"
    assert says(jackin("forbids_regex = ['^stop$']"), "go\nSTOP") == "none"
    assert says(jackin("forbids_regex = ['^stop$']"), "go\nstop it") == "blocked"


def test_gates_nest() -> None:
    manifest = jackin(
        """
        gate = { all = [
            { any = [{ contains = "A" }, { regex = "^b" }] },
            { not = { line_regex = "^no$" } },
        ] }
    """.replace("\n", " ").strip()
    )
    assert [says(manifest, text) for text in ("xa", "bx", "xb", "a\nno", "a\nno more")] == [
        "blocked", "blocked", "none", "none", "blocked",
    ]  # fmt: skip


BOX = "said\n╭────╮\n│ one │\n│     │\n╰────╯\nfoot"
MARKS = "  › old\n• answer\n  › typed\n  below"


@pytest.mark.parametrize(
    ("region", "text", "expected"),
    [
        ("bottom:2", "a\nb\n", "a\nb"),
        ("bottom:1", "a\nb\n\n", ""),
        ("bottom_nonempty:2", "a\n\nb\n\nc", "b\nc"),
        ("bottom_nonempty:2", "a\nb\n\n\n\n\n", ""),
        ("prompt_box_body", BOX, "one\n"),
        ("prompt_box_body", "no box", ""),
        ("prompt_box_body", "╭─\nopen", ""),
        ("above_prompt_box", BOX, "said"),
        ("above_prompt_box", "no box", "no box"),
        ("after_last_rule", "a\n═════─────\nb", "b"),
        ("after_last_rule", "a\n─────────\nb", "a\n─────────\nb"),
        ("after_last_rule", "a\n╭──────────\nb", "a\n╭──────────\nb"),
        ("after_last_rule", "a\n---------- x\nb", "a\n---------- x\nb"),
        ("last_nonempty_line", "a\nb\n\n", "b"),
        ("last_prompt_marker", MARKS, "  › typed"),
        ("last_prompt_marker", "none", ""),
        ("after_last_prompt_marker", MARKS, "  below"),
        ("after_last_prompt_marker", "none", ""),
        ("before_current_prompt_marker", MARKS, "  › old\n• answer"),
        ("before_current_prompt_marker", "none", "none"),
        ("whole_recent_without_current_prompt_marker", MARKS, ""),
        ("whole_recent_without_current_prompt_marker", "none", "none"),
    ],
)
def test_a_region_takes_these_rows(region: str, text: str, expected: str) -> None:
    asked = parse_region(region)
    assert asked is not None
    assert View(Screen(text)).slice(asked).text == expected


def test_title_and_progress_are_regions() -> None:
    assert says(jackin('region = "osc_title"\nrequires_all = ["busy"]'), title="BUSY") == "blocked"
    progress = jackin("region = \"osc_progress\"\nregex = ['^4;1$']")
    assert says(progress, progress="4;1;40") == "blocked"
    assert says(progress, progress="") == "none"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (JACKIN.replace("schema_version = 1", "schema_version = 2") + RULE, "schema_version"),
        (JACKIN.replace("min_engine_version = 2", "min_engine_version = 3") + RULE, "min_engine_version"),
        (JACKIN.replace(">=1.0.0, <2.0.0", ">=1.0.0") + RULE, "validated_versions"),
        (JACKIN.replace(">=1.0.0, <2.0.0", "") + RULE, "validated_versions"),
        (JACKIN.replace(">=1.0.0, <2.0.0", "*") + RULE, "validated_versions"),
        (JACKIN + RULE.replace("blocked", "busy"), "state"),
        (JACKIN + RULE.replace("bottom:9", "bottom"), "region"),
        (JACKIN + RULE.replace("priority = 1\n", ""), "priority"),
        (JACKIN + RULE.replace('id = "r"', 'id = ""'), "id"),
        (JACKIN + RULE + 'strength = "firm"\n', "strength"),
        (JACKIN + RULE + "regex = ['(?=x)']\n", "regex"),
        (JACKIN + RULE + "gate = { all = [] }\n", "gate.all"),
        (JACKIN + RULE + 'gate = { contains = "a", regex = "b" }\n', "gate."),
        (JACKIN.replace("min_engine_version = 2\n", "") + RULE + 'gate = { contains = "a" }\n', "gate"),
        (JACKIN + RULE + f"forbids = {['x'] * 32}\n", ""),
        (JACKIN + RULE + f"forbids = ['{'x' * 513}']\n", "forbids"),
    ],
)
def test_what_is_wrong_refuses_the_pack(text: str, key: str) -> None:
    assert [problem.key for problem in wrong(text)] == [key]


@pytest.mark.parametrize("versions", ["1.2.3", "=1.2.3", "<2", ">=1.0, <=1.9.9", "~1.4", "^0.3", "1.*"])
def test_these_ranges_end_somewhere(versions: str) -> None:
    good(JACKIN.replace(">=1.0.0, <2.0.0", versions) + RULE)


def test_an_exclusion_by_a_key_that_does_not_exist_is_told() -> None:
    text = JACKIN + RULE + 'forbids_any = ["esc to interrupt"]\n'
    manifest, problems = read_text(text.encode(), "demo.toml")
    assert manifest is not None
    (problem,) = problems
    assert (problem.rule, problem.key, problem.fatal) == ("r", "forbids_any", False)
    assert problem.line == text.split("\n").index('forbids_any = ["esc to interrupt"]') + 1
