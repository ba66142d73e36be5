"""Where the daemon's socket lies, and proof that nobody else could have put it there.

One rule, in Python (`runtime_folder`) and in POSIX shell (`SHELL_RULE`), held equal by a test:
`$XDG_RUNTIME_DIR/trayagent` where that variable is the absolute path of a folder of ours, else
`/tmp/trayagent-UID`. A variable inherited over `su` names somebody else's folder and is ignored.

/tmp is open to all, so before a folder is used it is opened without following a link, must
belong to us, and is closed to others. Everything in it is reached from there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

SOCKET = "daemon.sock"
LOCK = "lock"

# sun_path holds 108 bytes with its NUL (unix(7)); longer paths go through /proc/self/fd.
_SUN_PATH = 107

SHELL_RULE = """\
trayagent_dir=${XDG_RUNTIME_DIR:-}
if [ "${trayagent_dir#/}" != "$trayagent_dir" ] && [ -d "$trayagent_dir" ] && [ -O "$trayagent_dir" ]
then trayagent_dir=${trayagent_dir%/}/trayagent
else trayagent_dir=/tmp/trayagent-$(id -u)
fi
"""


class FolderError(Exception):
    """The runtime folder cannot be trusted or made; the text says where, why and what to do."""


def runtime_folder(env: Mapping[str, str] | None = None) -> Path:
    """The folder of the socket and the lock; it need not exist yet."""
    base = (os.environ if env is None else env).get("XDG_RUNTIME_DIR", "")
    if base.startswith("/"):
        try:
            found = Path(base).stat()
        except OSError:
            found = None
        if found and stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            return Path(base) / "trayagent"
    return Path(f"/tmp/trayagent-{os.geteuid()}")


def open_folder(folder: Path, *, create: bool) -> int:
    """A directory descriptor of the trusted runtime folder; the caller closes it.

    With `create` the folder is made, and closed to others (0700) if it is ours but open.
    Raises FolderError if it is missing, a link, no folder, or somebody else's.
    """
    if create:
        try:
            folder.mkdir(mode=0o700)
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


def _check(folder: Path, descriptor: int, *, tighten: bool) -> None:
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


def socket_address(folder: Path, descriptor: int) -> str:
    """The address to bind or connect to; valid while `descriptor` (of open_folder) is open."""
    plain = str(folder / SOCKET)
    if len(os.fsencode(plain)) <= _SUN_PATH:
        return plain
    return f"/proc/self/fd/{descriptor}/{SOCKET}"
