"""The spool's folder in the daemon: made, watched, read, and made again where somebody removed it.

A rename into the folder wakes the loop (inotify); where there is no inotify the folder is read once a
second, which is as cheap as it is empty.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from trayagent.daemon.hooking import Hooking
from trayagent.host import inotify
from trayagent.host.inotify import Inotify
from trayagent.ipc.paths import FolderError, open_folder
from trayagent.reports.spool import FOLDER, collect

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

POLL = 1.0
MEND = 2.0  # seconds until a folder that vanished, or cannot be used, is tried again


class Spooling:
    """Reads the spool of a runtime folder for as long as the daemon lives."""

    def __init__(self, parts: Parts, runtime: Path) -> None:
        self._parts, self._place = parts, runtime / FOLDER
        self._hooking = Hooking(parts)
        self._inotify: Inotify | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Make the folder, read what waits there, and follow it from now on."""
        try:
            self._inotify = Inotify()
        except OSError as error:
            self._parts.report("spool", f"{self._place}: is polled, there is no inotify ({error.strerror})")
        else:
            asyncio.get_running_loop().add_reader(self._inotify.descriptor, self._woken)
        self._open()

    def close(self) -> None:
        """Follow it no more; the folder stays for the next start."""
        if self._timer is not None:
            self._timer.cancel()
        if self._inotify is not None:
            asyncio.get_running_loop().remove_reader(self._inotify.descriptor)
            self._inotify.close()
            self._inotify = None

    def _open(self) -> None:
        """Make and watch the folder anew. It is not kept open: else nobody would be told of its end."""
        self._timer = None
        try:
            descriptor = open_folder(self._place, create=True)
            try:
                if self._inotify is not None:
                    # By the descriptor: what is watched is the folder whose owner was just checked.
                    watched = os.fsencode(f"/proc/self/fd/{descriptor}")
                    self._inotify.add(watched, inotify.MOVED_TO | inotify.CREATE)
            finally:
                os.close(descriptor)
        except (FolderError, OSError) as error:
            self._parts.report("spool", f"hooks cannot be heard: {error}")
            self._later(MEND, self._open)
            return
        self._read()

    def _woken(self) -> None:
        assert self._inotify is not None
        events = self._inotify.read()
        if any(mask & inotify.IGNORED for _, mask, _ in events):
            self._later(MEND, self._open)
        elif any(not name.startswith(b".") for _, _, name in events):
            self._read()

    def _read(self) -> None:
        try:
            descriptor = open_folder(self._place, create=False)
            try:
                notes = collect(descriptor, time.time(), self._refused)
            finally:
                os.close(descriptor)
        except (FolderError, OSError) as error:
            self._parts.report("spool", f"hooks cannot be heard: {error}")
            self._later(MEND, self._open)
            return
        for note in notes:
            self._hooking.take(note)
        if self._inotify is None:
            self._later(POLL, self._read)

    def _refused(self, why: str) -> None:
        self._parts.report(f"spool {why}", f"{self._place}: {why}")

    def _later(self, seconds: float, what: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, what)
