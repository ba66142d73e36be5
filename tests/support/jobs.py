"""Foreground jobs drawn by hand for identity's tests, and the bundled agents' index."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from trayagent.identity import Index
from trayagent.manifest.load import read_file
from trayagent.model.keys import PaneKey, ProcessKey, ServerKey
from trayagent.model.process import Job, Process
from trayagent.resources import folder

PANE = PaneKey(ServerKey("tmux", "/tmp/none", 1, 1), "%1")
SHELL = ProcessKey(100, 1000)
LEADER = 200


def bundled_index(configured: Iterable[tuple[str, str]] = ()) -> Index:
    """The index of every bundled manifest; a file that does not load is a failure."""
    manifests = []
    for path in sorted(folder("manifests").glob("*.toml")):
        manifest, problems = read_file(path)
        assert manifest is not None and not problems, [str(problem) for problem in problems]
        manifests.append(manifest)
    return Index.build(manifests, configured)


def process(
    command: str,
    pid: int = LEADER,
    ppid: int = SHELL.pid,
    *,
    comm: str | None = None,
    exe: str | None = None,
    script: str | None = None,
    pgrp: int = LEADER,
    hints: tuple[tuple[str, str], ...] = (),
    started: int | None = None,
) -> Process:
    """One process. command: its argv as a shell would split it; comm and exe default to what the
    kernel would have made of argv[0]."""
    argv = tuple(shlex.split(command))
    base = argv[0].rsplit("/", 1)[-1]
    return Process(
        pid=pid,
        ppid=ppid,
        pgrp=pgrp,
        started=pid * 10 if started is None else started,
        comm=(base if comm is None else comm)[:15],
        argv=argv,
        exe=f"/usr/bin/{base}" if exe is None else exe or None,
        hints=hints,
        script=script,
    )


def job(*processes: Process, shell: ProcessKey = SHELL, foreground: int = LEADER, alive: bool = True) -> Job:
    """The job in front of the test pane."""
    return Job(PANE, shell, foreground, processes, alive)
