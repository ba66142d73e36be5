"""Recorded sessions played in real terminals, by a process that is named like the agent.

    script = Script().cast(recording.cast, stop=dialog.until).key().cast(recording.cast, dialog.until)
    pane = server.new_session("api", script.command("claude", folder), columns=120, rows=40)

The player is player.c, compiled once a run where there is a C compiler; elsewhere this file, which
does the same as a program. Both take their argv[0] and their kernel name from the agent.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import termios
import time
import tty
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trayagent.replay.cast import Cast

SOURCE = Path(__file__).with_suffix(".c")
PR_SET_NAME = 15
ESCAPE = 0.04  # seconds after which an ESC alone is the key


class Script:
    """What a player does, built in order. `speed` shortens all waits that are added later."""

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._records: list[bytes] = []

    def output(self, data: bytes, after: float = 0.0) -> Script:
        """Write `data`, `after` seconds from the record before."""
        self._records.append(b"o %d %d\n%b" % (round(after / self.speed * 1e6), len(data), data))
        return self

    def wait(self, seconds: float) -> Script:
        """Do nothing for a while."""
        return self.output(b"", seconds)

    def mark(self, name: str) -> Script:
        """Note the moment (CLOCK_BOOTTIME) in the player's log."""
        self._records.append(b"m %b\n" % name.encode())
        return self

    def key(self) -> Script:
        """Wait until a key is pressed in the pane; answers to queries and arrow keys are none."""
        self._records.append(b"k\n")
        return self

    def exit(self, status: int = 0) -> Script:
        """End the process."""
        self._records.append(b"e %d\n" % status)
        return self

    def cast(
        self,
        cast: Cast,
        start: float = 0.0,
        stop: float = float("inf"),
        marks: Mapping[str, float] | None = None,
        at_once: bool = False,
    ) -> Script:
        """Play what a recording shows after `start` up to `stop` (its seconds); at_once: without waits.

        marks: name -> second of the recording; noted behind the last output up to then."""
        due = sorted((at, name) for name, at in (marks or {}).items() if start < at <= stop)
        now = start
        for event in cast.events:
            if event.code != "o" or not start < event.at <= stop:
                continue
            while due and due[0][0] < event.at:
                self.mark(due.pop(0)[1])
            self.output(event.raw, 0.0 if at_once else event.at - now)
            now = event.at
        for _, name in due:
            self.mark(name)
        return self

    def write(self, path: Path) -> Path:
        """Write the script to a file."""
        path.write_bytes(b"".join(self._records))
        return path

    def command(
        self,
        agent: str,
        folder: Path,
        name: str = "script",
        *,
        options: tuple[str, ...] = (),
        log: Path | None = None,
    ) -> str:
        """A shell command that plays this script as the process `agent` (argv[0], no argument but the
        player's). folder: where the script's file goes. options: `-l` to begin again for ever,
        `-d SECONDS` to begin later. log: where marks are noted."""
        path = self.write(folder / name)
        noted = ("-t", str(log)) if log else ()
        words = [*program(), *options, *noted, str(path)]
        return f"exec bash -c {shlex.quote(f'exec -a {shlex.quote(agent)} {shlex.join(words)}')}"


def typed(command: str) -> str:
    """A command of `Script.command` as a line for an interactive shell, which stays the pane's process."""
    return command.removeprefix("exec ")


def read_marks(log: Path) -> dict[str, float]:
    """name -> engine seconds (CLOCK_BOOTTIME) of the marks that were reached, the last time each was."""
    lines = log.read_text().splitlines() if log.exists() else []
    return {name: int(nanoseconds) / 1e9 for name, nanoseconds in (line.rsplit(" ", 1) for line in lines)}


@lru_cache(maxsize=1)
def program() -> tuple[str, ...]:
    """The player's command line: compiled where that is possible."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        return interpreted()
    folder = tempfile.mkdtemp(prefix="ta-player-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = f"{folder}/player"
    subprocess.run([compiler, "-O2", "-o", target, str(SOURCE)], check=True, timeout=120)
    return (target,)


def interpreted() -> tuple[str, ...]:
    """The command line of the player below."""
    return (sys.executable, "-S", str(Path(__file__).absolute()))


# -- the player where there is no compiler -------------------------------------------------------


class Terminal:
    """Standard input and output, raw, as the player of player.c has them."""

    def __init__(self) -> None:
        self.escape = ""

    def take(self) -> bool:
        """Take input; whether a key was among it."""
        data = os.read(0, 4096)
        if not data:
            raise SystemExit(0)
        key = False
        for char in data.decode("latin-1"):
            key |= self._key(char)
        return key

    def _key(self, char: str) -> bool:
        if self.escape == "":
            self.escape = "\x1b" if char == "\x1b" else ""
            return char != "\x1b"
        if self.escape == "\x1b":
            self.escape = char if char in "[]P_" else ""
            return not self.escape
        if self.escape == "[":
            self.escape = "" if "@" <= char <= "~" else "["
        elif char == "\x07" or (self.escape == "]\x1b" and char == "\\"):
            self.escape = ""
        else:
            self.escape = "]\x1b" if char == "\x1b" else "]"
        return False

    def wait(self, moment: float | None, for_key: bool = False) -> None:
        """Wait until the moment (None: for ever) or, if told so, for a key."""
        while moment is None or moment > time.monotonic():
            left = None if moment is None else max(0.0, moment - time.monotonic())
            patience = ESCAPE if self.escape == "\x1b" else left
            if select.select([0], [], [], patience)[0]:
                if self.take() and for_key:
                    return
            elif self.escape == "\x1b":
                self.escape = ""
                if for_key:
                    return


def play(script: bytes, terminal: Terminal, speed: float, log: str | None) -> None:
    """Play a script once."""
    clock, at = time.monotonic(), 0
    while at < len(script):
        line = script[at : script.index(b"\n", at)]
        at += len(line) + 1
        what, *rest = line.split(b" ")
        if what == b"o":
            clock += int(rest[0]) / 1e6 / speed
            terminal.wait(clock)
            data = script[at : at + int(rest[1])]
            at += len(data)
            while data:
                data = data[os.write(1, data) :]
        elif what == b"m" and log is not None:
            with Path(log).open("a") as file:
                file.write(f"{b' '.join(rest).decode()} {time.clock_gettime_ns(time.CLOCK_BOOTTIME)}\n")
        elif what == b"k":
            terminal.wait(None, for_key=True)
            clock = time.monotonic()
        elif what == b"e":
            raise SystemExit(int(rest[0]))


def main() -> None:
    """`player.py [-l] [-d SECONDS] [-s SPEED] [-t LOG] SCRIPT`, as player.c."""
    import getopt

    pairs, (path, *_) = getopt.getopt(sys.argv[1:], "ld:s:t:")
    options = dict(pairs)
    terminal = Terminal()
    argv0 = Path("/proc/self/cmdline").read_bytes().split(b"\0")[0]
    ctypes.CDLL(None).prctl(PR_SET_NAME, argv0.rpartition(b"/")[2], 0, 0, 0)
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        terminal.wait(time.monotonic() + float(options.get("-d", 0)))
        script = Path(path).read_bytes()
        play(script, terminal, float(options.get("-s", 1)), options.get("-t"))
        while "-l" in options:
            play(script, terminal, float(options.get("-s", 1)), options.get("-t"))
        terminal.wait(None)
    finally:
        termios.tcsetattr(0, termios.TCSANOW, before)


if __name__ == "__main__":
    main()
