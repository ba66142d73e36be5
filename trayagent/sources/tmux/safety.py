"""Which sockets may be talked to.

A tmux server can make its client run programs, so a socket counts only if everything
about it is ours: the socket's inode, the folder that holds it, and (where it can be
seen) the process behind it; and nothing on the last two steps of its path is a link that
somebody could turn elsewhere. A folder that others may write to without the sticky bit
lets them put their own socket in its place, so it does not count either.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

IGNORE = ".trayagent-ignore"


class RefusedError(Exception):
    """This socket is not talked to; the text says why."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A socket that may be talked to. path: without links. mark: another socket has another."""

    path: Path
    mark: tuple[int, int, int]

    @property
    def ignored(self) -> bool:
        """Whether its folder asks not to be watched."""
        return (self.path.parent / IGNORE).exists()


def check(path: Path, uid: int) -> Checked | None:
    """A socket that may be talked to, None if there is no socket. Raises RefusedError where there
    is one (or a link to one) that must not be."""
    try:
        entry = path.lstat()
        folder = check_folder(path.parent, uid)
    except OSError:
        return None
    if stat.S_ISLNK(entry.st_mode):
        raise RefusedError("the socket is a symbolic link")
    if not stat.S_ISSOCK(entry.st_mode):
        return None
    if entry.st_uid != uid:
        raise RefusedError(f"the socket belongs to another user (uid {entry.st_uid})")
    return Checked(folder / path.name, (entry.st_dev, entry.st_ino, entry.st_ctime_ns))


def check_folder(folder: Path, uid: int) -> Path:
    """A folder that may hold sockets, without links. Raises RefusedError, or OSError if there is none."""
    entry = folder.lstat()
    if stat.S_ISLNK(entry.st_mode):
        raise RefusedError(f"its folder {folder} is a symbolic link")
    if entry.st_uid != uid:
        raise RefusedError(f"its folder {folder} belongs to another user (uid {entry.st_uid})")
    if entry.st_mode & stat.S_IWOTH and not entry.st_mode & stat.S_ISVTX:
        raise RefusedError(f"its folder {folder} may be written to by everybody")
    return folder.resolve(strict=True)


def sockets_in(folder: Path) -> list[Path]:
    """The entries of a folder that are sockets or links, by name. Raises OSError."""
    with os.scandir(folder) as entries:
        found = [
            Path(entry.path)
            for entry in entries
            if entry.is_symlink() or stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)
        ]
    return sorted(found)
