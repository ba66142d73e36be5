"""`Engine`: events in, effects out. The whole program's behaviour, without any I/O.

    engine = Engine(settings, manifests, index, started=clock.now())
    effects = engine.feed(event, now)
    deadline = engine.wake_at()          # feed Tick() then, if nothing came before

`now` is engine seconds (suspended time counts). After each event the engine asks the
planner what is due, the alerts what they want to tell, and shows the tray if it changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trayagent.alerts.policy import Alerts
from trayagent.engine import explain, jobs, listing, looking, person, speaking, wording
from trayagent.engine.core import Core, Manifests
from trayagent.engine.menu import icon_view, stale_at, tray_view
from trayagent.identity import Index
from trayagent.model import events
from trayagent.model.effects import (
    Discover,
    Effect,
    Examine,
    Look,
    Tray,
    WatchProcesses,
    WatchTerminals,
)
from trayagent.model.evidence import Claim
from trayagent.model.keys import PaneKey
from trayagent.model.process import Job
from trayagent.model.settings import Settings
from trayagent.model.states import State
from trayagent.model.view import PaneView, TrayView

HANDLERS: dict[type, Callable[[Core, Any], None]] = {
    events.Panes: listing.panes,
    events.ServerFound: listing.server_found,
    events.ServerGone: listing.server_gone,
    events.Clients: listing.clients,
    events.LookEnded: listing.look_ended,
    events.TerminalsChanged: listing.terminals_changed,
    events.PulseState: listing.pulse_state,
    events.Repo: listing.repo,
    events.Remembered: listing.remembered,
    Job: speaking.job,
    events.Output: speaking.output,
    events.Exited: jobs.exited,
    events.Physics: jobs.physics,
    events.Relayed: jobs.relayed,
    events.Frame: looking.frame,
    events.Pulse: looking.pulse,
    Claim: looking.claim,
    events.ActiveWindow: person.active_window,
    events.UserIdle: person.user_idle,
    events.Locked: person.locked,
    events.DesktopQuiet: person.desktop_quiet,
    events.Wall: person.wall,
    events.Resumed: person.resumed,
    events.Visited: person.visited,
    events.Read: person.read,
    events.Forget: person.forget,
    events.MuteSet: person.policy,
    events.Paused: person.policy,
    events.BannerShown: person.policy,
    events.BannerFailed: person.policy,
    events.BannerClosed: person.policy,
    events.Configured: person.configured,
    events.Programs: person.programs,
    events.Recalled: person.recalled,
    events.ManifestsChanged: person.manifests_changed,
}

# What comes all the time and lets go of no alert by itself; a transition that it causes does.
ROUTINE = frozenset(
    {events.Pulse, events.Frame, events.LookEnded, events.Physics, events.Repo, Job, Claim} | {events.Output}
)

# The parts of one answer: what they bring is weighed once, when the answer is complete (LookEnded),
# or as soon as one of them is a change that may be told.
PARTS = frozenset({events.Frame, events.Physics, events.Repo, Job})

# After these the person expects to see what he has done.
ASKING = frozenset(
    {events.MenuOpening, events.MuteSet, events.Paused, events.Read, events.Forget}
    | {events.Configured, events.DesktopQuiet}
)

# The tooltip counts minutes; nobody needs them fresher than this, and only while somebody waits.
TOOLTIP_EVERY = 60.0
TRAY_LEAST = 1.0
# Attention is asked for again at most this often while a banner is about to be shown.
ASK_EVERY = 0.4


class Engine:
    """The sans-I/O core. See the module's text."""

    def __init__(
        self,
        settings: Settings,
        manifests: Manifests,
        index: Index,
        *,
        started: float = 0.0,
        host_names: frozenset[str] = frozenset(),
        ticks: int = 100,
        first_alert: int = 1,
        first_transition: int = 1,
    ) -> None:
        self.core = Core(
            settings,
            manifests,
            index,
            Alerts(settings, first_alert, words=wording),
            started,
            host_names,
            ticks,
            first_transition - 1,
        )
        self.core.attention.away_after = settings.alerts.away_after
        self._shown = TrayView()
        self._watched: tuple[frozenset[str], frozenset[str]] | None = None
        self._processes: frozenset[object] | None = None
        self._discovered = started
        self._asked = float("-inf")
        self._lifecycle: float | None = None
        self._tooltip: float | None = None

    # -- the loop's two calls --------------------------------------------------------------

    def feed(self, event: events.Event, now: float) -> list[Effect]:
        """Take one event at engine time `now`; returns what is to be done, in order."""
        core = self.core
        core.now = max(now, core.now)
        handler = HANDLERS.get(type(event))
        if handler is not None:
            handler(core, event)
        core.alerts_dirty |= type(event) not in ROUTINE
        core.tray.asked |= type(event) in ASKING
        if type(event) not in PARTS or core.alerts_dirty:
            self._advance()
        out, core.out = core.out, []
        return out

    def wake_at(self) -> float | None:
        """When time alone makes something due; None: only an event can."""
        core = self.core
        moments = [
            core.planner.wake_at(),
            core.alerts.wake_at(),
            min(core.judge_at.values(), default=None),
            self._lifecycle,
            self._tooltip,
            core.tray.wake_at(),
            self._discovered + listing.DISCOVER_EVERY,
        ]
        if core.alerts.about_to_tell(core.now):
            moments.append(self._asked + ASK_EVERY)
        return min((moment for moment in moments if moment is not None), default=None)

    # -- what commands and menus ask -------------------------------------------------------

    def views(self, now: float) -> tuple[PaneView, ...]:
        """All listed panes."""
        self.core.now = max(now, self.core.now)
        return tuple(self.core.views())

    def explain(self, key: PaneKey, now: float) -> dict[str, Any] | None:
        """Why a pane has its state: the production path again, with a trace. None: no such pane."""
        self.core.now = max(now, self.core.now)
        return explain.explain(self.core, key)

    def problems(self) -> dict[str, str]:
        """What hinders the watching, by topic."""
        return dict(self.core.problems)

    def use(self, manifests: Manifests, index: Index) -> None:
        """Manifests that were read anew; feed ManifestsChanged afterwards."""
        self.core.manifests, self.core.index = manifests, index

    # -- after each event ------------------------------------------------------------------

    def _advance(self) -> None:
        core = self.core
        looking.judge_due(core)
        self._lifecycle = jobs.lifecycle(core)
        self._refresh_attention()
        wake = core.alerts.wake_at()
        if core.alerts_dirty or (wake is not None and wake <= core.now):
            core.alerts_dirty = False
            core.out += core.alerts.poll(core, core.now)
        self._plan()
        if core.watch_dirty:
            self._watch()
        core.tray.dirty |= core.recent.note(core.out)
        if self._tooltip is not None and self._tooltip <= core.now:
            core.tray.dirty = core.tray.urgent = True
        what = core.tray.due(core.now)
        if what:
            self._show_tray(what)

    def _refresh_attention(self) -> None:
        """A banner is due: who looks at what must be known as of now."""
        core = self.core
        due = core.alerts.about_to_tell(core.now)
        if not due or core.now - self._asked < ASK_EVERY:
            return
        self._asked = core.now
        core.ask_attention({key.server for key in due if key.server in core.planner.servers})
        for key in due:
            if core.planner.pending(key):
                core.planner.want(key, core.now, "about to tell")

    def _plan(self) -> None:
        core = self.core
        if core.now >= self._discovered + listing.DISCOVER_EVERY:
            self._discovered = core.now
            core.out.append(Discover())
        wake = core.planner.wake_at()
        if wake is None or wake > core.now:
            return
        looks, examined = core.planner.due(core.now)
        for due in looks:
            core.planner.look_began(due, core.now)
            joined = frozenset(key for key in due.panes if core.reads_joined(key))
            core.out.append(Look(due.server, due.panes, due.listing, due.clients, joined, due.why))
            examined += due.panes
        if examined:
            panes = [core.panes[key] for key in examined if key in core.panes]
            core.out.append(Examine(tuple(pane.terminal for pane in panes)))
            for key in examined:
                core.planner.examined(key, core.now)

    def _watch(self) -> None:
        core = self.core
        core.watch_dirty = False
        panes = frozenset(pane.info.tty for pane in core.panes.values() if not pane.gone and pane.info.tty)
        shown = frozenset(client.tty for each in core.attention.clients.values() for client in each) - panes
        if (panes, shown) != self._watched:
            self._watched = (panes, shown)
            core.out.append(WatchTerminals(panes, shown))
        processes = frozenset(pane.process for pane in core.panes.values() if pane.process is not None)
        if processes != self._processes:
            self._processes = frozenset(processes)
            core.out.append(WatchProcesses(processes))

    def _show_tray(self, what: str) -> None:
        core = self.core
        core.tray.done(what, core.now)
        views = tuple(core.views())
        view = self._icon(views) if what == "icon" else self._whole(views)
        self._tooltip = self._show_again_at(views)
        if view != self._shown:
            self._shown = view
            core.out.append(Tray(view))

    def _icon(self, views: tuple[PaneView, ...]) -> TrayView:
        core = self.core
        return icon_view(self._shown, views, core.now, core.alerts, core.wall_offset, core.zone)

    def _whole(self, views: tuple[PaneView, ...]) -> TrayView:
        core = self.core
        return tray_view(
            views,
            core.now,
            alerts=core.alerts,
            settings=core.settings,
            wall_offset=core.wall_offset,
            zone=core.zone,
            problems=tuple(core.problems.values()),
            config_problems=core.config_problems,
            recent=core.recent.last(core.settings.tray.recent),
            alive={key for key, pane in core.panes.items() if not pane.gone},
            programs=core.programs,
            dnd=core.dnd,
        )

    def _show_again_at(self, views: tuple[PaneView, ...]) -> float | None:
        """When the tray is drawn anew though nothing happened."""
        core = self.core
        waiting = any(view.state in (State.BLOCKED, State.ERROR, State.DONE) for view in views)
        stale = stale_at(
            views,
            core.now,
            alerts=core.alerts,
            settings=core.settings,
            wall_offset=core.wall_offset,
            zone=core.zone,
        )
        if stale is not None:
            stale = max(stale, core.now + TRAY_LEAST)  # quiet hours are known to the second only
        moments = (stale, core.now + TOOLTIP_EVERY if waiting else None)
        return min((moment for moment in moments if moment is not None), default=None)
