"""Writing a config file back where it really lies.

A link stays a link: its target is written (dotfiles are often links, sometimes of links). The
new text replaces the old at once by a rename in the target's folder, with its mode and owner;
where that cannot be (a folder we may not write, a hard link, another owner), the file itself is
written. What is read-only, such as a file of a package store, is refused.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from trayagent.config.place import EditRefused

_LINKS = 40


def real_path(path: Path) -> tuple[Path, list[Path]]:
    """Where the chain of links ends, and the links; the end need not exist. Raises EditRefused for a loop."""
    links: list[Path] = []
    while path.is_symlink():
        if path in links or len(links) > _LINKS:
            raise EditRefused(f"{links[0]}: its links lead round in a circle")
        links.append(path)
        target = path.readlink()
        path = target if target.is_absolute() else path.parent / target
    return path, links


def write_text(path: Path, text: str) -> None:
    """Replace the file's content, or make the file. Raises EditRefused."""
    target, links = real_path(path)
    name = f"{path} -> {target}" if links else str(path)
    data = text.encode("utf-8")
    try:
        found = target.stat() if target.exists() else None
        if found is None:
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target, data, None)
            return
        if not stat.S_ISREG(found.st_mode):
            raise EditRefused(f"{name}: is no file")
        if not found.st_mode & 0o222 or not os.access(target, os.W_OK):
            raise EditRefused(f"{name}: is read-only; change it where it comes from")
        own = found.st_uid == os.geteuid() and found.st_nlink == 1
        if own and os.access(target.parent, os.W_OK | os.X_OK):
            _replace(target, data, found)
        else:
            _overwrite(target, data)
    except OSError as error:
        raise EditRefused(f"{name}: cannot be written ({error.strerror})") from error


def _replace(target: Path, data: bytes, found: os.stat_result | None) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(descriptor, stat.S_IMODE(found.st_mode) if found else 0o644)
            if found and found.st_gid != os.getegid():
                os.fchown(descriptor, -1, found.st_gid)
            os.fsync(descriptor)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _overwrite(target: Path, data: bytes) -> None:
    with target.open("r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
