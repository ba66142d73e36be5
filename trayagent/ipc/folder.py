"""The runtime folder: where our sockets lie, and proof that nobody else could have put them there.

The rule and its checks for all who reach for a socket, the relay among them, which must start
within milliseconds: so nothing but os, stat and socket is used here, and paths are texts.
`paths` speaks of the same in pathlib's words, and explains the rule.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Mapping

RELAYS = "relay.sock"  # where relays reach the daemon

# sun_path holds 108 bytes with its NUL (unix(7)); longer paths go through /proc/self/fd.
_SUN_PATH = 107
_CREDENTIALS = 12  # struct ucred: pid, uid, gid


class FolderError(Exception):
    """The runtime folder cannot be trusted or made; the text says where, why and what to do."""


def runtime_path(env: Mapping[str, str]) -> str:
    """The folder of the sockets and the lock, by these variables; it need not exist yet."""
    base = env.get("XDG_RUNTIME_DIR", "")
    if base.startswith("/"):
        try:
            found = os.stat(base)
        except OSError:
            found = None
        if found and stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            return f"{base.rstrip('/')}/trayagent"
    return f"/tmp/trayagent-{os.geteuid()}"


def open_trusted(folder: str, *, create: bool) -> int:
    """A directory descriptor of the trusted runtime folder; the caller closes it.

    With `create` the folder is made, and closed to others (0700) if it is ours but open.
    Raises FolderError if it is missing, a link, no folder, or somebody else's.
    """
    if create:
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass  # checked below, whatever it is
        except OSError as error:
            raise FolderError(f"{folder}: cannot be made ({error.strerror}); set XDG_RUNTIME_DIR") from error
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise FolderError(f"{folder}: there is no such folder") from error
    except OSError as error:
        raise FolderError(
            f"{folder}: is a link or no folder, and will not be used; see who made it, and remove it"
        ) from error
    try:
        _check(folder, descriptor, tighten=create)
    except FolderError:
        os.close(descriptor)
        raise
    return descriptor


def _check(folder: str, descriptor: int, *, tighten: bool) -> None:
    found = os.fstat(descriptor)
    if found.st_uid != os.geteuid():
        raise FolderError(
            f"{folder}: belongs to user {found.st_uid}, not to you ({os.geteuid()}), and will not be used; "
            "have it removed, or set XDG_RUNTIME_DIR to a folder of yours"
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        if not tighten:
            raise FolderError(f"{folder}: is open to other users; close it with: chmod 700 {folder}")
        os.fchmod(descriptor, 0o700)


def address(folder: str, descriptor: int, name: str) -> str:
    """The address of socket `name`, to bind or connect to; valid while `descriptor` is open."""
    plain = f"{folder}/{name}"
    if len(os.fsencode(plain)) <= _SUN_PATH:
        return plain
    return f"/proc/self/fd/{descriptor}/{name}"


def credentials(connection: socket.socket) -> tuple[int, int]:
    """Pid and uid of the process at the other end, by the kernel's word (SO_PEERCRED, unix(7)).

    Systems without it rely on the folder's 0700: who got in is us; the pid is 0 then."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return 0, os.geteuid()
    words = memoryview(connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS)).cast("i")
    return words[0], words[1]
