"""Mutes and the pause: what the person has silenced, and until when.

A mute names a scope and a value. Those of the config have no end; those set from a
banner, the menu or a command may have one, and survive a restart through `state`
and `restore`, which use the wall clock, since engine seconds start anew at boot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from trayagent.model.events import MuteSet, Paused
from trayagent.model.settings import MuteRule
from trayagent.model.view import PaneView

SCOPES: dict[str, Callable[[PaneView], frozenset[str]]] = {
    "pane": lambda view: frozenset({view.key.token}),
    "session": lambda view: frozenset({view.session, f"{view.server}:{view.session}"}),
    "project": lambda view: frozenset({view.labels.path, view.labels.project}),
    "agent": lambda view: frozenset({view.agent}),
}
"""The values by which a pane is muted, by scope, the narrowest first."""

_NARROWEST = tuple(SCOPES)


class Silences:
    """The mutes that were set, and the pause. Ends are engine seconds, `math.inf` for none."""

    def __init__(self) -> None:
        self._mutes: dict[tuple[str, str], float] = {}
        self._paused = -math.inf

    def set(self, event: MuteSet | Paused, now: float) -> None:
        """Mute, unmute, pause or unpause; an end that is not in the future ends it."""
        end = math.inf if event.until is None else event.until
        if isinstance(event, Paused):
            self._paused = end if end > now else -math.inf
            return
        self._mutes = {name: stays for name, stays in self._mutes.items() if stays > now}
        self._mutes.pop((event.scope, event.value), None)
        if end > now and event.scope in SCOPES and event.value:
            self._mutes[event.scope, event.value] = end

    def pause_end(self, now: float) -> float | None:
        """When the pause ends, `math.inf` if only by hand; None when there is none."""
        return self._paused if self._paused > now else None

    def any_mute(self, rules: tuple[MuteRule, ...]) -> bool:
        """Whether any mute is set at all."""
        return bool(self._mutes or rules)

    def mute_end(self, view: PaneView, rules: Iterable[MuteRule], now: float) -> float | None:
        """When the last mute of a pane ends, `math.inf` if none of them does; None when it is not muted."""
        ends = [end for name, end in self._mutes.items() if end > now and _covers(*name, view)]
        ends += [math.inf for rule in rules if _covers(rule.scope, rule.value, view)]
        return max(ends, default=None)

    def covering(self, view: PaneView, now: float) -> tuple[tuple[str, str], ...]:
        """Scope and value of each mute of a pane that was set, narrowest scope first."""
        names = [name for name, end in self._mutes.items() if end > now and _covers(*name, view)]
        return tuple(sorted(names, key=lambda name: (_NARROWEST.index(name[0]), name[1])))

    def state(self, wall_offset: float) -> dict[str, Any]:
        """Everything as JSON, ends in epoch seconds, null for none."""
        paused = self._paused != -math.inf
        return {
            "paused": {"until": _epoch(self._paused, wall_offset)} if paused else None,
            "mutes": [
                {"scope": scope, "value": value, "until": _epoch(end, wall_offset)}
                for (scope, value), end in sorted(self._mutes.items())
            ],
        }

    def restore(self, state: object, wall_offset: float, now: float) -> list[str]:
        """Take up what `state` returned; returns what could not be understood, one line each."""
        if not isinstance(state, Mapping):
            return ["mutes and pause: not a table"]
        problems = []
        paused = state.get("paused")
        if paused is not None:
            try:
                self.set(Paused(_engine(paused["until"], wall_offset)), now)
            except (KeyError, TypeError) as error:
                problems.append(f"paused: {error!r}")
        mutes = state.get("mutes", [])
        for place, entry in enumerate(mutes if isinstance(mutes, list) else [mutes]):
            try:
                end = _engine(entry["until"], wall_offset)
                self.set(MuteSet(str(entry["scope"]), str(entry["value"]), end), now)
            except (KeyError, TypeError) as error:
                problems.append(f"mutes[{place}]: {error!r}")
        return problems


def _covers(scope: str, value: str, view: PaneView) -> bool:
    return scope in SCOPES and bool(value) and value in SCOPES[scope](view)


def _epoch(end: float, wall_offset: float) -> float | None:
    return None if end == math.inf else end + wall_offset


def _engine(until: object, wall_offset: float) -> float | None:
    if until is None:
        return None
    if isinstance(until, bool) or not isinstance(until, int | float):
        raise TypeError(f"until is no number: {until!r}")
    return until - wall_offset
