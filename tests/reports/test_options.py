"""Pane options as claims: grammar, staleness, and what is said only once."""

from __future__ import annotations

import pytest

from trayagent.model.evidence import Claim
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.panes import PaneInfo
from trayagent.model.states import State
from trayagent.reports.options import Options

KEY = PaneKey(ServerKey("tmux", "/tmp/s", 1, 1), "%1")
OFFSET = 1_000_000.0


def pane(**options: str) -> PaneInfo:
    named = tuple((f"@agent_{name}", value) for name, value in options.items())
    return PaneInfo(KEY, "default", "$0", "s", "@0", "w", 0, 0, 1, "/dev/pts/1", options=named)


def claims(now: float = 1000.0, **options: str) -> list[Claim]:
    return Options().claims(pane(**options), now, OFFSET)


def test_a_fresh_state_is_a_claim_of_its_own_moment() -> None:
    (claim,) = claims(state=f"working:{int(OFFSET + 900)}", status_text="refactoring auth")
    assert (claim.state, claim.at, claim.expires) == (State.WORKING, 900.0, 1500.0)
    assert claim.message == "refactoring auth"


@pytest.mark.parametrize("state", ["working", "blocked"])
def test_working_and_blocked_are_stale_after_ten_minutes(state: str) -> None:
    assert claims(state=f"{state}:{int(OFFSET + 399)}")[0].state is None


@pytest.mark.parametrize("state", ["done", "idle"])
def test_done_and_idle_are_never_stale(state: str) -> None:
    (claim,) = claims(state=f"{state}:1")
    assert (claim.state, claim.expires) == (State(state), None)


@pytest.mark.parametrize(
    "value", ["working", "working:", "working:soon", "happy:1000900", ":1", "working:9e99"]
)
def test_what_does_not_parse_claims_nothing(value: str) -> None:
    assert claims(state=value)[0].state is None


def test_a_stamp_from_the_future_claims_nothing() -> None:
    assert claims(state=f"working:{int(OFFSET + 2000)}")[0].state is None


def test_foreign_words_are_translated() -> None:
    assert claims(state=f"needs_input:{int(OFFSET + 999)}")[0].state is State.BLOCKED


def test_texts_are_one_clean_short_line() -> None:
    (claim,) = claims(
        state=f"done:{int(OFFSET)}", status_text="a\x1b[31m\nb\u202e" + "c" * 99, display_name="\tx "
    )
    assert claim.message == "a [31m b" + "c" * 24
    assert claim.name == "x"


def test_the_same_options_are_said_once_and_their_end_too() -> None:
    reader = Options()
    shown = pane(state=f"done:{int(OFFSET)}", hint="codex")
    first = reader.claims(shown, 1000.0, OFFSET)
    assert [(claim.source, claim.agent) for claim in first] == [("option", ""), ("hint", "codex")]
    assert reader.claims(shown, 1001.0, OFFSET) == []
    ended = reader.claims(pane(), 1002.0, OFFSET)
    assert [(claim.source, claim.state, claim.agent) for claim in ended] == [
        ("option", None, ""),
        ("hint", None, ""),
    ]
