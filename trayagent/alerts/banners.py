"""The banners on the screen: made, remembered for as long as one of their panes is open, taken back.

A banner is about one case or several. A pane leaves its banner when its state passes, when
it is seen, or when it has a newer banner; the banner is closed when its last pane left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from trayagent.alerts import profiles
from trayagent.alerts.cases import Case
from trayagent.alerts.world import Words
from trayagent.model.effects import Banner, CloseBanner, Effect, Sound
from trayagent.model.evidence import Labels
from trayagent.model.keys import PaneKey
from trayagent.model.settings import AlertSettings, Settings
from trayagent.model.states import RANK, State
from trayagent.model.view import PaneView

ACTIONS = (("default", "Jump"), ("mute", "Mute 1 h"))


class Banners:
    """Open banners by alert id, and the source of ids."""

    def __init__(self, words: Words, first_alert: int) -> None:
        self.next_alert = first_alert
        self._words = words
        self._sounded = -math.inf
        self._open: dict[int, list[Case]] = {}
        self._alert: dict[PaneKey, int] = {}

    def new_alert(self) -> int:
        """An id that was never used."""
        self.next_alert += 1
        return self.next_alert - 1

    def show(
        self, cases: Sequence[Case], views: Sequence[PaneView], settings: Settings, now: float
    ) -> tuple[list[Effect], int]:
        """One banner with its sound about these cases, and its id; a digest if one of them was held.

        views: the cases' panes as they are now. None of them has another open banner."""
        alert = self.new_alert()
        holds = {case.digest for case in cases if case.digest}
        why = None if not holds else holds.pop() if len(holds) == 1 else ""
        banner = compose(alert, views, why, self._words, settings.alerts, now)
        self._open[alert] = sorted(cases, key=lambda case: banner.panes.index(case.pane))
        self._alert.update((case.pane, alert) for case in cases)
        loudest = next(view for view in views if view.key == banner.panes[0])
        return [banner, *self.sound(loudest.state, loudest.labels, settings, now)], alert

    def sound(self, state: State, labels: Labels, settings: Settings, now: float) -> list[Sound]:
        """The sound of a state, unless there was one a moment ago."""
        if settings.sounds.mode == "off" or now < self._sounded + settings.sounds.gap:
            return []
        self._sounded = now
        file = profiles.sound(settings, labels.path, state)
        return [Sound(state, labels.agent, labels.project, file)]

    def leave(self, pane: PaneKey, why: str) -> list[CloseBanner]:
        """The pane needs its banner no longer."""
        alert = self._alert.pop(pane, None)
        if alert is None:
            return []
        self._open[alert] = [case for case in self._open[alert] if case.pane != pane]
        if self._open[alert]:
            return []
        del self._open[alert]
        return [CloseBanner(alert, why)]

    def panes(self, alert: int) -> tuple[PaneKey, ...]:
        """The panes that an open banner is still about, the most urgent first."""
        return tuple(case.pane for case in self._open.get(alert, ()))

    def __contains__(self, pane: object) -> bool:
        """Whether a banner about this pane is open."""
        return pane in self._alert

    def closed(self, alert: int) -> list[Case]:
        """The banner is gone from the screen; returns the cases it was still about."""
        cases = self._open.pop(alert, [])
        for case in cases:
            del self._alert[case.pane]
        return cases


def compose(
    alert: int, views: Sequence[PaneView], why: str | None, words: Words, settings: AlertSettings, now: float
) -> Banner:
    """The banner about `views` (at least one). why: the hold that a digest comes after, None: no digest."""
    views = sorted(views, key=lambda view: (RANK[view.state], view.since, view.key))
    state = views[0].state
    if why is not None:
        kind, (title, body) = "digest", words.digest(views, why, now, settings.text)
    elif len(views) > 1:
        kind, (title, body) = "merged", words.merged(views, now, settings.text)
    else:
        kind, (title, body) = "single", words.single(views[0], now, settings.text)
    return Banner(
        alert=alert,
        panes=tuple(view.key for view in views),
        title=title,
        body=body,
        state=state,
        urgency=_urgency(views, settings),
        actions=ACTIONS,
        kind=kind,
        agent=views[0].agent if len(views) == 1 else "",
    )


def _urgency(views: Sequence[PaneView], settings: AlertSettings) -> str:
    if any(view.state in settings.critical for view in views):
        return "critical"
    return "low" if views[0].state is State.DONE else "normal"
