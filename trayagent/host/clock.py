"""Time for the engine: seconds that count suspended time and never go back, and how far the
wall clock is from them.

CLOCK_BOOTTIME is that clock (clock_gettime(2)); CLOCK_MONOTONIC stands still while the machine
sleeps, so their difference grows by the length of each sleep. The event loop's timers stand
still too: after eight hours asleep a timer of one minute still has its rest to go. So
`ClockWatch` holds a timerfd that the kernel cancels whenever the wall clock is set, which a
resume does as well (TFD_TIMER_CANCEL_ON_SET, timerfd_create(2)), and tells at once.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import struct
import time
import zoneinfo
from collections.abc import Callable
from pathlib import Path

from trayagent.host.base import Emit
from trayagent.model.events import Resumed, Wall

JUMP = 1.0  # seconds; less is a clock being adjusted, or the time between two readings
_ZONE_EVERY = 10.0
_ZONE_FOLDER = "/zoneinfo/"


def boottime() -> float:
    """Seconds since boot with suspended time; monotonic seconds where no such clock exists."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def zone_name() -> str:
    """The IANA name of the user's time zone: TZ, else what /etc/localtime links to, else
    /etc/timezone; "" where none of them names a zone that is installed here."""
    told = os.environ.get("TZ")
    if told is not None:
        return _known_zone(told.removeprefix(":"))
    try:
        linked = _known_zone(str(Path("/etc/localtime").readlink()))
    except OSError:  # a copy instead of a link, or nothing at all
        linked = ""
    if linked:
        return linked
    try:
        with Path("/etc/timezone").open(encoding="utf-8", errors="replace") as file:
            return _known_zone(file.readline(256).strip())
    except OSError:
        return ""


def _known_zone(text: str) -> str:
    """The zone that a name, or a path below a zoneinfo folder, stands for; "" for none."""
    name = text.partition(_ZONE_FOLDER)[2] if _ZONE_FOLDER in text else text
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return ""
    return name


class Clock:
    """Engine time. The readers are injected for tests: seconds of the boot clock, of the monotonic
    clock, of the wall clock, and the zone's name."""

    def __init__(
        self,
        boot: Callable[[], float] = boottime,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        zone: Callable[[], str] = zone_name,
    ) -> None:
        self._boot, self._monotonic, self._wall, self._zone = boot, monotonic, wall, zone
        self._asleep = boot() - monotonic()
        self._offset: float | None = None
        self._zone_name = ""
        self._zone_at = float("-inf")

    def now(self) -> float:
        """Engine seconds."""
        return self._boot()

    def wall_offset(self) -> float:
        """Wall clock (epoch seconds) minus engine seconds, now."""
        return self._wall() - self._boot()

    def changes(self) -> list[Resumed | Wall]:
        """What happened to time since the last call: a sleep, a wall clock or zone set anew. The
        first call tells the wall clock as it is. Costs three clock readings; call it at will."""
        found: list[Resumed | Wall] = []
        asleep = self._boot() - self._monotonic()
        slept = asleep - self._asleep
        if slept > JUMP:
            found.append(Resumed(slept))
        if slept > JUMP or slept < 0:
            self._asleep = asleep
        now = self._boot()
        zone = self._zone_name
        if found or now - self._zone_at >= _ZONE_EVERY:
            zone, self._zone_at = self._zone(), now
        offset = self.wall_offset()
        if self._offset is None or abs(offset - self._offset) > JUMP or zone != self._zone_name:
            self._offset, self._zone_name = offset, zone
            found.append(Wall(offset, zone))
        return found


class ClockWatch:
    """Emits a clock's changes on the loop as soon as the kernel says that time was set or the machine
    is awake again. Where there is no timerfd (other systems) it does nothing: `available` is
    False, and `changes` must be called at every wake-up, which is a good thing to do anyway."""

    def __init__(self, clock: Clock, emit: Emit, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._clock, self._emit = clock, emit
        self._loop = loop or asyncio.get_running_loop()
        self._descriptor = _cancelled_timer()
        self.available = self._descriptor >= 0
        if self.available:
            self._loop.add_reader(self._descriptor, self._set)

    def close(self) -> None:
        """Watch no more."""
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _set(self) -> None:
        """The wall clock was set, or the machine resumed."""
        try:
            os.read(self._descriptor, 8)
        except OSError as error:
            if error.errno not in (errno.ECANCELED, errno.EAGAIN):
                self.close()
                return
        for change in self._clock.changes():
            self._emit(change)


_CLOCK_REALTIME = 0
_NONBLOCK_CLOEXEC = os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)
_ABSTIME_CANCEL_ON_SET = 1 | 2
_NEVER = 2**33 if struct.calcsize("l") == 8 else 2**31 - 1  # epoch seconds, far enough away


def _cancelled_timer() -> int:
    """A timerfd that becomes readable when the wall clock is set; -1 where there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        descriptor: int = libc.timerfd_create(_CLOCK_REALTIME, _NONBLOCK_CLOEXEC)
        if descriptor < 0:
            return -1
        moment = ctypes.create_string_buffer(struct.pack("@llll", 0, 0, _NEVER, 0))
        if libc.timerfd_settime(descriptor, _ABSTIME_CANCEL_ON_SET, moment, None) < 0:
            os.close(descriptor)
            return -1
    except AttributeError:
        return -1
    return descriptor
