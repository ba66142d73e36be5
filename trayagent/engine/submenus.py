"""The menu's lower part, row by row: what can be done with panes, Recent, Pause, quiet hours, Sounds.

Rows that tell a state (a pause, quiet hours, the sounds' mode) tell it in their own label, so that
nobody must open a submenu to see it, and so that a change is a new label of the same row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from trayagent.alerts.hours import local, quiet_end, quiet_start, zone_of
from trayagent.engine.recent import Entry
from trayagent.engine.wording import agent_of, duration, one_line, place, said
from trayagent.model.events import Programs
from trayagent.model.keys import PaneKey
from trayagent.model.settings import QuietSettings
from trayagent.model.states import GLYPH, State
from trayagent.model.view import MenuItem, PaneView

ASK = 60  # characters of a question in the menu
_ASKED = 40  # and of one that is over, whose row has more to tell
_MUTES = (("1h", "1 h"), ("tomorrow", "Until tomorrow"), ("always", "Always"))
_PAUSES = (
    ("30m", "30 min"),
    ("1h", "1 h"),
    ("4h", "4 h"),
    ("tomorrow", "Until tomorrow"),
    ("always", "Until unpaused"),
)
_SOUNDS = (("audio", "Audio"), ("bell", "Terminal bell"), ("both", "Both"), ("off", "Off"))
_HELD = {"desktop-dnd": "do not disturb", "locked": "locked screen"}  # other holds go by their name


@dataclass(frozen=True, slots=True)
class _Scope:
    """What a mute may cover beyond a pane. value: by which a pane is muted; name: that for people."""

    name: str
    label: str
    value_of: Callable[[PaneView], str]
    name_of: Callable[[PaneView], str]


def _session(view: PaneView) -> str:
    return f"{view.server}:{view.session}" if view.server and view.session else view.session


_SCOPES = (
    _Scope("session", "Mute a session", _session, lambda view: view.session),
    _Scope("project", "Mute a project", lambda view: view.labels.path, lambda view: view.labels.project),
    _Scope("agent", "Mute an agent", lambda view: view.agent, agent_of),
)


class Silencing(Protocol):
    """What the menu asks the alert policy (`alerts.policy.Alerts`)."""

    def paused(self, now: float) -> tuple[bool, float | None]:
        """Whether alerts are paused, and until when in engine seconds (None: no end)."""

    def mutes(self, view: PaneView, now: float) -> tuple[tuple[str, str], ...]:
        """Scope and value of each mute of this pane that can be taken back."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Engine seconds now, and what makes them local time."""

    now: float
    wall_offset: float
    zone: str

    def at(self, moment: float) -> str:
        """An engine time as the wall clock shows it: `14:30`, or `Tue 08:00` on another day."""
        today, then = (local(at + self.wall_offset, zone_of(self.zone)) for at in (self.now, moment))
        return f"{then:%H:%M}" if then.date() == today.date() else f"{then:%a %H:%M}"

    def until(self, end: float | None) -> str:
        """When a pause or mute ends: `until 14:30`, `until undone` (None: no end)."""
        return "until undone" if end is None else f"until {self.at(end)}"

    def quiet(self, quiet: QuietSettings) -> tuple[float | None, float | None]:
        """Engine seconds at which quiet hours end (None: it is not quiet), and begin next (None: never)."""
        epoch, zone = self.now + self.wall_offset, zone_of(quiet.zone or self.zone)
        if not quiet.spans:
            return None, None
        ends = (quiet_end(quiet, epoch, zone), quiet_start(quiet, epoch, zone))
        end, start = (None if moment is None else moment - self.wall_offset for moment in ends)
        return end, start


def told(id: str, label: str) -> MenuItem:
    """A row that only tells."""
    return MenuItem(id, label, enabled=False)


# -- panes -------------------------------------------------------------------------------


def panes_menu(
    views: Sequence[PaneView], names: dict[PaneKey, str], alerts: Silencing, programs: Programs, clock: Clock
) -> MenuItem:
    """What else can be done with a pane; below the panes, mutes of more than one of them."""
    panes = [_pane(view, names[view.key], alerts, programs, clock) for view in views]
    scopes = [row for scope in _SCOPES if (row := _scope(scope, views, alerts, clock)).children]
    label = "Mute, why?, forget" if programs.terminal else "Mute, forget"
    return MenuItem("panes", label, children=(*panes, MenuItem("panes|line", separator=True), *scopes))


def _pane(view: PaneView, name: str, alerts: Silencing, programs: Programs, clock: Clock) -> MenuItem:
    id, mutes = f"more|{view.key.token}", alerts.mutes(view, clock.now) if view.muted else None
    target = view.labels.target or view.pane_id
    children = _pane_rows(id, view.key.token, view.state, target, mutes, programs)
    return MenuItem(id, f"{GLYPH[view.state]} {name} · {agent_of(view)}", children=children)


# Most rows of a large menu are these, and they hardly ever change: made anew each time they were
# half of what drawing it took (fifty panes, 730 rows). Rows that are the same object are also
# known at once to be unchanged where they are shown.
@lru_cache(maxsize=512)
def _pane_rows(
    id: str,
    token: str,
    state: State,
    target: str,
    mutes: tuple[tuple[str, str], ...] | None,
    programs: Programs,
) -> tuple[MenuItem, ...]:
    """Ways to mute a pane, or to take back what mutes it (mutes None: nothing does), unless that is
    written in the config; and what else can be done with it."""
    if mutes is None:
        rows = _durations(id, "pane", token, "Mute ")
    else:
        rows = _unmutes(id, mutes) or (told(f"{id}|muted", "Muted in the config"),)
    more = [MenuItem(f"{id}|line", separator=True)]
    if programs.clipboard:
        more.append(MenuItem(f"{id}|copy", f"Copy target {one_line(target, ASK)}", ("copy", token)))
    if programs.terminal:
        more.append(MenuItem(f"{id}|why", f"Why {state.value}?", ("why", token)))
    return (*rows, *more, MenuItem(f"{id}|forget", "Forget", ("forget", token)))


