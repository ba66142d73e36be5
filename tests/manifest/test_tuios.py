"""TUIOS's harness files: each field, and each point in which they differ from ours."""

from __future__ import annotations

import pytest

from tests.manifest.foreign import TUIOS, good, says, tuios, wrong
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.load import read_text
from trayagent.model.panes import Screen
from trayagent.model.states import Kind, State

ASKS = 'state = "needs_input"\nall = ["ship it?"]'


def test_the_documented_example_means_what_it_says() -> None:
    manifest = good("""
        schema_version = 1
        id = "demo"
        display_name = "Demo Agent"
        priority = 7
        [detect]
        comm = ["DemoCLI "]
        argv_path = ["@acme/demo"]
        exe_glob = ["*/demo/bin/*"]
        [screen]
        enabled = true
        fold_case = true
        lines = 8
        [[screen.rule]]
        state = "needs_input"
        priority = 300
        all = ["Ship it?"]
        any = ["(y)", "1. ok"]
    """)
    assert (manifest.id, manifest.name, manifest.rank, manifest.dialect) == ("demo", "Demo Agent", 7, "tuios")
    assert manifest.detect is not None
    assert manifest.detect.names == ("democli",)
    assert (manifest.detect.packages, manifest.detect.exe_globs) == (("@acme/demo",), ("*/demo/bin/*",))
    assert says(manifest, "SHIP IT?\n(Y) yes") == "blocked"
    assert says(manifest, "ship it?\nno answers") == "none"


def test_states_are_translated_and_nothing_matching_is_no_opinion() -> None:
    for word, state in (("working", "working"), ("needs_input", "blocked")):
        assert says(tuios(f'state = "{word}"\nall = ["x"]'), "x") == state
    assert says(tuios('state = "idle"\nregex = ["^x"]'), "x") == "idle"
    assert says(tuios(ASKS), "else") == "none"


def test_literals_keep_their_case_unless_the_block_folds_it() -> None:
    assert says(tuios(ASKS), "Ship it?") == "none"
    assert (
        says(tuios('state = "needs_input"\nall = ["Ship IT?"]', "fold_case = true"), "sHIP it?") == "blocked"
    )
    assert says(tuios('state = "needs_input"\nall = ["Ünit"]', "fold_case = true"), "ÜNIT") == "blocked"


def test_rows_are_never_joined() -> None:
    assert says(tuios(ASKS), "ship\nit?") == "none"


def test_patterns_run_on_the_text_as_it_is_with_line_ends() -> None:
    rule = 'state = "needs_input"\nregex = ["^Ship$"]'
    assert says(tuios(rule, "fold_case = true"), "a\nShip\nb") == "blocked"
    assert says(tuios(rule, "fold_case = true"), "a\nship\nb") == "none"
    two = tuios('state = "needs_input"\nregex = ["one", "two"]\nnot_regex = ["three"]')
    assert [says(two, text) for text in ("one two", "one", "one two three")] == ["blocked", "none", "none"]


def test_classes_are_those_of_go() -> None:
    assert says(tuios("state = \"working\"\nregex = ['a\\sb']"), "a b") == "working"
    assert says(tuios("state = \"working\"\nregex = ['a\\sb']"), "a\u00a0b") == "none"


def test_all_any_and_not_are_lists_of_literals() -> None:
    manifest = tuios('state = "working"\nall = ["a", "b"]\nany = ["c", "d"]\nnot = ["e", "f"]')
    assert [says(manifest, text) for text in ("a b d", "a c", "a b", "a b c f")] == [
        "working", "none", "none", "none",
    ]  # fmt: skip


def test_a_rule_without_anything_positive_never_matches() -> None:
    assert says(tuios('state = "needs_input"\nnot = ["x"]'), "y") == "none"
    assert says(tuios('state = "needs_input"'), "") == "none"


def test_only_the_last_rows_that_are_not_blank_are_read() -> None:
    rows = "top\n" + "\n\n".join("abcdef") + "\n\n\n"
    assert says(tuios('state = "working"\nall = ["a\\nb\\nc\\nd\\ne\\nf"]'), rows) == "working"
    assert says(tuios('state = "working"\nall = ["top"]'), rows) == "none"
    assert says(tuios('state = "working"\nall = ["top"]', "lines = 7"), rows) == "working"


def test_the_highest_priority_wins_and_among_equals_the_first() -> None:
    manifest = good(
        f"{TUIOS}[screen]\nenabled = true\n"
        + "".join(
            f'[[screen.rule]]\nstate = "{state}"\npriority = {priority}\nall = ["x"]\n'
            for state, priority in (("working", 1), ("needs_input", 5), ("working", 5))
        )
    )
    assert evaluate(manifest, Screen("x")).rule == "screen.2"


def test_a_block_that_is_not_enabled_does_not_count_and_says_so() -> None:
    text = f"{TUIOS}[screen]\n[[screen.rule]]\n{ASKS}\n"
    manifest, problems = read_text(text.encode(), "demo.toml")
    assert manifest is not None
    assert says(manifest, "ship it?") == "none"
    assert [(problem.key, problem.fatal) for problem in problems] == [("screen.enabled", False)]


