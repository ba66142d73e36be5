"""The bundled rules on recorded and drawn screens: figures, and every rule seen to win and to lose.

The figures are those of `tests/screens`; a rule that is changed must keep them. The
screens that count as wrong show an API error above a free prompt after an Esc: their
label is idle, and nothing on them tells them from the error before the Esc.
"""

from __future__ import annotations

import dataclasses

import pytest

from tests.manifest.drawn import DRAWN, Drawn
from tests.support.scoring import APART, recorded, score, state_of
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.gates import holds
from trayagent.manifest.load import Library
from trayagent.manifest.regions import View
from trayagent.model.panes import Screen

KNOWN_WRONG: dict[str, set[str]] = {
    "claude": {"fail400_esc"},
    "codex": set(),
    "opencode": set(),
    "gemini": {"fail400_esc"},
    "qwen": {"fail400_esc"},
    "aider": set(),
    "copilot": set(),
    "cline": set(),
    "vibe": set(),
    "kimi": set(),
    "kilo": set(),
    "pi": set(),
    "cn": set(),
    "grok": set(),
    "gptme": set(),
    "openhands": set(),
    "amp": set(),
    "auggie": set(),
    "droid": set(),
}
AGENTS = tuple(KNOWN_WRONG)
# Nobody has recorded them: rules from documented facts, on drawn screens alone.
DOCUMENTED = (
    "crush", "cursor", "devin", "kiro", "goose", "antigravity", "hermes", "qoder", "omp", "maki",
    "mastracode", "codebuff", "shell",
)  # fmt: skip
FORKS = {"kilo"}  # read by the rules of their family, which its own screens prove
# Nothing on their screens marks the end of a turn, so that no idle is firm.
ENDS_UNMARKED = {"cline", "gptme", "openhands", "amp", "auggie", "droid"}
# They draw no rules: all of their screen stands "below the last rule", and an answer quotes claude's dialog.
KNOWN_FOREIGN = {("claude", f"{other}/idle_misleading") for other in ("kimi", "cn", "grok", "gptme")}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("title", [None, ""], ids=["own title", "title withheld"])
def test_recorded_screens_are_judged_right(library: Library, agent: str, title: str | None) -> None:
    figures = score(agent, library, title=title)
    assert {name for name, *_ in figures.wrong} <= KNOWN_WRONG[agent], figures.wrong
    assert figures.percent >= 98
    assert figures.false_blocked == []


def test_a_fixed_title_costs_codex_only_answers_that_stream_in_a_first_turn(library: Library) -> None:
    figures = score("codex", library, title="codex")
    assert all(label == "working" and state == "idle" for _, label, state, _ in figures.wrong), figures.wrong
    assert figures.percent >= 85
    for agent in set(AGENTS) - {"codex"}:
        assert score(agent, library, title="x").percent >= 98


@pytest.mark.parametrize("agent", AGENTS)
def test_a_shell_that_is_back_is_never_a_firm_idle_nor_blocked_by_the_screen(
    library: Library, agent: str
) -> None:
    manifest = library.get(agent)
    assert manifest is not None
    for item in recorded(agent):
        if item.state in APART:
            verdict = evaluate(manifest, dataclasses.replace(item.screen, title=""))
            assert state_of(verdict) != "blocked", item.name
            assert not verdict.firm_idle, item.name


@pytest.mark.parametrize("agent", AGENTS)
def test_a_firm_idle_is_idle(library: Library, agent: str) -> None:
    manifest = library.get(agent)
    assert manifest is not None
    firm = [item for item in recorded(agent) if evaluate(manifest, item.screen).firm_idle]
    assert {item.state for item in firm} == (set() if agent in ENDS_UNMARKED else {"idle"})


@pytest.mark.parametrize("agent", AGENTS)
def test_a_dialog_that_is_still_being_drawn_is_never_a_firm_idle(library: Library, agent: str) -> None:
    """Frames cut off below each row, as a look may catch them; what stood below is still the old screen."""
    manifest = library.get(agent)
    assert manifest is not None
    for item in recorded(agent):
        if item.state != "blocked":
            continue
        rows = item.screen.text.split("\n")
        for end in range(len(rows)):
            half = dataclasses.replace(
                item.screen, text="\n".join(rows[:end] + [""] * (len(rows) - end)), title=""
            )
            assert not evaluate(manifest, half).firm_idle, (item.name, end)


@pytest.mark.parametrize("drawn", DRAWN, ids=lambda drawn: f"{drawn.agent}: {drawn.name}")
def test_a_drawn_screen_is_judged_right(library: Library, drawn: Drawn) -> None:
    manifest = library.get(drawn.agent)
    assert manifest is not None
    verdict = evaluate(manifest, drawn.screen)
    assert ("keep" if verdict.keep else state_of(verdict)) == drawn.state, verdict
    if drawn.rule:
        assert verdict.rule == drawn.rule
    if drawn.kind:
        assert verdict.kind == drawn.kind
    if drawn.reason:
        assert verdict.reason == drawn.reason
    if drawn.message:
        assert verdict.message == drawn.message


def screens_of(agent: str) -> list[tuple[str, Screen]]:
    own = [(item.name, item.screen) for item in recorded(agent)]
    withheld = [(name, dataclasses.replace(screen, title="")) for name, screen in own]
    return own + withheld + [(one.name, one.screen) for one in DRAWN if one.agent == agent]


@pytest.mark.parametrize("agent", [agent for agent in (*AGENTS, *DOCUMENTED) if agent not in FORKS])
def test_every_rule_decides_a_screen_and_fails_on_another(library: Library, agent: str) -> None:
    manifest = library.get(agent)
    assert manifest is not None
    winners, losers = set(), set()
    for _, screen in screens_of(agent):
        winners.add(evaluate(manifest, screen).rule)
        view = View(screen)
        losers |= {rule.id for rule in manifest.rules if not holds(rule.gate, view.slice(rule.region))}
    ids = {rule.id for rule in manifest.rules}
    assert ids - winners == set()
    assert ids - losers == {"no-opinion"}


@pytest.mark.parametrize("agent", (*AGENTS, *DOCUMENTED))
def test_no_foreign_agents_screen_is_blocked_by_these_rules_but_through_a_dialog(
    library: Library, agent: str
) -> None:
    """Screens of other agents at rest: their prompts and transcripts must not look like our dialogs."""
    manifest = library.get(agent)
    assert manifest is not None
    for other in AGENTS:
        for item in recorded(other):
            if item.state == "idle" and "picker" not in item.name:
                verdict = evaluate(manifest, dataclasses.replace(item.screen, title=""))
                known = (agent, f"{other}/{item.name}") in KNOWN_FOREIGN
                assert known or state_of(verdict) != "blocked", (other, item.name, verdict.rule)
