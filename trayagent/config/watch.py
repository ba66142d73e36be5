"""Noticing that the config file was saved, however an editor saves.

Editors rename a new file over the old, truncate and write, delete and create; dotfile managers
move a link. A watch on the file itself loses it at the first rename, so the folders are watched:
that of the file, of each link on the way to it, and the nearest folder that exists where one is
missing. What counts as a change is decided by looking (the content, at the end of the links),
not by the event, so that each save is told once, and a save without a change not at all.

Events only start a clock: 250 ms after the last one the file is looked at; a file that is gone
by then gets another second, since it is about to come back. Without inotify (other systems, no
watches left) the file is looked at every 2 s.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trayagent.config.nodes import MAX_CHARACTERS

try:
    import inotify_simple
except ImportError:  # not on this system: polling, as told above
    inotify_simple = None  # type: ignore[assignment, unused-ignore]

log = logging.getLogger("trayagent.config")

DEBOUNCE = 0.25
GONE = 1.0
POLL = 2.0
_LINKS = 40


class ConfigWatch:
    """Calls `changed()` on the loop after the file at `path` has another content, or came, or went."""

    def __init__(self, path: Path, changed: Callable[[], None]) -> None:
        self.path, self._changed = path, changed
        self._loop: asyncio.AbstractEventLoop | None = None
        self._inotify: Any = None
        self._watches: dict[int, Path] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._last: bytes | None = None
        self._gone_since: float | None = None

    def start(self) -> None:
        """Begin, with the content as it is now for the known one. Call from the running loop."""
        self._loop = asyncio.get_running_loop()
        self._last = self._look()
        if inotify_simple is not None:
            try:
                self._inotify = inotify_simple.INotify(nonblocking=True)
            except OSError as error:
                log.warning("config: no inotify (%s); looking every %g s instead", error, POLL)
        if self._inotify is None:
            self._again(POLL)
            return
        self._watch()
        self._loop.add_reader(self._inotify.fileno(), self._read)

    def stop(self) -> None:
        """End; safe to call twice."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._drop_inotify()

    def _drop_inotify(self) -> None:
        if self._inotify is not None and self._loop is not None:
            self._loop.remove_reader(self._inotify.fileno())
            self._inotify.close()
            self._inotify, self._watches = None, {}

    # -- where to listen --------------------------------------------------------------------

    def _folders(self) -> set[Path]:
        """The folder of the file and of each link on the way, or the nearest that exists."""
        folders, path = set(), self.path.absolute()
        for _ in range(_LINKS):
            folder = path.parent
            while not folder.is_dir() and folder != folder.parent:
                folder = folder.parent
            folders.add(folder)
            folders |= {Path(link).parent for link in path.parents if link.is_symlink()}
            if not path.is_symlink():
                break
            target = path.readlink()
            path = target if target.is_absolute() else path.parent / target
        return folders

    def _watch(self) -> None:
        """Watch what should be watched now; the chain of links may have changed."""
        flags = inotify_simple.flags
        mask = (
            flags.CREATE | flags.MOVED_TO | flags.MOVED_FROM | flags.DELETE | flags.CLOSE_WRITE | flags.MODIFY
            | flags.DELETE_SELF | flags.MOVE_SELF | flags.ONLYDIR
        )  # fmt: skip
        wanted = self._folders()
        for number, folder in list(self._watches.items()):
            if folder not in wanted:
                del self._watches[number]
                self._remove(number)
        for folder in wanted:
            try:
                self._watches[self._inotify.add_watch(folder, mask)] = folder
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.ENOMEM):
                    log.warning("config: no inotify watches left; looking every %g s instead", POLL)
                    self._drop_inotify()
                    self._again(POLL)
                    return
                self._again(DEBOUNCE)  # it went away meanwhile: look again soon

    def _remove(self, number: int) -> None:
        try:
            self._inotify.rm_watch(number)
        except OSError as error:
            log.debug("config: a folder's watch had ended by itself (%s)", error)

    # -- what happened ----------------------------------------------------------------------

    def _read(self) -> None:
        """Some folder has news; those of our names (or of a folder that may hold them) start the clock."""
        names = self._names()
        for event in self._inotify.read(timeout=0):
            if event.mask & inotify_simple.flags.IGNORED:
                self._watches.pop(event.wd, None)
            if not event.name or event.name in names:
                self._again(DEBOUNCE)

    def _names(self) -> set[str]:
        """Every name on the way: of the file, its links, and all folders above them."""
        names, path = set(self.path.absolute().parts), self.path.absolute()
        for _ in range(_LINKS):
            if not path.is_symlink():
                break
            target = path.readlink()
            path = target if target.is_absolute() else path.parent / target
            names |= set(path.parts)
        return names

    def _again(self, seconds: float) -> None:
        assert self._loop is not None
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._due)

    def _due(self) -> None:
        self._timer = None
        if self._inotify is not None:
            self._watch()
        content = self._look()
        if content is None and self._last is not None and not self._given_up():
            self._again(DEBOUNCE)
            return
        self._gone_since = None
        if self._inotify is None and self._timer is None:
            self._again(POLL)
        if content != self._last:
            self._last = content
            self._changed()

    def _given_up(self) -> bool:
        """A file that vanished is missed for a while before it counts as removed."""
        assert self._loop is not None
        now = self._loop.time()
        if self._gone_since is None:
            self._gone_since = now
        return now - self._gone_since >= GONE

    def _look(self) -> bytes | None:
        """The content in short, None if there is no file."""
        try:
            with self.path.open("rb") as file:
                return hashlib.blake2s(file.read(4 * MAX_CHARACTERS + 1)).digest()
        except FileNotFoundError:
            return None
        except OSError as error:  # unreadable is a state like any other: loading will say so
            return f"unreadable {error.errno}".encode()
