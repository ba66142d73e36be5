"""A pty with a process in front: what a pane is, without any server around it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from trayagent.host.proc import all_stats
from trayagent.model.keys import PaneKey, ServerKey

T = TypeVar("T")
DEADLINE = 20.0


def eventually(probe: Callable[[], T | None], what: str = "it") -> T:
    """The probe's first true answer; fails after a generous time."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        found = probe()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {DEADLINE:.0f} s")


class Terminal:
    """Runs a command as the session leader of a new pty and reads away what it writes."""

    def __init__(self, *argv: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> None:
        self.master, slave = pty.openpty()
        self.tty = os.ttyname(slave)
        self.output = b""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "TERM": "dumb",
            "PS1": "ready> ",
            "LC_ALL": "C.UTF-8",
            **(env or {}),
        }
        self.process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env=environment,
            cwd=cwd,
        )
        os.close(slave)
        self.pid = self.process.pid
        self.key = PaneKey(ServerKey("tmux", self.tty, 1, 1), f"%{self.pid}")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pane(self) -> tuple[PaneKey, int, str]:
        """As Examine names a pane."""
        return self.key, self.pid, self.tty

    def send(self, text: str) -> None:
        """Type."""
        os.write(self.master, text.encode())

    def wait_for_output(self, text: str) -> None:
        """Until the terminal showed this."""
        eventually(lambda: text.encode() in self.output, f"the output {text!r}")

    def foreground(self) -> int:
        """The terminal's foreground group."""
        return os.tcgetpgrp(self.master)

    def run(self, command: str) -> int:
        """Type a command and wait until its group is in front; returns the group's id."""
        before = self.foreground()
        self.send(command + "\n")
        return eventually(lambda: (now := self.foreground()) != before and now, f"{command!r} in front")

    def close(self) -> None:
        """End everything on the terminal."""
        for pid in self._session():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self._reader.join(DEADLINE)
        os.close(self.master)

    def _session(self) -> list[int]:
        """The processes of the session."""
        return [stat.pid for stat in all_stats() if stat.session == self.pid]

    def _read(self) -> None:
        """Empty the terminal until all of its users are gone."""
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            self.output = (self.output + data)[-65536:]
