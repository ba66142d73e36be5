"""Where the session bus may be, and how to notice that it has come."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from pathlib import Path

from inotify_simple import INotify, flags

log = logging.getLogger(__name__)


def runtime_folder(environ: Mapping[str, str]) -> Path:
    """$XDG_RUNTIME_DIR if that folder is there, else the login session's /run/user/UID.

    A shell inside an old tmux has a variable that is missing or stale; a process that was
    given a folder of its own is never led out of it."""
    named = environ.get("XDG_RUNTIME_DIR", "")
    if named and Path(named).is_dir():
        return Path(named)
    return Path(f"/run/user/{os.getuid()}")


def addresses(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Where the session bus may be, likeliest first, in the notation of the D-Bus Specification."""
    found = []
    if named := environ.get("DBUS_SESSION_BUS_ADDRESS", ""):
        found.append(named)
    login = f"unix:path={runtime_folder(environ) / 'bus'}"
    if login not in named:
        found.append(login)
    return tuple(found)


class Doorbell:
    """Rings when a socket named `bus` appears in a folder, from the moment the bell is made.

    Without inotify (no such folder, or the user's limit is reached) it never rings."""

    def __init__(self, folder: Path) -> None:
        self._inotify: INotify | None = None
        try:
            self._inotify = INotify(nonblocking=True)
            self._inotify.add_watch(str(folder), flags.CREATE | flags.MOVED_TO)
        except OSError as error:
            log.debug("cannot watch %s: %s", folder, error)
            self.close()

    async def wait(self, timeout: float) -> bool:
        """True as soon as it rings, False after `timeout` seconds."""
        if self._inotify is None:
            await asyncio.sleep(timeout)
            return False
        loop, inotify, rung = asyncio.get_running_loop(), self._inotify, asyncio.Event()

        def heard() -> None:
            if any(event.name == "bus" for event in inotify.read(timeout=0)):
                rung.set()

        loop.add_reader(inotify.fileno(), heard)
        try:
            async with asyncio.timeout(timeout):
                await rung.wait()
            return True
        except TimeoutError:
            return False
        finally:
            loop.remove_reader(inotify.fileno())

    def close(self) -> None:
        """End it; further calls do nothing."""
        if self._inotify is not None:
            self._inotify.close()
            self._inotify = None
