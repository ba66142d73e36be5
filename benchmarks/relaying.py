"""What a relay costs: a key's echo, a transfer, memory, and the start.

Echo and start are measured at a pty whose other side we are; the transfer in a tmux pane, because
what a relay takes from a transfer depends on how fast the terminal is, and tmux is the terminal
that agents run in. A pty that is only emptied is told beside it, without a limit.
"""

from __future__ import annotations

import os
import pty
import shlex
import statistics
import sys
import time
from pathlib import Path

from benchmarks.rows import Row
from tests.support.tmux import IDLE, TmuxServer, wait_until

RELAY = (sys.executable, "-m", "trayagent", "run", "--")
KEYS, STARTS, RELAYS, TURNS = 500, 15, 10, 5
MEGABYTES = 48
ECHO = ("sh", "-c", "stty raw -echo; printf R; exec cat")
# Bytes as agents write them: lines of text with colours.
LINE = b"\x1b[38;5;42m  \xe2\x94\x82\x1b[0m some words that an agent wrote, \x1b[1mbold\x1b[0m ones too\r\n"


class Pty:
    """A command at a pty of ours."""

    def __init__(self, *command: str) -> None:
        self.began = time.perf_counter()
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execve(command[0] if "/" in command[0] else f"/bin/{command[0]}", command, _environment())
        os.set_inheritable(self.master, False)  # or the next one would keep it open

    def until(self, byte: bytes) -> float:
        """Seconds from the start until this was shown."""
        while byte not in os.read(self.master, 65536):
            pass
        return time.perf_counter() - self.began

    def key(self) -> float:
        """Seconds from a key to its echo."""
        began = time.perf_counter()
        os.write(self.master, b"k")
        os.read(self.master, 1)
        return time.perf_counter() - began

    def drain(self) -> int:
        """Read until the command ends; how many bytes that was."""
        count = 0
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return count
            count += len(data)

    def close(self) -> None:
        """Hang up and wait for its end."""
        os.close(self.master)
        os.waitpid(self.pid, 0)


def _environment() -> dict[str, str]:
    """Relays find no daemon; imports come from the tree that is measured, compiled."""
    changed = {"XDG_RUNTIME_DIR": "/nonexistent", "PYTHONPATH": str(Path(__file__).parent.parent)}
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | changed


def measure() -> list[Row]:
    """The rows of the scene."""
    return [*_echo(), *_start(), *_memory(), *_transfer()]


def _echo() -> list[Row]:
    medians = []
    for before in ((), RELAY):
        terminal = Pty(*before, *ECHO)
        terminal.until(b"R")
        times = []
        for _ in range(KEYS):
            times.append(1000 * terminal.key())
            time.sleep(0.002)
        medians.append(statistics.median(times))
        terminal.close()
    direct, relayed = medians
    note = f"median of {KEYS} keys; {direct:.2f} ms without it"
    return [Row("relay, added to a key's echo", relayed - direct, "ms", 1.0, note)]


def _start() -> list[Row]:
    medians = []
    for before in ((), RELAY):
        times = []
        for _ in range(STARTS):
            terminal = Pty(*before, "/bin/echo", "R")
            times.append(1000 * terminal.until(b"R"))
            terminal.drain()
            terminal.close()
        medians.append(statistics.median(times[1:]))
    direct, relayed = medians
    note = f"median of {STARTS - 1}, to the command's first output; {direct:.1f} ms without it"
    return [Row("relay, added to a command's start", relayed - direct, "ms", 60.0, note)]


def _memory() -> list[Row]:
    terminals = [Pty(*RELAY, *ECHO) for _ in range(RELAYS)]
    for terminal in terminals:
        terminal.until(b"R")
    time.sleep(0.5)
    shares = [_share(terminal.pid) + sum(map(_share, _leaders(terminal.pid))) for terminal in terminals]
    for terminal in terminals:
        terminal.close()
    note = f"mean of {RELAYS} at once, both processes, shared pages shared out (Pss)"
    return [Row("relay, memory", statistics.mean(shares), "MB", 12.0, note)]


def _leaders(pid: int) -> list[int]:
    """The relay's children."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _share(pid: int) -> float:
    """Proportional set size of a process in MB (proc(5))."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _transfer() -> list[Row]:
    with TmuxServer("relay") as server:
        path = server.folder / "text"
        path.write_bytes(LINE * (MEGABYTES * 2**20 // len(LINE)))
        size = path.stat().st_size / 2**20
        in_tmux: dict[bool, list[float]] = {False: [], True: []}
        emptied: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(TURNS):  # in turns: what else the machine does is spread over both
            for relayed in (False, True):
                words = (*(RELAY if relayed else ()), "/bin/cat", str(path))
                in_tmux[relayed].append(size / _in_tmux(server, words))
                terminal = Pty(*words)
                terminal.drain()
                emptied[relayed].append(size / (time.perf_counter() - terminal.began))
                terminal.close()
    rows = []
    for where, rates, most in (("a tmux pane", in_tmux, 20.0), ("an emptied pty", emptied, None)):
        direct, behind = statistics.median(rates[False]), statistics.median(rates[True])
        note = f"median of {TURNS} times {size:.0f} MB: {behind:.0f} MB/s, {direct:.0f} without it"
        rows.append(
            Row(f"relay, taken from a transfer to {where}", 100 * (1 - behind / direct), "%", most, note)
        )
    return rows


def _in_tmux(server: TmuxServer, words: tuple[str, ...]) -> float:
    """Seconds that a command takes in a pane, up to its end."""
    done = server.folder / "done"
    done.unlink(missing_ok=True)
    env = [
        f"{name}={value}"
        for name, value in _environment().items()
        if name in ("XDG_RUNTIME_DIR", "PYTHONPATH")
    ]
    pane = server.new_session("transfer", IDLE, 120, 40)
    script = f"{shlex.join(['env', *env, *words])}; : > {shlex.quote(str(done))}; {IDLE}"
    began = time.perf_counter()
    server.tmux("respawn-pane", "-k", "-t", pane, script)
    wait_until(done.exists, "the transfer", 120.0)
    took = time.perf_counter() - began
    server.tmux("kill-session", "-t", "transfer")
    return took
