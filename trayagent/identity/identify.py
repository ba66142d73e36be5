"""A pane's foreground job -> the agent that owns the pane, or nobody.

The foreground process group decides; what runs in the background, or is suspended, owns
nothing. In this order:

1. The group's leader is an agent. A helper below it never wins, whatever it is called.
2. The leader is a shell at its prompt: nobody.
3. The leader is a launcher, a runtime, a runner or a shell with a script (`timeout 60 claude`,
   `sh -c 'claude; exec zsh'`): its descendants in the same group, depth first. Below one that
   gives its child a terminal of its own (`sudo`, `script`) also those in front of that terminal.
4. Any other member (`cat prompt | claude`): recognised through a wrapper scores 3, as itself 2.
5. What the user said: a hint of the pane's source (`@agent_hint`) or of a foreground process's
   environment. It only speaks where no process does (`ssh host claude`).

A one-shot run (`claude -p`) below an interpreter's program is that program's tool, not the pane's agent.
`previous` keeps the process that an agent was first seen as, while it lives: the child that
a package runner starts later must not make the pane start clean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from trayagent.identity import match as one
from trayagent.identity.argv import base_name
from trayagent.identity.index import Index
from trayagent.identity.tables import HINTS, MAX_LEVELS, MAX_PROCESSES
from trayagent.model.evidence import Identity
from trayagent.model.process import Job, Process


@dataclass(frozen=True, slots=True)
class _Found:
    """A process of the job that is an agent, and the processes looked through on the way."""

    process: Process
    match: one.Match
    chain: tuple[str, ...] = ()


def identify(job: Job, index: Index, previous: Identity | None = None, hint: str = "") -> Identity | None:
    """The agent in front of the job's terminal, None for nobody.

    previous: what the pane was identified as before. hint: an agent named by the pane's
    source for this pane (`@agent_hint`), "" for none.
    """
    if not job.alive or job.foreground <= 0 or not job.processes:
        return None
    leader = next((process for process in job.processes if process.pid == job.foreground), None)
    found = _found(job, leader, index)
    if found is not None:
        return _kept(_identity(found, index), job, previous)
    if leader is not None and one.at_prompt(leader):
        return None
    return _hinted(job, leader, index, hint)


def conclusive(leader: Process, index: Index) -> bool:
    """Whether a group's leader alone settles who owns the pane: it is an agent, or a shell at its
    prompt. Then host/ need not read the rest of the group."""
    return one.match(leader, index) is not None or one.at_prompt(leader)


def _found(job: Job, leader: Process | None, index: Index) -> _Found | None:
    """Steps 1 to 4."""
    if leader is None:
        return _best(job.processes, job, index)
    matched = one.match(leader, index)
    if matched is not None:
        return _Found(leader, matched, _through(matched))
    if one.at_prompt(leader):
        return None
    if one.is_launcher(leader):
        below = _below(leader, job, index)
        if below is not None:
            return below
        return _best(_beside(leader, job), job, index)
    return _best(job.processes[1:], job, index)


def _below(leader: Process, job: Job, index: Index) -> _Found | None:
    """The first agent among a launcher's descendants, depth first."""
    program = one.is_program(leader)
    for process, chain in _descend(leader, job):
        matched = one.match(process, index)
        if matched is None:
            continue
        tool = one.is_headless(matched.arguments, index.detect(matched.agent).headless)
        if tool and program:
            continue
        return _Found(process, matched, chain + _through(matched))
    return None


def _descend(leader: Process, job: Job) -> Iterator[tuple[Process, tuple[str, ...]]]:
    """(process, names looked through) below the leader: same group, depth first, bounded; behind a
    program that gives its child a terminal, what is in front of that one too."""
    children: dict[int, list[Process]] = {}
    for process in job.processes:
        if process.pid != leader.pid and process.pgrp == job.foreground:
            children.setdefault(process.ppid, []).append(process)
    chain: tuple[str, ...] = (_shown(leader),)
    stack = [(child, chain, 1) for child in reversed(children.get(leader.pid, []))]
    inner = one.gives_terminal(leader)
    visited = 0
    while stack and visited < MAX_PROCESSES:
        process, names, level = stack.pop()
        visited += 1
        inner = inner or one.gives_terminal(process)
        yield process, names
        if level < MAX_LEVELS:
            below = (*names, _shown(process))
            stack.extend((child, below, level + 1) for child in reversed(children.get(process.pid, [])))
    if inner:
        for process in job.processes:
            if process.pgrp != job.foreground and visited < MAX_PROCESSES:
                visited += 1
                yield process, chain


def _beside(leader: Process, job: Job) -> list[Process]:
    """The members that do not descend from the leader: the rest of a pipeline."""
    parents = {process.pid: process.ppid for process in job.processes}

    def descends(pid: int, steps: int) -> bool:
        return pid == leader.pid or (steps > 0 and pid in parents and descends(parents[pid], steps - 1))

    return [process for process in job.processes if not descends(process.pid, len(parents))]


def _best(members: Iterable[Process], job: Job, index: Index) -> _Found | None:
    """The best scored member of the group, the first among equals."""
    best: _Found | None = None
    for process in members:
        if process.pgrp != job.foreground:
            continue
        matched = one.match(process, index)
        if matched is not None and (best is None or (matched.through and not best.match.through)):
            best = _Found(process, matched, _through(matched))
    return best


def _identity(found: _Found, index: Index) -> Identity:
    """What was found, in the words of the model."""
    agent = found.match.agent
    behind = f", behind {' and '.join(found.chain)}" if found.chain else ""
    return Identity(
        agent=agent,
        process=found.process.key,
        certainty="wrapper" if found.chain else "process",
        why=f"{found.match.why}{behind}",
        chain=found.chain,
        headless=one.is_headless(found.match.arguments, index.detect(agent).headless),
    )


def _kept(identity: Identity, job: Job, previous: Identity | None) -> Identity:
    """The same identity under the process that stood for it before, while that one is in front."""
    if previous is None or previous.agent != identity.agent or previous.process == identity.process:
        return identity
    if any(process.key == previous.process for process in job.processes):
        return replace(identity, process=previous.process)
    return identity


def _hinted(job: Job, leader: Process | None, index: Index, hint: str) -> Identity | None:
    """Step 5. A hint that names no known agent says nothing."""
    told = [("the pane's hint", hint, leader or job.processes[0])] if hint else []
    for variable in HINTS:
        for process in job.processes:
            told.extend((variable, value, process) for name, value in process.hints if name == variable)
    for source, value, owner in told:
        agent = index.agent_id(value)
        if agent is not None:
            return Identity(agent, owner.key, certainty="hint", why=f"{source} names {agent}")
    return None


def _through(matched: one.Match) -> tuple[str, ...]:
    """The interpreter or runner of a match, as part of a chain."""
    return (matched.through,) if matched.through else ()


def _shown(process: Process) -> str:
    """A process's name for a chain."""
    return base_name(process.argv[0].split(" ")[0]) if process.argv and process.argv[0] else process.comm
