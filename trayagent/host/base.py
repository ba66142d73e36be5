"""The interfaces of host/, so that another system's way of asking fits where Linux's does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from trayagent.model.effects import WatchTerminals
from trayagent.model.events import Event
from trayagent.model.keys import PaneKey, ProcessKey
from trayagent.model.process import Job, Process

HINTS = ("TRAYAGENT_AGENT", "HERDR_AGENT", "TUIOS_AGENT")
"""Variables in which a pane's program may name its agent."""

Emit = Callable[[Event], None]
Pane = tuple[PaneKey, int, str]  # key, pid of the pane's first process, path of its tty


class Insight(Protocol):
    """What the reader of processes must know of agents, given to it from outside: host/ imports no rules."""

    def script_argument(self, comm: str, argv: tuple[str, ...], exe: str | None) -> str | None:
        """The argument that an interpreter runs as its script, as written; None for none."""

    def conclusive(self, leader: Process) -> bool:
        """Whether a group's leader alone settles who owns the pane, so that no other member need be read."""


class NoInsight:
    """Knows no interpreter and takes nothing for granted: every member of every group is read."""

    def script_argument(self, comm: str, argv: tuple[str, ...], exe: str | None) -> str | None:
        """No script."""
        return None

    def conclusive(self, leader: Process) -> bool:
        """Never."""
        return False


class ProcessReader(Protocol):
    """Reads the foreground job of terminals."""

    def learn(self, insight: Insight) -> None:
        """Read by another insight from now on (the manifests changed)."""

    def examine(self, panes: Iterable[Pane], fresh: bool = False) -> list[Job]:
        """The job of each pane, in order; the same object as before where nothing changed.
        fresh: read everything anew."""

    def retain(self, panes: Iterable[PaneKey]) -> None:
        """Forget all panes but these."""

    def close(self) -> None:
        """Give everything back."""


class TerminalWatch(Protocol):
    """Tells when terminals are written to or typed in (Pulse, PulseState, TerminalsChanged)."""

    def watch(self, terminals: WatchTerminals) -> None:
        """Watch exactly these terminals from now on."""

    def close(self) -> None:
        """Watch nothing any more."""


class ExitWatch(Protocol):
    """Tells when processes end (Exited)."""

    def watch(self, processes: frozenset[ProcessKey]) -> None:
        """Watch exactly these processes from now on."""

    def close(self) -> None:
        """Watch nothing any more."""
