"""The one table of what can be set: key, type, one line of what it does.

Defaults are model/settings.py's own; the table's keys are its attributes (a test holds the two
together), save where a word is Python's (`manifests.import`). Reading, `config schema`,
`config init`, `config check` and `config set` all go by this table.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from trayagent.config.profiles import Profiles
from trayagent.config.quiet import Mutes, QuietSpans
from trayagent.config.sinks import Sinks
from trayagent.config.values import (
    Choice,
    Duration,
    Flag,
    Named,
    Number,
    States,
    Switches,
    Text,
    Texts,
    Value,
    Zone,
)
from trayagent.model.settings import Settings
from trayagent.model.states import State


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. attribute: where it is in Settings, if not under the same name."""

    path: str
    type: Value
    doc: str
    attribute: str = ""

    @property
    def target(self) -> str:
        """The attribute path in Settings."""
        return self.attribute or self.path

    @property
    def default(self) -> Any:
        """The default value, read off Settings."""
        return get(Settings(), self.target)


@dataclass(frozen=True, slots=True)
class Group:
    """A section. short: what may stand in its place instead of a mapping, and where that goes."""

    path: str
    doc: str
    short: tuple[Value, str] | None = None


_STATE_NAMES = tuple(state.value for state in State)
_FOREIGN = ("thinkterm", "herdr", "tmux-ide", "tuios", "jackin")
_FILE = Text("a sound file")
_FOCUS = Choice(("active", "visible"))

GROUPS = (
    Group("watch", "Where panes come from."),
    Group("watch.tmux", "tmux servers of this user; they are found by themselves."),
    Group("detect", "How states are judged."),
    Group("manifests", "Rule files of agents."),
    Group("alerts", "What becomes a banner, and when."),
    Group("alerts.states", "Which states are told.", (Switches(), "alerts.states")),
    Group("alerts.settle", "How long a state must stand before it is told."),
    Group("alerts.remind", "Another banner for what still needs you; off unless `after` is set."),
    Group("alerts.rate", "How many banners at most; what is over waits."),
    Group("quiet_hours", "Times in which alerts are held for later.", (QuietSpans(), "quiet_hours.spans")),
    Group("sounds", "Sounds."),
    Group("tray", "The icon and its menu."),
    Group("notify", "Banners."),
    Group("ledger", "History."),
)

