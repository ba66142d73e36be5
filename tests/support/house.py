"""A house without a world: the engine, a simulated clock, and screens that a test sets.

    house = House()
    pane = house.pane("api", agent="robot")
    house.show(pane, "BUSY")            # the agent draws; the pulse follows 100 ms later
    house.run(5)                        # five seconds pass
    house.show(pane, "ASK rm -rf x")
    house.run(2)
    assert house.banners[-1].title == ...

The agent `robot` is `working` on a screen with BUSY, `blocked` with `ASK what`, `idle`
with FREE (firm), KEEP keeps the state, anything else no rule knows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from trayagent.engine import Engine
from trayagent.identity import Index
from trayagent.manifest.load import read_text
from trayagent.model.effects import (
    AskUser,
    Banner,
    CloseBanner,
    Effect,
    Examine,
    FindRepo,
    Look,
    Measure,
    RecordDelivery,
    RecordTransition,
    Tray,
)
from trayagent.model.events import (
    ActiveWindow,
    Clients,
    Event,
    Exited,
    Frame,
    LookEnded,
    MenuOpening,
    Panes,
    Physics,
    Pulse,
    Repo,
    ServerFound,
    Tick,
    UserIdle,
    Wall,
)
from trayagent.model.keys import PaneKey, ProcessKey, ServerKey
from trayagent.model.panes import Client, PaneInfo, Screen
from trayagent.model.process import Job, Process
from trayagent.model.settings import Settings
from trayagent.model.states import State
from trayagent.model.view import PaneView

ROBOT = rb"""
id = "robot"
name = "Robot"
version = "1"

[detect]
names = ["robot"]
headless = [["--once"]]

[[rules]]
id = "asks"
state = "blocked"
priority = 300
region = "whole_recent"
visible_blocker = true
contains = ["ASK "]

[[rules]]
id = "busy"
state = "working"
priority = 200
region = "whole_recent"
contains = ["BUSY"]

[[rules]]
id = "free"
state = "idle"
priority = 100
region = "whole_recent"
visible_idle = true
contains = ["FREE"]

[[rules]]
id = "keeps"
state = "unknown"
priority = 90
region = "whole_recent"
skip_state_update = true
contains = ["KEEP"]

[[rules]]
id = "anything-else"
state = "unknown"
priority = -1000
skip_state_update = true
regex = ['']

