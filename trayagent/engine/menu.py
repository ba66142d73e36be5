"""The tray as data: icon, tooltip, menu and clicks, drawn from the panes as they are now.

    status line
    problems
    ──  needs you: longest waiting first; as many as the number on the icon
    ──  done, unread
    ──  working and idle; beyond `tray.fold` of them in a submenu
    ──  Mute, forget: a submenu a pane (rows themselves stay flat: hosts open a row's
        submenu where its click should jump)
        Pause
        Quit

An item's id belongs to the thing that it stands for (a pane keeps its id when it moves to
another section), so that an open menu can be updated in place. Actions are tuples:

    ("jump", token)  ("next",)  ("forget", token)  ("quit",)
    ("mute", scope, value, word)   ("pause", word)

with a pane's token (`PaneKey.token`) and a word of `alerts.hours.until` (`1h tomorrow always off`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from trayagent.alerts.hours import local, zone_of
from trayagent.engine.wording import agent_of, duration, one_line, place, said, summary, tooltip
from trayagent.judge.rollup import loudest
from trayagent.model.settings import Settings
from trayagent.model.states import GLYPH, RANK, State
from trayagent.model.view import MenuItem, PaneView, TrayView

_ASK = 60  # characters of a question in the menu
_PROBLEM = 100
_MUTES = (("1h", "Mute 1 h"), ("tomorrow", "Mute until tomorrow"), ("always", "Mute always"))
_PAUSES = (
    ("30m", "30 min"),
    ("1h", "1 h"),
    ("4h", "4 h"),
    ("tomorrow", "Until tomorrow"),
    ("always", "Until unpaused"),
)


class Silencing(Protocol):
    """What the menu asks the alert policy (`alerts.policy.Alerts`)."""

    def paused(self, now: float) -> tuple[bool, float | None]:
        """Whether alerts are paused, and until when in engine seconds (None: no end)."""

    def mutes(self, view: PaneView, now: float) -> tuple[tuple[str, str], ...]:
        """Scope and value of each mute of this pane that can be taken back."""


def tray_view(
    views: Iterable[PaneView],
    now: float,
    *,
    alerts: Silencing,
    settings: Settings,
    wall_offset: float,
    zone: str = "",
    problems: Sequence[str] = (),
) -> TrayView:
    """The tray at engine time `now`. problems: what hinders the watching, a line each."""
    views = sorted(views, key=lambda view: (view.since, view.key))
    need = [view for view in views if view.needs_you]
    done = [view for view in views if view.state is State.DONE]
    rest = [view for view in views if not view.needs_you and view.state is not State.DONE]
    rest.sort(key=lambda view: RANK[view.state])
    names = _names(views)
    clock = _Clock(now, wall_offset, zone)
    rows = {view.key: _pane(view, names[view.key], clock) for view in views}
    more = tuple(_more(view, names[view.key], alerts, clock) for view in (*need, *done, *rest))
    paused, end = alerts.paused(now)
    until = clock.until(end)
    sections = (
        ("status", [_told("status", summary(views)), *(_told(f"problem|{one}", one) for one in problems)]),
        ("need", [rows[view.key] for view in need]),
        ("done", [rows[view.key] for view in done]),
        ("rest", _folded([rows[view.key] for view in rest], settings.tray.fold)),
        (
            "end",
            [
                *([MenuItem("panes", "Mute or forget", children=more)] if more else []),
                _pause(until if paused else None),
                MenuItem("quit", "Quit", ("quit",)),
            ],
        ),
    )
    return TrayView(
        state=loudest(view.state for view in views),
        paused=paused,
        count=len(need),
        tooltip=tooltip(views, now) + (f" · paused {until}" if paused else ""),
        menu=_joined(sections),
        click=("jump", need[0].key.token) if need else (),
        middle=("next",),
    )


@dataclass(frozen=True, slots=True)
class _Clock:
    """Engine seconds now, and what makes them local time."""

    now: float
    wall_offset: float
    zone: str

    def until(self, end: float | None) -> str:
        """When a pause or mute ends: `until 14:30`, `until Tue 08:00`, `until undone` (None: no end)."""
        if end is None:
            return "until undone"
        today, then = (local(at + self.wall_offset, zone_of(self.zone)) for at in (self.now, end))
        return f"until {then:%H:%M}" if then.date() == today.date() else f"until {then:%a %H:%M}"


# -- panes -------------------------------------------------------------------------------


def _names(views: Sequence[PaneView]) -> dict[object, str]:
    """What each pane is called; those that would read alike get session and window too."""
    alike = Counter((place(view), agent_of(view)) for view in views)
    names: dict[object, str] = {}
    for view in views:
        name = place(view)
        if alike[name, agent_of(view)] > 1:
            where = f"{view.session}:{view.window_index} {view.pane_id}" if view.session else view.pane_id
            name = f"{name} [{one_line(where, _ASK)}]"
        names[view.key] = name
    return names


def _pane(view: PaneView, name: str, clock: _Clock) -> MenuItem:
    """A pane's row: a click jumps."""
    parts = [f"{GLYPH[view.state]} {name}"]
    parts.append(said(view, lines=1, length=_ASK) if view.needs_you else agent_of(view))
    if view.state is not State.IDLE:
        parts.append(duration(clock.now - view.since))
    if view.muted:
        parts.append(f"muted {clock.until(view.muted_until)}")
    token = view.key.token
    return MenuItem(f"pane|{token}", " · ".join(part for part in parts if part), ("jump", token))