KEYS = (
    Key("watch.tmux.enabled", Flag(), "Watch tmux servers."),
    Key("watch.tmux.sockets", Texts(), "Further sockets to watch, beside those that are found."),
    Key("watch.pulse", Flag(), "Notice writes to terminals at once (inotify); off: look at intervals."),
    Key("detect.hold", Duration(0, 10), "How long a change out of working or blocked must stand."),
    Key("detect.hold_cap", Duration(0, 30), "The longest that such a change is held, whatever is seen."),
    Key("detect.stall", Duration(0, 3600), "Silence while working after which the state is unknown."),
    Key("detect.agents", Named(Text("an agent's id"), "program name"), "Further program names of agents."),
    Key("manifests.import", Texts(_FOREIGN), "Read the rule files of these tools too.", "manifests.imports"),
    Key(
        "manifests.update_url",
        Text("an index"),
        "Where `manifests update` looks; never by itself.",
    ),
    Key("alerts.enabled", Flag(), "Show banners and play sounds at all."),
    Key("alerts.states.blocked", Flag(), "An agent waits for a decision."),
    Key("alerts.states.error", Flag(), "A turn broke."),
    Key("alerts.states.done", Flag(), "A turn ended and nobody has looked."),
    Key("alerts.agents", Named(Switches(), "agent id"), "Other states for an agent: {codex: [blocked]}."),
    Key("alerts.projects", Named(Switches(), "project"), "Other states for a project: {notes: off}."),
    Key("alerts.short_turn", Duration(0, 3600), "A turn shorter than this ends silently."),
    Key("alerts.settle.blocked", Duration(0, 3600), "For blocked."),
    Key("alerts.settle.other", Duration(0, 3600), "For all other states."),
    Key("alerts.merge", Duration(0, 60), "Panes due within this time share one banner."),
    Key("alerts.rate.same", Duration(0, 86400), "The same prompt is told once in this time."),
    Key("alerts.rate.pane", Number(1, 1000, whole=True), "Banners a pane within the window."),
    Key("alerts.rate.total", Number(1, 1000, whole=True), "Banners in all within the window."),
    Key("alerts.rate.window", Duration(1, 3600), "The window."),
    Key("alerts.mute", Mutes(), "Never told: [{project: notes}, {agent: aider}, {session: play}]."),
    Key("alerts.focus_done", _FOCUS, "Which panes of the front window count as seen when a turn ends."),
    Key("alerts.focus_blocked", _FOCUS, "Which panes of the front window count as seen when blocked."),
    Key("alerts.away_after", Duration(0, 86400), "Without input for this long, nothing counts as seen."),
    Key("alerts.remind.after", Duration(0, 86400), "From the banner to the first reminder; off for none."),
    Key("alerts.remind.every", Duration(1, 86400), "From one reminder to the next."),
    Key("alerts.remind.times", Number(1, 100, whole=True), "How many at most."),
    Key(
        "alerts.escalate_sound",
        Duration(0, 86400),
        "Play the sound again when you are away and a question has stood this long; off for never.",
    ),
    Key(
        "alerts.profiles", Profiles(), "By folder: [{path: ~/play/*, states: off, quiet_hours: 18:00-09:00}]."
    ),
    Key(
        "alerts.sinks",
        Sinks(),
        "Programs that are given alerts: {phone: {command: [notify-phone], when: away}}.",
    ),
    Key("alerts.critical", States(), "States whose banners stay until they are closed."),
    Key("alerts.text", Choice(("full", "short", "none")), "How much of the question a banner shows."),
    Key("quiet_hours.spans", QuietSpans(), "Such as [mon-fri 22:00-07:00, weekends 20:00-10:00]."),
    Key("quiet_hours.allow", States(), "States that are told all the same."),
    Key("quiet_hours.zone", Zone(), "Time zone of the spans; empty: the system's own."),
    Key(
        "sounds.mode",
        Choice(("audio", "bell", "both", "off")),
        "Play files, ring the terminal that you used last, both, or neither.",
    ),
    Key("sounds.volume", Number(0, 1), "From 0 to 1, or in percent."),
    Key("sounds.gap", Duration(0, 3600), "The least time between two sounds."),
    Key("sounds.states", Named(_FILE, "state", _STATE_NAMES), "Sound by state: {blocked: ~/knock.ogg}."),
    Key("sounds.agents", Named(_FILE, "agent id"), "Sound by agent; it goes before the state's."),
    Key("sounds.projects", Named(_FILE, "project"), "Sound by project; it goes before the agent's."),
    Key("sounds.while_locked", Flag(), "Play sounds while the screen is locked."),
    Key("tray.backend", Choice(("auto", "sni", "pystray", "off")), "How the icon is shown."),
    Key("tray.fold", Number(1, 100, whole=True), "More working and idle panes than this go into a submenu."),
    Key("tray.recent", Number(0, 100, whole=True), "How many entries the menu's Recent holds."),
    Key("notify.backend", Choice(("auto", "freedesktop", "plyer", "off")), "How banners are shown."),
    Key("ledger.keep_days", Number(1, 36500, whole=True), "Days of history."),
    Key("ledger.keep_rows", Number(100, 10_000_000, whole=True), "Entries of history."),
    Key("ledger.text_hours", Number(0, 24), "Hours after which an unanswered question's text is deleted."),
)

BY_PATH = {key.path: key for key in KEYS}
GROUP_BY_PATH = {group.path: group for group in GROUPS}


def children(path: str) -> list[str]:
    """The names that may stand below a section (`` for the file itself), in the table's order."""
    start = f"{path}." if path else ""
    below = [
        known[len(start) :].split(".")[0] for known in (*GROUP_BY_PATH, *BY_PATH) if known.startswith(start)
    ]
    return list(dict.fromkeys(below))


def get(settings: Any, attribute: str) -> Any:
    """The value at an attribute path."""
    for name in attribute.split("."):
        settings = getattr(settings, name)
    return settings


def put(settings: Any, attribute: str, value: Any) -> Any:
    """A copy of the settings with the value at an attribute path."""
    name, _, rest = attribute.partition(".")
    inner = put(getattr(settings, name), rest, value) if rest else value
    return dataclasses.replace(settings, **{name: inner})
