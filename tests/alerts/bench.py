"""A small world for the policy: panes that are set by hand, a clock that goes where it is told.

`go(seconds)` lives through time as the engine does: it polls at each moment that the policy
names, and after each event. Each banner is compared with the truth as it is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from trayagent.alerts.policy import AlertEvent, Alerts
from trayagent.engine import wording
from trayagent.model.effects import Banner, CloseBanner, Effect, RecordDelivery, RecordRead, Sound
from trayagent.model.events import BannerClosed, BannerFailed
from trayagent.model.evidence import Decision, Labels, Transition
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.settings import Settings
from trayagent.model.states import Kind, State
from trayagent.model.view import PaneView

SERVER = ServerKey("tmux", "/tmp/tmux-1000/default", 412, 8812)


def key(number: int) -> PaneKey:
    """The key of pane %number."""
    return PaneKey(SERVER, f"%{number}")


class Bench:
    """The world, the policy in it, and all that came out of it."""

    def __init__(self, settings: Settings | None = None, now: float = 1000.0) -> None:
        self.settings = settings or Settings()
        self.alerts = Alerts(self.settings, words=wording)
        self.now = now
        self.panes: dict[PaneKey, PaneView] = {}
        self.looked_at: set[PaneKey] = set()
        self.away = self.locked = self.dnd = self.catching_up = False
        self.wall_offset = 1_800_000_000.0
        self.zone = "UTC"
        self.transitions: dict[int, Transition] = {}
        self.log: list[tuple[float, Effect]] = []
        self.polls = 0
        self.rows: dict[int, list[RecordDelivery]] = defaultdict(list)
        self._alerts: dict[int, Banner] = {}
        self._off: set[int] = set()

    # -- World ---------------------------------------------------------------------------

    def view(self, pane: PaneKey) -> PaneView | None:
        return self.panes.get(pane)

    def views(self) -> Iterable[PaneView]:
        return list(self.panes.values())

    def watching(self, pane: PaneKey, state: State) -> bool:
        return pane in self.looked_at and not self.away and not self.locked

    # -- what happens --------------------------------------------------------------------

    def turn(
        self,
        number: int,
        state: State,
        fingerprint: str = "",
        *,
        worked: float = 60.0,
        message: str = "",
        project: str = "",
        agent: str = "claude",
        first_sight: bool = False,
        own_interrupt: bool = False,
        poll: bool = True,
    ) -> int:
        """A pane changes; returns the transition's number."""
        pane = key(number)
        before = self.panes.get(pane)
        id = len(self.transitions) + 1
        fingerprint = fingerprint or (f"f{id}" if state in (State.BLOCKED, State.DONE, State.ERROR) else "")
        project = project or f"p{number}"
        labels = Labels(project, f"/home/u/{project}", "", agent, agent.title(), "default", "work")
        kind = Kind.PERMISSION if state is State.BLOCKED else None
        decision = Decision(
            state, "", "screen", kind, None, fingerprint, message, own_interrupt=own_interrupt
        )
        was = before.state if before else State.UNKNOWN
        transition = Transition(
            pane, self.now, was, state, decision, agent, None, worked, first_sight, labels
        )
        self.panes[pane] = PaneView(
            pane, labels, agent, agent.title(), state, self.now, "screen", "", "default", "work",
            "w", 0, pane.id, kind, message=message, fingerprint=fingerprint,
        )  # fmt: skip
        self.transitions[id] = transition
        self._take(self.alerts.transition(id, transition, self, self.now))
        if poll:
            self.poll()
        return id

    def feed(self, event: AlertEvent) -> None:
        """An event for the policy."""
        if isinstance(event, BannerClosed | BannerFailed):
            self._off.add(event.alert)
        self._take(self.alerts.feed(event, self, self.now))
        self.poll()

    def seen(self, number: int, how: str) -> None:
        """The person sees a pane."""
        self._take(self.alerts.seen(key(number), how, self, self.now))
        self.poll()

    def gone(self, number: int) -> None:
        """A pane leaves the list."""
        self.panes.pop(key(number), None)
        self._take(self.alerts.seen(key(number), "gone", self, self.now))
        self.poll()

    def configure(self, settings: Settings) -> None:
        """New settings."""
        self.settings = settings
        self.alerts.configure(settings, self.now)
        self.poll()

    def steady(self, pane: PaneKey) -> bool:
        """Nothing is ever on probation here."""
        return True

    def change(self, **world: object) -> None:
        """`away`, `locked`, `dnd`, `catching_up` or `looked_at` change."""
        for name, value in world.items():
            assert hasattr(self, name), name
            setattr(self, name, value)
        self.poll()

    def go(self, seconds: float) -> None:
        """Time passes."""
        end = self.now + seconds
        while (wake := self.alerts.wake_at()) is not None and wake <= end:
            self.now = max(wake, self.now)
            self.poll()
        self.now = end
        self.poll()

    def poll(self) -> None:
        """What the engine does after every event."""
        self.polls += 1
        self._take(self.alerts.poll(self, self.now))
        wake = self.alerts.wake_at()
        assert wake is None or wake > self.now, "the engine would turn in circles"

    def _take(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Banner):
                self._check(effect)
            if isinstance(effect, RecordDelivery) and effect.outcome in ("delivered", "merged"):
                self._check_told(effect)
            if isinstance(effect, RecordDelivery):
                self.rows[effect.transition].append(effect)
            self.log.append((self.now, effect))

    def _check(self, banner: Banner) -> None:
        """Nothing empty, nothing twice, nothing while everything is held."""
        assert banner.panes and banner.title and banner.body
        assert len(set(banner.panes)) == len(banner.panes)
        assert banner.alert not in self._alerts
        assert not (self.locked or self.dnd or self.catching_up or self.alerts.paused(self.now)[0])
        self._alerts[banner.alert] = banner

    def _check_told(self, row: RecordDelivery) -> None:
        """What is told is true, and nobody looks at it or muted it."""
        transition = self.transitions[row.transition]
        view = self.panes[transition.pane]
        assert (view.state, view.fingerprint) == (transition.after, transition.decision.fingerprint)
        assert row.alert is not None and transition.pane in self._alerts[row.alert].panes
        assert (row.outcome == "merged") is (len(self._alerts[row.alert].panes) > 1)
        assert not self.watching(transition.pane, transition.after)
        assert not self.alerts.muted(view, self.now)[0]

    # -- what came out -------------------------------------------------------------------

    def of(self, kind: type[Effect]) -> list[Effect]:
        """All effects of one class."""
        return [effect for _, effect in self.log if isinstance(effect, kind)]

    @property
    def banners(self) -> list[Banner]:
        return [effect for _, effect in self.log if isinstance(effect, Banner)]

    @property
    def times(self) -> list[float]:
        """When banners came, rounded to milliseconds."""
        return [round(at, 3) for at, effect in self.log if isinstance(effect, Banner)]

    @property
    def closed(self) -> list[tuple[int, str]]:
        return [(e.alert, e.why) for _, e in self.log if isinstance(e, CloseBanner)]

    @property
    def open(self) -> set[int]:
        """Banners that are on the screen."""
        return {banner.alert for banner in self.banners} - {alert for alert, _ in self.closed} - self._off

    @property
    def sounds(self) -> list[float]:
        return [at for at, effect in self.log if isinstance(effect, Sound)]

    @property
    def reads(self) -> list[tuple[str, str]]:
        return [(e.pane.id, e.how) for _, e in self.log if isinstance(e, RecordRead)]

    def outcomes(self, id: int) -> list[tuple[str, str]]:
        """What the ledger was told about a transition, in order."""
        return [(row.outcome, row.reason) for row in self.rows[id]]

    def rename(self, number: int, **fields: object) -> None:
        """The pane's view changes without a transition."""
        self.panes[key(number)] = replace(self.panes[key(number)], **fields)  # type: ignore[arg-type]
