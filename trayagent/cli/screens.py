"""`explain --screen`: recorded screens (the fixture format) judged without a daemon.

A fixture is one moment of a pane: agent, screen, title, size, and the processes below the
pane's shell. It is judged by itself: no earlier state is known, so where nobody has an opinion
the state is unknown. The file's own `state`, which tests compare with, is never read here.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trayagent.identity import Index, identify
from trayagent.identity.match import at_prompt
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.load import Library
from trayagent.manifest.trace import Trace
from trayagent.model.evidence import Verdict
from trayagent.model.keys import PaneKey, ProcessKey, ServerKey
from trayagent.model.panes import Screen
from trayagent.model.process import Job, Process
from trayagent.model.states import State

_MAX_BYTES = 4 * 1024 * 1024
_HOST = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9-]+)*")
_NOWHERE = PaneKey(ServerKey("tmux", "recorded"), "%0")


@dataclass(frozen=True, slots=True)
class Judged:
    """The answer for one file. problem: why there is none. trace: what each rule said."""

    agent: str | None
    state: str = State.UNKNOWN.value
    kind: str | None = None
    rule: str = ""
    why: str = ""
    problem: bool = False
    trace: Trace = field(default_factory=Trace)
    verdict: Verdict | None = None

    def to_json(self) -> dict[str, Any]:
        """One line of `--json`."""
        return {name: getattr(self, name) for name in ("agent", "state", "kind", "rule", "why")}


class Judge:
    """Judges recorded screens with the manifests of a library. agent: instead of each file's own."""

    def __init__(self, library: Library, agent: str | None = None) -> None:
        self._library, self._agent = library, agent
        self._index: Index | None = None

    def judge(self, path: Path) -> Judged:
        """The answer for one file; never raises for what a file holds."""
        try:
            with path.open("rb") as file:
                data = json.loads(file.read(_MAX_BYTES))
        except OSError as error:
            return Judged(None, why=f"{path}: cannot be read ({error.strerror})", problem=True)
        except (ValueError, RecursionError):
            return Judged(None, why=f"{path}: is no JSON", problem=True)
        if not isinstance(data, dict) or not isinstance(data.get("screen"), str):
            return Judged(None, why=f"{path}: has no screen; it is no recorded screen", problem=True)
        return self._answer(data)

    def _answer(self, data: Mapping[str, Any]) -> Judged:
        job = _job(data.get("process_tree"))
        shell = job.processes[0] if job is not None and job.shell_in_front else None
        name = self._agent or str(data.get("agent") or "")
        if shell is not None and at_prompt(shell):
            return Judged(name or None, why=f"no agent in front: {shell.comm} is at its prompt")
        if not name and job is not None:
            self._index = self._index or Index.build(self._library.manifests)
            found = identify(job, self._index)
            name = found.agent if found is not None else ""
        manifest = self._library.get(name)
        if manifest is None:
            why = f"no manifest for {name!r}" if name else "no agent was recognised among its processes"
            return Judged(name or None, why=why)
        trace = Trace()
        verdict = evaluate(manifest, screen_of(data), trace)
        return _judged(manifest.id, verdict, trace)


def _judged(agent: str, verdict: Verdict, trace: Trace) -> Judged:
    kind = verdict.kind.value if verdict.kind else None
    if verdict.keep:
        why = f"rule {verdict.rule} says that the state stays as it was"
    elif not verdict.rule:
        why = "no rule matched" if verdict.state is None else "no rule matched; the manifest's fallback"
    else:
        reason = f" ({verdict.reason.value})" if verdict.reason else ""
        why = f"rule {verdict.rule} matched{reason}"
    state = (verdict.state or State.UNKNOWN).value
    return Judged(agent, state, kind, verdict.rule, why, trace=trace, verdict=verdict)


def screen_of(data: Mapping[str, Any]) -> Screen:
    """A fixture's screen as a look would give it."""
    title = str(data.get("title") or "")
    return Screen(
        text="\n".join(row.rstrip() for row in data["screen"].split("\n")),
        title="" if _is_default(title, data) else title,
        width=_number(data.get("cols"), 80),
        height=_number(data.get("rows"), 24),
    )


def _is_default(title: str, data: Mapping[str, Any]) -> bool:
    """tmux shows the host's name, or a command's, where the program set no title of its own.

    The recording host's name is not noted, so a bare lower-case word counts as one, unless it
    is the name of a folder that the recording was made in (which agents do set)."""
    if title in (socket.gethostname(), data.get("host"), data.get("pane_current_command")):
        return True
    tree = data.get("process_tree")
    rows = tree if isinstance(tree, list) else []
    folders = {Path(str(row.get("cwd", ""))).name for row in rows if isinstance(row, dict)}
    return _HOST.fullmatch(title) is not None and title not in folders | {str(data.get("agent"))}


def _job(tree: object) -> Job | None:
    """The pane's foreground job. Fixtures without process groups: everything below the shell."""
    rows = [row for row in tree if isinstance(row, dict)] if isinstance(tree, list) else []
    if not rows:
        return None
    processes = [_process(row) for row in rows]
    shell = processes[0]
    front = rows[0].get("tpgid")
    if isinstance(front, int) and front > 0:
        group = [process for process in processes if process.pgrp == front]
    else:
        group = processes[1:] or [shell]
        front = group[0].pid
    return Job(_NOWHERE, ProcessKey(shell.pid, 0), front, tuple(group or [shell]))


def _process(row: Mapping[str, Any]) -> Process:
    argv = row.get("argv")
    return Process(
        pid=_number(row.get("pid"), 0),
        ppid=_number(row.get("ppid"), 0),
        pgrp=_number(row.get("pgrp"), 0),
        started=0,
        comm=str(row.get("comm", "")),
        argv=tuple(map(str, argv)) if isinstance(argv, Sequence) and not isinstance(argv, str) else (),
        exe=row["exe"] if isinstance(row.get("exe"), str) else None,
    )


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and value >= 0 else otherwise
