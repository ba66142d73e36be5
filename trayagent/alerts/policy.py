"""The policy: every transition is told, merged, delayed or held with its reason; none is dropped.

    transition ──► Case ──► waits: settle ──► merge ──► rate ──► Banner, Sound
                    │         │  ▲                │
                    │         ▼  │ lets go        └─► delayed until there is room
                    │        held (watching, paused, muted, quiet-hours, desktop-dnd, locked)
                    └─► held for good (first-sight, state-off, short-turn, own-interrupt)

`poll` weighs each open case against the table in `rules`, from the top. The engine calls
it after every event (a lock, a focus, an unmute may end a hold; when nothing of that kind
changed it costs next to nothing) and at `wake_at`. Changes of a pane come through
`transition`, its end through `seen(..., "gone")`. A case whose pane is no longer as it said
ends there: what waits is cancelled, what is held stays recorded as held.

The outcome that the ledger was told last is the transition's final one. `held`, `delayed`
and `failed` may be followed by another; `delivered` and `merged` by `failed` only.

Held cases that are let go at the same time are told in one banner, a digest. What was held
because the person looked at it counts as seen when he looks elsewhere; but when he turns
out to have been away, whatever was held since his last input is let go as unseen.
"""

from __future__ import annotations

import math
from typing import Any

from trayagent.alerts.cases import LEAD, TOLD
from trayagent.alerts.desk import Desk
from trayagent.alerts.hours import zone_of
from trayagent.alerts.world import Words, World
from trayagent.model.effects import Effect, Note, RecordRead
from trayagent.model.events import (
    BannerClosed,
    BannerFailed,
    BannerShown,
    Forget,
    MuteSet,
    Paused,
    Read,
    Visited,
)
from trayagent.model.evidence import Transition
from trayagent.model.keys import PaneKey
from trayagent.model.settings import Settings
from trayagent.model.states import State
from trayagent.model.view import PaneView

_REWEIGH = 2.0  # seconds after which all cases are weighed anew: what panes are called may have changed

AlertEvent = MuteSet | Paused | BannerShown | BannerFailed | BannerClosed | Visited | Read | Forget