def _more(view: PaneView, name: str, alerts: Silencing, clock: _Clock) -> MenuItem:
    """What else can be done with a pane."""
    token = view.key.token
    id = f"more|{token}"
    children = (
        *_mutes(view, id, alerts.mutes(view, clock.now)),
        MenuItem(f"{id}|forget", "Forget", ("forget", token)),
    )
    return MenuItem(id, f"{GLYPH[view.state]} {name} · {agent_of(view)}", children=children)


def _mutes(view: PaneView, id: str, mutes: Sequence[tuple[str, str]]) -> list[MenuItem]:
    """Ways to mute a pane; or to take back what mutes it, unless that is written in the config."""
    if not view.muted:
        token = view.key.token
        return [MenuItem(f"{id}|mute|{word}", label, ("mute", "pane", token, word)) for word, label in _MUTES]
    if not mutes:
        return [_told(f"{id}|muted", "Muted in the config")]
    return [
        MenuItem(
            f"{id}|unmute|{scope}",
            "Unmute" if scope == "pane" else f"Unmute {scope} {one_line(value, _ASK)}",
            ("mute", scope, value, "off"),
        )
        for scope, value in mutes
    ]


def _folded(rows: list[MenuItem], fold: int) -> list[MenuItem]:
    if len(rows) <= fold:
        return rows
    return [*rows[:fold], MenuItem("more", f"{len(rows) - fold} more", children=tuple(rows[fold:]))]


# -- the rest ----------------------------------------------------------------------------


def _pause(until: str | None) -> MenuItem:
    """until: how long alerts are paused, None when they are not."""
    choices = [MenuItem(f"pause|{word}", label, ("pause", word)) for word, label in _PAUSES]
    if until is not None:
        choices.insert(0, MenuItem("pause|off", "Unpause", ("pause", "off")))
    return MenuItem("pause", "Pause" if until is None else f"Paused {until}", children=tuple(choices))


def _told(id: str, label: str) -> MenuItem:
    """A row that only tells."""
    return MenuItem(id, one_line(label, _PROBLEM), enabled=False)


def _joined(sections: Iterable[tuple[str, list[MenuItem]]]) -> tuple[MenuItem, ...]:
    """The sections that are not empty, with a line between them."""
    menu: list[MenuItem] = []
    for name, items in sections:
        if items and menu:
            menu.append(MenuItem(f"line|{name}", separator=True))
        menu += items
    return tuple(menu)
