"""The rules on every frame of recorded sessions, with the title withheld.

A recording's truth was written down by the program that drove it, late by up to seconds where
the machine was busy. The moments at which dialogs became readable are exact (`*.marks.json`).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

from tests.support.casts import Recording, frames, recordings
from tests.support.scoring import state_of
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.load import Library
from trayagent.model.evidence import Verdict
from trayagent.model.panes import Screen

LIBRARY = Library.standard()
AGENTS = (
    "gemini",
    "qwen",
    "aider",
    "copilot",
    "cline",
    "vibe",
    "kimi",
    "kilo",
    "pi",
    "cn",
    "grok",
    "gptme",
    "openhands",
    "amp",
    "auggie",
)
SESSIONS = [one for one in recordings(*AGENTS) if one.truths]
ENDED = [one for one in SESSIONS if one.truths[-1].state in ("idle", "errored")]
EARLY = 1.5  # seconds by which a dialog may be complete before it is settled: its last rows still move
# Dialogs that the driver answered on its way, before it wrote a truth down: folder trust.
BEFORE_THE_TRUTH = {"trust"}
# It erases its box and writes it anew at each turn of its spinner; a part of it says nothing.
REDRAWN = {"cn"}


@cache
def judged(session: Recording) -> tuple[tuple[float, Verdict], ...]:
    """(seconds, verdict) for each frame that differs from the one before, from the agent's start on."""
    manifest = LIBRARY.get(session.agent)
    assert manifest is not None
    found: list[tuple[float, Verdict]] = []
    last = ""
    for at, text in frames(session.cast, session.starts, float("inf")):
        if text != last:
            last = text
            screen = Screen(text, width=session.cast.cols, height=session.cast.rows)
            found.append((at, evaluate(manifest, screen)))
    return tuple(found)


@pytest.mark.parametrize("session", [one for one in SESSIONS if one.dialogs], ids=lambda one: one.name)
def test_a_settled_dialog_is_blocked_until_it_is_answered(session: Recording) -> None:
    for dialog in session.dialogs:
        before = [verdict for at, verdict in judged(session) if at <= dialog.settled][-1]
        during = [verdict for at, verdict in judged(session) if dialog.settled < at <= dialog.until]
        if session.agent in REDRAWN:
            during = [verdict for verdict in during if not verdict.keep]
        for verdict in (before, *during):
            assert state_of(verdict) == "blocked", (dialog, verdict.rule)
            assert verdict.message, dialog


@pytest.mark.parametrize("session", SESSIONS, ids=lambda one: one.name)
def test_nothing_else_is_taken_for_a_dialog(session: Recording) -> None:
    for at, verdict in judged(session):
        if state_of(verdict) != "blocked" or verdict.rule in BEFORE_THE_TRUTH:
            continue
        shown = any(dialog.settled - EARLY <= at <= dialog.until + EARLY for dialog in session.dialogs)
        truth = [truth.state for truth in session.truths if truth.earliest <= at]
        assert shown or truth[-1:] == ["blocked"], (at, verdict.rule)


@pytest.mark.parametrize("session", ENDED, ids=lambda one: one.name)
def test_a_turn_that_ended_for_good_is_seen_to_have_ended(session: Recording) -> None:
    _, verdict = judged(session)[-1]
    assert state_of(verdict) in ("idle", "error"), verdict.rule


@pytest.mark.parametrize("session", SESSIONS, ids=lambda one: one.name)
def test_a_firm_idle_never_comes_in_the_middle_of_a_turn(session: Recording) -> None:
    """Work goes on at least until something is written that is no longer firm."""
    found = judged(session)
    for (at, verdict), (_, after) in pairwise(found):
        if verdict.firm_idle:
            truth = [truth.state for truth in session.truths if truth.certain + 0.5 <= at]
            assert truth[-1:] != ["working"] or state_of(after) in ("idle", "unknown"), (at, verdict.rule)
