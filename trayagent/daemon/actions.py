"""What a person can do, by whatever hand: tray, banner or command line.

Each verb has one method; `act` takes the tuples that menu rows and banner buttons carry.
A jump is the only thing that touches another program's window or a tmux client, and it
happens only here, for a click or a command.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from trayagent.alerts.hours import until
from trayagent.daemon.choices import MODES
from trayagent.daemon.errands import Errands
from trayagent.daemon.outcome import Outcome
from trayagent.model.events import Forget, MuteSet, Paused, Read, Visited
from trayagent.model.keys import PaneKey
from trayagent.model.states import RANK, State
from trayagent.model.view import PaneView
from trayagent.sources.base import JumpResult, Spot

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

log = logging.getLogger("trayagent")

HOUR = 3600.0

Work = Coroutine[Any, Any, Outcome]


class Actions:
    """The verbs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.errands = Errands(parts)
        self._back: list[Spot] = []
        self._last_next: PaneKey | None = None
        self._attach: dict[int, tuple[str, ...]] = {}
        self.opens_terminals = False  # where nobody is attached, without asking first
        pane = PaneKey.from_token
        # What the rows of engine.menu ask for: the action's arguments and the click's activation token.
        self._verbs: dict[str, Callable[[tuple[str, ...], str | None], Work | object]] = {
            "jump": lambda args, token: self.jump(pane(args[0]), token),
            "next": lambda args, token: self.next(token),
            "mute": lambda args, _: self.mute(args[0], args[1], args[2]),
            "forget": lambda args, _: parts.feed(Forget(pane(args[0]))),
            "read": lambda args, _: parts.feed(Read(pane(args[0]) if args else None)),
            "pause": lambda args, _: self.pause(args[0]),
            "copy": lambda args, _: self.errands.copy(pane(args[0])),
            "why": lambda args, _: self.errands.why(pane(args[0])),
            "sounds": lambda args, _: self.choose_sounds(args[0]),
            "test-sound": lambda args, _: self.test_sound(State.BLOCKED),
            "edit-config": lambda args, _: self.errands.edit_config(),
            "doctor": lambda args, _: self.errands.doctor(),
            "about": lambda args, _: self.errands.about(),
            "quit": lambda args, _: parts.stop("quit from the menu"),
        }

    # -- from tray and banners -------------------------------------------------------------

    def act(self, action: tuple[str, ...], token: str | None = None) -> None:
        """Do what a menu row, icon click or button says; words as in engine.menu."""
        verb = self._verbs.get(action[0])
        if verb is None:
            log.warning("a menu row asked for %r, which nobody knows", action[0])
            return
        work = verb(action[1:], token)
        if isinstance(work, Coroutine):
            self._parts.ends.spawn(self._answered(work))

    async def _answered(self, work: Work) -> None:
        """A click that came to nothing says why; one that did what it should needs no words."""
        outcome = await work
        if not outcome.ok and not outcome.told:
            self.errands.tell("That did not work", outcome.text[:1].upper() + outcome.text[1:])

    def banner(self, alert: int, action: str, token: str | None) -> None:
        """A button of a banner was pressed."""
        panes = self._parts.engine.core.alerts.panes_of(alert)
        if action == "attach":
            self._parts.ends.spawn(self._answered(self._open_attached(alert)))
        elif not panes:
            return
        elif action == "mute":
            for pane in panes:
                self._parts.feed(MuteSet("pane", pane.token, self._parts.clock.now() + HOUR))
                self._parts.feed(Read(pane))
            self._parts.remember_choices()
        else:
            self._parts.ends.spawn(self._answered(self.jump(panes[0], token)))

    # -- jumping ---------------------------------------------------------------------------

    async def jump(self, pane: PaneKey, token: str | None = None) -> Outcome:
        """Show the pane: the most recently used client goes there, its window comes up."""
        result = await self._parts.tmux.jump(pane)
        if not result.ok:
            if self.opens_terminals and result.attach:
                self._parts.feed(Visited(pane))
                return self.errands.in_terminal(result.attach)
            return self._not_shown(result)
        if result.before is not None:
            self._back = [*self._back[-19:], result.before]
        self._parts.feed(Visited(pane))
        return await self._raise(result, token)

    async def back(self) -> Outcome:
        """Show what was shown before the last jump."""
        if not self._back:
            return Outcome(False, "there was no jump to go back from")
        result = await self._parts.tmux.jump(self._back.pop())
        return self._not_shown(result) if not result.ok else await self._raise(result, None)

    async def next(self, token: str | None = None) -> Outcome:
        """Go to the pane that has needed the person longest, then on to the following ones."""
        waiting = self.waiting()
        if not waiting:
            return Outcome(False, "nobody needs you")
        keys = [view.key for view in waiting]
        at = keys.index(self._last_next) + 1 if self._last_next in keys else 0
        self._last_next = keys[at % len(keys)]
        return await self.jump(self._last_next, token)

    def waiting(self) -> list[PaneView]:
        """Who needs the person, loudest and longest first; unread ends behind them."""
        views = [
            view
            for view in self._parts.engine.views(self._parts.clock.now())
            if view.needs_you or view.state is State.DONE
        ]
        urgent = [view for view in views if view.needs_you]
        return sorted(urgent or views, key=lambda view: (RANK[view.state], view.since))

    async def _raise(self, result: JumpResult, token: str | None) -> Outcome:
        client = result.client
        assert client is not None
        raised = await self._parts.windows.raise_window(client.window_hint, client.pids, token, client.tty)
        if raised.ok:
            return Outcome(True, f"shown in {client.name}")
        return Outcome(True, f"shown in {client.name}; its window was not raised: {raised.why}")

    def _not_shown(self, result: JumpResult) -> Outcome:
        if not result.attach:
            return Outcome(False, result.reason or "the pane is gone")
        text = f"No terminal shows this tmux server. To see it: {result.attach_command}"
        alert = self.errands.tell("Nobody is attached", text, (("attach", "Open a terminal"),))
        self._attach[alert] = result.attach
        text = f"no client is attached to this server; to see it: {result.attach_command}"
        return Outcome(False, text, told=True)

    async def _open_attached(self, alert: int) -> Outcome:
        command = self._attach.get(alert)
        return (
            self.errands.in_terminal(command) if command else Outcome(False, "there is nothing to attach to")
        )

    # -- choices ---------------------------------------------------------------------------

    def mute(self, scope: str, value: str, duration: str) -> float | None:
        """Mute for `30m`, `1h`, `tomorrow`, `always`, or `off`; returns the end in engine seconds."""
        end = self._until(duration)
        self._parts.feed(MuteSet(scope, value, end))
        self._parts.remember_choices()
        return end

    def pause(self, duration: str) -> float | None:
        """Pause all alerts, or end the pause; returns the end in engine seconds."""
        end = self._until(duration)
        self._parts.feed(Paused(end))
        self._parts.remember_choices()
        return end

    def choose_sounds(self, mode: str) -> None:
        """Be heard in this mode until another one is chosen. Raises ValueError for what is none."""
        if mode not in MODES:
            raise ValueError(f"no such mode: {mode!r} ({', '.join(MODES)})")
        self._parts.choices.choose_sounds(mode, self._parts.config.settings)
        self._parts.apply_choices()

    async def test_sound(self, state: State, volume: float | None = None) -> Outcome:
        """Make a state's sound heard."""
        return Outcome(*await self._parts.sounds.test(state, volume))

    def _until(self, word: str) -> float | None:
        core = self._parts.engine.core
        return until(word, self._parts.clock.now(), core.wall_offset, core.zone)
