"""The line on the terminal that `trayagent` in the foreground keeps up to date."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from trayagent.model.effects import Effect, Tray

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts


class LiveLine:
    """One line that is written anew when what it says has changed. A context manager."""

    def __init__(self, parts: Parts, out: TextIO = sys.stderr) -> None:
        self._parts, self._out = parts, out
        self._said = ""

    def __enter__(self) -> None:
        self._parts.ends.watchers.append(self._effect)
        self._say()

    def __exit__(self, *_: object) -> None:
        self._parts.ends.watchers.remove(self._effect)
        self._out.write("\n")
        self._out.flush()

    def _effect(self, effect: Effect) -> None:
        if isinstance(effect, Tray):
            self._say()

    def _say(self) -> None:
        core = self._parts.engine.core
        servers, panes = len(core.planner.servers), len(core.panes)
        watched = f"watching {panes} panes of {servers} tmux server{'s' * (servers != 1)}"
        line = f"{watched}: {self._parts.tooltip or 'no agents yet'}  (Ctrl-C stops)"
        if line != self._said:
            self._said = line
            self._out.write(f"\r\x1b[2K{line}")
            self._out.flush()
