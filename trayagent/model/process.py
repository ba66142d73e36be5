"""Processes as identity sees them, and the job in front of a terminal."""

from __future__ import annotations

from dataclasses import dataclass

from trayagent.model.keys import PaneKey, ProcessKey


@dataclass(frozen=True, slots=True)
class Process:
    """One process, read at one moment.

    comm: the kernel's name (15 bytes at most). argv: as in /proc/PID/cmdline, empty
    for zombies and kernel threads. exe: the resolved executable without the kernel's
    " (deleted)" mark, None when unreadable. started: clock ticks since boot.
    hints: identity variables of its environment (`TRAYAGENT_AGENT` and the like), name to value.
    script: argv's script argument resolved through symlinks, None if there is none; the
    host fills it in so that identity needs no file system.
    """

    pid: int
    ppid: int
    pgrp: int
    started: int
    comm: str
    argv: tuple[str, ...] = ()
    exe: str | None = None
    hints: tuple[tuple[str, str], ...] = ()
    script: str | None = None

    @property
    def key(self) -> ProcessKey:
        """The process's identity for as long as it lives."""
        return ProcessKey(self.pid, self.started)


@dataclass(frozen=True, slots=True)
class Job:
    """The foreground process group of a pane's terminal, leader first (event of host/).

    shell: the pane's own first process. foreground: the group's id, 0 if nobody is in
    front (the terminal's last process is gone). processes: leader, then the leader's
    descendants in the same group (4 levels, 24 processes at most), then other members
    where the leader is gone. alive is False once the pane's own process has ended.
    Equal jobs mean that nothing has changed.
    """

    pane: PaneKey
    shell: ProcessKey
    foreground: int
    processes: tuple[Process, ...] = ()
    alive: bool = True

    @property
    def shell_in_front(self) -> bool:
        """The pane's own process is its foreground job (a shell at its prompt, or an
        agent that was started as the pane's command: identity tells these apart)."""
        return self.foreground == self.shell.pid