BOXED = "before\n╭──────╮\n│ > typed │\n╰──────╯\n  footer"


@pytest.mark.parametrize(
    ("region", "text", "matches"),
    [
        ("prompt_box", "typed", True),
        ("prompt_box_body", "typed", True),
        ("prompt_box_body", "footer", False),
        ("above_prompt_box", "before", True),
        ("above_prompt_box", "typed", False),
        ("last_non_empty_above_prompt_box", "before", True),
        ("after_last_horizontal_rule", "footer", True),
        ("after_last_horizontal_rule", "typed", False),
        ("tail", "before", True),
        ("whole_recent", "before", True),
        ("bottom_non_empty_lines(2)", "footer", True),
        ("bottom_non_empty_lines(2)", "typed", False),
    ],
)
def test_a_region_reads_its_rows_of_the_tail(region: str, text: str, matches: bool) -> None:
    manifest = tuios(f'state = "working"\nregion = "{region}"\nall = ["{text}"]')
    assert (says(manifest, BOXED) == "working") is matches


@pytest.mark.parametrize(
    ("region", "matches"),
    [
        ("prompt_box", False),
        ("above_prompt_box", False),
        ("last_non_empty_above_prompt_box", False),
        ("after_last_horizontal_rule", True),
    ],
)
def test_without_a_box_its_regions_cannot_match_not_even_by_an_exclusion(region: str, matches: bool) -> None:
    manifest = tuios(f'state = "working"\nregion = "{region}"\nall = ["plain"]\nnot = ["x"]')
    assert (says(manifest, "plain\nrows") == "working") is matches


@pytest.mark.parametrize("border", ["───", "╭──── title", "└━━━", "  ━━━━━  ", "┣───┫"])
def test_a_border_may_have_corners_and_be_heavy(border: str) -> None:
    manifest = tuios('state = "working"\nregion = "prompt_box"\nall = ["in"]')
    assert says(manifest, f"{border}\nin\n{border}") == "working"
    assert says(manifest, f"-{border}\nin\n-{border}") == "none"


def test_gates_nest_and_an_exclusion_vetoes_only_as_a_whole() -> None:
    manifest = tuios("""
        state = "working"
        all = ["a"]
        all_of = [{ any = ["b", "c"] }]
        any_of = [{ all = ["d"], not = ["e"] }, { regex = ['^f$'] }]
        none_of = [{ all = ["x", "y"] }]
    """)
    matching = ("a b d", "a c\nf", "a b d x", "a b d y")
    assert {says(manifest, text) for text in matching} == {"working"}
    failing = ("b d", "a d", "a b", "a b d e", "a b d x y")
    assert {says(manifest, text) for text in failing} == {"none"}


def test_an_idle_rule_reads_the_box_or_has_a_pattern_on_every_path() -> None:
    refused = (
        'all = ["x"]',
        'region = "above_prompt_box"\nall = ["x"]',
        "any_of = [{ regex = ['x'] }, { all = ['y'] }]",
    )
    for rule in refused:
        (problem,) = wrong(f'{TUIOS}[screen]\nenabled = true\n[[screen.rule]]\nstate = "idle"\n{rule}\n')
        assert "every path" in problem.text
    for rule in (
        'region = "prompt_box"\nall = ["x"]',
        "any_of = [{ regex = ['x'] }, { all_of = [{ regex = ['y'] }] }]",
    ):
        tuios(f'state = "idle"\n{rule}')


# -- titles ------------------------------------------------------------------------------


def test_title_literals_are_whole_tokens() -> None:
    manifest = tuios('state = "working"\nall = ["run"]', screen="title")
    titles = {
        "run": True,
        "to run now": True,
        "running": False,
        "re-run": False,
        "run.py": False,
        "(run)": True,
    }
    assert {title: says(manifest, title=title) == "working" for title in titles} == titles
    sign = tuios('state = "working"\nall = ["⠋ x"]', screen="title")
    assert says(sign, title="a⠋ x") == "working"


def test_a_title_rule_may_read_the_progress() -> None:
    manifest = tuios('state = "working"\nregion = "osc_progress"\nregex = ["^4;1;40$"]', screen="title")
    assert says(manifest, progress="4;1;40") == "working"
    other = tuios('state = "working"\nregion = "osc_progress"\nregex = ["^4;3$"]', screen="title")
    assert says(other, progress="4;3;") == "working"
    assert says(other, progress="4;3;55") == "working"
    cleared = tuios('state = "working"\nregion = "osc_progress"\nregex = ["^4;0$"]', screen="title")
    assert says(cleared, progress="4;0;0") == "working"
    assert says(cleared, progress="") == "none"


