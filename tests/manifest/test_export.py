"""Our rules in herdr's format mean the same there; what it cannot say is told."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.scoring import recorded
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.export import to_herdr, wrapped_pattern
from trayagent.manifest.format import All, Any, Contains, Gate, Manifest, Not
from trayagent.manifest.gates import holds
from trayagent.manifest.load import Library, read_text
from trayagent.manifest.patterns import compile_pattern
from trayagent.manifest.regions import Slice
from trayagent.model.panes import Screen
from trayagent.model.states import State
from trayagent.resources import folder

BUNDLED = sorted(folder("manifests").glob("*.toml"))
HERDR_KEYS = {"id", "version", "min_engine_version", "updated_at", "aliases", "rules"}


def as_herdr_reads(manifest: Manifest) -> Manifest:
    """The manifest as herdr's own engine has it: no literal is found across the end of a row."""

    def strict(gate: Gate) -> Gate:
        if isinstance(gate, Contains):
            return dataclasses.replace(gate, wrapped=False)
        if isinstance(gate, All | Any):
            return type(gate)(tuple(map(strict, gate.members)))
        return Not(strict(gate.member)) if isinstance(gate, Not) else gate

    rules = tuple(dataclasses.replace(rule, gate=strict(rule.gate)) for rule in manifest.rules)
    return dataclasses.replace(manifest, rules=rules)


def exported(path: Path) -> tuple[Manifest, str]:
    data = tomllib.loads(path.read_text("utf-8"))
    family = data.get("family")
    shared = None
    if not data.get("rules"):
        shared = tomllib.loads((path.parent / f"{family}.toml").read_text("utf-8"))
    text = to_herdr(data, shared).text
    manifest, problems = read_text(text.encode(), path.name)
    assert manifest is not None, [str(problem) for problem in problems]
    assert problems == ()
    return as_herdr_reads(manifest), text


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_an_exported_file_holds_nothing_that_herdr_refuses(path: Path) -> None:
    _, text = exported(path)
    data = tomllib.loads(text)
    assert set(data) <= HERDR_KEYS
    for rule in data["rules"]:
        assert all(len(matcher) <= 512 for key in ("contains", "regex") for matcher in rule.get(key, ()))


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_exported_rules_judge_every_recorded_screen_alike_but_that_errors_are_idle(
    library: Library, path: Path
) -> None:
    ours = library.get(path.stem)
    assert ours is not None
    theirs, _ = exported(path)
    for item in recorded(ours.id):
        for screen in (item.screen, dataclasses.replace(item.screen, title="")):
            here, there = evaluate(ours, screen), evaluate(theirs, screen)
            state = State.IDLE if here.state is State.ERROR else here.state
            assert (there.state, there.rule, there.keep) == (state, here.rule, here.keep), item.name


FULL = """
id = "demo"
name = "Demo"
version = "2026.1"
min_engine_version = 3
aliases = ["demo-cli"]
[detect]
names = ["demo"]
[[rules]]
id = "broke"
state = "idle"
priority = -3
visible_idle = true
contains = ["too many", "limit"]
not = [{ regex = ['it''s "\\\\d"'] }]
[[rules]]
id = "title"
state = "working"
region = "osc_title"
contains = ["two words"]
[[rules]]
id = "keep"
skip_state_update = true
any = [{ line_regex = ['^x\\u2800$'] }, { contains = ["one\\ttab"] }]
[prompts.broke]
reason = "limit"
[hooks]
fields = ["x"]
[answers]
yes = "1"
""".replace("'it''s", "'its")


def test_what_the_format_cannot_say_is_told() -> None:
    made = to_herdr(tomllib.loads(FULL))
    notes = "\n".join(made.notes)
    assert "[detect], [prompts], [hooks], [answers]" in notes
    assert "errors here, idle there: broke" in notes
    assert "written as patterns: broke" in notes
    data = tomllib.loads(made.text)
    assert data["rules"][0]["contains"] == ["limit"]
    assert data["rules"][1]["contains"] == ["two words"]
    assert data["rules"][2] == tomllib.loads(FULL)["rules"][2]


def test_the_reason_may_come_from_a_prompt_that_it_is_like() -> None:
    text = FULL.replace(
        '[prompts.broke]\nreason = "limit"', '[prompts.broke]\nlike = "p"\n[prompts.p]\nreason = "api"'
    )
    assert "idle there: broke" in "\n".join(to_herdr(tomllib.loads(text)).notes)


LETTERS = st.sampled_from(["a", "B", "é", ".", "(", " ", "  ", "\n", "\n\n", "\n  "])


@given(st.lists(LETTERS, max_size=12), st.lists(LETTERS, min_size=1, max_size=5))
def test_a_wrapped_literal_and_its_pattern_find_the_same(text: list[str], needle: list[str]) -> None:
    wanted = "".join(part for part in needle if "\n" not in part)
    if not wanted.strip() or " " not in wanted.strip():
        return
    rows = "".join(text)
    cut = Slice(rows.encode().split(b"\n"))
    here = holds(Contains(wanted.lower()), cut)
    assert compile_pattern(wrapped_pattern(wanted)).found_in(rows.encode()) is here


def test_a_wrapped_literal_of_a_real_row_is_found_there_too() -> None:
    rule = '[[rules]]\nid = "r"\nstate = "blocked"\ncontains = ["Esc to cancel"]\n'
    made = to_herdr(tomllib.loads(f'id = "demo"\n{rule}'))
    manifest, _ = read_text(made.text.encode(), "demo.toml")
    assert manifest is not None
    there = as_herdr_reads(manifest)
    assert evaluate(there, Screen("esc\n   to cancel")).state is State.BLOCKED
    assert evaluate(there, Screen("esc\n\n   to cancel")).state is State.IDLE
