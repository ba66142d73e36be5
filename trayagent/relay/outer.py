"""The terminal that the person looks at: opened anew, made raw, and given back as it was.

It is opened by its path, so that it can be read without waiting while the shell's own descriptors,
which share their flags with whoever else holds them, stay as they are.
"""

from __future__ import annotations

import errno
import fcntl
import os
import termios

TYPE_CHECKING = False  # typing itself costs 4 ms
if TYPE_CHECKING:
    from typing import Any

    Modes = list[Any]  # as tcgetattr gives them

NO_SIZE = bytes(8)  # struct winsize


def shared_tty(first: int, second: int) -> str | None:
    """The path of the terminal that both descriptors are, None if they are not one that can be opened."""
    if not (os.isatty(first) and os.isatty(second)):
        return None
    one = os.fstat(first)
    if one.st_rdev != os.fstat(second).st_rdev:
        return None
    try:
        path = os.ttyname(first)
        found = os.stat(path)
    except OSError:  # the terminal of another container: it has no name here
        return None
    return path if (found.st_dev, found.st_ino) == (one.st_dev, one.st_ino) else None


def raw(modes: Modes) -> Modes:
    """The same modes, made raw: every byte passes as it is (cfmakeraw, termios(3))."""
    made = [*modes[:6], list(modes[6])]
    made[0] &= ~(
        termios.IGNBRK | termios.BRKINT | termios.PARMRK | termios.ISTRIP
        | termios.INLCR | termios.IGNCR | termios.ICRNL | termios.IXON
    )  # fmt: skip
    made[1] &= ~termios.OPOST
    made[2] = made[2] & ~(termios.CSIZE | termios.PARENB) | termios.CS8
    made[3] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN)
    made[6][termios.VMIN], made[6][termios.VTIME] = 1, 0
    return made


def size_of(descriptor: int) -> bytes:
    """Rows, columns and pixels, as the kernel keeps them (TIOCGWINSZ, ioctl_tty(2))."""
    try:
        return fcntl.ioctl(descriptor, termios.TIOCGWINSZ, NO_SIZE)
    except OSError:  # it hung up
        return NO_SIZE


class Outer:
    """The terminal at `path`. modes: as they were before we changed them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self.modes: Modes = termios.tcgetattr(self.descriptor)
        self.is_raw = False

    def fileno(self) -> int:
        """Its descriptor."""
        return self.descriptor

    @property
    def ours(self) -> bool:
        """Whether our process group is in front of it."""
        try:
            return os.tcgetpgrp(self.descriptor) == os.getpgrp()
        except OSError:
            return False

    def take(self) -> None:
        """Keep its modes and make it raw. In the background the kernel stops us until we are in front
        (SIGTTOU), as it does with every program; raises termios.error where the terminal has hung up."""
        if not self.is_raw:
            self.modes = termios.tcgetattr(self.descriptor)
        while True:
            try:
                termios.tcsetattr(self.descriptor, termios.TCSANOW, raw(self.modes))
            except termios.error as error:
                if error.args[0] != errno.EINTR:
                    raise
            else:
                self.is_raw = True
                return

    def give_back(self) -> None:
        """Make it what it was."""
        if self.is_raw:
            self.is_raw = False
            set_modes(self.descriptor, self.modes)


def set_modes(descriptor: int, modes: Modes) -> None:
    """Set a terminal's modes, if it is still there."""
    try:
        termios.tcsetattr(descriptor, termios.TCSANOW, modes)
    except termios.error:  # it hung up: nobody is there to whom its modes matter
        return
