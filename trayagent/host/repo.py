"""Where a folder belongs: the git project around it and the branch it is on, without running git.

Read are `.git` (a folder, or a file that points to one: worktrees, submodules), HEAD, and the
names of an ongoing rebase. Each is a bounded read of a regular file, for the folder may be
anybody's; a named pipe called HEAD must not stop us. Like git's, the search does not leave the
file system that it began on. Sources: gitrepository-layout(5), git-worktree(1).
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path

from trayagent.model.events import Repo

MAIN_BRANCHES = frozenset({"main", "master", "trunk"})
KEEP = 3.0  # seconds for which an answer is given again without looking
_LEVELS = 64
_LONGEST = 4096  # bytes
_NAME = 255  # characters; no file system keeps a longer branch
_CACHED = 1024
_HEADS = "refs/heads/"
_COMMIT = re.compile(r"[0-9a-f]{40,64}")


def find_repo(folder: str) -> Repo:
    """The git root around `folder` and its branch: "" on the main one, outside git, or where it
    cannot be read; a detached HEAD is shown as its commit's first seven digits. Never raises.
    A folder outside git is its own root; a path that is not absolute is not looked for."""
    if not folder.startswith("/"):
        return Repo(folder, folder, "")
    try:
        place = os.path.realpath(folder)
    except (OSError, ValueError):  # a loop of links, a NUL
        return Repo(folder, folder, "")
    for root in _upwards(place):
        git = _git_folder(root)
        if git is not None:
            return Repo(folder, root, _branch(git))
    return Repo(folder, place, "")


class Repos:
    """find_repo with a memory of a few seconds, for panes that share folders. clock: seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, Repo]] = {}

    def find(self, folder: str) -> Repo:
        """As find_repo; at most 3 s old."""
        now = self._clock()
        known = self._known.get(folder)
        if known is not None and 0 <= now - known[0] < KEEP:
            return known[1]
        if len(self._known) >= _CACHED:
            self._known = {key: value for key, value in self._known.items() if now - value[0] < KEEP}
        repo = find_repo(folder)
        self._known[folder] = (now, repo)
        return repo


def _upwards(place: str) -> list[str]:
    """The folder and those above it on the same file system."""
    found: list[str] = []
    device = None
    for path in (Path(place), *Path(place).parents)[:_LEVELS]:
        try:
            here = path.stat().st_dev
        except OSError:  # deleted, or not for us; one above may still tell
            continue
        if device is not None and here != device:
            break
        device = here
        found.append(str(path))
    return found


def _git_folder(root: str) -> Path | None:
    """The git folder of a work tree, None if `root` is none."""
    mark = Path(root, ".git")
    try:
        mode = mark.stat().st_mode
    except OSError:
        return None
    if stat.S_ISREG(mode):
        told = _line(mark)
        if not told.startswith("gitdir: "):
            return None
        mark = Path(root, told.removeprefix("gitdir: "))
    return mark if _line(mark / "HEAD") else None


def _branch(git: Path) -> str:
    """The branch that HEAD is on, as it is shown."""
    head = _line(git / "HEAD")
    if head.startswith("ref: "):
        branch = head.removeprefix("ref: ").strip().removeprefix(_HEADS)
    else:
        rebased = _line(git / "rebase-merge" / "head-name") or _line(git / "rebase-apply" / "head-name")
        branch = rebased.removeprefix(_HEADS) or (head[:7] if _COMMIT.fullmatch(head) else "")
    if branch in MAIN_BRANCHES or branch == ".invalid" or not branch.isprintable() or len(branch) > _NAME:
        return ""
    return "" if branch == _default_branch(git) else branch


def _default_branch(git: Path) -> str:
    """The branch that origin calls its own, "" if it is not known here."""
    common = _line(git / "commondir")
    head = _line((git / common if common else git) / "refs" / "remotes" / "origin" / "HEAD")
    return head.removeprefix("ref: ").removeprefix("refs/remotes/origin/")


def _line(path: Path) -> str:
    """The first line of a small regular file, "" for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        data = os.read(descriptor, _LONGEST)
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return data.split(b"\n", 1)[0].decode(errors="replace").strip()
