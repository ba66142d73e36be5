"""What all event handlers share: the table, the planner, attention, alerts, and the judging of one pane.

A handler (listing, jobs, looking, person) notes what an event says and calls `judge` for
the panes that it touches; `judge` is the only place where a decision is drawn, and
`publish` the only one where a change becomes a transition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from trayagent.alerts.cases import TOLD
from trayagent.alerts.policy import Alerts
from trayagent.engine.attention import Attention
from trayagent.engine.pace import Pace
from trayagent.engine.panes import Pane
from trayagent.engine.planner import Planner
from trayagent.engine.recent import Recent
from trayagent.engine.views import labels_of, view_of
from trayagent.identity import Index
from trayagent.judge import Evidence, Memory, decide, fresh, seen
from trayagent.judge.lifetimes import why_not
from trayagent.manifest.format import Manifest
from trayagent.model.effects import AskUser, Effect, RecordGone, RecordTransition
from trayagent.model.events import Programs, Remembered, Repo
from trayagent.model.evidence import Claim, Transition
from trayagent.model.keys import PaneKey, ProcessKey, ServerKey
from trayagent.model.settings import Settings
from trayagent.model.states import State
from trayagent.model.view import PaneView

# A key read this long after a turn ended is somebody at the pane; sooner it may be the
# terminal's answer to a query that the agent sends as it draws its prompt again.
TYPED_AFTER = 1.0
# A look this young is good enough to tell by, also where the pane never stops drawing.
FRESH = 0.4
AT_ONCE = float("-inf")
# Seconds after which a state has settled, and its pane's silences mean nothing. A dialog that is
# withdrawn at once must be seen to be; an agent that is idle may be starting, and ask its first question.
# What follows the end of a turn is a new turn (of 60 silences at such ends none meant a question).
CALM_AFTER = {State.IDLE: 2.0, State.BLOCKED: 2.0, State.DONE: AT_ONCE, State.ERROR: AT_ONCE}
# Time for the kernel's word on how a process ended, once its shell is back.
ENDING_WAIT = 0.2


class Manifests(Protocol):
    """Where manifests come from: an id or alias to the one that serves."""

    def get(self, agent: str) -> Manifest | None:
        """The manifest of this agent, None if there is none."""
        ...


@dataclass(slots=True)
class Core:
    """The engine's state. host_names: what a terminal shows as a title by itself (host
    name, its first label). started: engine seconds of our start. ticks: clock ticks a
    second in which process start times are given."""

    settings: Settings
    manifests: Manifests
    index: Index
    alerts: Alerts
    started: float
    host_names: frozenset[str] = frozenset()
    ticks: int = 100
    transition_id: int = 0
    wall_offset: float = 0.0
    zone: str = ""
    panes: dict[PaneKey, Pane] = field(default_factory=dict)
    names: dict[ServerKey, str] = field(default_factory=dict)
    remembered: dict[PaneKey, Remembered] = field(default_factory=dict)
    repos: dict[str, Repo] = field(default_factory=dict)
    planner: Planner = field(default_factory=Planner)
    attention: Attention = field(default_factory=Attention)
    judge_at: dict[PaneKey, float] = field(default_factory=dict)
    catching: set[PaneKey] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)
    config_problems: tuple[str, ...] = ()
    programs: Programs = field(default_factory=Programs)
    recent: Recent = field(default_factory=Recent)
    out: list[Effect] = field(default_factory=list)
    now: float = 0.0
    tray: Pace = field(default_factory=Pace)
    alerts_dirty: bool = True
    watch_dirty: bool = True

    # -- judging -------------------------------------------------------------------------

    def judge(self, pane: Pane) -> None:
        """Draw the decision anew and publish what changed."""
        before = pane.memory
        evidence = self.evidence(pane)
        self.settle(pane, before, decide(before, evidence, self.now))

    def settle(self, pane: Pane, before: Memory, after: Memory) -> None:
        """Take a new memory over: publish its change, plan the next look."""
        pane.memory = after
        old, new = before.decision, after.decision
        if (old.state, old.fingerprint) != (new.state, new.fingerprint):
            self.publish(pane, before)
        elif old.message != new.message:
            self.tray.dirty = True
        self.plan(pane)

    def plan(self, pane: Pane) -> None:
        """Tell the planner what kind of pane this is now, and when to judge it again."""
        calm = CALM_AFTER.get(pane.state, float("inf"))
        working, calm_from = pane.state is State.WORKING, pane.memory.since + calm
        self.planner.is_now(pane.key, agent=pane.here, working=working, calm_from=calm_from)
        again = pane.memory.decision.look_again_at
        if pane.rest.probing:
            return  # a probe is under way and has its own next moment
        if again is None:
            self.judge_at.pop(pane.key, None)
        else:
            self.judge_at[pane.key] = max(again, self.now + 0.01)

    def evidence(self, pane: Pane) -> Evidence:
        """All that is known of the pane, as the judge wants it."""
        detect = self.settings.detect
        return Evidence(
            front=pane.front,
            process=pane.process,
            headless=pane.identity.headless if pane.identity else False,
            ending=pane.ending,
            verdict=pane.verdict,
            looked_at=pane.looked_at,
            wrote_at=pane.wrote_at if self.planner.pulse else pane.looked_at,
            typed_at=pane.typed_at,
            claims=self.live_claims(pane),
            at_rest=pane.rest.quiet,
            hold=detect.hold,
            cap=detect.hold_cap,
            stall=detect.stall if self.planner.pulse else 0.0,
        )

    def live_claims(self, pane: Pane) -> tuple[Claim, ...]:
        """The pane's claims that count: see judge.lifetimes."""
        return tuple(claim for claim in pane.claims.values() if not self.why_not(pane, claim))

    def why_not(self, pane: Pane, claim: Claim) -> str:
        """Why the claim does not count for the pane now, `` if it does."""
        process = pane.process
        born = (process.started - 1) / self.ticks if process else float("-inf")
        return why_not(claim, process, born, pane.wrote_at, self.now)

    def publish(self, pane: Pane, before: Memory) -> None:
        """A change that the world may hear of: to the ledger, the alerts, the tray."""
        decision = pane.memory.decision
        was = before.decision
        answered = was.state is State.BLOCKED and was.fingerprint != decision.fingerprint
        if answered:
            self.out += self.alerts.seen(pane.key, "answered", self, self.now)
        self.transition_id += 1
        transition = Transition(
            pane=pane.key,
            at=self.now,
            before=before.decision.state,
            after=decision.state,
            decision=decision,
            agent=pane.labels.agent,
            process=pane.process,
            worked=pane.memory.worked if decision.state is not State.WORKING else 0.0,
            first_sight=pane.first_sight and before.fresh,
            labels=pane.labels,
        )
        self.out.append(RecordTransition(self.transition_id, transition))
        self.out += self.alerts.transition(self.transition_id, transition, self, self.now)
        self.tray.dirty = self.alerts_dirty = True
        self.tray.urgent |= decision.state in TOLD or before.decision.state in TOLD
        if decision.state in TOLD:
            self.ask_attention({pane.key.server})

    def relabel(self, pane: Pane) -> None:
        """Name the pane anew: its folder, branch, window or agent has changed."""
        agent = pane.identity.agent if pane.identity else ""
        name = pane.manifest.name if pane.manifest is not None and pane.manifest.name else agent
        pane.labels = labels_of(pane.info, self.repos.get(pane.info.dir), agent, name)
        self.tray.dirty = True

    # -- seen and left -------------------------------------------------------------------

    def see(self, pane: Pane, how: str) -> None:
        """The person has looked at the pane: its done or error is over, its banner goes."""
        before = pane.memory
        if before.decision.state in (State.DONE, State.ERROR, State.BLOCKED):
            self.out += self.alerts.seen(pane.key, how, self, self.now)
        self.settle(pane, before, seen(before, self.now))
        self.tray.dirty = True
        if not pane.here and pane.left_at is not None and pane.state is State.IDLE:
            self.forget_agent(pane)

    def ask_attention(self, servers: Iterable[ServerKey]) -> None:
        """Find out anew who looks at what: who is there, and what the clients show."""
        self.out.append(AskUser())
        for server in servers:
            if self.attention.clients.get(server):  # who attaches later brings a terminal, hence a list
                self.planner.want_clients(server, self.now)

    def look_at_seen(self, server: ServerKey | None = None) -> None:
        """Whether any unseen pane is being watched now, by what is known since it came up."""
        for pane in list(self.panes.values()):
            if server is not None and pane.key.server != server:
                continue
            unread = pane.state in (State.DONE, State.ERROR) or self.alerts.has_open(pane.key)
            if not unread or not self.attention.known_since(pane.key.server, pane.memory.since):
                continue
            if self.watching(pane.key, pane.state):
                self.see(pane, "watched")

    def forget_agent(self, pane: Pane, mid_turn: bool = False) -> None:
        """The pane has no agent any more; if it is gone itself, it leaves the table."""
        self.out.append(RecordGone(pane.key, self.now, mid_turn, pane.labels))
        self.out += self.alerts.seen(pane.key, "gone", self, self.now)
        pane.identity = pane.manifest = None
        pane.first_sight = False
        pane.start_clean(self.now)
        pane.memory = fresh(None, self.now)
        self.judge_at.pop(pane.key, None)
        self.remembered.pop(pane.key, None)
        self.tray.dirty = self.watch_dirty = True
        if pane.gone:
            self.panes.pop(pane.key, None)
        else:
            self.plan(pane)

    # -- the world, as alerts see it (alerts.world.World) --------------------------------

    def view(self, key: PaneKey) -> PaneView | None:
        """The pane as it is now, None when it is not listed."""
        pane = self.panes.get(key)
        if pane is None or not pane.listed():
            return None
        view = view_of(pane, self.names.get(key.server, ""))
        muted, until = self.alerts.muted(view, self.now)
        return replace(view, muted=muted, muted_until=until) if muted else view

    def views(self) -> Iterable[PaneView]:
        """All listed panes."""
        return self._views()

    def _views(self) -> Iterator[PaneView]:
        for key in list(self.panes):
            view = self.view(key)
            if view is not None:
                yield view

    def watching(self, key: PaneKey, state: State) -> bool:
        """Whether the person sees the pane, by the standard of this state's focus setting."""
        pane = self.panes.get(key)
        if pane is None or pane.gone:
            return False
        alerts = self.settings.alerts
        focus = alerts.focus_blocked if state is State.BLOCKED else alerts.focus_done
        return self.attention.watching(pane.info, focus == "visible", self.now)

    def steady(self, key: PaneKey) -> bool:
        """Whether nothing speaks against the pane's state: no change is on probation, and what it
        wrote lately has been looked at. If it has not, it is now."""
        pane = self.panes.get(key)
        if pane is None or not pane.here:
            return True
        if self.planner.pending(key) and self.now - pane.looked_at > FRESH:
            self.planner.want(key, self.now, "about to tell")
            return False
        return pane.memory.held is None

    @property
    def away(self) -> bool:
        """Nobody has touched the desktop for long."""
        return self.attention.away(self.now)

    @property
    def catching_up(self) -> bool:
        """After a resume: some pane has not been looked at yet."""
        return bool(self.catching)

    @property
    def locked(self) -> bool:
        """The session is locked."""
        return self.attention.locked

    @property
    def dnd(self) -> bool:
        """The desktop's own do-not-disturb is on."""
        return self.attention.quiet

    def reads_joined(self, key: PaneKey) -> bool:
        """Whether the pane's manifest reads wrapped rows joined: most do not, and it costs a capture."""
        pane = self.panes.get(key)
        return pane is not None and pane.manifest is not None and pane.manifest.needs_joined

    def agent_process(self, process: ProcessKey) -> Pane | None:
        """The pane whose agent this process is."""
        for pane in self.panes.values():
            if pane.process == process:
                return pane
        return None
