"""States of a pane, kinds of a block, reasons of an error, and how they rank and look.

Foreign words are translated into these at the border (manifest dialects, reports);
inside the program no other word for a state exists.
"""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """What an agent is doing, as far as anybody can tell."""

    UNKNOWN = "unknown"
    IDLE = "idle"
    WORKING = "working"
    BLOCKED = "blocked"  # a person must decide
    DONE = "done"  # a turn ended and nobody has looked since
    ERROR = "error"  # the turn broke


class Kind(StrEnum):
    """What a blocked agent wants from the person."""

    PERMISSION = "permission"
    QUESTION = "question"
    PLAN = "plan"
    AUTH = "auth"
    TRUST = "trust"
    OTHER = "other"


class Reason(StrEnum):
    """Why a turn broke."""

    LIMIT = "limit"
    API = "api"
    AUTH = "auth"
    CRASH = "crash"
    OTHER = "other"


LOUDEST_FIRST = (State.BLOCKED, State.ERROR, State.DONE, State.WORKING, State.IDLE, State.UNKNOWN)
RANK = {state: rank for rank, state in enumerate(LOUDEST_FIRST)}
NEEDS_YOU = frozenset({State.BLOCKED, State.ERROR})

# Different shapes, so that they read without colour.
GLYPH = {
    State.BLOCKED: "◆",
    State.ERROR: "✖",
    State.DONE: "✔",
    State.WORKING: "●",
    State.IDLE: "○",
    State.UNKNOWN: "·",
}
ASCII = {
    State.BLOCKED: "!",
    State.ERROR: "X",
    State.DONE: "+",
    State.WORKING: "*",
    State.IDLE: "o",
    State.UNKNOWN: ".",
}
