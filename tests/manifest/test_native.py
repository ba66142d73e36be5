"""What our format accepts and what it refuses, with file, rule, key and line."""

from __future__ import annotations

import pytest

from trayagent.manifest.format import Manifest, Problem
from trayagent.manifest.load import read_text
from trayagent.model.states import State

RULE = '[[rules]]\nid = "r"\nstate = "idle"\ncontains = ["x"]\n'


def read(text: str, suffix: str = ".toml") -> tuple[Manifest | None, tuple[Problem, ...]]:
    return read_text(text.encode(), f"demo{suffix}", suffix)


def refused(text: str, suffix: str = ".toml") -> Problem:
    manifest, problems = read(text, suffix)
    assert manifest is None
    return next(problem for problem in problems if problem.fatal)


def test_every_key_of_the_rule_format_is_understood() -> None:
    manifest, problems = read("""
id = "demo"
version = "2026.1.1"
min_engine_version = 2
updated_at = "2026-01-01"
aliases = ["demo-cli"]
[[rules]]
id = "asks"
state = "blocked"
priority = 900
region = "bottom_non_empty_lines(6)"
visible_blocker = true
contains = ["Ship it?"]
any = [{ contains = ["(y)"] }, { line_regex = ['^\\s*1\\. ok'] }]
not = [{ regex = ['(?m)^done$'] }]
[[rules]]
id = "pager"
skip_state_update = true
priority = -10
regex = ['q to quit']
""")
    assert problems == ()
    assert manifest is not None
    asks, pager = manifest.rules
    assert (asks.state, asks.priority, asks.blocker, str(asks.region)) == (
        State.BLOCKED,
        900,
        True,
        "bottom_non_empty_lines(6)",
    )
    assert pager.state is None
    assert manifest.aliases == ("demo-cli",)


def test_the_three_languages_say_the_same() -> None:
    toml = read(f'id = "demo"\n{RULE}')[0]
    yaml = read("id: demo\nrules:\n- id: r\n  state: idle\n  contains: [x]\n", ".yaml")[0]
    as_json = read('{"id": "demo", "rules": [{"id": "r", "state": "idle", "contains": ["x"]}]}', ".json")[0]
    assert toml is not None
    assert yaml is not None
    assert as_json is not None
    assert toml.rules == yaml.rules == as_json.rules


def test_an_unknown_key_warns_at_the_top_and_refuses_within_a_rule() -> None:
    manifest, problems = read(f'id = "demo"\nalises = []\n{RULE}')
    assert manifest is not None
    assert [str(problem) for problem in problems] == [
        "demo.toml:2: alises: unknown key; did you mean 'aliases'?"
    ]
    assert not problems[0].fatal
    problem = refused(f'id = "demo"\n{RULE}forbids_any = ["y"]\n')
    assert (problem.rule, problem.key, problem.line) == ("r", "forbids_any", 6)


