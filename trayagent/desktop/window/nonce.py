"""Finds a terminal's window by a title that only it can have.

The last resort, on a click: some terminals (gnome-terminal, konsole, xfce4-terminal) run many windows in one
process and do not name the window to their programs. One write to the client's own tty sets a
random title, the windows are searched for it, one more write puts the old title back. No key
is sent and nothing is drawn. The title stack (`CSI 22 ; 2 t`, `CSI 23 ; 2 t`: XTerm Control
Sequences, "Window manipulation") restores the title where the terminal has one, else the plain sequence.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import stat
from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)

SEARCH = 1.0  # seconds; a terminal needs 16 to 19 ms
PAUSE = 0.01

_PTS = re.compile(r"/dev/(?:pts/\d+|tty[A-Za-z0-9]+)\Z")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")


def _open(tty: str) -> int:
    """The terminal for writing, never waiting for it; raises OSError for what is not a terminal of ours."""
    if not _PTS.match(tty):
        raise OSError(f"{tty!r} is no terminal")
    fd = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(fd)
    if not stat.S_ISCHR(status.st_mode) or status.st_uid != os.getuid():
        os.close(fd)
        raise OSError(f"{tty} is not a terminal of this user")
    return fd


async def find_by_title(tty: str, titles: Callable[[], Awaitable[dict[int, str]]]) -> int | None:
    """The window among `titles` that is the terminal `tty`, None if it cannot be told."""
    before = await titles()
    nonce = f"trayagent {os.urandom(4).hex()}"
    try:
        fd = _open(tty)
    except OSError as error:
        log.info("cannot look for the window of %s: %s", tty, error)
        return None
    hit: int | None = None
    try:
        os.write(fd, f"\x1b[22;2t\x1b]2;{nonce}\x07".encode())
        old: str | None = None
        try:
            hit, seen = await _search(nonce, titles)
            old = None if hit is None else _undecorated(before.get(hit, ""), seen, nonce)
        finally:
            os.write(fd, _restore(old))
    except OSError as error:  # the terminal is stopped (XOFF) or gone
        log.info("cannot look for the window of %s: %s", tty, error)
    finally:
        os.close(fd)
    return hit


def _undecorated(title: str, seen: str, nonce: str) -> str:
    """The old title without what the terminal itself puts around titles (`Terminal - ...`), which shows in
    how it decorated the nonce."""
    before, _, after = seen.partition(nonce)
    return title.removeprefix(before).removesuffix(after)


def _restore(title: str | None) -> bytes:
    """What puts the old title back; without one the terminal's stack must do."""
    plain = "" if title is None else f"\x1b]2;{_CONTROLS.sub('', title)}\x07"
    return f"{plain}\x1b[23;2t".encode()


async def _search(nonce: str, titles: Callable[[], Awaitable[dict[int, str]]]) -> tuple[int | None, str]:
    """The window whose title contains the nonce, and that title; (None, "") if there is none."""
    try:
        async with asyncio.timeout(SEARCH):
            while True:
                for window, title in (await titles()).items():
                    if nonce in title:
                        return window, title
                await asyncio.sleep(PAUSE)
    except TimeoutError:
        return None, ""
