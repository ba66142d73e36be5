"""What `doctor` can check by itself: folder, config, programs. The daemon adds what it sees."""

from __future__ import annotations

import os
import shutil

from trayagent.config.load import default_path, read
from trayagent.ipc import paths
from trayagent.ipc.schema import Json


def local_checks() -> list[Json]:
    """Checks in the form of the daemon's own: name, ok (None: could be better), text, hint."""
    return [_folder(), _config(), _tmux()]


def _check(name: str, ok: bool | None, text: str, hint: str = "") -> Json:
    return {"name": name, "ok": ok, "text": text, "hint": hint}


def _folder() -> Json:
    folder = paths.runtime_folder()
    try:
        os.close(paths.open_folder(folder, create=True))
    except paths.FolderError as error:
        return _check("runtime folder", False, str(error))
    return _check("runtime folder", True, str(folder))


def _config() -> Json:
    path = default_path()
    problems = read(path).problems
    if not problems:
        there = "" if path.exists() else " (not there: the defaults hold)"
        return _check("config file", True, f"{path}{there}")
    broken = any(problem.error for problem in problems)
    return _check("config file", not broken and None, problems[0].render(str(path)), "trayagent config check")


def _tmux() -> Json:
    program = shutil.which("tmux")
    if program is None:
        return _check("tmux program", None, "tmux is not in PATH", "install tmux, which agents run in")
    return _check("tmux program", True, program)
