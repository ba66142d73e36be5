"""What host/ asks of identity while it reads a group: the daemon hands this object over."""

from __future__ import annotations

from dataclasses import dataclass

from trayagent.identity import argv as read
from trayagent.identity.identify import conclusive
from trayagent.identity.index import Index
from trayagent.model.process import Process


@dataclass(frozen=True, slots=True)
class Insight:
    """The `Insight` of host/base.py for one set of manifests; make another when they change."""

    index: Index

    def script_argument(self, comm: str, argv: tuple[str, ...], exe: str | None) -> str | None:
        """The argument that an interpreter runs as its script, as written; None for none."""
        return read.script_argument(comm, argv, exe)

    def conclusive(self, leader: Process) -> bool:
        """The leader is an agent, or a shell at its prompt: no other member matters."""
        return conclusive(leader, self.index)
