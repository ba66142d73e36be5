"""Where the daemon's sockets lie, and proof that nobody else could have put them there.

One rule, in Python (`folder.py`) and in POSIX shell (`SHELL_RULE`), held equal by a test:
`$XDG_RUNTIME_DIR/trayagent` where that variable is the absolute path of a folder of ours, else
`/tmp/trayagent-UID`. A variable inherited over `su` names somebody else's folder and is ignored.

/tmp is open to all, so before a folder is used it is opened without following a link, must
belong to us, and is closed to others. Everything in it is reached from there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from trayagent.ipc import folder as rule
from trayagent.ipc.folder import FolderError as FolderError

SOCKET = "daemon.sock"
LOCK = "lock"

SHELL_RULE = """\
trayagent_dir=${XDG_RUNTIME_DIR:-}
if [ "${trayagent_dir#/}" != "$trayagent_dir" ] && [ -d "$trayagent_dir" ] && [ -O "$trayagent_dir" ]
then trayagent_dir=${trayagent_dir%/}/trayagent
else trayagent_dir=/tmp/trayagent-$(id -u)
fi
"""


def runtime_folder(env: Mapping[str, str] | None = None) -> Path:
    """The folder of the sockets and the lock; it need not exist yet."""
    return Path(rule.runtime_path(os.environ if env is None else env))


def open_folder(folder: Path, *, create: bool) -> int:
    """A directory descriptor of the trusted runtime folder; the caller closes it.

    With `create` the folder is made, and closed to others (0700) if it is ours but open.
    Raises FolderError if it is missing, a link, no folder, or somebody else's.
    """
    return rule.open_trusted(str(folder), create=create)


def socket_address(folder: Path, descriptor: int, name: str = SOCKET) -> str:
    """The address to bind or connect to; valid while `descriptor` (of open_folder) is open."""
    return rule.address(str(folder), descriptor, name)
