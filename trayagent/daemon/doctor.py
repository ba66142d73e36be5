"""`doctor`: each thing that an alert needs, whether it is there, and what to do if not.

The same checks serve a running daemon and parts that were started for their answers alone (alone.py).
"""

from __future__ import annotations

import asyncio
import os
import stat
from typing import TYPE_CHECKING

from trayagent.daemon import doctor_desktop as desktop
from trayagent.daemon import logs
from trayagent.daemon.check import Check, count
from trayagent.daemon.options import state_folder
from trayagent.ipc import paths
from trayagent.model.keys import ServerKey
from trayagent.remedies import install

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

OLDEST = (3, 0)
SECONDS = 2.0  # for `tmux -V`


async def checks(parts: Parts, *, alone: bool = False) -> list[Check]:
    """All checks, in the order in which an alert flows. alone: these parts belong to no daemon."""
    return [
        _folder(parts),
        *await _tmux(parts),
        _pulse(parts, alone),
        *_manifests(parts),
        *await desktop.checks(parts, alone=alone),
        *_config(parts),
        _ledger(parts),
        _log(parts),
    ]


# -- what is watched -----------------------------------------------------------------------


def _folder(parts: Parts) -> Check:
    folder = parts.options.runtime or paths.runtime_folder()
    try:
        os.close(paths.open_folder(folder, create=True))
    except paths.FolderError as error:
        return Check("runtime folder", False, str(error))
    return Check("runtime folder", True, str(folder))


async def _tmux(parts: Parts) -> list[Check]:
    program = parts.tmux.program
    if not program:
        text = "there is no tmux in PATH, and agents are watched in tmux"
        return [Check("tmux", False, text, install("tmux"))]
    said = (await _version(program)).removeprefix("tmux ")
    found = [Check("tmux", True, f"{said or 'of a version that it does not tell'}, {program}")]
    versions = parts.tmux.versions()
    for key, version in versions.items():
        found.append(_server(parts, key, version))
    found += [Check("tmux server", False, f"{one.place}: {one.text}") for one in parts.tmux.problems()]
    if not versions:
        hint = "start your agents in tmux; a socket in an unusual place: watch.tmux.sockets"
        found.append(
            Check("tmux server", None, "none of yours is running, so there is nothing to watch", hint)
        )
    return found


def _server(parts: Parts, key: ServerKey, version: str) -> Check:
    core = parts.engine.core
    panes = [pane for pane in core.panes.values() if pane.key.server == key]
    agents = sum(pane.identity is not None for pane in panes)
    name = core.names.get(key, key.place)
    of = f", tmux {version}" if version else ""
    inside = f": {count(len(panes), 'pane')}, {count(agents, 'agent')}" if panes else ""
    if version and tuple(int(part) for part in version.split(".")) < OLDEST:
        hint = "its panes need a server of tmux 3.0 or later"
        return Check("tmux server", False, f"{name}{of} is too old", hint)
    return Check("tmux server", True, f"{name}{of}{inside}")


async def _version(program: str) -> str:
    """What `tmux -V` says, "" if it does not."""
    try:
        process = await asyncio.create_subprocess_exec(
            program, "-V", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
    except OSError:
        return ""
    try:
        async with asyncio.timeout(SECONDS):
            out, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return ""
    return out.decode("utf-8", "replace").strip()


def _pulse(parts: Parts, alone: bool) -> Check:
    planner = parts.engine.core.planner
    if not parts.settings.watch.pulse:
        return Check("pulse", None, "switched off (watch.pulse): terminals are polled")
    if alone:
        return _inotify()
    if not planner.pulse:
        text = "terminals are polled, which costs a little more processor and time"
        return Check("pulse", None, text, "raise the sysctl fs.inotify.max_user_instances")
    if planner.deaf:
        return Check(
            "pulse", None, f"{count(len(planner.deaf), 'terminal')} cannot be heard, and polled instead"
        )
    return Check("pulse", True, "every terminal's writes are heard")


def _inotify() -> Check:
    from trayagent.host.inotify import Inotify

    try:
        Inotify().close()
    except OSError as error:
        text = f"terminals will be polled: {error.strerror}"
        return Check("pulse", None, text, "raise the sysctl fs.inotify.max_user_instances")
    return Check("pulse", True, "terminals can be heard")


def _manifests(parts: Parts) -> list[Check]:
    problems = [Check("manifests", not one.fatal and None, str(one)) for one in parts.library.problems]
    clashes = [
        Check("manifests", None, text, "the first keeps it; change one of the two [detect] tables")
        for text in parts.engine.core.index.conflicts
    ]
    known = Check("manifests", True, f"{count(len(parts.library.manifests), 'agent')} are known")
    return [known, *problems, *clashes]


# -- our own files -------------------------------------------------------------------------


def _config(parts: Parts) -> list[Check]:
    path = parts.config.path
    if not parts.config.messages:
        return [Check("config", True, f"{path}" if path.exists() else f"the defaults ({path} is not there)")]
    broken = parts.config.broken
    hint = "mend the file; until then the settings from before stay in force" if broken else ""
    return [Check("config", not broken and None, text, hint) for text in parts.config.messages]


def _ledger(parts: Parts) -> Check:
    problem = parts.ledger.problem
    if problem:
        return Check("history", False, problem)
    return Check("history", True, f"{parts.ledger.path}")


def _log(parts: Parts) -> Check:
    path = state_folder(parts.options) / logs.NAME
    try:
        found = path.stat()
    except FileNotFoundError:
        return Check("log", True, f"{path} (nothing has been written yet)")
    except OSError as error:
        return Check("log", None, f"{path}: {error.strerror}")
    if stat.S_IMODE(found.st_mode) & 0o077:
        return Check("log", None, f"{path} can be read by others", f"chmod 600 {path}")
    return Check("log", True, f"{path}, {max(1, found.st_size // 1024)} KiB")
