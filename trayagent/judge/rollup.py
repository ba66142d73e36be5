"""Which of many states is the loudest."""

from __future__ import annotations

from collections.abc import Iterable

from trayagent.model.states import RANK, State


def loudest(states: Iterable[State]) -> State:
    """The state that a person should hear of first; UNKNOWN for none at all."""
    return min(states, key=RANK.__getitem__, default=State.UNKNOWN)
