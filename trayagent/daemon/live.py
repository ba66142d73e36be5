"""The line on the terminal that `trayagent` in the foreground keeps up to date."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, TextIO

from trayagent.daemon.logs import forget_terminal
from trayagent.model.effects import Effect, Tray

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts


log = logging.getLogger("trayagent")


class LiveLine:
    """One line that is written anew when what it says has changed. A context manager."""

    def __init__(self, parts: Parts, out: TextIO = sys.stderr) -> None:
        self._parts = parts
        self._out: TextIO | None = out
        self._said = ""

    def __enter__(self) -> None:
        self._parts.ends.watchers.append(self._effect)
        self._say()

    def __exit__(self, *_: object) -> None:
        self._parts.ends.watchers.remove(self._effect)
        self._write("\n")

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
            self._write(f"\r\x1b[2K{line}")

    def _write(self, text: str) -> None:
        """Write for as long as there is a terminal; it may be closed while we run on, or are about to end."""
        if self._out is None:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except OSError as error:
            self._out = None
            forget_terminal()
            log.info("the terminal has gone: %s", error.strerror)
