"""The desk: the open cases of all panes, weighed against the table one by one.

`weigh_all` is one pass over everything that is open: each case is held, let go or left, and
each batch that is ready becomes a banner. What is about to be shown is compared with the
pane as it is now; what is no longer true ends there (see `policy` for the outcomes).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from trayagent.alerts.banners import Banners
from trayagent.alerts.cases import Case, batches
from trayagent.alerts.outbox import Outbox
from trayagent.alerts.rates import Rates
from trayagent.alerts.rules import HOLDING, OPENING, TELLING, WEIGHING, Kind, Moment, Rule, first
from trayagent.alerts.silences import Silences
from trayagent.alerts.vigils import REMIND, SOUND, Vigils
from trayagent.alerts.world import Words, World
from trayagent.model.effects import Effect, RecordDelivery, RecordFollowUp
from trayagent.model.evidence import Transition
from trayagent.model.keys import PaneKey
from trayagent.model.settings import Settings, SinkSettings
from trayagent.model.states import State
from trayagent.model.view import PaneView

UNSTEADY = 0.1  # seconds until a pane on probation is asked for again


class Desk:
    """cases: the open case of each pane that has one. Times are engine seconds."""

    def __init__(self, settings: Settings, words: Words, first_alert: int) -> None:
        self.settings = settings
        self.cases: dict[PaneKey, Case] = {}
        self.banners = Banners(words, first_alert)
        self._outbox = Outbox(words)
        self.silences = Silences()
        self.vigils = Vigils()
        self._rates = Rates()
        self._away_since: float | None = None

    def open_case(self, id: int, transition: Transition, world: World, now: float) -> list[Effect]:
        """A case about a transition, unless it is one that is never told. Its pane has no other."""
        settle = self.settings.alerts.settle
        settled = transition.at + (settle.blocked if transition.after is State.BLOCKED else settle.other)
        case = Case(id, transition, settled, due=settled)
        found = first(self._moment(case, world, now), OPENING)
        if found is not None:
            return [self._record(case, now, "held", found[0].name)]
        self.cases[transition.pane] = case
        self.vigils.open(case, self.settings)
        return []

    def weigh_all(self, world: World, now: float) -> list[Effect]:
        """Whatever is due: settled, merged, let go."""
        if not (world.away and self._away_since is not None):
            self._away_since = now if world.away else None
        effects: list[Effect] = []
        for case in list(self.cases.values()):
            effects += self._weigh(case, world, now)
        for ready, batch in list(self._batches()):
            effects += self._tell(batch, ready, world, now)
        return effects + self._follow_up(world, now)

    def moments(self) -> Iterator[tuple[float, list[Case]]]:
        """When cases are to be told or held, as far as time alone decides."""
        yield from self._batches()
        for case in self.cases.values():
            if case.shadowed and not case.held:
                yield case.settled, [case]
        for due, case in self.vigils.moments():
            yield due, [case]

    # -- one case ------------------------------------------------------------------------

    def _weigh(self, case: Case, world: World, now: float) -> list[Effect]:
        """Hold the case, let it go, or leave it as it is."""
        looked_away = case.held == "watching" and not world.watching(case.pane, case.state)
        if looked_away and not self._nobody_looked(case):
            del self.cases[case.pane]
            return []
        moment = self._moment(case, world, now)
        found = first(moment, WEIGHING)
        if found is None:
            case.settle_over(now)
            return []
        rule, until = found
        if rule.kind is Kind.SETTLE:
            case.shadowed = first(moment, HOLDING) is not None
            return []
        if rule.kind is Kind.NEVER:
            del self.cases[case.pane]
            return [self._record(case, now, "held", rule.name)]
        return self._hold(case, rule, until, now)

    def _nobody_looked(self, case: Case) -> bool:
        """The person is away, and has been since before this case was held as watched."""
        away_after = self.settings.alerts.away_after
        return self._away_since is not None and case.since >= self._away_since - away_after

    def _hold(self, case: Case, rule: Rule, until: float, now: float) -> list[Effect]:
        case.until = until
        if case.held == rule.name:
            return []
        case.held, case.since = rule.name, now
        effects: list[Effect] = [self._record(case, now, "held", rule.name)]
        if rule.name == "locked" and self.settings.sounds.while_locked:
            effects += self.banners.sound(case.state, case.transition.labels, self.settings, now)
        return effects

    def see(self, case: Case, how: str, now: float) -> list[Effect]:
        """The person knows already. What was only watched stays open, in case nobody was there."""
        effects: list[Effect] = []
        if not case.held:
            effects.append(self._record(case, now, "held", "watching" if how == "watched" else "seen"))
        if how != "watched":
            del self.cases[case.pane]
        elif case.held != "watching":
            case.held, case.since, case.until = "watching", now, math.inf
        return effects

    def end(self, pane: PaneKey, now: float) -> list[Effect]:
        """The pane is no longer as the case says. What was recorded as held or failed stays so."""
        self.vigils.close(pane)
        case = self.cases.pop(pane, None)
        if case is None or case.outcome in ("held", "failed"):
            return []
        return [self._record(case, now, "cancelled", case.waits)]

    def failed(self, alert: int, why: str, now: float) -> list[Effect]:
        """The items stay unread. They are tried once more, together, when the window has passed."""
        effects: list[Effect] = []
        for case in self.banners.closed(alert):
            effects.append(self._record(case, now, "failed", why, alert))
            if not case.failed:
                case.failed, case.waits = True, "retry"
                case.due = now + self.settings.alerts.rate.window
                self._rates.untold(case.subject)
                self.cases[case.pane] = case
        return effects

    # -- one banner ----------------------------------------------------------------------

    def _tell(self, batch: list[Case], ready: float, world: World, now: float) -> list[Effect]:
        """Show what may be shown of a batch, delay the rest, drop what is true no longer."""
        effects: list[Effect] = []
        told = []
        for case in batch:
            if ready <= now and not case.true(world):
                effects += self.end(case.pane, now)
                continue
            if ready <= now and not world.steady(case.pane):
                case.due = now + UNSTEADY  # the last look spoke against it; a moment will tell
                continue
            found = first(self._moment(case, world, now, ready), TELLING)
            if found is None:
                told.append(case)
            elif found[0].kind is Kind.RATE:
                effects += self._delay(case, *found, now)
        return [*effects, *self._show(told, world, now)] if told else effects

    def _delay(self, case: Case, rule: Rule, until: float, now: float) -> list[Effect]:
        case.due, case.waits = until, rule.name
        return [self._record(case, now, "delayed", rule.name)]

    def _show(self, cases: list[Case], world: World, now: float) -> list[Effect]:
        """One banner about these cases, which are all true now."""
        views = [view for case in cases if (view := world.view(case.pane)) is not None]
        effects, alert = self.banners.show(cases, views, self.settings, now)
        self._rates.told((case.subject for case in cases), self.settings.alerts.rate, now)
        for case in cases:
            del self.cases[case.pane]
            outcome, reason = ("merged", case.digest or "merge") if len(cases) > 1 else ("delivered", "")
            effects.append(self._record(case, now, outcome, reason, alert))
            self.vigils.told(case, self.settings, now)
        return effects + self._outbox.with_banner(cases, views, alert, self.settings, now, world.wall_offset)

    # -- what follows --------------------------------------------------------------------

    def _follow_up(self, world: World, now: float) -> list[Effect]:
        """Remind of, sound and send what has not been taken up."""
        effects: list[Effect] = []
        reminders = []
        for what, case in self.vigils.weigh(world, self.settings, self.silences, self._rates, now):
            view = world.view(case.pane)
            assert view is not None, "a vigil is kept over what is true"
            if what == REMIND:
                reminders.append((case, view))
            elif what == SOUND:
                effects += self.banners.sound(case.state, view.labels, self.settings, now)
                effects.append(RecordFollowUp(case.id, now, "sounded"))
            elif isinstance(what, SinkSettings):
                effects += self._outbox.send(what, [(case, view)], 0, now, world.wall_offset)
        return [*effects, *self._remind(reminders, now)] if reminders else effects

    def _remind(self, reminders: list[tuple[Case, PaneView]], now: float) -> list[Effect]:
        """One more banner about what was told before; its older banners go."""
        effects: list[Effect] = []
        cases = [case for case, _ in reminders]
        for case in cases:
            effects += self.banners.leave(case.pane, "reminded")
        shown, alert = self.banners.show(cases, [view for _, view in reminders], self.settings, now)
        self._rates.told((case.subject for case in cases), self.settings.alerts.rate, now)
        records = [RecordFollowUp(case.id, now, "reminded", alert=alert) for case in cases]
        return [*effects, *shown, *records]

    # -- small things --------------------------------------------------------------------

    def _moment(self, case: Case, world: World, now: float, ready: float = -math.inf) -> Moment:
        return Moment(case, world, self.settings, self.silences, self._rates, now, ready)

    def _record(
        self, case: Case, now: float, outcome: str, reason: str, alert: int | None = None
    ) -> RecordDelivery:
        case.outcome = outcome
        return RecordDelivery(case.id, now, outcome, reason, alert)

    def _batches(self) -> Iterator[tuple[float, list[Case]]]:
        """The banners to come; cases that will be held keep nobody waiting."""
        waiting = [case for case in self.cases.values() if not case.held and not case.shadowed]
        return batches(waiting, self.settings.alerts.merge)
