"""The rules of an alert, and the one table that gives their order.

A rule answers one question about a case: until when does this speak against telling
it? None: it does not; `math.inf`: until something happens; else engine seconds.
The first rule that speaks names the reason. Its kind says what becomes of the case:

    NEVER   it is not told at all; held for good
    SETTLE  not yet: the state must stand for a while first
    HOLD    held; told in a digest if it is still true when the rule lets go
    MERGE   ready in a moment, together with others
    RATE    delayed until there is room

The quiet hours ask the time zone database; the other rules look at their arguments only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from trayagent.alerts import profiles
from trayagent.alerts.cases import TOLD, Case
from trayagent.alerts.hours import quiet_end, zone_of
from trayagent.alerts.rates import Rates
from trayagent.alerts.silences import Silences
from trayagent.alerts.world import World
from trayagent.model.settings import Settings, StateSwitches
from trayagent.model.states import State


class Kind(Enum):
    """What becomes of a case that a rule speaks against."""

    NEVER = "never"
    SETTLE = "settle"
    HOLD = "hold"
    MERGE = "merge"
    RATE = "rate"


@dataclass(frozen=True, slots=True)
class Moment:
    """All that a rule may look at. ready: when the case's batch is complete."""

    case: Case
    world: World
    settings: Settings
    silences: Silences
    rates: Rates
    now: float
    ready: float = -math.inf


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table. name: the reason in the ledger."""

    name: str
    kind: Kind
    test: Callable[[Moment], float | None]


def first_sight(at: Moment) -> float | None:
    """The pane was there before us: what it shows is no news."""
    return math.inf if at.case.transition.first_sight else None


def state_off(at: Moment) -> float | None:
    """The state is switched off, everywhere, for this agent or for this project."""
    alerts = at.settings.alerts
    wanted = all(switches.on(at.case.state) for switches in _switches(at.case, at.settings))
    return None if alerts.enabled and (wanted or at.case.state not in TOLD) else math.inf


def short_turn(at: Moment) -> float | None:
    """A turn that ended this soon was watched anyway."""
    transition = at.case.transition
    short = transition.after is State.DONE and transition.worked < at.settings.alerts.short_turn
    return math.inf if short else None


def own_interrupt(at: Moment) -> float | None:
    """The person ended the turn himself."""
    return math.inf if at.case.transition.decision.own_interrupt else None


def never_told(at: Moment) -> float | None:
    """Working, idle and unknown have no switch, and need nobody."""
    return None if at.case.state in TOLD else math.inf


def settle(at: Moment) -> float | None:
    """The state has not stood for long enough; auto-approved prompts pass within this time."""
    return at.case.settled if at.now < at.case.settled else None


def watching(at: Moment) -> float | None:
    """The person looks at the pane."""
    return math.inf if at.world.watching(at.case.pane, at.case.state) else None


def paused(at: Moment) -> float | None:
    """All alerts are paused."""
    return at.silences.pause_end(at.now)


def muted(at: Moment) -> float | None:
    """The pane, its session, its project or its agent is muted."""
    rules = at.settings.alerts.mute
    if not at.silences.any_mute(rules):  # a view is dear, and this is asked after every event
        return None
    view = at.world.view(at.case.pane)
    return None if view is None else at.silences.mute_end(view, rules, at.now)


def quiet_hours(at: Moment) -> float | None:
    """It is a time of day at which nothing but the allowed states is told."""
    quiet = profiles.quiet_hours(at.settings, at.case.transition.labels.path)
    offset = at.world.wall_offset
    if not quiet.spans or at.case.state in quiet.allow:
        return None
    end = quiet_end(quiet, at.now + offset, zone_of(quiet.zone or at.world.zone))
    return None if end is None else end - offset


def desktop_dnd(at: Moment) -> float | None:
    """The desktop itself shows no banners now."""
    return math.inf if at.world.dnd else None


def locked(at: Moment) -> float | None:
    """The screen is locked: a banner would be missed, or be read by others."""
    return math.inf if at.world.locked else None


def merge(at: Moment) -> float | None:
    """Others that are due within moments share the banner."""
    return at.ready if at.now < at.ready else None


def rate_same(at: Moment) -> float | None:
    """The same prompt was told a moment ago."""
    return at.rates.same(at.case.subject, at.settings.alerts.rate, at.now)


def rate_pane(at: Moment) -> float | None:
    """The pane had too many banners lately."""
    return at.rates.pane(at.case.pane, at.settings.alerts.rate, at.now)


def rate_total(at: Moment) -> float | None:
    """There were too many banners lately."""
    return at.rates.total(at.settings.alerts.rate, at.now)


TABLE = (
    Rule("first-sight", Kind.NEVER, first_sight),
    Rule("state-off", Kind.NEVER, state_off),
    Rule("short-turn", Kind.NEVER, short_turn),
    Rule("own-interrupt", Kind.NEVER, own_interrupt),
    Rule("state-off", Kind.NEVER, never_told),
    Rule("settle", Kind.SETTLE, settle),
    Rule("watching", Kind.HOLD, watching),
    Rule("paused", Kind.HOLD, paused),
    Rule("muted", Kind.HOLD, muted),
    Rule("quiet-hours", Kind.HOLD, quiet_hours),
    Rule("desktop-dnd", Kind.HOLD, desktop_dnd),
    Rule("locked", Kind.HOLD, locked),
    Rule("merge", Kind.MERGE, merge),
    Rule("rate-same", Kind.RATE, rate_same),
    Rule("rate-pane", Kind.RATE, rate_pane),
    Rule("rate-total", Kind.RATE, rate_total),
)


def _rows(*kinds: Kind) -> tuple[Rule, ...]:
    return tuple(rule for rule in TABLE if rule.kind in kinds)


# What is asked at which moment, always in the table's order.
OPENING = _rows(Kind.NEVER)
WEIGHING = _rows(Kind.NEVER, Kind.SETTLE, Kind.HOLD)
HOLDING = _rows(Kind.HOLD)
SILENCES = tuple(rule for rule in HOLDING if rule.name not in ("watching", "locked"))
ROOM = _rows(Kind.RATE)
TELLING = _rows(Kind.MERGE, Kind.RATE)


def first(at: Moment, rules: tuple[Rule, ...]) -> tuple[Rule, float] | None:
    """The first of these rules that speaks against telling the case, and until when."""
    for rule in rules:
        if (until := rule.test(at)) is not None:
            return rule, until
    return None


def _switches(case: Case, settings: Settings) -> list[StateSwitches]:
    """Every set of switches that the case falls under. A profile's stand in place of the general ones."""
    labels, agent, alerts = case.transition.labels, case.transition.agent, settings.alerts
    projects = {labels.project, labels.path}
    return [
        profiles.switches(settings, labels.path) or alerts.states,
        *(switches for name, switches in alerts.agents if name == agent),
        *(switches for name, switches in alerts.projects if name in projects),
    ]
