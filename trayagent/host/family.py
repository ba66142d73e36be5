"""Who started whom: children, descendants and group members, from /proc.

A kernel without children files (CONFIG_PROC_CHILDREN) is served by one reading of all
processes for each Family.
"""

from __future__ import annotations

from collections.abc import Iterator

from trayagent.host import proc
from trayagent.host.proc import Gone, Stat


class Family:
    """Parents and children. Make a new one for each call, for it remembers the full list."""

    def __init__(self, has_files: bool | None = None) -> None:
        self.has_files = proc.has_children_files() if has_files is None else has_files
        self._all: list[Stat] | None = None

    def everyone(self) -> list[Stat]:
        """Every process, read once a call."""
        if self._all is None:
            self._all = list(proc.all_stats())
        return self._all

    def children(self, pid: int) -> list[Stat]:
        """A process's children that live, oldest first."""
        if not self.has_files:
            return [stat for stat in self.everyone() if stat.ppid == pid]
        found = []
        try:
            for child in proc.read_children(pid):
                try:
                    found.append(proc.read_stat(child))
                except Gone:
                    continue
        except Gone:
            return found
        return found

    def below(self, parent: Stat, levels: int, budget: int) -> list[Stat]:
        """The living descendants of a process, nearest first, bounded."""
        found: list[Stat] = []
        row = [parent]
        for _ in range(levels):
            row = [stat for above in row for stat in self.children(above.pid) if not stat.dead]
            found.extend(row)
            if not row or len(found) >= budget:
                break
        return found

    def members(self, leader: Stat, levels: int, budget: int) -> Iterator[Stat]:
        """The leader's descendants that are in front, of this terminal or of one of their own, depth
        first; then its siblings in the group. A session's leader, the pane's own process, has none."""
        yield from self._descend(leader, leader, levels, [budget])
        for stat in self.children(leader.ppid) if leader.pid != leader.session else ():
            if stat.pgrp == leader.pgrp and stat.pid != leader.pid and not stat.dead:
                yield stat
                yield from self._descend(stat, leader, levels - 1, [budget])

    def _descend(self, parent: Stat, leader: Stat, levels: int, budget: list[int]) -> Iterator[Stat]:
        """See members. Behind a terminal of its own a process counts if it is in front there."""
        if levels == 0:
            return
        for stat in self.children(parent.pid):
            if budget[0] == 0:
                return
            elsewhere = stat.session != leader.session and stat.tty not in (0, leader.tty)
            if stat.dead or not (stat.pgrp == leader.pgrp or elsewhere):
                continue
            budget[0] -= 1
            if not elsewhere or stat.pgrp == stat.tpgid:
                yield stat
            yield from self._descend(stat, leader, levels - 1, budget)
