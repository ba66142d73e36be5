"""Where the log goes: to stderr for as long as that is there, and to a rotated file that is ours alone.

A terminal that is closed takes stderr with it while we still have things to save; then only the
file is written. No line tells what a screen shows.
"""

from __future__ import annotations

import io
import logging
import logging.handlers
import os
import sys
from typing import TextIO

from trayagent.daemon.options import Options, state_folder

NAME = "trayagent.log"
BYTES, FILES = 1_000_000, 3
SHAPE = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def forget_terminal() -> None:
    """Send to nowhere what would still be written to a terminal that has gone; else Python itself would
    fail over it at the end (exit status 120)."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


class LogFile(logging.handlers.RotatingFileHandler):
    """The rotated file, readable by nobody else, also where an older one was. On a full disk lines are
    lost, which is said once."""

    _failing = False

    def _open(self) -> io.TextIOWrapper:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self.baseFilename, flags, 0o600)
        os.fchmod(descriptor, 0o600)
        return io.TextIOWrapper(io.FileIO(descriptor, "a"), "utf-8", errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:
        """Say once that the file cannot be written; any other failure is a fault of ours, told as ever."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._failing:
            self._failing = True
            print(f"trayagent: {self.baseFilename} cannot be written: {error.strerror}", file=sys.stderr)


class Terminal(logging.StreamHandler[TextIO]):
    """stderr, until it cannot be written any more."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Stop writing to what has gone; any other failure is a fault of ours, and told as ever."""
        if isinstance(sys.exc_info()[1], OSError):
            forget_terminal()
        else:
            super().handleError(record)


def begin(options: Options) -> None:
    """Log from now on."""
    root = logging.getLogger()
    root.setLevel(logging.DEBUG if options.verbose else logging.INFO)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    terminal = Terminal(sys.stderr)
    if options.live:  # the live line has its place
        terminal.setLevel(logging.WARNING)
    handlers: list[logging.Handler] = [terminal]
    folder = state_folder(options)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handlers.append(LogFile(folder / NAME, maxBytes=BYTES, backupCount=FILES))
    except OSError as error:
        print(f"trayagent: no log file in {folder}: {error.strerror}", file=sys.stderr)
    for handler in handlers:
        handler.setFormatter(logging.Formatter(SHAPE))
        root.addHandler(handler)
