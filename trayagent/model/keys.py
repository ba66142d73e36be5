"""What names a terminal server and a pane for as long as they live, and never longer.

Indexes and names move and are given twice; ids restart with their server
(tmux hands out `%0` again after a restart). So a key carries the process that
gave the id and the moment at which that process started.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class ServerKey:
    """One running source of panes.

    kind: `tmux`, `bare`, later `kitty` and others. place: the socket's resolved
    path for tmux, `` for bare ttys. pid: the server process. started: its start
    time in clock ticks since boot (field 22 of /proc/PID/stat), 0 if unknown.
    """

    kind: str
    place: str
    pid: int = 0
    started: int = 0


@dataclass(frozen=True, slots=True, order=True)
class PaneKey:
    """One pane of one server. id: `%5` for tmux; `DEV:INODE` of the tty for bare panes,
    whose server is (bare, tty path, session leader pid, its start time)."""

    server: ServerKey
    id: str

    def __hash__(self) -> int:
        """Keys are looked up thousands of times a second; ids of one server differ already."""
        return hash((self.id, self.server.pid))

    @property
    def token(self) -> str:
        """The key as one stable text, for menu actions, mutes and files: `tmux|/tmp/s|412|88123|%5`.

        Reversed by `from_token`; not meant for people. Only `place` may contain a bar."""
        server = self.server
        return f"{server.kind}|{server.place}|{server.pid}|{server.started}|{self.id}"

    @classmethod
    def from_token(cls, token: str) -> PaneKey:
        """The key that `token` was made of; raises ValueError when it is no such text."""
        kind, bar, rest = token.partition("|")
        parts = rest.rsplit("|", 3)
        if not bar or not kind or len(parts) != 4 or not parts[3]:
            raise ValueError(f"not a pane's token: {token!r}")
        place, pid, started, id = parts
        return cls(ServerKey(kind, place, int(pid), int(started)), id)


@dataclass(frozen=True, slots=True, order=True)
class ProcessKey:
    """One process for as long as it lives: pid and start time (clock ticks since boot)."""

    pid: int
    started: int
