"""A person's terminal with a relay in it: what he would see, type and find afterwards."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pty
import select
import struct
import sys
import termios
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.relay.inner import noise
from tests.support.terminal import Terminal, eventually

RELAY = (sys.executable, "-m", "trayagent", "run", "--")
HELPERS = Path(__file__).parent / "inner.py"


def inner(*words: str) -> tuple[str, ...]:
    """A command that runs one of inner.py's programs."""
    return (sys.executable, str(HELPERS), *words)


@contextlib.contextmanager
def seat(*argv: str, env: Mapping[str, str] | None = None, relay: bool = True) -> Iterator[Terminal]:
    """A terminal in which `argv` runs in a relay (or `argv` alone), with no daemon in reach unless told."""
    quiet = {"XDG_RUNTIME_DIR": "/nonexistent", "TMPDIR": "/tmp"}
    terminal = Terminal(*(RELAY if relay else ()), *argv, env=quiet | dict(env or {}))
    try:
        yield terminal
    finally:
        terminal.close()


@contextlib.contextmanager
def bash_seat(env: Mapping[str, str] | None = None) -> Iterator[Terminal]:
    """An interactive shell with job control, to run relays in."""
    with seat("bash", "--norc", "--noprofile", "-i", env=env, relay=False) as terminal:
        terminal.wait_for_output("ready> ")
        yield terminal


def modes(terminal: Terminal) -> list[Any]:
    """The terminal's modes as they are now."""
    return termios.tcgetattr(terminal.master)


def is_raw(terminal: Terminal) -> bool:
    """Whether a relay has it (shells that edit a line leave output and signals to the terminal)."""
    return not modes(terminal)[1] & termios.OPOST and not modes(terminal)[3] & termios.ISIG


def resize(terminal: Terminal, rows: int, columns: int) -> None:
    """The person pulls at his window."""
    fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))


def ended(terminal: Terminal) -> int:
    """The exit status once the terminal's first process ended; minus the signal that killed it."""
    return eventually(
        lambda: terminal.process.poll() is not None and [terminal.process.returncode], "the end"
    )[0]


class Raw:
    """A raw terminal with a relay in it, for bytes by the million."""

    def __init__(self, *argv: str, env: Mapping[str, str]) -> None:
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execve(RELAY[0], [*RELAY, *argv], {**os.environ, "XDG_RUNTIME_DIR": "/nonexistent", **env})
        os.set_blocking(self.master, False)

    def end(self) -> int:
        """Its exit status, once it has ended by itself."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.master)
        return status


def exchange(
    size: int, env: Mapping[str, str] | None = None, begun: Callable[[], object] | None = None
) -> None:
    """`size` bytes each way at once through a relay, in uneven pieces; all must arrive as they were.

    begun: called once the command runs."""
    there = noise(2, 1 << 20)
    terminal = Raw(*inner("exchange", str(size)), env=env or {})
    came, sent, seen, sums = b"", 0, 0, hashlib.sha256()
    while b"begin\n" not in came:
        select.select([terminal.master], [], [], 30)
        came += os.read(terminal.master, 65536)
    came = came.partition(b"begin\n")[2]
    if begun is not None:
        begun()
    answer = b""
    while len(answer) < 64:
        wants = [terminal.master] if sent < size else []
        readable, writable, _ = select.select([terminal.master], wants, [], 60)
        assert readable or writable, f"stuck after {seen} of {size} bytes out, {sent} in"
        if readable or came:
            data = came or os.read(terminal.master, 60_000)
            came = b""
            rest = size - seen
            sums.update(data[:rest])
            seen += len(data[:rest])
            answer += data[rest:]
        if writable:
            at = sent % len(there)
            sent += os.write(terminal.master, there[at : at + min(size - sent, 3000)])
    assert sums.hexdigest() == hashlib.sha256(_repeated(noise(1, 1 << 20), size)).hexdigest()
    assert answer.decode() == hashlib.sha256(_repeated(there, size)).hexdigest()
    assert terminal.end() == 0


def _repeated(piece: bytes, size: int) -> bytes:
    return (piece * (size // len(piece) + 1))[:size]
