"""The end of processes, with the status where it can be known."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator

import pytest

from trayagent.host import exits
from trayagent.host.exits import ProcessWatch
from trayagent.host.proc import read_stat
from trayagent.model.events import Event, Exited
from trayagent.model.keys import ProcessKey

DEADLINE = 20.0


class Told:
    """Collects events, and waits for them."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[Event] = asyncio.Queue()

    async def next(self) -> Exited:
        """The next event."""
        event = await asyncio.wait_for(self.events.get(), DEADLINE)
        assert isinstance(event, Exited)
        return event


@pytest.fixture
async def told() -> Told:
    """What the watch emitted."""
    return Told()


@pytest.fixture
async def watch(told: Told) -> AsyncIterator[ProcessWatch]:
    """A watch on the test's loop."""
    watch = ProcessWatch(told.events.put_nowait)
    yield watch
    watch.close()


def start(*argv: str, **more: object) -> tuple[subprocess.Popen[str], ProcessKey]:
    """A child, and its key."""
    child: subprocess.Popen[str] = subprocess.Popen(argv, text=True, **more)  # type: ignore[call-overload]
    return child, ProcessKey(child.pid, read_stat(child.pid).started)


def piped(code: str) -> subprocess.Popen[str]:
    """A shell that we can talk with."""
    return subprocess.Popen(["sh", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def test_an_end_that_nobody_waited_for_has_its_status(watch: ProcessWatch, told: Told) -> None:
    child, key = start("sh", "-c", "read line; exit 7", stdin=subprocess.PIPE)
    watch.watch(frozenset({key}))
    assert child.stdin
    child.stdin.close()
    assert await told.next() == Exited(key, status=7)
    child.wait()


async def test_a_signal_is_told_as_one(watch: ProcessWatch, told: Told) -> None:
    child, key = start("sleep", "1000")
    watch.watch(frozenset({key}))
    child.send_signal(signal.SIGTERM)
    assert await told.next() == Exited(key, signal=signal.SIGTERM)
    child.wait()


async def test_an_end_that_its_parent_took_at_once_is_told(watch: ProcessWatch, told: Told) -> None:
    """Linux 6.15 and later keep the status in the pidfd; before, it may be unknown."""
    parent = piped("exec 3<&0; (read line <&3; exit 5) & echo $!; wait; read line")
    assert parent.stdin and parent.stdout
    pid = int(parent.stdout.readline())
    key = ProcessKey(pid, read_stat(pid).started)
    watch.watch(frozenset({key}))
    parent.stdin.write("go\n")
    parent.stdin.flush()
    assert await told.next() in (Exited(key, status=5), Exited(key))
    parent.communicate("end\n")


def test_the_kernel_keeps_a_status_after_the_wait() -> None:
    child, _ = start("sh", "-c", "exit 3")
    descriptor = os.pidfd_open(child.pid)
    child.wait()
    code = exits._reaped_code(descriptor)
    os.close(descriptor)
    release = tuple(map(int, os.uname().release.split("-")[0].split(".")[:2]))
    assert code == (3 << 8 if release >= (6, 15) else None)


async def test_a_process_that_is_gone_already_is_told(watch: ProcessWatch, told: Told) -> None:
    child, key = start("true")
    child.wait()
    watch.watch(frozenset({key}))
    assert await told.next() == Exited(key)


async def test_a_reused_pid_is_the_end_of_the_one_before(watch: ProcessWatch, told: Told) -> None:
    child, key = start("sleep", "1000")
    before = ProcessKey(key.pid, key.started - 1)
    watch.watch(frozenset({before, key}))
    assert await told.next() == Exited(before)
    child.kill()
    assert (await told.next()).process == key
    child.wait()


async def test_each_end_is_told_once_and_unwatched_ones_never(watch: ProcessWatch, told: Told) -> None:
    one, first = start("sleep", "1000")
    two, second = start("sleep", "1000")
    watch.watch(frozenset({first, second}))
    watch.watch(frozenset({second}))
    one.kill()
    one.wait()
    two.kill()
    two.wait()
    assert (await told.next()).process == second
    watch.watch(frozenset({second}))
    assert (await told.next()).process == second, "asked for again, it is told again"
    await asyncio.sleep(0)
    assert told.events.empty()


async def test_without_pidfds_ends_are_polled(
    watch: ProcessWatch, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(pid: int) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", refused)
    monkeypatch.setattr(exits, "POLL", 0.02)
    child, key = start("sh", "-c", "read line; exit 4", stdin=subprocess.PIPE)
    watch.watch(frozenset({key}))
    assert child.stdin
    child.stdin.close()
    assert await told.next() == Exited(key, status=4)
    child.wait()


async def test_closing_gives_everything_back(told: Told) -> None:
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208
    child, key = start("sleep", "1000")
    watch = ProcessWatch(told.events.put_nowait)
    watch.watch(frozenset({key}))
    watch.close()
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    child.kill()
    child.wait()
    await asyncio.sleep(0.05)
    assert told.events.empty()
