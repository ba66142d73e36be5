"""A socket that the daemon listens at in the runtime folder, and its going away with the daemon.

Whoever listens holds the instance lock, so that a socket that nobody answers at is a dead daemon's.
"""

from __future__ import annotations

import logging
import os
import socket
import stat
from pathlib import Path

from trayagent.ipc import paths

log = logging.getLogger("trayagent.ipc")

_PROBE_SECONDS = 0.5
_BACKLOG = 64


class AlreadyRunning(Exception):
    """Another daemon of this user serves this folder."""


class Listening:
    """One listening socket, `socket`, named `name` in `folder`, whose trusted descriptor is given.

    Raises AlreadyRunning if somebody answers there, FolderError if it cannot be made."""

    def __init__(self, folder: Path, descriptor: int, name: str) -> None:
        self.place = folder / name
        address = paths.socket_address(folder, descriptor, name)
        self._remove_stale(descriptor, address)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.socket.bind(address)
            os.chmod(name, 0o600, dir_fd=descriptor)
            self.socket.listen(_BACKLOG)
            self.socket.setblocking(False)
            self._inode = os.stat(name, dir_fd=descriptor).st_ino
        except OSError as error:
            self.socket.close()
            raise paths.FolderError(f"{self.place}: cannot listen ({error.strerror})") from error

    def _remove_stale(self, descriptor: int, address: str) -> None:
        name = self.place.name
        try:
            found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return
        if not stat.S_ISSOCK(found.st_mode):
            raise paths.FolderError(f"{self.place}: is no socket; see what it is, and remove it")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(_PROBE_SECONDS)
            try:
                probe.connect(address)
            except (ConnectionRefusedError, FileNotFoundError):
                os.unlink(name, dir_fd=descriptor)
                return
            except OSError as error:
                raise AlreadyRunning(f"somebody holds {self.place}: {error}") from error
        raise AlreadyRunning(f"another program answers at {self.place}")

    def remove(self) -> None:
        """Remove the socket's file, if it is still ours. The socket is its user's to close."""
        try:
            if self.place.lstat().st_ino == self._inode:
                self.place.unlink()
        except FileNotFoundError:
            log.info("%s was removed while we served it", self.place)
        except OSError as error:
            log.warning("%s: cannot be removed (%s)", self.place, error.strerror)
