"""The tray as data: icon, tooltip, menu and clicks, drawn from the panes as they are now.

    status line
    what is wrong: with the watching, and with the config file (a click opens it)
    ──  needs you: longest waiting first; as many as the number on the icon
    ──  done, unread
    ──  working and idle; beyond `tray.fold` of them in a submenu
    ──  Mute, why?, forget: a submenu a pane (rows themselves stay flat: hosts open a row's
        submenu where its click should jump)
        Recent
        Pause
        quiet hours, the desktop's do not disturb
        Sounds
    ──  Edit config
        Doctor
        About
        Quit

An item's id belongs to the thing that it stands for (a pane keeps its id when it moves to
another section), so that an open menu can be updated in place. Actions are tuples:

    ("jump", token)  ("next",)  ("copy", token)  ("why", token)  ("forget", token)
    ("mute", scope, value, word)   ("pause", word)   ("read",)
    ("sounds", mode)  ("test-sound",)  ("edit-config",)  ("doctor",)  ("about",)  ("quit",)

with a pane's token (`PaneKey.token`) and a word of `alerts.hours.until` (`1h tomorrow always off`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from trayagent.engine.recent import Entry
from trayagent.engine.submenus import (
    ASK,
    Clock,
    Silencing,
    panes_menu,
    pause_menu,
    quiet_rows,
    recent_menu,
    sounds_menu,
    told,
)
from trayagent.engine.wording import agent_of, duration, one_line, place, said, summary, tooltip
from trayagent.judge.rollup import loudest
from trayagent.model.events import Programs
from trayagent.model.keys import PaneKey
from trayagent.model.settings import Settings
from trayagent.model.states import GLYPH, RANK, State
from trayagent.model.view import MenuItem, PaneView, TrayView

_PROBLEM = 100  # characters
_ALL = Programs(terminal=True, editor=True, clipboard=True)


def tray_view(
    views: Iterable[PaneView],
    now: float,
    *,
    alerts: Silencing,
    settings: Settings,
    wall_offset: float,
    zone: str = "",
    problems: Sequence[str] = (),
    config_problems: Sequence[str] = (),
    recent: Sequence[Entry] = (),
    alive: Set[PaneKey] = frozenset(),
    programs: Programs = _ALL,
    dnd: bool = False,
) -> TrayView:
    """The tray at engine time `now`. problems: what hinders the watching, a line each; config_problems:
    what is wrong with the config file. recent: the last alerts, newest first; alive: panes that a
    click on them can still show. dnd: the desktop's own do-not-disturb."""
    views = sorted(views, key=lambda view: (view.since, view.key))
    need = [view for view in views if view.needs_you]
    done = [view for view in views if view.state is State.DONE]
    rest = [view for view in views if not view.needs_you and view.state is not State.DONE]
    rest.sort(key=lambda view: RANK[view.state])
    names = _names(views)
    clock = Clock(now, wall_offset, zone)
    rows = {view.key: _pane(view, names[view.key], clock) for view in views}
    paused, end = alerts.paused(now)
    until = clock.until(end)
    manage = [panes_menu((*need, *done, *rest), names, alerts, programs, clock)] if views else []
    past = [recent_menu(recent, alive, clock)] if recent else []
    sections = (
        ("status", [told("status", summary(views)), *_problems(problems, config_problems, programs)]),
        ("need", [rows[view.key] for view in need]),
        ("done", [rows[view.key] for view in done]),
        ("rest", _folded([rows[view.key] for view in rest], settings.tray.fold)),
        (
            "alerts",
            [
                *manage,
                *past,
                pause_menu(until if paused else None),
                *quiet_rows(settings.quiet_hours, clock, dnd),
                sounds_menu(settings.sounds.mode),
            ],
        ),
        ("end", _end(programs)),
    )
    shown = TrayView(menu=_joined(sections), middle=("next",))
    return icon_view(shown, views, now, alerts, wall_offset, zone)


