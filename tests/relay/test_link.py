"""The way to the daemon: whatever the daemon does, the command notices nothing, and the newest is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.relay.fake_daemon import FakeDaemon, listening, output
from tests.relay.seat import ended, exchange, seat
from tests.support.terminal import eventually
from trayagent.relay import wire
from trayagent.relay.tail import Tail


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A runtime folder as the daemon leaves it; not below pytest's own, whose paths are too long."""
    with tempfile.TemporaryDirectory(prefix="relay-") as folder:
        (Path(folder) / "trayagent").mkdir(mode=0o700)
        yield Path(folder)


def test_a_daemon_hears_who_is_there_and_all_that_is_written(runtime: Path):
    with (
        listening(runtime) as daemon,
        seat("sh", "-c", "read x; printf heard; exit 5", env=at(runtime)) as it,
    ):
        daemon.accept()
        it.send("go\n")
        assert ended(it) == 5
        (kind, _, moment, body), *rest = daemon.frames()
    version, outer, inner_tty, leader, pid, columns, rows = body.decode().split("\0")
    assert (kind, version, outer, columns, rows) == (wire.HELLO, wire.VERSION, it.tty, "0", "0")
    assert inner_tty != outer and int(leader) + 1 <= int(pid)
    assert 0 <= time.clock_gettime(time.CLOCK_BOOTTIME) - moment < 60
    assert output(rest) == b"go\r\nheard"
    assert (rest[-1][0], rest[-1][3]) == (wire.ENDED, b"5")


def test_a_daemon_that_comes_later_hears_what_was_written_before(runtime: Path):
    with seat("sh", "-c", "printf early; read x", env=at(runtime)) as terminal:
        terminal.wait_for_output("early")
        with listening(runtime) as daemon:
            daemon.accept()
            terminal.send("\n")
            frames = daemon.frames()
            assert (output(frames), [lost for _, lost, _, _ in frames]) == (
                b"early\r\n",
                [False] * len(frames),
            )


def test_after_a_restart_of_the_daemon_the_relay_is_there_again(runtime: Path):
    with seat("sh", "-c", "read x; printf second; read x", env=at(runtime)) as terminal:
        with listening(runtime) as daemon:
            daemon.accept()
            assert daemon.frame() is not None
        terminal.send("\n")
        terminal.wait_for_output("second")
        with listening(runtime) as daemon:
            daemon.accept()
            terminal.send("\n")
            frames = daemon.frames()
            assert frames[0][0] == wire.HELLO and b"second" in output(frames)


def test_who_reads_too_late_hears_the_newest_and_that_something_is_missing(runtime: Path):
    flood = "yes | head -c 300000; printf done; read x"
    with listening(runtime) as daemon, seat("sh", "-c", flood, env=at(runtime)) as terminal:
        eventually(lambda: terminal.output.endswith(b"done"), "the flood")
        daemon.accept()
        frames = []
        while not output(frames).endswith(b"done"):  # nobody waits for a slow daemon when it ends
            frame = daemon.frame()
            assert frame is not None
            frames.append(frame)
        terminal.send("last words\n")
        frames += daemon.frames()
        assert any(lost for _, lost, _, _ in frames)
        assert output(frames).endswith(b"donelast words\r\n")


@pytest.mark.parametrize("hears", [False, True], ids=["never accepts", "accepts and never reads"])
def test_a_hung_daemon_changes_nothing(runtime: Path, hears: bool):
    with listening(runtime) as daemon:
        exchange(2_000_000, at(runtime), daemon.accept if hears else None)


def test_suspension_is_told(runtime: Path):
    with listening(runtime) as daemon, seat("sh", "-c", "kill -STOP $$; read x", env=at(runtime)) as terminal:
        daemon.accept()
        assert daemon.frame() is not None
        kinds = []
        while wire.PAUSED not in kinds:
            frame = daemon.frame()
            assert frame is not None
            kinds.append(frame[0])
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.send("\n")
        assert [kind for kind, *_ in daemon.frames() if kind != wire.OUTPUT] == [wire.GOES_ON, wire.ENDED]


def test_a_folder_that_others_can_enter_is_not_trusted(runtime: Path):
    (runtime / "trayagent").chmod(0o755)
    refuses(runtime, FakeDaemon(runtime))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_a_daemon_of_another_user_is_not_trusted(runtime: Path):
    place = runtime / "trayagent" / "relay.sock"
    code = (
        "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); "
        "os.setuid(12345); s.listen(4); print('ready', flush=True); "
        "c, _ = s.accept(); print(c.recv(99), flush=True)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(place)], stdout=subprocess.PIPE) as foreign:
        assert foreign.stdout is not None and foreign.stdout.readline() == b"ready\n"
        with seat("sh", "-c", "printf secret", env=at(runtime)) as terminal:
            assert ended(terminal) == 0
        assert foreign.stdout.readline() in (b"b''\n", b"")


def refuses(runtime: Path, daemon: FakeDaemon) -> None:
    """No relay comes to this daemon."""
    with seat("sh", "-c", "printf secret", env=at(runtime)) as terminal:
        assert ended(terminal) == 0
    daemon.listening.settimeout(0)
    with pytest.raises(BlockingIOError):
        daemon.accept()
    daemon.close()


def at(runtime: Path) -> dict[str, str]:
    """An environment in which this folder is the daemon's."""
    return {"XDG_RUNTIME_DIR": str(runtime)}


def test_the_tail_keeps_the_newest_with_their_times():
    tail = Tail(limit=10)
    tail.add(1.0, b"abcdef")
    assert tail.after(2, 3) == (1.0, b"cde")
    tail.add(2.0, b"ghijkl")
    assert (tail.start, tail.end) == (6, 12)
    assert tail.after(0, 100) == (2.0, b"ghijkl")
    assert tail.after(12, 100) is None
    tail.add(3.0, b"m" * 25)
    assert (tail.start, tail.after(0, 100)) == (27, (3.0, b"m" * 10))


def test_the_tails_memory_is_bounded_for_single_keys_too():
    tail = Tail()
    for number in range(100_000):
        tail.add(number * 0.01, b"x")
    assert tail.end == 100_000 and tail.end - tail.start <= 64 * 1024
    assert len(tail._pieces) <= 512


def test_what_is_no_frame_is_refused():
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", bytes(12), b"\xff" * 40, b"O" + b"\0\xff\xff" + bytes(8)):
        with pytest.raises(wire.WireError):
            wire.unpack(bytearray(garbage))
    assert wire.unpack(bytearray(wire.pack(wire.OUTPUT, b"abc", 1.0)[:-1])) is None
