"""One pane with a recording in it, and the engine in front: source, host and clock, all simulated.

The engine sees what it would have seen: pulses 100 ms after the first write, as the daemon drains
them, frames only when it asks for a look, jobs only when it asks who is in front. What a recording
does not hold is not made up: nobody watches the pane, somebody is at the desk, and silence proves
nothing, because the CPU that a silent program uses is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import merge

from trayagent.engine import Engine
from trayagent.identity import Index
from trayagent.manifest.format import Manifest
from trayagent.model.effects import (
    AskUser,
    Banner,
    Effect,
    Examine,
    FindRepo,
    Look,
    Measure,
    RecordDelivery,
    RecordTransition,
)
from trayagent.model.events import (
    BannerShown,
    Clients,
    Event,
    Exited,
    Frame,
    LookEnded,
    Panes,
    Physics,
    Pulse,
    Repo,
    ServerFound,
    Tick,
    UserIdle,
    Wall,
)
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.panes import PaneInfo, Screen
from trayagent.model.process import Job, Process
from trayagent.model.settings import Settings
from trayagent.replay.cast import Cast, CastEvent, resized
from trayagent.replay.programs import InFront
from trayagent.terminal.emulator import Emulator

DRAIN = 0.1  # as the daemon: seconds from the first write to its pulse
AFTER = 15.0  # simulated seconds after the recording's end: holds, settling and merging run out
BEGIN = 1000.0  # engine seconds at the recording's start; anything but 0, so that a mixed-up clock shows
STEP = 0.001
TICKS = 1000
SERVER = ServerKey("replay", "", 1, 1)
PANE = PaneKey(SERVER, "%0")
# A recording does not tell what ran behind a name. Short names (`pi`, `kimi`) are believed only of a
# proper executable, and whoever records an agent has one.
EXECUTABLE = "/usr/bin/node"
SHELL = 100


@dataclass(slots=True)
class Change:
    """One transition. t: seconds of the recording. frm, to: states. alert: what became of its
    banner: `delivered merged delayed held failed cancelled` and the reason, "" if none was due."""

    t: float
    frm: str
    to: str
    agent: str
    rule: str
    why: str
    kind: str = ""
    message: str = ""
    alert: str = ""


class Theatre:
    """See the module's text. programs: who has the terminal when. typed: seconds at which a key
    was read, beside the recording's own input events."""

    def __init__(
        self,
        cast: Cast,
        manifests: Iterable[Manifest],
        programs: Iterable[InFront],
        *,
        settings: Settings | None = None,
        typed: Iterable[float] = (),
    ) -> None:
        self.cast = cast
        self.changes: list[Change] = []
        self.banners: list[tuple[float, Banner]] = []
        self.looks = 0
        self._emulator = Emulator(cast.cols, cast.rows)
        by_name = Book(manifests)
        self._engine = Engine(
            settings or Settings(), by_name, Index.build(by_name.manifests), started=BEGIN, ticks=TICKS
        )
        self._programs = list(programs)
        self._typed = sorted(typed)
        self._shell = Process(SHELL, 1, SHELL, 1, "sh", ("sh",), "/bin/sh")
        self._front = self._shell
        self._now = BEGIN
        self._wrote = self._read = False
        self._drain_at: float | None = None
        self._numbers: dict[int, Change] = {}

    # -- the play --------------------------------------------------------------------------

    def play(self) -> list[Change]:
        """Let the whole recording pass, and `AFTER` more; the transitions in order."""
        self._feed(Wall(0.0))
        self._feed(ServerFound(SERVER, "replay"))
        for at, what in self._happenings():
            self._pass_until(BEGIN + at)
            self._happen(what)
        self._pass_until(BEGIN + self.cast.duration + AFTER)
        return self.changes

    def _happenings(self) -> Iterator[tuple[float, CastEvent | InFront | None]]:
        """Everything that happens by itself, in order; None is a key being read."""
        shown = [(event.at, event) for event in self.cast.events]
        keys = [(at, None) for at in self._typed]
        return merge(
            [(program.at, program) for program in self._programs], shown, keys, key=lambda row: row[0]
        )

    def _happen(self, what: CastEvent | InFront | None) -> None:
        if isinstance(what, InFront):
            self._take_over(what)
            return
        if what is None or what.code == "i":
            self._read = True
        elif what.code == "o":
            self._emulator.feed(what.raw)
            self._wrote = True
        elif what.code == "r":
            self._emulator.resize(*resized(what))
        if self._drain_at is None and (self._wrote or self._read):
            self._drain_at = self._now + DRAIN

    def _take_over(self, program: InFront) -> None:
        """Another program is in front; the one before has ended."""
        gone = self._front
        self._front = self._shell
        if program.argv:
            name = program.argv[0].rpartition("/")[2]
            pid = SHELL + 1 + round(program.at * 10)
            born = round(self._now * TICKS)
            self._front = Process(pid, SHELL, pid, born, name[:15], program.argv, EXECUTABLE)
        self._wrote = True
        if gone is not self._shell:
            self._feed(Exited(gone.key))

    # -- time ------------------------------------------------------------------------------

    def _pass_until(self, end: float) -> None:
        """Let time pass up to `end`, waking the engine when it wishes."""
        while True:
            wake = self._engine.wake_at()
            soonest = min(moment for moment in (wake, self._drain_at, end) if moment is not None)
            if soonest >= end:
                break
            self._now = max(self._now, soonest)
            if self._drain_at is not None and self._drain_at <= self._now:
                self._pulse()
            else:
                self._feed(Tick())
            self._now += STEP
        self._now = max(self._now, end)

    def _pulse(self) -> None:
        self._drain_at = None
        tty = frozenset({self._info().tty})
        wrote, read = self._wrote, self._read
        self._wrote = self._read = False
        self._feed(Pulse(tty if wrote else frozenset(), tty if read else frozenset()))

    def _feed(self, event: Event) -> None:
        for effect in self._engine.feed(event, self._now):
            self._perform(effect)

    # -- the ends --------------------------------------------------------------------------

    def _perform(self, effect: Effect) -> None:
        match effect:
            case Look():
                self._look(effect)
            case Examine():
                self._feed(self._job())
            case Measure():
                self._feed(Physics(PANE, self._now, 0, 0))  # a whole core: never at rest
            case FindRepo(dir=folder):
                self._feed(Repo(folder, folder, ""))
            case AskUser():
                self._feed(UserIdle(0.0))
            case Banner(alert=alert):
                self.banners.append((self._now - BEGIN, effect))
                self._feed(BannerShown(alert))
            case RecordTransition() | RecordDelivery():
                self._record(effect)

    def _look(self, look: Look) -> None:
        emulator = self._emulator
        if look.listing:
            self._feed(Panes(SERVER, (self._info(),)))
        for key in look.panes:
            self.looks += 1
            screen = Screen(emulator.text(), emulator.title, emulator.progress, emulator.cols, emulator.rows)
            self._feed(Frame(key, self._info(), screen, self._now))
        if look.listing or look.clients:
            self._feed(Clients(SERVER, ()))
        self._feed(LookEnded(SERVER))

    def _record(self, effect: RecordTransition | RecordDelivery) -> None:
        if isinstance(effect, RecordDelivery):
            change = self._numbers.get(effect.transition)
            if change is not None:
                change.alert = f"{effect.outcome}: {effect.reason}" if effect.reason else effect.outcome
            return
        passed = effect.transition
        decision = passed.decision
        change = Change(
            round(passed.at - BEGIN, 3),
            passed.before.value,
            passed.after.value,
            passed.agent,
            decision.rule,
            decision.why,
            decision.kind.value if decision.kind else "",
            decision.message,
        )
        self.changes.append(change)
        self._numbers[effect.id] = change

    def _info(self) -> PaneInfo:
        title = self._emulator.title
        size = self._emulator.cols, self._emulator.rows
        return PaneInfo(
            PANE, "replay", "$0", "replay", "@0", "replay", 0, 0, SHELL, "/replay", "/replay", title,
            self._front.comm, *size,
        )  # fmt: skip

    def _job(self) -> Job:
        return Job(PANE, self._shell.key, self._front.pgrp, (self._front,))


class Book:
    """Manifests by id and alias, as the engine asks for them."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self.manifests = tuple(manifests)
        self._by_name = {alias: each for each in self.manifests for alias in each.aliases}
        self._by_name |= {each.id: each for each in self.manifests}

    def get(self, name: str) -> Manifest | None:
        """The manifest of an agent, None if nobody knows it."""
        return self._by_name.get(name)
