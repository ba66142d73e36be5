"""One daemon a user: an flock on `lock` in the runtime folder, held for as long as the daemon lives.

The kernel lets go of it however the daemon ends, so there is no stale lock. The file stays: to
remove it would let two processes lock two files of the same name.
"""

from __future__ import annotations

import fcntl
import os

from trayagent.ipc import paths


class InstanceLock:
    """The lock of one runtime folder, by its descriptor (paths.open_folder)."""

    def __init__(self) -> None:
        self._descriptor: int | None = None

    def acquire(self, folder: int) -> bool:
        """Take the lock and write our pid into it; False if another process holds it. Never waits."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(paths.LOCK, flags, 0o600, dir_fd=folder)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Let another daemon start."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
