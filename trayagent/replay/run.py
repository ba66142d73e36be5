"""`trayagent replay FILE`: a recorded session through the emulator and the production engine.

    for change in replay(read_cast(path), Library.standard()):
        ...

The program in front is taken from the shell's own marks in the recording, from its header, or is
told with `agent`. The simulated time is the recording's.
"""

from __future__ import annotations

import json as codec
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from trayagent.identity import Index, identify
from trayagent.manifest.format import Manifest
from trayagent.manifest.load import Library
from trayagent.model.keys import ProcessKey
from trayagent.model.process import Job, Process
from trayagent.model.settings import Settings
from trayagent.replay.cast import Cast, CastError, read_cast
from trayagent.replay.programs import InFront, programs
from trayagent.replay.theatre import EXECUTABLE, PANE, Change, Theatre


class Manifests(Protocol):
    """Where manifests come from (manifest.load.Library)."""

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """All of them, one an agent."""


def replay(
    cast: Cast,
    library: Manifests,
    *,
    agent: str | None = None,
    settings: Settings | None = None,
    typed: Iterable[float] = (),
) -> list[Change]:
    """The transitions that the daemon would have published, with what became of each alert.

    agent: id, alias or program name of the agent, where the recording does not tell or for
    another opinion. typed: seconds at which keys were read, if known from elsewhere.
    Raises CastError when nobody knows who is in front."""
    index = Index.build(library.manifests)
    return Theatre(
        cast, library.manifests, cast_of(cast, index, agent), settings=settings, typed=typed
    ).play()


def cast_of(cast: Cast, index: Index, agent: str | None) -> tuple[InFront, ...]:
    """Who is in front when, with at least one agent among them. Raises CastError."""
    told = programs(cast)
    if agent is not None:
        wanted = index.agent_id(agent)
        if wanted is None:
            raise CastError(f"no manifest knows an agent {agent!r}")
        if any(_agent(each.argv, index) == wanted for each in told):
            return told
        names = index.detect(wanted).names
        argv = (names[0] if names else wanted,)
        return tuple(InFront(each.at, argv if each.argv else ()) for each in told) or (InFront(0.0, argv),)
    if not told and cast.command:
        told = (InFront(0.0, tuple(shlex.split(cast.command))),)
    if not any(_agent(each.argv, index) for each in told):
        seen = ", ".join(each.argv[0] for each in told if each.argv)
        what = f"shows {seen}, which no manifest knows" if seen else "does not tell which program it shows"
        raise CastError(f"the recording {what}; name the agent with --agent")
    return told


def _agent(argv: tuple[str, ...], index: Index) -> str | None:
    """The agent that a command is, if it is one."""
    if not argv:
        return None
    process = Process(2, 1, 2, 2, argv[0].rpartition("/")[2][:15], argv, EXECUTABLE)
    found = identify(Job(PANE, ProcessKey(1, 1), 2, (process,)), index, None)
    return found.agent if found else None


def run(
    path: Path, agent: str | None = None, json: bool = False, library: Manifests | None = None
) -> list[str]:
    """The lines that `trayagent replay` prints for a recording. json: one object a line with
    `t from to agent rule why alert kind message`. Raises CastError and OSError."""
    cast = read_cast(path)
    changes = replay(cast, library or Library.standard(), agent=agent)
    return [as_json(change) if json else as_text(change) for change in changes]


def as_json(change: Change) -> str:
    """One transition as one line of JSON."""
    fields = {
        "t": change.t,
        "from": change.frm,
        "to": change.to,
        "agent": change.agent,
        "rule": change.rule,
        "why": change.why,
        "alert": change.alert,
        "kind": change.kind,
        "message": change.message,
    }
    return codec.dumps(fields, ensure_ascii=False)


def as_text(change: Change) -> str:
    """One transition as a line for people."""
    told = f"  [{change.alert}]" if change.alert else ""
    rule = f" ({change.rule})" if change.rule else ""
    return f"{change.t:9.3f}  {change.frm:>7} -> {change.to:<7}  {change.why}{rule}{told}"
