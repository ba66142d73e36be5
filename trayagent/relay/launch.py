"""From this process to the command's: signals as they were, and a shell's exit statuses.

What we ignore or handle must not reach the command. Handlers end with an exec by themselves;
what is ignored stays ignored, so only what was so before us may be (nohup, `trap ''`).
"""

from __future__ import annotations

import os
import signal

MARK = "TRAYAGENT_RELAY"  # in the command's environment: its terminal, and the pid of its session's leader
NOT_FOUND, NOT_RUN = 127, 126  # as POSIX shells exit
PYTHON_IGNORES = (signal.SIGPIPE, signal.SIGXFSZ)


def run(command: list[str]) -> None:
    """Replace this process by the command; where that fails, say why and end as a shell would."""
    for number in PYTHON_IGNORES:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        why = "there is no such command" if missing else error.strerror
        os.write(2, f"trayagent run: {command[0]}: {why}\n".encode(errors="surrogateescape"))
        os._exit(NOT_FOUND if missing else NOT_RUN)


def handle(numbers: tuple[signal.Signals, ...]) -> None:
    """Catch these signals, except those that we were told to ignore; `wakeup` says how they are read."""
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _caught)


def _caught(number: int, frame: object) -> None:
    """Nothing: its number is on its way through the wakeup descriptor."""


def wakeup() -> int:
    """A descriptor that each caught signal's number can be read from, one byte each."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def caught(descriptor: int) -> bytes:
    """The numbers of the signals that came since."""
    try:
        return os.read(descriptor, 4096)
    except BlockingIOError:
        return b""


def signal_group(group: int, number: int) -> None:
    """Signal a process group, if it is there and ours (a command may have become another user)."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return
