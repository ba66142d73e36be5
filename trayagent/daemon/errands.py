"""What the menu does beside jumping and muting: copy, explain, edit the config, doctor, about.

Each errand is a coroutine that returns an Outcome. What has more to say than fits into a banner
opens the person's terminal with the command that says it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trayagent import __version__
from trayagent.config.example import example
from trayagent.config.place import EditRefused
from trayagent.config.write import write_text
from trayagent.daemon.doctor import checks
from trayagent.daemon.outcome import Outcome
from trayagent.desktop.programs import NotStarted, our_command
from trayagent.ipc.panes import pane_name
from trayagent.model.effects import Banner
from trayagent.model.keys import PaneKey
from trayagent.model.states import State

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

GONE = Outcome(False, "The pane is gone.")


class Errands:
    """The errands."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def tell(self, title: str, body: str, actions: tuple[tuple[str, str], ...] = ()) -> int:
        """Show a banner that is about no pane; returns its alert id."""
        alert = self._parts.engine.core.alerts.new_alert()
        self._parts.ends.perform(Banner(alert, (), title, body, State.UNKNOWN, "low", actions, kind="notice"))
        return alert

    def in_terminal(self, command: tuple[str, ...], hold: str = "") -> Outcome:
        """Run a command in the person's own terminal; only ever for a click that says so."""
        try:
            return Outcome(True, f"opened {self._parts.launcher.in_terminal(command, hold=hold)}")
        except NotStarted as error:
            return Outcome(False, str(error))

    async def copy(self, pane: PaneKey) -> Outcome:
        """Put the name by which commands know the pane into the clipboard."""
        view = self._parts.engine.core.view(pane)
        if view is None:
            return GONE
        try:
            await self._parts.launcher.copy(pane_name(view))
        except NotStarted as error:
            return Outcome(False, str(error))
        return Outcome(True, f"copied {pane_name(view)}")

    async def why(self, pane: PaneKey) -> Outcome:
        """Show why the pane has its state."""
        view = self._parts.engine.core.view(pane)
        return GONE if view is None else self.in_terminal(our_command("explain", pane_name(view)), "always")

    async def edit_config(self) -> Outcome:
        """Open the config file, which is made with every key in a comment where there is none."""
        path = self._parts.config.path
        if not path.exists():
            try:
                write_text(path, example())
            except EditRefused as error:
                return Outcome(False, str(error))
        editor = our_command("config", "--file", str(path), "edit")
        try:
            return Outcome(True, f"opened {await self._parts.launcher.open_file(path, editor)}")
        except NotStarted as error:
            return Outcome(False, str(error))

    async def doctor(self) -> Outcome:
        """Show what works here and what does not: in a terminal, else the summary as a banner."""
        opened = self.in_terminal(our_command("doctor"), "always")
        if opened.ok:
            return opened
        found = await checks(self._parts)
        wrong = [f"{check.name}: {check.text}" for check in found if check.ok is False]
        weak = sum(check.ok is None for check in found)
        title = f"{len(wrong)} of {len(found)} checks failed" if wrong else "Everything that is needed works"
        note = f"{weak} could work better. " if weak else ""
        self.tell(title, "\n".join(wrong[:2]) or f"{note}Details: trayagent doctor")
        return Outcome(True, title)

    async def about(self) -> Outcome:
        """Say what runs, and where its files are."""
        core = self._parts.engine.core
        servers, panes = len(core.planner.servers), len(core.panes)
        watched = f"Watching {panes} pane{'s' * (panes != 1)} of {servers} tmux server{'s' * (servers != 1)}."
        title = f"trayagent {__version__}"
        files = f"Config: {self._parts.config.path}\nHistory and log: {self._parts.choices.path.parent}"
        self.tell(title, f"{watched}\n{files}")
        return Outcome(True, title)
