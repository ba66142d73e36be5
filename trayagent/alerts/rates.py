"""How often banners may come: what was told lately, and when there is room again.

All limits are sliding windows: after a banner at `t` its place is free again at
`t + window`. Each question returns the engine seconds at which there is room,
None if there is room now.
"""

from __future__ import annotations

from collections.abc import Iterable

from trayagent.model.keys import PaneKey
from trayagent.model.settings import RateSettings

Subject = tuple[PaneKey, str, str]
"""What a banner was about: pane, state, fingerprint."""


class Rates:
    """The banners of the last moments."""

    def __init__(self) -> None:
        self._banners: list[tuple[float, frozenset[PaneKey]]] = []
        self._subjects: dict[Subject, float] = {}

    def told(self, subjects: Iterable[Subject], limits: RateSettings, now: float) -> None:
        """A banner about `subjects` went out; what no limit counts any more is let go."""
        self._banners = [(at, panes) for at, panes in self._banners if at + limits.window > now]
        self._subjects = {one: at for one, at in self._subjects.items() if at + limits.same > now}
        subjects = frozenset(subjects)
        self._banners.append((now, frozenset(pane for pane, _, _ in subjects)))
        self._subjects.update(dict.fromkeys(subjects, now))

    def untold(self, subject: Subject) -> None:
        """Its banner was not shown after all. The attempt still counts for the other limits,
        since it is the server that asks for fewer."""
        self._subjects.pop(subject, None)

    def same(self, subject: Subject, limits: RateSettings, now: float) -> float | None:
        """When the same thing may be told again."""
        at = self._subjects.get(subject)
        return None if at is None or at + limits.same <= now else at + limits.same

    def pane(self, pane: PaneKey, limits: RateSettings, now: float) -> float | None:
        """When a banner about this pane has room."""
        return _room([at for at, panes in self._banners if pane in panes], limits.pane, limits.window, now)

    def total(self, limits: RateSettings, now: float) -> float | None:
        """When any banner has room."""
        return _room([at for at, _ in self._banners], limits.total, limits.window, now)


def _room(times: list[float], most: int, window: float, now: float) -> float | None:
    """times: rising. A limit below 1 would silence for ever, so it counts as 1."""
    counted = [at + window for at in times if at + window > now]
    most = max(most, 1)
    return counted[-most] if len(counted) >= most else None