@pytest.mark.parametrize(
    ("text", "rule", "key", "line", "says"),
    [
        (RULE, "", "id", None, "required"),
        ('id = " "\n' + RULE, "", "id", 1, "required"),
        ('id = "d"\n', "", "rules", None, "at least one rule"),
        ('id = "d"\nversion = "1.x"\n' + RULE, "", "version", 2, "dots"),
        ('id = "d"\nmin_engine_version = 4\n' + RULE, "", "min_engine_version", 2, "engine version"),
        ('id = "d"\naliases = "x"\n' + RULE, "", "aliases", 2, "list of strings"),
        ('id = "d"\n' + RULE.replace('"idle"', '"done"'), "r", "state", 4, "one of"),
        ('id = "d"\n' + RULE + "priority = 1.5\n", "r", "priority", 6, "whole number"),
        ('id = "d"\n' + RULE + "priority = true\n", "r", "priority", 6, "whole number"),
        ('id = "d"\n' + RULE + 'region = "middle"\n', "r", "region", 6, "unknown region"),
        ('id = "d"\n' + RULE + "visible_idle = 1\n", "r", "visible_idle", 6, "true or false"),
        ('id = "d"\n' + RULE + "skip_state_update = true\n", "r", "skip_state_update", 6, "only possible"),
        ('id = "d"\n' + RULE + "regex = ['(?=x)']\n", "r", "regex", 6, "look-around"),
        ('id = "d"\n' + RULE + "contains = [1]\n", "", "", None, ""),
        (
            'id = "d"\n' + RULE.replace('contains = ["x"]', 'not = [{ contains = ["x"] }]'),
            "r",
            "",
            3,
            "at least one",
        ),
        (
            'id = "d"\n' + RULE + "any = [{ not = [{ contains = ['x'] }] }]\n",
            "r",
            "any[0].",
            None,
            "at least one",
        ),
        ('id = "d"\n' + RULE + "not = [{}]\n", "r", "not[0].", None, "needs a matcher"),
        ('id = "d"\n' + RULE + "any = [{ contans = ['x'] }]\n", "r", "any[0].contans", 6, "unknown key"),
        ('id = "d"\n[[rules]]\nstate = "idle"\ncontains = ["x"]\n', "#1", "id", None, "required"),
        ('id = "d"\n[[rules]\n', "", "", 2, ""),
    ],
)
def test_a_bad_file_is_refused_with_its_place(
    text: str, rule: str, key: str, line: int | None, says: str
) -> None:
    problem = refused(text)
    assert says in problem.text
    assert (problem.rule, problem.key) == (rule, key)
    if line is not None:
        assert problem.line == line


def test_the_line_is_that_of_the_key_within_its_own_rule() -> None:
    two = 'id = "d"\n' + RULE + '[[rules]]\nid = "s"\nstate = "nonsense"\nregion = "r"\ncontains = ["x"]\n'
    _, problems = read(two)
    assert [(problem.rule, problem.key, problem.line) for problem in problems] == [
        ("s", "state", 8),
        ("s", "region", 9),
    ]


def test_a_yaml_error_and_a_duplicate_key_name_their_line() -> None:
    assert refused("id: demo\n  rules: x\n", ".yaml").line == 2
    problem = refused("id: demo\nid: other\n", ".yaml")
    assert (problem.line, problem.text) == (2, "the key 'id' occurs twice, first in line 1")
    assert "twice" in refused('{"id": "a", "id": "b"}', ".json").text


@pytest.mark.parametrize("text", ["[1]", '"x"', "3", "[" * 100_000])
def test_a_file_that_holds_no_table_is_refused(text: str) -> None:
    refused(text, ".json")


def test_bytes_that_are_not_utf8_name_their_line() -> None:
    _, problems = read_text(b'id = "x"\n\xff\n', "demo.toml")
    assert (problems[0].line, problems[0].text) == (2, "is not UTF-8")


def gates(depth: int) -> str:
    return "all = [{ " * (depth - 1) + 'contains = ["x"]' + " }]" * (depth - 1)


def either(count: int) -> str:
    return f"any = [{', '.join(['{ contains = [1] }'] * count)}]".replace("1", '"x"')


def rules(count: int, gate: str = 'contains = ["x"]') -> str:
    return 'id = "d"\n' + "".join(f'[[rules]]\nid = "r{at}"\n{gate}\n' for at in range(count))


@pytest.mark.parametrize(
    ("fits", "breaks"),
    [
        (rules(128), rules(129)),
        (rules(1, gates(8)), rules(1, gates(9))),
        (rules(8, either(63)), rules(8, either(64))),
        (rules(1, f"contains = {['x'] * 32}"), rules(1, f"contains = {['x'] * 33}")),
        (rules(32, f"contains = {['x'] * 32}"), rules(33, f"contains = {['x'] * 32}")),
        (rules(1, f"contains = ['{'x' * 512}']"), rules(1, f"contains = ['{'x' * 513}']")),
        (rules(1, f"regex = ['{'x' * 512}']"), rules(1, f"regex = ['{'x' * 513}']")),
    ],
    ids=["rules", "depth", "gates", "matchers a gate", "matchers", "literal", "pattern"],
)  # fmt: skip
def test_a_limit_holds_exactly(fits: str, breaks: str) -> None:
    assert read(fits)[0] is not None, read(fits)[1]
    assert read(breaks)[0] is None


