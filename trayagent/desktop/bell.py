"""The terminal's bell: one BEL (07) to the terminal that the person used last.

What that does is the terminal's choice: a sound, a flash, an urgency hint on its window. The byte
goes to the tty of an attached tmux client, beside tmux and not through it, so it rings whatever
tmux's bell-action and monitor-bell say, and marks no window. It may fall between any two bytes
that tmux writes: terminals act on BEL within a control sequence too (as DEC's parsers do with all C0
controls); only a title that is being set at that very moment would be cut short.
"""

from __future__ import annotations

import os
import stat

BEL = b"\a"


def ring(tty: str) -> str:
    """Ring a terminal; returns why it could not be done, "" if it was. Never blocks: a terminal that
    takes nothing at the moment (Ctrl-S) is not rung. Only a terminal of our own user is."""
    try:
        descriptor = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return f"{tty}: {error.strerror}"
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISCHR(found.st_mode) or found.st_uid != os.getuid():
            return f"{tty} is no terminal of yours"
        os.write(descriptor, BEL)
    except OSError as error:
        return f"{tty}: {error.strerror}"
    finally:
        os.close(descriptor)
    return ""
