"""Runs `trayagent demo` and its kin as a person would, in a pipe or on a terminal; finds what is left."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from tests.support.daemon import ROOT
from tests.support.desktop import Desktop, wait_until

LIMIT = 120.0  # seconds for a demo; some 13 as a rule
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def run(env: Mapping[str, str], *args: str) -> subprocess.CompletedProcess[str]:
    """Run `trayagent ARGS` to its end, into a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "trayagent", *args],
        env={**env, "PYTHONPATH": str(ROOT)},
        cwd=env["HOME"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT,
    )


class OnTerminal:
    """`trayagent ARGS` on a terminal of its own."""

    def __init__(self, env: Mapping[str, str], *args: str, columns: int = 100, rows: int = 40) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.raw = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trayagent", *args],
            env={**env, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"},
            cwd=env["HOME"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> OnTerminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT)
        self._reader.join(LIMIT)
        os.close(self._master)

    @property
    def text(self) -> str:
        """All that was written so far, without colours."""
        return _ESCAPES.sub("", self.raw.decode("utf-8", "replace")).replace("\r\n", "\n")

    def wait_for(self, text: str) -> None:
        """Until it has written this."""
        wait_until(lambda: text in self.text or self.process.poll() is not None, text, LIMIT)
        assert text in self.text, self.text

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def ended(self) -> int:
        """Its exit status, once it has ended."""
        status = self.process.wait(LIMIT)
        self._reader.join(LIMIT)
        return status

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it alone."""
        self.process.send_signal(number)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:
                return
            if not data:
                return
            self.raw += data


def click_banner(desktop: Desktop) -> None:
    """Run the default action of the topmost banner (dunst: the middle button)."""
    seen: list[tuple[int, int, int, int, int]] = []
    wait_until(lambda: seen.extend(row for row in desktop.popups() if row[3] > 100) or seen, "a banner")
    _, x, y, width, _ = seen[0]
    desktop.click(x + width // 2, y + 20, 2)


def left_of(base: Path) -> list[str]:
    """What is left of stages in this folder: folders, and processes that name them."""
    found = [str(path) for path in base.glob("trayagent-demo-*")]
    mark = f"{base}/trayagent-demo-".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                argv = (entry / "cmdline").read_bytes()
            except OSError:
                continue  # it has ended
            if mark in argv:
                found.append(argv.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found
