"""One short-lived plain `tmux` command: spawned, read through pipes, reaped.

Plain commands are the only way in which a tmux server is asked anything here. Unlike
control-mode clients they cannot hurt it: tmux 3.0a to 3.7c each survived 500 of them
killed at random moments.

`posix_spawn` and two readers on the event loop cost half of what
`asyncio.create_subprocess_exec` does (0.55 ms against 1.2 ms of our own CPU a command,
Python 3.11), and there are several commands a second. `wait4` tells what the child itself cost.

What the child gets: `-u`, so that the text is UTF-8 whatever the locale (without it
glyphs and tabs arrive as `_`); no TMUX or TMUX_PANE, so that no command takes its target
from where this program happens to run; no other variable but HOME and PATH, since a
tmux client sends its whole environment to the server. A child that takes too long or
says too much is killed; a killed child's pipes are not waited for, because a stopped
server may hold the other ends in its socket's queue.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_CHUNK = 1 << 16
_ERR_LIMIT = 1 << 14


@dataclass(slots=True)
class LookCost:
    """What the commands cost so far. n: commands; cpu: CPU seconds of the children; out: bytes read."""

    n: int = 0
    cpu: float = 0.0
    out: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command printed. problem: why it did not run to its end, None if it did.

    A command that ran may still have failed, wholly or in part (a pane vanished): callers
    look for their own marks in `out`, and for the reason in `err`."""

    out: bytes = b""
    err: str = ""
    problem: str | None = None


@dataclass(slots=True, eq=False)
class _Child:
    """A running command. done: resolves once both pipes are at their end, or with the reason
    to stop; gone: once the process has been reaped. slow: how long it was waited for, in seconds."""

    pid: int
    fds: tuple[int, int]
    done: asyncio.Future[str | None]
    gone: asyncio.Future[None]
    limit: int
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)
    open: int = 2
    killed: bool = False
    slow: float = 0.0

    def readable(self, fd: int, into: bytearray, limit: int) -> None:
        """Take one chunk; at the end of a pipe stop listening to it."""
        try:
            data = os.read(fd, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        if data:
            into += data
            if len(into) > limit:
                self.finish(f"it wrote more than {limit} bytes")
            return
        self.done.get_loop().remove_reader(fd)
        self.open -= 1
        if not self.open:
            self.finish(None)

    def finish(self, problem: str | None) -> None:
        """Resolve `done`, unless it is resolved already."""
        if not self.done.done():
            self.done.set_result(problem)

    def kill(self) -> None:
        """End the process; it has not been waited for, so the pid is still its own."""
        if not self.killed and not self.gone.done():
            self.killed = True
            os.kill(self.pid, signal.SIGKILL)


class Runner:
    """Runs tmux commands for one event loop.

    program: the tmux to run, by default the first in PATH. timeout: seconds after which
    a command is killed. limit: bytes of output after which it is.
    """

    def __init__(
        self,
        program: str | None = None,
        *,
        timeout: float = 2.0,
        limit: int = 8 << 20,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.program = program
        self.cost = LookCost()
        self._timeout = timeout
        self._limit = limit
        self._environ = {name: environ[name] for name in ("HOME", "PATH") if name in environ}
        self.find()
        self._children: set[_Child] = set()
        self._closed = False

    def find(self) -> bool:
        """Whether there is a tmux program; looks for it anew while there is none."""
        if self.program is None:
            self.program = shutil.which("tmux", path=self._environ.get("PATH"))
        return self.program is not None

    async def run(self, socket: str, args: Sequence[str]) -> Reply:
        """Run `tmux -u -S socket args...` to its end, its timeout or its limit. Never raises for these."""
        if self.program is None:
            return Reply(problem="no tmux program was found in PATH")
        if self._closed:
            return Reply(problem="tmux is not asked any more, the program is ending")
        try:
            child = self._spawn([self.program, "-u", "-S", socket, *args])
        except OSError as error:
            return Reply(problem=f"{self.program} could not be started: {error.strerror}")
        late = f"it did not answer within {self._timeout:g} s"
        timer = child.done.get_loop().call_later(self._timeout, child.finish, late)
        try:
            problem = await child.done
        except asyncio.CancelledError:
            child.kill()
            raise
        finally:
            timer.cancel()
            self._release(child)
        return Reply(bytes(child.out), child.err.decode("utf-8", "replace").strip(), problem)

    async def close(self) -> None:
        """Kill and reap every command that still runs; no new one is started."""
        self._closed = True
        for child in self._children:
            child.finish("it was given up, the program is ending")
            child.kill()
        if self._children:
            await asyncio.wait([child.gone for child in self._children])

    def _spawn(self, argv: list[str]) -> _Child:
        opened: list[int] = []
        try:
            for _ in range(2):
                opened += os.pipe()
            out_read, out_write, err_read, err_write = opened
            actions = [
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, out_write, 1),
                (os.POSIX_SPAWN_DUP2, err_write, 2),
            ]
            reset = (signal.SIGPIPE, signal.SIGXFSZ)  # ignored by Python, and inherited if left so
            pid = os.posix_spawn(
                argv[0], argv, self._environ, file_actions=actions, setsigmask=(), setsigdef=reset
            )
        except OSError:
            for fd in opened:
                os.close(fd)
            raise
        os.close(out_write)
        os.close(err_write)
        loop = asyncio.get_running_loop()
        child = _Child(pid, (out_read, err_read), loop.create_future(), loop.create_future(), self._limit)
        self._children.add(child)
        for fd, into, limit in ((out_read, child.out, self._limit), (err_read, child.err, _ERR_LIMIT)):
            os.set_blocking(fd, False)
            loop.add_reader(fd, child.readable, fd, into, limit)
        return child

    def _release(self, child: _Child) -> None:
        """Close our ends, end a child that is not at its own end, and reap it as soon as it is dead."""
        loop = child.done.get_loop()
        for fd in child.fds:
            loop.remove_reader(fd)
            os.close(fd)
        if child.open:
            child.kill()
        self._reap(child, 0.0005)

    def _reap(self, child: _Child, pause: float) -> None:
        """Reap the child without blocking: it closes its output a moment before it is dead."""
        pid, _, usage = os.wait4(child.pid, os.WNOHANG)
        if not pid:
            child.slow += pause
            if child.slow > self._timeout:  # it closed its output, and lives on
                child.kill()
            child.done.get_loop().call_later(pause, self._reap, child, min(pause * 2, 0.1))
            return
        self._children.discard(child)
        self.cost.n += 1
        self.cost.cpu += usage.ru_utime + usage.ru_stime
        self.cost.out += len(child.out)
        child.gone.set_result(None)