class Alerts:
    """The alerts of all panes. Times are engine seconds, suspended time included.

    words: how banners are worded, the module `engine.wording`. first_alert: the first banner
    id to use; ids are never used twice, also over restarts."""

    def __init__(self, settings: Settings, first_alert: int = 1, *, words: Words) -> None:
        self._desk = Desk(settings, words, first_alert)
        self._read: dict[PaneKey, tuple[State, str]] = {}  # what was last seen of a pane
        self._resting = False  # catching up after a resume: nothing is told, nothing is due
        self._polled = -math.inf  # when the cases were weighed last,
        self._facts: tuple[object, ...] = ()  # by which facts of the world,
        self._next: float | None = None  # and when they are due again,
        self._stirred = True  # unless something happened to them since
        self._zones: set[str] = set()

    # -- what the engine tells us --------------------------------------------------------

    def configure(self, settings: Settings, now: float) -> None:
        """New settings are in force; the next poll weighs every open case by them."""
        self._stirred = True
        self._desk.settings = settings

    def transition(self, id: int, transition: Transition, world: World, now: float) -> list[Effect]:
        """A pane changed: whatever was open about it ends, and a case about the new state opens."""
        self._stirred = True
        pane = transition.pane
        effects: list[Effect] = [*self._desk.banners.leave(pane, _why_closed(transition))]
        effects += self._desk.end(pane, now)
        return [*effects, *self._desk.open_case(id, transition, world, now)]

    def feed(self, event: AlertEvent, world: World, now: float) -> list[Effect]:
        """Something that concerns alerts happened. What it lets go is told by the next poll."""
        self._stirred = True
        match event:
            case MuteSet() | Paused():
                self._desk.silences.set(event, now)
                return []
            case BannerShown():
                return []
            case BannerFailed():
                return self._desk.failed(event.alert, event.why, now)
            case BannerClosed():
                cases = self._desk.banners.closed(event.alert)
                seen = [case.pane for case in cases] if event.by == "user" else []
                return [effect for pane in seen for effect in self.seen(pane, "dismissed", world, now)]
            case Visited():
                return self.seen(event.pane, "clicked", world, now)
            case Read():
                panes = [view.key for view in world.views()] if event.pane is None else [event.pane]
                return [effect for pane in panes for effect in self.seen(pane, "command", world, now)]
            case Forget():
                return self.seen(event.pane, "command", world, now)

    def seen(self, pane: PaneKey, how: str, world: World, now: float) -> list[Effect]:
        """The person has seen or answered what the pane shows: its banner closes, its item is read.

        how: as in RecordRead, or `gone`: the pane left the list, read or not. An answer is told
        before the transition that it causes. Repeating it says nothing new."""
        self._stirred = True
        effects: list[Effect] = [*self._desk.banners.leave(pane, how)]
        case = self._desk.cases.get(pane)
        self._desk.vigils.close(pane)
        if how == "gone":
            self._read.pop(pane, None)
            return [*effects, *self._desk.end(pane, now)]
        if case is not None and how != "answered":
            effects += self._desk.see(case, how, now)
        view = world.view(pane)
        shown = (view.state, view.fingerprint) if view is not None and view.state in TOLD else None
        if how == "answered" or (shown is not None and self._read.get(pane) != shown):
            effects.append(RecordRead(pane, now, how))
        if shown is not None:
            self._read[pane] = shown
        return effects

    # -- telling -------------------------------------------------------------------------

    def poll(self, world: World, now: float) -> list[Effect]:
        """Whatever is due: settled, merged, let go, or no longer true."""
        facts = self._facts_of(world)
        calm = not self._stirred and facts == self._facts and now < self._polled + _REWEIGH
        if calm and (self._next is None or now < self._next):
            return []
        if self._stirred or facts != self._facts:
            self._desk.vigils.stir()
        self._polled, self._facts, self._resting = now, facts, world.catching_up
        effects = self._check_zone(world)
        if not self._resting:
            effects += self._desk.weigh_all(world, now)
        self._stirred, self._next = False, self._soonest()
        return effects

    def wake_at(self) -> float | None:
        """When the next poll can matter, None if only an event can bring something to tell.

        LEAD before a banner is due this is the moment to ask `about_to_tell`."""
        return self._soonest() if self._stirred else self._next

    def _soonest(self) -> float | None:
        if self._resting:
            return None
        times = [case.until for case in self._desk.cases.values() if case.held and case.until < math.inf]
        times += [case.settled for case in self._desk.cases.values() if case.settled > self._polled]
        for ready, _ in self._desk.moments():
            times.append(ready - LEAD if ready - LEAD > self._polled else ready)
        return min(times, default=None)

    def _facts_of(self, world: World) -> tuple[object, ...]:
        """All of the world that a rule goes by, but for what the panes are called."""
        cases = [*self._desk.cases.values(), *self._desk.vigils.cases()]
        watched = tuple(case.id for case in cases if world.watching(case.pane, case.state))
        return world.catching_up, world.away, world.locked, world.dnd, world.wall_offset, world.zone, watched

    def about_to_tell(self, now: float) -> frozenset[PaneKey]:
        """Panes whose banner is due within LEAD seconds: time to make sure that nobody looks at them."""
        if self._resting:
            return frozenset()
        due = (cases for ready, cases in self._desk.moments() if ready <= now + LEAD)
        return frozenset(case.pane for cases in due for case in cases)

    # -- what others may ask -------------------------------------------------------------

    def has_open(self, pane: PaneKey) -> bool:
        """Whether the pane has something on its way or on the screen that looking at it would settle."""
        case = self._desk.cases.get(pane)
        return pane in self._desk.banners or (case is not None and case.held != "watching")

    def panes_of(self, alert: int) -> tuple[PaneKey, ...]:
        """The panes that a banner is still about, the most urgent first: where a click on it goes."""
        return self._desk.banners.panes(alert)

    def muted(self, view: PaneView, now: float) -> tuple[bool, float | None]:
        """Whether a pane is muted, and until when (None: no end)."""
        end = self._desk.silences.mute_end(view, self._desk.settings.alerts.mute, now)
        return end is not None, None if end in (None, math.inf) else end

    def mutes(self, view: PaneView, now: float) -> tuple[tuple[str, str], ...]:
        """Scope and value of each mute of a pane that can be taken back (not those of the config)."""
        return self._desk.silences.covering(view, now)

    def paused(self, now: float) -> tuple[bool, float | None]:
        """Whether all alerts are paused, and until when (None: no end)."""
        end = self._desk.silences.pause_end(now)
        return end is not None, None if end in (None, math.inf) else end

    def new_alert(self) -> int:
        """A banner id for a banner that is not about a transition (a test, a notice)."""
        return self._desk.banners.new_alert()

    @property
    def next_alert(self) -> int:
        """The id that the next banner will have: `first_alert` of the next start."""
        return self._desk.banners.next_alert

    def state(self, wall_offset: float) -> dict[str, Any]:
        """Mutes and pause as JSON for the state file, with wall-clock ends."""
        return self._desk.silences.state(wall_offset)

    def restore(self, state: object, wall_offset: float, now: float) -> list[str]:
        """Take up `state`; returns one line for each thing in it that makes no sense."""
        self._stirred = True
        return self._desk.silences.restore(state, wall_offset, now)

    def snapshot(self, now: float) -> dict[str, Any]:
        """What is open, for `explain`: by pane token; times in seconds from now."""
        paused, end = self.paused(now)
        return {
            "paused": paused,
            "paused_for": None if end is None else round(end - now, 1),
            "cases": {pane.token: case.describe(now) for pane, case in self._desk.cases.items()},
        }

    # -- small things --------------------------------------------------------------------

    def _check_zone(self, world: World) -> list[Effect]:
        name = self._desk.settings.quiet_hours.zone or world.zone
        if name in self._zones:
            return []
        self._zones.add(name)
        if not name or zone_of(name) is not None:
            return []
        return [Note("zone", f"no time zone is called {name!r}: quiet hours go by the system's own zone")]


def _why_closed(transition: Transition) -> str:
    if transition.after in TOLD:
        return "replaced"
    return "answered" if transition.before is State.BLOCKED else "changed"
