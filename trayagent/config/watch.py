"""Noticing that a file or folder of the user's was changed, however an editor saves.

Editors rename a new file over the old, truncate and write, delete and create; dotfile managers
move a link. A watch on the file itself loses it at the first rename, so the folders are watched:
that of the file, of each link on the way to it, and the nearest folder that exists where one is
missing. What counts as a change is decided by looking (the content, at the end of the links),
not by the event, so that each save is told once, and a save without a change not at all.

Events only start a clock: 250 ms after the last one the place is looked at; a file that is gone
by then gets another second, since it is about to come back. Without inotify (other systems, no
watches left) it is looked at every 2 s.

`ConfigWatch` watches one file, by its content; `FolderWatch` folders with the files in them and
in the folders right below, by what the system says of each file (it may be many).
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import logging
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
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


class _Watch(ABC):
    """Calls `changed()` on the loop after what is watched looks different than before."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._loop: asyncio.AbstractEventLoop | None = None
        self._inotify: Any = None
        self._watches: dict[int, Path] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._last: bytes | None = None
        self._gone_since: float | None = None

    @abstractmethod
    def _paths(self) -> Iterable[Path]:
        """What is watched: files, which need not exist."""

    @abstractmethod
    def _look(self) -> bytes | None:
        """What is there, in short; None if it is a file that is gone."""

    def _heeds(self, folder: Path, name: str) -> bool:
        """Whether an event of this name in this folder may concern us."""
        return False

    def start(self) -> None:
        """Begin, with what is there now for the known state. Call from the running loop."""
        self._loop = asyncio.get_running_loop()
        self._last = self._look()
        if inotify_simple is not None:
            try:
                self._inotify = inotify_simple.INotify(nonblocking=True)
            except OSError as error:
                log.warning("watching: no inotify (%s); looking every %g s instead", error, POLL)
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
        """The folder of each file and of each link on the way, or the nearest that exists."""
        folders = set()
        for start in self._paths():
            for path in _links(start):
                folder = path.parent
                while not folder.is_dir() and folder != folder.parent:
                    folder = folder.parent
                folders.add(folder)
                folders |= {Path(link).parent for link in path.parents if link.is_symlink()}
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
                    log.warning("watching: no inotify watches left; looking every %g s instead", POLL)
                    self._drop_inotify()
                    self._again(POLL)
                    return
                self._again(DEBOUNCE)  # it went away meanwhile: look again soon

    def _remove(self, number: int) -> None:
        try:
            self._inotify.rm_watch(number)
        except OSError as error:
            log.debug("watching: a folder's watch had ended by itself (%s)", error)

    # -- what happened ----------------------------------------------------------------------

    def _read(self) -> None:
        """Some folder has news; those of our names (or of a folder that may hold them) start the clock."""
        names = self._names()
        for event in self._inotify.read(timeout=0):
            folder = self._watches.get(event.wd)
            if event.mask & inotify_simple.flags.IGNORED:
                self._watches.pop(event.wd, None)
            heeded = not event.name or event.name in names
            if heeded or (folder is not None and self._heeds(folder, event.name)):
                self._again(DEBOUNCE)

    def _names(self) -> set[str]:
        """Every name on the way: of the files, their links, and all folders above them."""
        return {name for start in self._paths() for path in _links(start) for name in path.parts}

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


def _links(path: Path) -> Iterator[Path]:
    """The path, and where it leads if it is a link, link by link."""
    path = path.absolute()
    yield path
    for _ in range(_LINKS):
        if not path.is_symlink():
            return
        target = path.readlink()
        path = target if target.is_absolute() else path.parent / target
        yield path


class ConfigWatch(_Watch):
    """Calls `changed()` on the loop after the file at `path` has another content, or came, or went."""

    def __init__(self, path: Path, changed: Callable[[], None]) -> None:
        super().__init__(changed)
        self.path = path

    def _paths(self) -> Iterable[Path]:
        return (self.path,)

    def _look(self) -> bytes | None:
        """The content in short, None if there is no file."""
        try:
            with self.path.open("rb") as file:
                return hashlib.blake2s(file.read(4 * MAX_CHARACTERS + 1)).digest()
        except FileNotFoundError:
            return None
        except OSError as error:  # unreadable is a state like any other: loading will say so
            return f"unreadable {error.errno}".encode()


class FolderWatch(_Watch):
    """Calls `changed()` on the loop after a file with one of these endings was changed, came or went, in
    one of the folders or right below one. A folder may be a file too, and need not exist."""

    def __init__(
        self, folders: Iterable[Path], changed: Callable[[], None], suffixes: Iterable[str] = ()
    ) -> None:
        super().__init__(changed)
        self._roots, self._suffixes = tuple(folder.absolute() for folder in folders), tuple(suffixes)

    def _paths(self) -> Iterable[Path]:
        return [
            path for root in self._roots for path in (root, *(place / "*" for place in self._within(root)))
        ]

    def _within(self, root: Path) -> list[Path]:
        """The folder and those right below it."""
        try:
            return [root, *(entry for entry in root.iterdir() if entry.is_dir())]
        except OSError:  # no folder, or none that we may read: then nothing is below it
            return [root]

    def _heeds(self, folder: Path, name: str) -> bool:
        watched = folder in self._roots or folder.parent in self._roots
        return watched and (Path(name).suffix in self._suffixes or (folder / name).is_dir())

    def _look(self) -> bytes | None:
        digest = hashlib.blake2s()
        for root in self._roots:
            files = [root, *(path for place in self._within(root) for path in sorted(_entries(place)))]
            for path in files:
                if path == root or path.suffix in self._suffixes:
                    digest.update(_stamp(path))
        return digest.digest()


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # as above
        return []


def _stamp(path: Path) -> bytes:
    """What tells one state of a file from another; a folder's own times say nothing."""
    try:
        found = path.stat()
    except OSError as error:
        return f"{path} {error.errno}\n".encode()
    if stat.S_ISDIR(found.st_mode):
        return f"{path} {found.st_ino}\n".encode()
    return f"{path} {found.st_ino} {found.st_mtime_ns} {found.st_size}\n".encode()
