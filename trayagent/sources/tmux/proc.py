"""The few things that are read from /proc about tmux servers and clients.

The root is a parameter, so that a system without /proc (macOS, BSD) can be shown to a
test; there `available` is False and everything else answers None or nothing. A process
that ends while it is read is an ordinary None.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_ANCESTORS = 24


class Proc:
    """A view of one /proc."""

    def __init__(self, root: str = "/proc") -> None:
        self._root = root
        self.available = Path(root, "self", "stat").exists()

    def read(self, path: str, limit: int = 1 << 16) -> bytes | None:
        """At most `limit` bytes of a file below the root, None where it cannot be read."""
        try:
            fd = os.open(f"{self._root}/{path}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return os.read(fd, limit)
        except OSError:
            return None
        finally:
            os.close(fd)

    def comm(self, pid: int) -> str:
        """The kernel's name of a process, "" if it is gone."""
        return (self.read(f"{pid}/comm", 64) or b"").rstrip(b"\n").decode("utf-8", "replace")

    def parent_and_start(self, pid: int) -> tuple[int, int] | None:
        """Parent pid and start time in clock ticks since boot (proc(5): fields 4 and 22 of stat).
        A process that has ended and waits for its parent (a zombie) is gone."""
        stat = self.read(f"{pid}/stat", 4096)
        if not stat:
            return None
        fields = stat[stat.rindex(b")") + 2 :].split()
        return None if fields[0] in (b"Z", b"X") else (int(fields[1]), int(fields[19]))

    def started(self, pid: int) -> int | None:
        """Start time of a process in clock ticks since boot, None if it is gone."""
        found = self.parent_and_start(pid)
        return found[1] if found else None

    def lineage(self, pid: int) -> tuple[int, ...]:
        """A process and its ancestors, nearest first, without init."""
        found: list[int] = []
        while pid > 1 and len(found) < _ANCESTORS and pid not in found:
            parent = self.parent_and_start(pid)
            if parent is None:
                break
            found.append(pid)
            pid = parent[0]
        return tuple(found)

    def variable(self, pid: int, name: str) -> str | None:
        """One variable of the environment that a process was started with; no other is kept."""
        prefix = name.encode() + b"="
        for entry in (self.read(f"{pid}/environ", 1 << 18) or b"").split(b"\0"):
            if entry.startswith(prefix):
                return entry[len(prefix) :].decode("utf-8", "replace")
        return None

    def foreign_namespace(self, pid: int) -> bool:
        """Whether a process counts its pids otherwise than we do (proc(5): NSpid has a second entry)."""
        for line in (self.read(f"{pid}/status") or b"").splitlines():
            if line.startswith(b"NSpid:"):
                return len(line.split()) > 2
        return False

    def owned(self, uid: int) -> Iterator[int]:
        """The pids of all processes of one user."""
        with os.scandir(self._root) as entries:
            for entry in entries:
                try:
                    if entry.name.isdecimal() and entry.stat().st_uid == uid:
                        yield int(entry.name)
                except OSError:  # ended between the two
                    continue

    def sockets(self, pid: int) -> set[int]:
        """The inodes of the sockets that a process has open; empty where that may not be read."""
        found: set[int] = set()
        try:
            with os.scandir(f"{self._root}/{pid}/fd") as entries:
                names = [entry.path for entry in entries]
        except OSError:
            return found
        for name in names:
            try:
                target = str(Path(name).readlink())
            except OSError:  # closed between the two
                continue
            if target.startswith("socket:["):
                found.add(int(target[8:-1]))
        return found

    def folder(self, pid: int) -> Path | None:
        """The working folder of a process."""
        try:
            return Path(self._root, str(pid), "cwd").readlink()
        except OSError:
            return None

    def listening(self) -> dict[int, str]:
        """Listening stream sockets that have a path: inode to path as it was given to bind()
        (unix(7) and proc(5): flag 0x10000 is SO_ACCEPTCON, type 1 is SOCK_STREAM)."""
        found: dict[int, str] = {}
        try:
            lines = Path(self._root, "net", "unix").read_bytes().split(b"\n")
        except OSError:
            return found
        for line in lines:
            if b" 00010000 0001 " not in line:  # a desktop has a thousand others
                continue
            fields = line.split(None, 7)
            if len(fields) == 8 and not fields[7].startswith(b"@"):
                found[int(fields[6])] = os.fsdecode(fields[7])
        return found