def icon_view(
    shown: TrayView,
    views: Iterable[PaneView],
    now: float,
    alerts: Silencing,
    wall_offset: float,
    zone: str = "",
) -> TrayView:
    """`shown` with icon, number, tooltip and click as they are now; its menu stays as it was drawn."""
    views = sorted(views, key=lambda view: (view.since, view.key))
    need = [view for view in views if view.needs_you]
    paused, end = alerts.paused(now)
    until = Clock(now, wall_offset, zone).until(end)
    return replace(
        shown,
        state=loudest(view.state for view in views),
        paused=paused,
        count=len(need),
        tooltip=tooltip(views, now) + (f" · paused {until}" if paused else ""),
        click=("jump", need[0].key.token) if need else (),
    )


def stale_at(
    views: Iterable[PaneView],
    now: float,
    *,
    alerts: Silencing,
    settings: Settings,
    wall_offset: float,
    zone: str = "",
) -> float | None:
    """When time alone makes the tray untrue, in engine seconds: a pause, mute or quiet hours end or begin."""
    _, pause = alerts.paused(now)
    ends = [pause, *Clock(now, wall_offset, zone).quiet(settings.quiet_hours)]
    ends += [view.muted_until for view in views if view.muted]
    return min((end for end in ends if end is not None), default=None)


# -- panes -------------------------------------------------------------------------------


def _names(views: Sequence[PaneView]) -> dict[PaneKey, str]:
    """What each pane is called; those that would read alike get session and window too."""
    alike = Counter((place(view), agent_of(view)) for view in views)
    names: dict[PaneKey, str] = {}
    for view in views:
        name = place(view)
        if alike[name, agent_of(view)] > 1:
            where = f"{view.session}:{view.window_index} {view.pane_id}" if view.session else view.pane_id
            name = f"{name} [{one_line(where, ASK)}]"
        names[view.key] = name
    return names


def _pane(view: PaneView, name: str, clock: Clock) -> MenuItem:
    """A pane's row: a click jumps."""
    parts = [f"{GLYPH[view.state]} {name}"]
    parts.append(said(view, lines=1, length=ASK) if view.needs_you else agent_of(view))
    if view.state is not State.IDLE:
        parts.append(duration(clock.now - view.since))
    if view.muted:
        parts.append(f"muted {clock.until(view.muted_until)}")
    token = view.key.token
    return MenuItem(f"pane|{token}", " · ".join(part for part in parts if part), ("jump", token))


def _folded(rows: list[MenuItem], fold: int) -> list[MenuItem]:
    if len(rows) <= fold:
        return rows
    return [*rows[:fold], MenuItem("more", f"{len(rows) - fold} more", children=tuple(rows[fold:]))]


# -- the rest ----------------------------------------------------------------------------


def _problems(problems: Sequence[str], config_problems: Sequence[str], programs: Programs) -> list[MenuItem]:
    """What is wrong, a row each; of the config file the first thing only, which is the one to mend first."""
    rows = [told(f"problem|{one}", one_line(one, _PROBLEM)) for one in problems]
    for one in config_problems[:1]:
        action = ("edit-config",) if programs.editor else ()
        rows.append(MenuItem("config|problem", one_line(one, _PROBLEM), action, enabled=bool(action)))
    return rows


def _end(programs: Programs) -> list[MenuItem]:
    edit = [MenuItem("config", "Edit config", ("edit-config",))] if programs.editor else []
    return [
        *edit,
        MenuItem("doctor", "Doctor", ("doctor",)),
        MenuItem("about", "About", ("about",)),
        MenuItem("quit", "Quit", ("quit",)),
    ]


def _joined(sections: Iterable[tuple[str, list[MenuItem]]]) -> tuple[MenuItem, ...]:
    """The sections that are not empty, with a line between them."""
    menu: list[MenuItem] = []
    for name, items in sections:
        if items and menu:
            menu.append(MenuItem(f"line|{name}", separator=True))
        menu += items
    return tuple(menu)
