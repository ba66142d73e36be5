"""What follows an alert that nobody takes up: reminders, a sound, messages to sinks.

A vigil is kept over a pane from the transition that is told until the pane changes or its
item is seen, answered or dismissed. Its steps:

| step   | due                                                        | only while             |
| ------ | ---------------------------------------------------------- | ---------------------- |
| remind | `remind.after` after the banner, then each `remind.every`  | nothing holds alerts   |
| sound  | `escalate_sound` after the pane was blocked, once          | away, and no silence   |
| sink   | `after` its transition and its settle time, once a sink    | away, and no silence   |

Away: no input for long, or the screen is locked. A silence is a pause, a mute, quiet hours or the
desktop's do-not-disturb. A step that is due waits until it may be taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from trayagent.alerts.cases import Case
from trayagent.alerts.rates import Rates
from trayagent.alerts.rules import HOLDING, OPENING, ROOM, SILENCES, Moment, first
from trayagent.alerts.silences import Silences
from trayagent.alerts.world import World
from trayagent.model.keys import PaneKey
from trayagent.model.settings import Settings, SinkSettings
from trayagent.model.states import State

CHECK = 30.0  # seconds until it is asked again whether anybody is there, or the pane is steady
REMIND, SOUND = "remind", "sound"
Step = str | SinkSettings
"""REMIND, SOUND, or the sink to send to."""


@dataclass(slots=True)
class Vigil:
    """Times are engine seconds. told: of the last banner about it, None before the first.
    due: the moment at which a step may be taken next. taken: what is done once and was."""

    case: Case
    told: float | None = None
    reminders: int = 0
    taken: set[str] = field(default_factory=set)
    due: float = -math.inf


class Vigils:
    """The vigils of all panes."""

    def __init__(self) -> None:
        self._of: dict[PaneKey, Vigil] = {}

    def open(self, case: Case, settings: Settings) -> None:
        """Watch over a case, if the settings know any step for it."""
        vigil = Vigil(case)
        if any(True for _ in _steps(vigil, settings, told=case.settled)):
            self._of[case.pane] = vigil

    def told(self, case: Case, settings: Settings, now: float) -> None:
        """A banner about the case was shown."""
        if case.pane not in self._of:
            self.open(case, settings)
        vigil = self._of.get(case.pane)
        if vigil is not None:
            vigil.told, vigil.due = now, -math.inf

    def close(self, pane: PaneKey) -> None:
        """The pane has changed, or its item was seen."""
        self._of.pop(pane, None)

    def cases(self) -> list[Case]:
        """What is watched over."""
        return [vigil.case for vigil in self._of.values()]

    def moments(self) -> Iterator[tuple[float, Case]]:
        """When steps may be taken, as far as time alone decides."""
        for vigil in self._of.values():
            if -math.inf < vigil.due < math.inf:
                yield vigil.due, vigil.case

    def stir(self) -> None:
        """Something happened: every step is weighed anew."""
        for vigil in self._of.values():
            vigil.due = -math.inf

    def weigh(
        self, world: World, settings: Settings, silences: Silences, rates: Rates, now: float
    ) -> Iterator[tuple[Step, Case]]:
        """The steps to take now; each is noted as taken."""
        for pane, vigil in list(self._of.items()):
            if vigil.due > now:
                continue
            moment = Moment(vigil.case, world, settings, silences, rates, now)
            if not vigil.case.true(world) or first(moment, OPENING) is not None:
                self.close(pane)
                continue
            yield from ((step, vigil.case) for step in self._take(vigil, moment))

    def _take(self, vigil: Vigil, at: Moment) -> Iterator[Step]:
        vigil.due = math.inf
        for step, due in list(_steps(vigil, at.settings, vigil.told)):
            until = due if due > at.now else _against(step, at)
            if until is not None:
                vigil.due = min(vigil.due, until)
                continue
            if step == REMIND:
                vigil.reminders, vigil.told = vigil.reminders + 1, at.now
                again = [when for kind, when in _steps(vigil, at.settings, at.now) if kind == REMIND]
                vigil.due = min([vigil.due, *again])
            else:
                vigil.taken.add(_name(step))
            yield step


def _steps(vigil: Vigil, settings: Settings, told: float | None) -> Iterator[tuple[Step, float]]:
    """The steps that are left, and when each is due."""
    case, alerts, remind = vigil.case, settings.alerts, settings.alerts.remind
    needs_you = case.state in (State.BLOCKED, State.ERROR)
    if told is not None and remind.after > 0 and needs_you and vigil.reminders < remind.times:
        yield REMIND, told + (remind.every if vigil.reminders else remind.after)
    if alerts.escalate_sound > 0 and case.state is State.BLOCKED and SOUND not in vigil.taken:
        yield SOUND, case.transition.at + alerts.escalate_sound
    for sink in alerts.sinks:
        if sink.when == "away" and case.state in sink.states and _name(sink) not in vigil.taken:
            yield sink, max(case.settled, case.transition.at + sink.after)


def _name(step: Step) -> str:
    return step if isinstance(step, str) else f"sink {step.name}"


def _against(step: Step, at: Moment) -> float | None:
    """Until when something speaks against a step that is due; None: nothing does."""
    if step == REMIND:
        found = first(at, HOLDING) or first(at, ROOM)
        if found is None and not at.world.steady(at.case.pane):
            return at.now + CHECK
        return None if found is None else found[1]
    if not (at.world.away or at.world.locked):
        return at.now + CHECK
    found = first(at, SILENCES)
    if found is None and step == SOUND and at.world.locked and not at.settings.sounds.while_locked:
        return math.inf
    return None if found is None else found[1]
