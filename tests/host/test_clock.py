"""Engine time over sleeps, clock settings and zones."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from trayagent.host import clock as module
from trayagent.host.clock import Clock, ClockWatch, boottime, zone_name
from trayagent.model.events import Resumed, Wall


class Times:
    """A machine's clocks, set by hand."""

    def __init__(self) -> None:
        self.boot = 5_000.0
        self.monotonic = 4_000.0
        self.wall = 1_800_000_000.0
        self.zone = "Europe/Berlin"

    def clock(self) -> Clock:
        """A clock that reads them."""
        return Clock(lambda: self.boot, lambda: self.monotonic, lambda: self.wall, lambda: self.zone)

    def run(self, seconds: float) -> None:
        """Time passes while the machine is awake."""
        self.boot += seconds
        self.monotonic += seconds
        self.wall += seconds

    def sleep(self, seconds: float) -> None:
        """Time passes while the machine is suspended."""
        self.boot += seconds
        self.wall += seconds


@pytest.fixture
def times() -> Times:
    """The machine."""
    return Times()


def test_the_first_call_tells_the_wall_clock_and_the_next_nothing(times: Times) -> None:
    clock = times.clock()
    assert clock.changes() == [Wall(1_800_000_000.0 - 5_000.0, "Europe/Berlin")]
    times.run(3600)
    assert clock.changes() == []


def test_engine_time_counts_a_sleep_of_eight_hours(times: Times) -> None:
    clock = times.clock()
    clock.changes()
    before = clock.now()
    times.sleep(8 * 3600)
    assert clock.now() - before == 8 * 3600
    assert clock.changes() == [Resumed(8 * 3600)], "the wall clock is as far from engine time as before"
    assert clock.changes() == []
    times.sleep(60)
    assert clock.changes() == [Resumed(60)]


def test_a_clock_set_anew_is_told(times: Times) -> None:
    clock = times.clock()
    clock.changes()
    times.wall -= 7200
    assert clock.changes() == [Wall(1_800_000_000.0 - 7200 - 5_000.0, "Europe/Berlin")]
    times.wall += 0.5
    assert clock.changes() == []


def test_a_slow_drift_is_told_once_it_is_a_second(times: Times) -> None:
    clock = times.clock()
    clock.changes()
    told = []
    for _ in range(30):
        times.run(60)
        times.wall += 0.1
        told += clock.changes()
    assert len(told) == 2


def test_another_zone_is_told(times: Times) -> None:
    clock = times.clock()
    clock.changes()
    times.zone = "Australia/Lord_Howe"
    times.run(5)
    assert clock.changes() == [], "looked at every ten seconds only"
    times.run(6)
    assert clock.changes() == [Wall(clock.wall_offset(), "Australia/Lord_Howe")]


def test_a_zone_that_changed_during_a_sleep_is_told_at_once(times: Times) -> None:
    clock = times.clock()
    clock.changes()
    times.zone = "America/New_York"
    times.sleep(9)
    assert clock.changes() == [Resumed(9), Wall(clock.wall_offset(), "America/New_York")]


def test_the_real_clock_never_goes_back_and_meets_the_wall() -> None:
    clock = Clock()
    first = clock.now()
    assert clock.now() >= first
    assert clock.now() + clock.wall_offset() == pytest.approx(time.time(), abs=1)


def test_without_a_boot_clock_the_monotonic_one_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
    assert boottime() == pytest.approx(time.monotonic(), abs=1)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        (":America/New_York", "America/New_York"),
        ("/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        ("UTC", "UTC"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", ""),
        ("Mars/Olympus", ""),
        ("../../etc/passwd", ""),
        ("", ""),
    ],
)
def test_the_zone_that_tz_names(told: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", told)
    assert zone_name() == expected


def test_the_zone_that_the_system_names_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TZ", raising=False)
    link = Path("/etc/localtime")
    name = zone_name()
    if link.is_symlink():
        assert str(link.readlink()).endswith(f"/{name}")
    else:
        assert name == "" or Path("/usr/share/zoneinfo", name).exists()


async def test_the_kernels_word_that_time_was_set_is_passed_on(
    times: Times, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel's timer is replaced by one end of a pipe: tests do not set this machine's clock."""
    read, write = module.os.pipe()
    monkeypatch.setattr(module, "_cancelled_timer", lambda: read)
    told: asyncio.Queue[object] = asyncio.Queue()
    clock = times.clock()
    clock.changes()
    watch = ClockWatch(clock, told.put_nowait)
    times.sleep(100)
    module.os.write(write, b"x" * 8)
    assert await asyncio.wait_for(told.get(), 20) == Resumed(100)
    watch.close()
    module.os.close(write)


async def test_a_real_watch_waits_in_silence_and_gives_its_timer_back(times: Times) -> None:
    told: list[object] = []

    def descriptors() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    before = descriptors()
    watch = ClockWatch(times.clock(), told.append)
    assert watch.available
    assert descriptors() == before + 1
    await asyncio.sleep(0.05)
    assert told == []
    watch.close()
    watch.close()
    assert descriptors() == before