def test_a_file_larger_than_the_limit_is_refused() -> None:
    assert "256 KiB" in refused("#" * (256 * 1024 + 1)).text


def test_the_region_of_version_three_needs_that_floor_where_one_is_declared() -> None:
    region = RULE + 'region = "top_non_empty_lines(3)"\n'
    assert read('id = "d"\n' + region)[0] is not None
    assert read('id = "d"\nmin_engine_version = 3\n' + region)[0] is not None
    assert "min_engine_version" in refused('id = "d"\nmin_engine_version = 2\n' + region).text


def test_detect_and_answers_are_read() -> None:
    manifest, problems = read(
        'id = "d"\n' + RULE + '[detect]\nnames = ["Demo"]\npackages = ["@a/demo"]\nversioned = true\n'
        'headless = [["-p"], ["run", "--once"]]\n[answers]\nyes = "1"\n'
    )
    assert problems == ()
    assert manifest is not None
    assert manifest.detect is not None
    assert manifest.detect.names == ("demo",)
    assert manifest.detect.headless == (("-p",), ("run", "--once"))
    assert manifest.detect.versioned
    assert manifest.answers == (("yes", "1"),)


def test_hooks_are_read() -> None:
    manifest, problems = read(
        'id = "d"\n' + RULE + '[hooks]\ncomplete = true\nfields = ["tool_name"]\n[[hooks.events]]\n'
        'event = "Notification"\nstate = "blocked"\nkind = "permission"\n'
        'where = { notification_type = ["permission_prompt"] }\nonly_if = ["working"]\n'
    )
    assert problems == ()
    assert manifest is not None
    assert manifest.hooks is not None
    assert manifest.hooks.complete
    event = manifest.hooks.rules[0]
    assert (event.event, event.state, event.only_if) == ("Notification", State.BLOCKED, (State.WORKING,))
    assert event.where == (("notification_type", ("permission_prompt",)),)


@pytest.mark.parametrize(
    ("table", "key", "says"),
    [
        ("[prompts.r]\nkind = 'permission'\n", "kind", "only a blocked rule"),
        ("[prompts.r]\nreason = 'weather'\n", "reason", "one of"),
        ("[prompts.r]\nmessage = '{ask}'\n", "message", "no pattern has a group named 'ask'"),
        ("[prompts.r]\npatterns = ['x']\n", "patterns", "no named group"),
        ("[prompts.r]\npatterns = ['(?P<a>(?=x))']\n", "patterns", "refused"),
        ("[prompts.r]\npatterns = [{ regx = 'x' }]\n", "patterns[0].regx", "unknown key"),
        ("[prompts.r]\noptions = '(?P<key>x)'\n", "options", "group named label"),
        ("[prompts.r]\nlike = 'nobody'\n", "like", "no prompt"),
        ("[prompts.r]\nregion = 'middle'\n", "region", "unknown region"),
        ("[detect]\nname = ['x']\n", "detect.name", "unknown key"),
        ("[detect]\nheadless = [['']]\n", "detect.headless", "list of arguments"),
        ("[[hooks.events]]\nstate = 'idle'\n", "hooks.events[0].event", "required"),
    ],
)
def test_a_bad_table_beside_the_rules_is_refused(table: str, key: str, says: str) -> None:
    problem = refused('id = "d"\n' + RULE + table)
    assert problem.key == key
    assert says in problem.text


def test_a_prompt_of_no_rule_only_warns() -> None:
    manifest, problems = read('id = "d"\n' + RULE + "[prompts.gone]\n")
    assert manifest is not None
    assert [(problem.rule, problem.fatal) for problem in problems] == [("gone", False)]
