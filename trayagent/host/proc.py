"""Single readings of Linux's /proc, with as few system calls as they can be had for.

A process may vanish between any two of them: that is `Gone`, and normal. Being out of
file descriptors or memory is not: such an OSError passes, so that nobody takes it for
the end of a process. Source for the fields: proc(5).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import NamedTuple

_DELETED = " (deleted)"
_LONGEST = 256 * 1024  # bytes of a command line or environment that are looked at
_VANISHED = frozenset({errno.ENOENT, errno.ESRCH})
_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EINVAL})


class Gone(Exception):
    """The process ended."""


class Stat(NamedTuple):
    """/proc/PID/stat. tty: device number of the controlling terminal, 0 for none. tpgid: that
    terminal's foreground group, -1 for none. started: clock ticks since boot. cpu: clock
    ticks used by it and by its children that it waited for."""

    pid: int
    comm: str
    state: str
    ppid: int
    pgrp: int
    session: int
    tty: int
    tpgid: int
    started: int
    cpu: int

    @property
    def dead(self) -> bool:
        """A zombie, or about to be none any more."""
        return self.state in "ZXx"


def parse_stat(data: bytes) -> Stat:
    """The fields of a stat file; its name may hold blanks and parentheses."""
    opened, closed = data.index(b"("), data.rindex(b")")
    fields = data[closed + 2 :].split(b" ", 20)
    return Stat(
        pid=int(data[:opened]),
        comm=data[opened + 1 : closed].decode(errors="replace"),
        state=fields[0].decode(),
        ppid=int(fields[1]),
        pgrp=int(fields[2]),
        session=int(fields[3]),
        tty=int(fields[4]),
        tpgid=int(fields[5]),
        started=int(fields[19]),
        cpu=sum(map(int, fields[11:15])),
    )


def read_stat(pid: int) -> Stat:
    """One process's stat; raises Gone."""
    return parse_stat(read_stat_bytes(pid))


def read_stat_bytes(pid: int) -> bytes:
    """One process's stat file as it is; raises Gone."""
    return _read(f"/proc/{pid}/stat", 1024)


def open_stat(pid: int) -> int:
    """A kept-open stat file; raises Gone."""
    try:
        return os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise Gone(pid) from error


def read_open(descriptor: int) -> bytes:
    """A kept-open stat file's present content; raises Gone."""
    try:
        return os.pread(descriptor, 1024, 0)
    except ProcessLookupError as error:
        raise Gone from error


def read_argv(pid: int) -> tuple[str, ...]:
    """Its arguments, empty for a zombie or one that may not be read; raises Gone."""
    data = _read_allowed(f"/proc/{pid}/cmdline")
    if not data:
        return ()
    return tuple(part.decode(errors="surrogateescape") for part in data.removesuffix(b"\0").split(b"\0"))


def read_exe(pid: int) -> str | None:
    """Its executable without the mark of a file that an upgrade replaced; None if that may not be
    known; raises Gone only where the process itself is gone."""
    try:
        return os.readlink(f"/proc/{pid}/exe").removesuffix(_DELETED)  # noqa: PTH115 - hot path
    except OSError as error:
        if error.errno == errno.ESRCH:
            raise Gone(pid) from error
        if error.errno in _REFUSED or error.errno == errno.ENOENT:
            return None
        raise


def read_cwd(pid: int) -> str | None:
    """Its working folder, None if that may not be known."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115 - hot path
    except OSError as error:
        if error.errno in _REFUSED | _VANISHED:
            return None
        raise


def read_variables(pid: int, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Those of `names` that stand in its initial environment, with their values; raises Gone."""
    data = b"\0" + _read_allowed(f"/proc/{pid}/environ")
    found = []
    for name in names:
        mark = b"\0" + name.encode() + b"="
        at = data.find(mark)
        if at >= 0:
            start = at + len(mark)
            end = data.find(b"\0", start)
            found.append((name, data[start : end if end >= 0 else None].decode(errors="replace")))
    return tuple(found)


def has_children_files() -> bool:
    """Whether this kernel lists a task's children (CONFIG_PROC_CHILDREN)."""
    pid = os.getpid()
    try:
        _read(f"/proc/{pid}/task/{pid}/children", 64)
    except Gone:
        return False
    return True


def read_children(pid: int) -> list[int]:
    """Its children, oldest first for each thread that started them; raises Gone."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - hot path
    except OSError as error:
        raise _vanished(error, pid) from error
    found: list[int] = []
    for task in tasks:
        try:
            found.extend(map(int, _read(f"/proc/{pid}/task/{task}/children", _LONGEST).split()))
        except Gone:
            continue
    return found


def all_stats() -> Iterator[Stat]:
    """Every process's stat: some 15 us for each process of the machine."""
    for entry in os.listdir("/proc"):  # noqa: PTH208 - hot path
        if entry.isdecimal():
            try:
                yield read_stat(int(entry))
            except Gone:
                continue


def _read_allowed(path: str) -> bytes:
    """A file's bytes, none if it may not be read; raises Gone."""
    try:
        return _read(path, _LONGEST)
    except PermissionError:
        return b""


def _read(path: str, limit: int) -> bytes:
    """At most `limit` bytes of a file of /proc; raises Gone when its process has ended."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _vanished(error, path) from error
    try:
        return os.read(descriptor, limit)
    except OSError as error:
        raise _vanished(error, path) from error
    finally:
        os.close(descriptor)


def _vanished(error: OSError, what: object) -> Exception:
    """Gone if the error says that the process ended, else the error itself."""
    return Gone(what) if error.errno in _VANISHED else error
