"""Ledgers in a temporary folder, and records as the engine makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from trayagent.ledger import Ledger
from trayagent.model.effects import RecordTransition
from trayagent.model.evidence import Decision, Labels, Transition
from trayagent.model.keys import PaneKey, ProcessKey, ServerKey
from trayagent.model.states import State

OFFSET = 1_000_000.0
SERVER = ServerKey("tmux", "/tmp/tmux-1000/default", 100, 5)
PROCESS = ProcessKey(4242, 777)


def key(number: int = 1) -> PaneKey:
    return PaneKey(SERVER, f"%{number}")


def transition(
    id: int,
    after: State = State.BLOCKED,
    *,
    pane: int = 1,
    at: float | None = None,
    before: State = State.WORKING,
    text: str = "",
    process: ProcessKey | None = PROCESS,
    fingerprint: str = "",
) -> RecordTransition:
    labels = Labels(
        project="shop", path="/src/shop", agent="claude", target=f"default:%{pane}", session="main"
    )
    decision = Decision(after, "rule matched", "screen", message=text, fingerprint=fingerprint, rule="r")
    when = float(id) if at is None else at
    return RecordTransition(
        id, Transition(key(pane), when, before, after, decision, "claude", process, labels=labels)
    )


class Clock:
    """A wall clock that the test moves."""

    def __init__(self) -> None:
        self.now = OFFSET + 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reports() -> list[str]:
    return []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "ledger.db"


@pytest.fixture
def begin(path: Path, clock: Clock, reports: list[str]) -> Iterator[Callable[..., Ledger]]:
    """Start a ledger on the same file; what the test did not close is closed after it."""
    made: list[Ledger] = []

    def start(**options: object) -> Ledger:
        ledger = Ledger(path, report=lambda topic, text: reports.append(text), clock=clock, **options)  # type: ignore[arg-type]
        ledger.start()
        made.append(ledger)
        return ledger

    yield start
    for ledger in made:
        ledger.close()
