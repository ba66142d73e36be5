"""A case: one transition on its way to the person, and which cases go together.

A pane has one open case at most: its latest transition. A case waits (in settle,
for others to merge with, for room), or is held; it ends by being told, by its
state passing, or by being seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from trayagent.alerts.rates import Subject
from trayagent.alerts.world import World
from trayagent.model.evidence import Transition
from trayagent.model.keys import PaneKey
from trayagent.model.states import State

TOLD = frozenset({State.BLOCKED, State.ERROR, State.DONE})
"""The states that can be told; each has a switch."""


LEAD = 0.25
"""Seconds before telling at which attention is refreshed (see `policy.about_to_tell`)."""


@dataclass(slots=True)
class Case:
    """Times are engine seconds.

    settled: end of its settle time. due: when it may be told as far as settle, room and
    retry go. held: the rule that holds it, "" while it waits; since and until: of that hold.
    shadowed: a hold speaks against it already while it settles. digest: the rule that held it
    and let go. waits: for what it waits while it is not held (`settle merge retry` or a rate rule).
    failed: its banner could not be shown once. outcome: what the ledger was told last.
    """

    id: int
    transition: Transition
    settled: float
    due: float
    held: str = ""
    since: float = 0.0
    until: float = math.inf
    shadowed: bool = False
    digest: str = ""
    waits: str = "settle"
    failed: bool = False
    outcome: str = ""

    @property
    def pane(self) -> PaneKey:
        """The pane it is about."""
        return self.transition.pane

    @property
    def state(self) -> State:
        """The state to tell."""
        return self.transition.after

    @property
    def subject(self) -> Subject:
        """What the rate limit calls the same thing."""
        return self.pane, self.state.value, self.transition.decision.fingerprint

    def settle_over(self, now: float) -> None:
        """No hold speaks against telling it, not even the one that held it."""
        self.shadowed = False
        if self.held:
            # Who is there is asked LEAD before it is told: nobody has asked while it was held.
            self.held, self.digest, self.due = "", self.held, now + 2 * LEAD
        if self.waits == "settle":
            self.waits = "merge"

    def true(self, world: World) -> bool:
        """Whether its pane still is as the transition said."""
        view = world.view(self.pane)
        return (
            view is not None
            and view.state is self.state
            and view.fingerprint == self.transition.decision.fingerprint
        )

    def describe(self, now: float) -> dict[str, Any]:
        """The case as JSON, for `explain`; times in seconds from now."""
        end = self.until if self.held else self.due
        return {
            "transition": self.id,
            "state": self.state.value,
            "held": self.held,
            "waits": "" if self.held else self.waits,
            "for": None if end == math.inf else round(end - now, 1),
        }


def batches(waiting: Iterable[Case], merge: float) -> Iterator[tuple[float, list[Case]]]:
    """Cases that share a banner, and the moment (engine seconds) at which each batch is ready.

    A batch is the case that is due first and those due within `merge` seconds of it; it is
    ready when the last of them is due. So a case that is alone waits for nobody, and no
    case waits longer than `merge` for others, however many come."""
    queue = sorted(waiting, key=lambda case: (case.due, case.id))
    while queue:
        horizon = queue[0].due + merge
        batch = [case for case in queue if case.due <= horizon]
        yield batch[-1].due, batch
        queue = queue[len(batch) :]
