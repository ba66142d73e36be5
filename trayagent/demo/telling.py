"""How the demo is told: its words, and who says them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trayagent.daemon.check import Check
from trayagent.model.states import State


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the live list. since: seconds in this state."""

    state: State
    since: float
    name: str
    project: str
    message: str


@dataclass(slots=True)
class Ending:
    """What came of the story. played: to its end. told: of each project, whether a banner came up.
    why: why one did not, "" where all did. heard: a sound was played. silent: why the last was not."""

    played: bool = False
    told: dict[str, bool] = field(default_factory=dict)
    why: str = ""
    heard: bool = False
    silent: str = ""


class Teller(Protocol):
    """Whoever shows the story to a person. at: seconds of the story."""

    def surroundings(self, found: Sequence[Check]) -> None:
        """What of a desktop is there and what is not; before anything happens."""

    def say(self, at: float, state: State | None, text: str) -> None:
        """A line. state: the agent's, None for what the person is told of it."""

    def rows(self, rows: Sequence[Row]) -> None:
        """The list as it is now."""


def wording(state: State, name: str, project: str, message: str) -> str:
    """A change of state in a sentence, "" for one that is no part of the story."""
    message = message.partition("\n")[0]
    match state:
        case State.WORKING:
            return f"{name} works in {project}"
        case State.BLOCKED:
            return f"{name} in {project} asks: {message}"
        case State.ERROR:
            return f"{name} in {project} broke off: {message}"
        case State.DONE:
            return f"{name} in {project} has finished"
        case _:
            return ""