@lru_cache(maxsize=512)
def _durations(id: str, scope: str, value: str, verb: str = "") -> tuple[MenuItem, ...]:
    words = [(word, f"{verb}{label[0].lower()}{label[1:]}" if verb else label) for word, label in _MUTES]
    return tuple(MenuItem(f"{id}|mute|{word}", label, ("mute", scope, value, word)) for word, label in words)


def _unmutes(id: str, mutes: Iterable[tuple[str, str]]) -> tuple[MenuItem, ...]:
    return tuple(
        MenuItem(
            f"{id}|unmute|{scope}|{value}",
            "Unmute" if scope == "pane" else f"Unmute {scope} {one_line(value, ASK)}",
            ("mute", scope, value, "off"),
        )
        for scope, value in mutes
    )


def _scope(scope: _Scope, views: Sequence[PaneView], alerts: Silencing, clock: Clock) -> MenuItem:
    """All values of one scope, each with its ways to mute it, or to take back what mutes it."""
    found = {scope.value_of(view): view for view in views if scope.value_of(view)}
    names = {value: one_line(scope.name_of(view), ASK) or value for value, view in found.items()}
    alike = Counter(names.values())
    rows = []
    for value, view in found.items():
        id, name = f"scope|{scope.name}|{value}", names[value]
        mutes = [mute for mute in alerts.mutes(view, clock.now) if mute[0] == scope.name]
        children = _unmutes(id, mutes) if mutes else _durations(id, scope.name, value)
        label = (one_line(value, ASK) if alike[name] > 1 else name) + (" · muted" if mutes else "")
        rows.append(MenuItem(id, label, children=children))
    return MenuItem(
        f"scope|{scope.name}", scope.label, children=tuple(sorted(rows, key=lambda row: row.label))
    )


# -- what was, and what is held ------------------------------------------------------------


def recent_menu(entries: Sequence[Entry], alive: Set[PaneKey], clock: Clock) -> MenuItem:
    """The last alerts, newest first: a click jumps, which reads them. alive: panes that can be shown."""
    rows = [_entry(entry, entry.pane in alive, clock) for entry in entries]
    unread = any(not entry.read for entry in entries)
    all_read = MenuItem("recent|read", "Mark all read", ("read",), enabled=unread)
    return MenuItem("recent", "Recent", children=(*rows, MenuItem("recent|line", separator=True), all_read))


def _entry(entry: Entry, alive: bool, clock: Clock) -> MenuItem:
    view = _as_view(entry)
    ago = clock.now - entry.at
    parts = [
        f"{GLYPH[entry.state]} {place(view)}",
        said(view, lines=1, length=_ASKED),
        f"{duration(ago)} ago" if ago >= 60 else "just now",
    ]
    if entry.outcome == "held":
        parts.append(f"held: {_HELD.get(entry.held_by, entry.held_by.replace('-', ' '))}")
    elif entry.outcome == "failed":
        parts.append("no banner")
    if not entry.read:
        parts.append("unread")
    action = ("jump", entry.pane.token) if alive else ()
    return MenuItem(f"recent|{entry.id}", " · ".join(parts), action, enabled=alive)


def _as_view(entry: Entry) -> PaneView:
    """The pane as it was then, as far as its words need it."""
    labels = entry.labels
    return PaneView(
        entry.pane, labels, labels.agent, labels.agent_name, entry.state, entry.at, "", "", labels.server,
        labels.session, labels.window, 0, entry.pane.id, entry.kind, entry.reason, entry.message,
    )  # fmt: skip


def pause_menu(until: str | None) -> MenuItem:
    """until: how long alerts are paused, None when they are not."""
    choices = [MenuItem(f"pause|{word}", label, ("pause", word)) for word, label in _PAUSES]
    if until is not None:
        choices.insert(0, MenuItem("pause|off", "Unpause", ("pause", "off")))
    return MenuItem("pause", "Pause" if until is None else f"Paused {until}", children=tuple(choices))


def quiet_rows(quiet: QuietSettings, clock: Clock, dnd: bool) -> list[MenuItem]:
    """Whether alerts wait for quiet hours or the desktop to end, and when quiet hours are next."""
    end, start = clock.quiet(quiet)
    rows = [told("dnd", "Do not disturb is on")] if dnd else []
    if end is not None:
        rows.append(told("quiet", f"Quiet hours until {clock.at(end)}"))
    elif start is not None:
        rows.append(told("quiet", f"Quiet hours: next {clock.at(start)}"))
    return rows


def sounds_menu(mode: str) -> MenuItem:
    """How alerts are heard. mode: the one in force."""
    choices = [
        MenuItem(f"sounds|{word}", label, ("sounds", word), toggle="radio", checked=word == mode)
        for word, label in _SOUNDS
    ]
    test = MenuItem("sounds|test", "Test sound", ("test-sound",))
    label = dict(_SOUNDS).get(mode, mode).lower()
    return MenuItem(
        "sounds", f"Sounds: {label}", children=(*choices, MenuItem("sounds|line", separator=True), test)
    )
