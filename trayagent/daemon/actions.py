"""What a person can do, by whatever hand: tray, banner or command line.

Each verb has one method; `act` takes the tuples that menu rows and banner buttons carry.
A jump is the only thing that touches another program's window or a tmux client, and it
happens only here, for a click or a command.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trayagent.alerts.hours import until
from trayagent.model.effects import Banner
from trayagent.model.events import Forget, MuteSet, Paused, Read, Visited
from trayagent.model.keys import PaneKey
from trayagent.model.states import RANK, State
from trayagent.model.view import PaneView
from trayagent.sources.base import JumpResult, Spot

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

log = logging.getLogger("trayagent")

HOUR = 3600.0
# What a person calls "a terminal", in the order in which it is asked for; each takes `-e COMMAND...`.
TERMINALS = ("x-terminal-emulator", "kitty", "alacritty", "foot", "konsole", "gnome-terminal", "xterm")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it, as a sentence for the person."""

    ok: bool
    text: str


class Actions:
    """The verbs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._back: list[Spot] = []
        self._last_next: PaneKey | None = None
        self._attach: dict[int, tuple[str, ...]] = {}

    # -- from tray and banners -------------------------------------------------------------

    def act(self, action: tuple[str, ...], token: str | None = None) -> None:
        """Do what a menu row, icon click or button says; words as in engine.menu."""
        verb, args = action[0], action[1:]
        spawn = self._parts.ends.spawn
        if verb == "jump":
            spawn(self.jump(PaneKey.from_token(args[0]), token))
        elif verb == "next":
            spawn(self.next(token))
        elif verb == "mute":
            self.mute(args[0], args[1], args[2])
        elif verb == "unmute":
            self.mute(args[0], args[1], "off")
        elif verb == "forget":
            self._parts.feed(Forget(PaneKey.from_token(args[0])))
        elif verb == "read":
            self._parts.feed(Read(PaneKey.from_token(args[0]) if args else None))
        elif verb == "pause":
            self.pause(args[0])
        elif verb == "unpause":
            self.pause("off")
        elif verb == "quit":
            self._parts.stop("quit from the menu")
        else:
            log.warning("a menu row asked for %r, which nobody knows", verb)

    def banner(self, alert: int, action: str, token: str | None) -> None:
        """A button of a banner was pressed."""
        panes = self._parts.engine.core.alerts.panes_of(alert)
        if action == "attach":
            self.open_terminal(self._attach.get(alert, ()))
        elif not panes:
            return
        elif action == "mute":
            for pane in panes:
                self._parts.feed(MuteSet("pane", pane.token, self._parts.clock.now() + HOUR))
                self._parts.feed(Read(pane))
            self._parts.remember_choices()
        else:
            self._parts.ends.spawn(self.jump(panes[0], token))

    # -- jumping ---------------------------------------------------------------------------

    async def jump(self, pane: PaneKey, token: str | None = None) -> Outcome:
        """Show the pane: the most recently used client goes there, its window comes up."""
        result = await self._parts.tmux.jump(pane)
        if not result.ok:
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
        alert = self._parts.engine.core.alerts.new_alert()
        self._attach[alert] = result.attach
        text = f"No terminal shows this tmux server. To see it: {result.attach_command}"
        self._parts.notifier.show(
            Banner(
                alert,
                (),
                "Nobody is attached",
                text,
                State.UNKNOWN,
                "low",
                (("attach", "Open a terminal"),),
                "notice",
            )
        )
        return Outcome(False, f"no client is attached to this server; to see it: {result.attach_command}")

    def open_terminal(self, command: tuple[str, ...]) -> Outcome:
        """Run a command in the person's own terminal; only ever for a button that says so."""
        if not command:
            return Outcome(False, "there is nothing to attach to")
        named = os.environ.get("TERMINAL", "")
        program = next(
            (found for name in (named, *TERMINALS) if name and (found := shutil.which(name))), None
        )
        if program is None:
            return Outcome(False, "no terminal program was found; set TERMINAL to yours")
        separator = "--" if program.endswith("gnome-terminal") else "-e"
        try:
            subprocess.Popen(
                [program, separator, *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            return Outcome(False, f"{program} could not be started: {error.strerror}")
        return Outcome(True, f"opened {program}")

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

    def _until(self, word: str) -> float | None:
        core = self._parts.engine.core
        return until(word, self._parts.clock.now(), core.wall_offset, core.zone)
