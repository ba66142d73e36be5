"""The end of processes, by pidfd on the daemon's loop: told 0.3 to 2.5 ms after it happens.

The status is known in two ways. While the parent has not waited, the zombie's own stat
file tells it (proc(5), field 52); afterwards the pidfd itself does, on Linux 6.15 and later
(PIDFD_GET_INFO with PIDFD_INFO_EXIT, linux/pidfd.h), for a moment not yet when the fd
becomes readable, so it is asked a few times. Otherwise the status stays unknown.

A process whose start time is not the one asked for is another one: its predecessor has ended.
Where no pidfd can be had (old kernel, no descriptors left) the start time is polled.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct

from trayagent.host import proc
from trayagent.host.base import Emit
from trayagent.host.proc import Gone
from trayagent.model.events import Exited
from trayagent.model.keys import ProcessKey

POLL = 1.0
_TRIES = (0.005, 0.02, 0.1, 0.3)  # seconds between the questions for a status
_INFO_EXIT = 1 << 3
_INFO = struct.Struct("=QQ11Ii")  # struct pidfd_info: mask, cgroup, eleven ids, exit code
_GET_INFO = 3 << 30 | _INFO.size << 16 | 0xFF << 8 | 11  # _IOWR(0xFF, 11, struct pidfd_info)
_EXIT_CODE_FIELD = 49  # of the fields behind the name; field 52 of proc(5)


class ProcessWatch:
    """The ExitWatch of Linux: emits one Exited for each watched process."""

    def __init__(self, emit: Emit, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._emit = emit
        self._loop = loop or asyncio.get_running_loop()
        self._watched: frozenset[ProcessKey] = frozenset()
        self._descriptors: dict[ProcessKey, int] = {}
        self._polled: set[ProcessKey] = set()
        self._poll_timer: asyncio.TimerHandle | None = None
        self._questions: dict[ProcessKey, asyncio.TimerHandle] = {}

    def watch(self, processes: frozenset[ProcessKey]) -> None:
        """Watch exactly these from now on; one that has ended already is told as soon as the loop runs."""
        for process in self._watched - processes:
            self._drop(process)
        new = processes - self._watched
        self._watched = processes
        for process in new:
            self._begin(process)
        self._schedule_poll()

    def close(self) -> None:
        """Watch nothing any more."""
        self.watch(frozenset())

    def _begin(self, process: ProcessKey) -> None:
        """Open the process and be told of its end."""
        try:
            descriptor = os.pidfd_open(process.pid)
        except ProcessLookupError:
            self._loop.call_soon(self._tell, process, None)
            return
        except (OSError, AttributeError):  # no pidfd on this system, or none left
            self._polled.add(process)
            return
        if not _is_alive(process, zombie=True):
            os.close(descriptor)
            self._loop.call_soon(self._tell, process, None)
            return
        self._descriptors[process] = descriptor
        self._loop.add_reader(descriptor, self._ended, process)

    def _ended(self, process: ProcessKey) -> None:
        """The pidfd became readable."""
        self._loop.remove_reader(self._descriptors[process])
        self._ask(process, 0)

    def _ask(self, process: ProcessKey, tries: int) -> None:
        """Find the status, or ask again in a moment."""
        self._questions.pop(process, None)
        code = _zombie_code(process)
        if code is None:
            code = _reaped_code(self._descriptors[process])
        if code is None and tries < len(_TRIES):
            self._questions[process] = self._loop.call_later(_TRIES[tries], self._ask, process, tries + 1)
            return
        self._tell(process, code)

    def _tell(self, process: ProcessKey, code: int | None) -> None:
        """Say it once, if it is still wanted."""
        if process not in self._watched:
            return
        self._watched -= {process}
        self._drop(process)
        if code is None:
            self._emit(Exited(process))
        elif code & 0x7F:
            self._emit(Exited(process, signal=code & 0x7F))
        else:
            self._emit(Exited(process, status=code >> 8 & 0xFF))

    def _drop(self, process: ProcessKey) -> None:
        """Give back what the process was watched with."""
        self._polled.discard(process)
        question = self._questions.pop(process, None)
        if question is not None:
            question.cancel()
        descriptor = self._descriptors.pop(process, None)
        if descriptor is not None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)

    def _schedule_poll(self) -> None:
        """Poll while there is something that can only be polled."""
        if self._polled and self._poll_timer is None:
            self._poll_timer = self._loop.call_later(POLL, self._poll)
        elif not self._polled and self._poll_timer is not None:
            self._poll_timer.cancel()
            self._poll_timer = None

    def _poll(self) -> None:
        """Look whether the polled processes still live."""
        self._poll_timer = None
        for process in list(self._polled):
            if not _is_alive(process, zombie=False):
                self._tell(process, _zombie_code(process))
        self._schedule_poll()


def _is_alive(process: ProcessKey, zombie: bool) -> bool:
    """Whether this very process is there; a zombie only counts if `zombie`."""
    try:
        stat = proc.read_stat(process.pid)
    except Gone:
        return False
    except OSError:  # no descriptors left: nothing is known, so nothing has ended
        return True
    return stat.started == process.started and (zombie or not stat.dead)


def _zombie_code(process: ProcessKey) -> int | None:
    """The wait status of a process that nobody has waited for yet, None if it cannot be told. Of
    another user's process the kernel says 0 whatever it was, so that is not believed."""
    try:
        data = proc.read_stat_bytes(process.pid)
        owner = os.stat(f"/proc/{process.pid}").st_uid  # noqa: PTH116 - a number, not a path
    except (Gone, OSError):
        return None
    stat = proc.parse_stat(data)
    if stat.started != process.started or not stat.dead or os.geteuid() not in (0, owner):
        return None
    return int(data[data.rindex(b")") + 2 :].split()[_EXIT_CODE_FIELD])


def _reaped_code(descriptor: int) -> int | None:
    """The wait status that a pidfd keeps, None where the kernel does not or not yet say."""
    request = bytearray(_INFO.size)
    _INFO.pack_into(request, 0, _INFO_EXIT, 0, *([0] * 11), 0)
    try:
        fcntl.ioctl(descriptor, _GET_INFO, request, True)
    except OSError:
        return None
    mask, *_, code = _INFO.unpack(request)
    return code if mask & _INFO_EXIT else None