@pytest.mark.parametrize(
    ("title", "screen", "expected"),
    [
        ("needs_input", "working", "title.1"),
        ("working", "needs_input", "screen.1"),
        ("working", "idle", "title.1"),
        ("idle", "working", "screen.1"),
        ("idle", "needs_input", "screen.1"),
        ("idle", "idle", "title.1"),
    ],
)
def test_between_title_and_screen_the_loudest_goes_first(title: str, screen: str, expected: str) -> None:
    for priorities in ((1, 900), (900, 1)):
        manifest = good(
            f"{TUIOS}[title]\nenabled = true\n[[title.rule]]\nstate = '{title}'\npriority = {priorities[0]}\n"
            f"regex = ['t']\n[screen]\nenabled = true\n[[screen.rule]]\nstate = '{screen}'\n"
            f"priority = {priorities[1]}\nregex = ['s']\n"
        )
        assert evaluate(manifest, Screen("s", title="t")).rule == expected
        assert evaluate(manifest, Screen("s")).rule == "screen.1"
        assert evaluate(manifest, Screen("", title="t")).rule == "title.1"


def test_within_a_block_the_files_own_order_stands_whatever_the_other_block_holds() -> None:
    manifest = good(
        f"{TUIOS}[title]\nenabled = true\n"
        "[[title.rule]]\nstate = 'idle'\npriority = 9\nregex = ['t']\n"
        "[[title.rule]]\nstate = 'needs_input'\npriority = 1\nregex = ['t']\n"
        "[screen]\nenabled = true\n[[screen.rule]]\nstate = 'working'\nregex = ['s']\n"
    )
    assert evaluate(manifest, Screen("", title="t")).rule == "title.1"


# -- the question ------------------------------------------------------------------------


def test_a_rule_tells_kind_and_message_or_they_are_guessed_from_its_words() -> None:
    told = tuios('state = "needs_input"\nall = ["x"]\nkind = "question"\nmessage = "Which {one}?"')
    verdict = evaluate(told, Screen("x"))
    assert (verdict.kind, verdict.message) == (Kind.QUESTION, "Which (one)?")
    for words, kind in (("Allow this?", Kind.PERMISSION), ("Select one", Kind.QUESTION), ("hm", Kind.OTHER)):
        guessed = tuios(f'state = "needs_input"\nall = ["{words}"]')
        assert evaluate(guessed, Screen(words)).kind is kind


# -- refusals ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('schema_version = 2\nid = "demo"\n[detect]\ncomm = ["democli"]\n', "schema_version"),
        ('schema_version = 1\nid = " "\n[detect]\ncomm = ["democli"]\n', "id"),
        ('schema_version = 1\nid = "demo"\n', "detect"),
        ('schema_version = 1\nid = "demo"\n[detect]\ncomm = [" "]\n', "detect."),
        ('schema_version = 1\nid = "demo"\n[detect]\ncomm = ["demo"]\n', "detect.comm"),
        ('schema_version = 1\nid = "demo"\n[detect]\nargv0 = ["pi"]\n', "detect.argv0"),
        (f'{TUIOS}[screen]\nenabled = true\n[[screen.rule]]\nstate = "busy"\nall = ["x"]\n', "state"),
        (f'{TUIOS}[screen]\nenabled = true\n[[screen.rule]]\nstate = "working"\nregex = ["("]\n', "regex"),
        (f"{TUIOS}[screen]\nenabled = true\nlines = 999\n", "screen.lines"),
        (
            f'{TUIOS}[screen]\nenabled = true\n[[screen.rule]]\nstate = "working"\nregion = '
            '"bottom_non_empty_lines(7)"\nall = ["x"]\n',
            "region",
        ),
        (
            f'{TUIOS}[title]\nenabled = true\n[[title.rule]]\nstate = "working"\nregion = "tail"\n'
            'all = ["x"]\n',
            "region",
        ),
    ],
)
def test_what_is_wrong_refuses_the_file(text: str, key: str) -> None:
    assert [problem.key for problem in wrong(text)] == [key]


def test_a_problem_of_a_rule_is_placed_by_its_number_and_line() -> None:
    text = f"{TUIOS}[screen]\nenabled = true\n[[screen.rule]]\n{ASKS}\n"
    text += "[[screen.rule]]\nstate = 'x'\nall = ['y']\n"
    (problem,) = wrong(text)
    assert (problem.rule, problem.key, problem.line) == ("screen.2", "state", 11)


def test_a_short_name_with_proof_is_accepted() -> None:
    manifest = good(
        'schema_version = 1\nid = "pi"\n[detect]\ncomm = ["pi"]\n'
        '[detect.require]\nexe_base = ["node"]\nexe_glob = ["*/pi/bin/*"]\n'
    )
    assert manifest.detect is not None
    assert manifest.detect.require_exe == ("node", "*/pi/bin/*")


def test_an_unknown_key_is_told_and_passed_over() -> None:
    text = f"{TUIOS}[screen]\nenabled = true\n[[screen.rule]]\n{ASKS}\nanny = ['x']\n"
    manifest, problems = read_text(text.encode(), "demo.toml")
    assert manifest is not None
    assert [(problem.key, problem.fatal) for problem in problems] == [("anny", False)]
    assert manifest.rules[0].state is State.BLOCKED