[prompts.asks]
kind = "permission"
patterns = ['ASK (?P<what>.*)']
message = ["{what}"]
"""
SERVER = ServerKey("tmux", "/tmp/house", 50, 10)
TICKS = 100


class Book:
    """One manifest, as the engine wants manifests."""

    def __init__(self, raw: bytes = ROBOT) -> None:
        manifest, problems = read_text(raw, "robot.toml")
        assert manifest is not None, problems
        self.manifest = manifest

    def get(self, agent: str) -> Any:
        return self.manifest if agent == "robot" else None


@dataclass
class Actor:
    """A pane of the house: what its terminal shows and who is in front."""

    info: PaneInfo
    text: str = ""
    agent: Process | None = None
    shell: Process | None = None
    cpu: float = 0.0
    looks: int = 0
    wrote: bool = False
    typed: bool = False

    @property
    def key(self) -> PaneKey:
        return self.info.key


class House:
    """See the module's text. now: engine seconds."""

    def __init__(
        self, settings: Settings | None = None, *, started: float = 1000.0, drain: float = 0.1
    ) -> None:
        self.now = started
        self.drain = drain
        self.book = Book()
        self.settings = settings or Settings()
        self.engine = Engine(
            self.settings, self.book, Index.build([self.book.manifest]), started=started, ticks=TICKS
        )
        self.actors: dict[PaneKey, Actor] = {}
        self.clients: tuple[Client, ...] = ()
        self.idle: float | None = 0.0
        self.effects: list[tuple[float, Effect]] = []
        self.pids = 100
        self._drain_at: float | None = None
        self.feed(Wall(1_800_000_000.0))
        self.feed(ServerFound(SERVER, "house"))

    # -- what happens in the house -----------------------------------------------------------

    def pane(
        self, name: str, agent: str | None = "robot", argv: tuple[str, ...] = (), born: float = 0.0
    ) -> Actor:
        """A new pane in a window of its own; with an agent in front unless agent is None."""
        number = len(self.actors) + 1
        self.pids += 10
        info = PaneInfo(
            PaneKey(SERVER, f"%{number}"), "house", "$1", "work", f"@{number}", name, number, 0,
            self.pids, f"/dev/pts/{number}", dir=f"/home/me/{name}",
        )  # fmt: skip
        actor = Actor(info, shell=self._process(self.pids, "bash", (), born))
        self.actors[info.key] = actor
        if agent is not None:
            self.start(actor, agent, argv, born)
        self.list()
        return actor

    def start(
        self, actor: Actor, agent: str = "robot", argv: tuple[str, ...] = (), born: float = 0.0
    ) -> None:
        """An agent is started from the pane's shell."""
        self.pids += 1
        actor.agent = self._process(self.pids, agent, argv, born)
        self._writes(actor)

    def end(self, actor: Actor, status: int | None = 0, signal: int | None = None) -> None:
        """The agent ends; its shell is back in front."""
        assert actor.agent is not None
        gone, actor.agent = actor.agent.key, None
        self.feed(Exited(gone, status, signal))
        self._writes(actor)

    def show(self, actor: Actor, text: str) -> None:
        """The agent draws."""
        actor.text = text
        self._writes(actor)

    def type(self, actor: Actor) -> None:
        """A key is read in the pane."""
        actor.typed = True
        self._drain_at = self._drain_at or self.now + self.drain

    def remove(self, actor: Actor) -> None:
        """The pane is closed."""
        del self.actors[actor.key]
        self.list()

    def list(self) -> None:
        """The server's list is read."""
        self.feed(Panes(SERVER, tuple(actor.info for actor in self.actors.values())))

    def watch(self, actor: Actor | None, window: int = 7) -> None:
        """A terminal window shows the pane and has the keyboard; None: another window has it."""
        if actor is not None:
            self.clients = (Client(SERVER, "/dev/pts/99", 900, "/dev/pts/99", "$1", actor.info.window_id,
                                   actor.key, window_hint=window),)  # fmt: skip
            self.feed(Clients(SERVER, self.clients))
        self.feed(ActiveWindow(True, window if actor is not None else 8))

    # -- time ----------------------------------------------------------------------------------

    def run(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while True:
            moments = [m for m in (self.engine.wake_at(), self._drain_at) if m is not None]
            soonest = min(moments, default=end)
            if soonest > end:
                break
            self.now = max(self.now, soonest)
            if self._drain_at is not None and self._drain_at <= self.now:
                self._pulse()
            else:
                self.feed(Tick())
            self.now += 0.0005
        self.now = end

    def feed(self, event: Event) -> None:
        for effect in self.engine.feed(event, self.now):
            self.effects.append((self.now, effect))
            self._perform(effect)

    # -- what came of it -----------------------------------------------------------------------

    def of(self, kind: type) -> list[Any]:
        """The effects of one kind, in order."""
        return [effect for _, effect in self.effects if isinstance(effect, kind)]

    @property
    def banners(self) -> list[Banner]:
        return self.of(Banner)

    @property
    def closed(self) -> list[int]:
        return [effect.alert for effect in self.of(CloseBanner)]

    @property
    def transitions(self) -> list[tuple[State, State]]:
        return [(e.transition.before, e.transition.after) for e in self.of(RecordTransition)]

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(effect.outcome, effect.reason) for effect in self.of(RecordDelivery)]

    @property
    def tray(self) -> Any:
        """What the person sees who opens the menu now."""
        self.feed(MenuOpening())
        return self.of(Tray)[-1].view

    def view(self, actor: Actor) -> PaneView:
        return next(view for view in self.engine.views(self.now) if view.key == actor.key)

    def state(self, actor: Actor) -> State:
        return self.view(actor).state

    # -- the ends ------------------------------------------------------------------------------

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, Look):
            self._look(effect)
        elif isinstance(effect, Examine):
            for key, _, _ in effect.panes:
                if key in self.actors:
                    self.feed(self._job(self.actors[key]))
        elif isinstance(effect, AskUser):
            self.feed(UserIdle(self.idle))
        elif isinstance(effect, FindRepo):
            self.feed(Repo(effect.dir, effect.dir, ""))
        elif isinstance(effect, Measure):
            for key, _ in effect.panes:
                self.feed(Physics(key, self.actors[key].cpu, 1, 0))

    def _look(self, look: Look) -> None:
        for key in look.panes:
            actor = self.actors.get(key)
            if actor is not None:
                actor.looks += 1
                self.feed(Frame(key, actor.info, Screen(actor.text), self.now))
        if look.listing:
            self.list()
        if look.clients or look.listing:
            self.feed(Clients(SERVER, self.clients))
        self.feed(LookEnded(SERVER))

    def _job(self, actor: Actor) -> Job:
        assert actor.shell is not None
        front = actor.agent or actor.shell
        return Job(actor.key, actor.shell.key, front.pgrp, (front,))

    def _process(self, pid: int, name: str, argv: tuple[str, ...], born: float) -> Process:
        started = round((born or self.now) * TICKS)
        return Process(pid, 1, pid, started, name, (name, *argv), f"/usr/bin/{name}")

    def _writes(self, actor: Actor) -> None:
        actor.wrote = True
        self._drain_at = self._drain_at or self.now + self.drain

    def _pulse(self) -> None:
        self._drain_at = None
        wrote = frozenset(actor.info.tty for actor in self.actors.values() if actor.wrote)
        typed = frozenset(actor.info.tty for actor in self.actors.values() if actor.typed)
        for actor in self.actors.values():
            actor.wrote = actor.typed = False
        self.feed(Pulse(wrote, typed))


def process_of(actor: Actor) -> ProcessKey:
    """The agent's process."""
    assert actor.agent is not None
    return actor.agent.key


def zoomed(actor: Actor) -> None:
    """Zoom the pane's window."""
    actor.info = replace(actor.info, zoomed=True)
