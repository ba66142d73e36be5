"""The one pure function that turns evidence into a decision, and what it remembers.

`decide(memory, evidence, now) -> Memory`; the decision is in it. The overlay of done
and error lives here: a turn that ends unseen is `done` (or `error`) until somebody
looks, then `idle`; the rules themselves know nothing of who has seen what.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from trayagent.judge.evidence import Evidence
from trayagent.judge.holds import Hold, hold
from trayagent.judge.rules import Finding, first
from trayagent.model.evidence import Decision
from trayagent.model.keys import ProcessKey
from trayagent.model.states import Kind, State

BUSY = frozenset({State.WORKING, State.BLOCKED})
UNSEEN = frozenset({State.DONE, State.ERROR})


@dataclass(frozen=True, slots=True)
class Memory:
    """What is known of a pane between two decisions.

    since: engine seconds at which the decision's state (or fingerprint) was entered.
    generation: rises each time the pane leaves blocked, so that the same question asked
    again is a new one. turn: counts turns. turn_since: start of the running turn.
    worked: length of the last turn in seconds. acked: fingerprint of the done or error
    that somebody has seen. fresh: nothing has been found yet.
    """

    decision: Decision
    since: float
    process: ProcessKey | None = None
    generation: int = 0
    turn: int = 0
    turn_since: float | None = None
    worked: float = 0.0
    acked: str = ""
    held: Hold | None = None
    fresh: bool = True


def fresh(process: ProcessKey | None, now: float, generation: int = 0) -> Memory:
    """The memory of a pane of which nothing is known yet."""
    decision = Decision(State.UNKNOWN, "nothing is known yet", "silence")
    return Memory(decision, now, process, generation)


def decide(memory: Memory, evidence: Evidence, now: float) -> Memory:
    """The next decision. `decision.look_again_at` says when time alone may change it."""
    finding = first(memory.decision, evidence, now)
    if finding.keep:
        return _kept(memory, finding)
    held, again = (
        (None, None)
        if memory.fresh
        else hold(memory.decision, memory.since, memory.held, finding, evidence, now)
    )
    if held is not None:
        return replace(memory, held=held, decision=replace(memory.decision, look_again_at=again))
    return _publish(memory, finding, evidence, now)


def seen(memory: Memory, now: float) -> Memory:
    """Somebody has looked: done and error have done their work; the pane is idle."""
    decision = memory.decision
    if decision.state not in UNSEEN:
        return memory
    idle = Decision(State.IDLE, f"{decision.state.value}, and seen", decision.source, rule=decision.rule)
    return replace(memory, decision=idle, since=now, acked=decision.fingerprint)


def _kept(memory: Memory, finding: Finding) -> Memory:
    decision = replace(memory.decision, look_again_at=finding.look_again_at)
    if memory.fresh or finding.ended:
        decision = replace(decision, why=finding.why)
    return replace(memory, held=None, decision=decision)


def _publish(memory: Memory, finding: Finding, evidence: Evidence, now: float) -> Memory:
    before = memory.decision
    memory = _turn(memory, finding, now)
    finding = _unseen(before, finding)
    fingerprint = _fingerprint(memory, finding, evidence)
    if finding.state in UNSEEN and finding.state is before.state:
        fingerprint = before.fingerprint  # the same end of the same turn, still unseen
    if finding.state in UNSEEN and fingerprint == memory.acked:
        finding = replace(finding, state=State.IDLE, why=f"{finding.why}; seen", reason=None)
        fingerprint = ""
    decision = Decision(
        finding.state,
        finding.why,
        finding.source,
        kind=finding.kind,
        reason=finding.reason,
        fingerprint=fingerprint,
        message=finding.message,
        options=finding.options,
        rule=finding.rule,
        own_interrupt=finding.own_interrupt,
        look_again_at=finding.look_again_at,
    )
    changed = (before.state, before.fingerprint) != (decision.state, decision.fingerprint)
    return replace(
        memory,
        decision=decision,
        since=now if changed or memory.fresh else memory.since,
        process=evidence.process or memory.process,
        held=None,
        fresh=False,
    )


def _turn(memory: Memory, finding: Finding, now: float) -> Memory:
    """Count turns and their length; a question in the middle belongs to the turn."""
    was, is_ = memory.decision.state, finding.state
    if is_ is State.WORKING and was not in BUSY:
        return replace(memory, turn=memory.turn + 1, turn_since=now, worked=0.0)
    if is_ is State.WORKING and was is State.BLOCKED:
        return replace(memory, generation=memory.generation + 1, turn_since=memory.turn_since or now)
    if was in BUSY and is_ not in BUSY:
        worked = now - memory.turn_since if memory.turn_since is not None else 0.0
        generation = memory.generation + (was is State.BLOCKED)
        return replace(memory, worked=worked, turn_since=None, generation=generation)
    return memory


def _unseen(before: Decision, finding: Finding) -> Finding:
    """Lay done and error over the plain finding."""
    if finding.state is State.IDLE and not finding.ended:
        if before.state is State.WORKING and finding.own_interrupt:
            return replace(finding, why=f"{finding.why}; the user interrupted the turn")
        if before.state is State.BLOCKED:
            return replace(finding, own_interrupt=True, why=f"{finding.why}; the question was dismissed")
        if before.state in UNSEEN:
            return _still(before, finding)
        if before.state is State.WORKING:
            finding = replace(finding, state=State.DONE)
    return finding


def _still(before: Decision, finding: Finding) -> Finding:
    return replace(
        finding,
        state=before.state,
        why=before.why,
        source=before.source,
        reason=before.reason,
        message=before.message,
        rule=before.rule,
        own_interrupt=before.own_interrupt,
    )


def _fingerprint(memory: Memory, finding: Finding, evidence: Evidence) -> str:
    """Names a prompt or an ended turn without giving its text away.

    Of the text only the words count: borders and spacing change as a dialog is drawn
    again, in another width or with another row selected.
    """
    process = evidence.process or memory.process
    who = f"{process.pid}.{process.started}" if process else "-"
    if finding.state is State.BLOCKED:
        kind = finding.kind or Kind.OTHER
        words = "".join(ch for ch in finding.message.lower() if ch.isalnum()) or finding.rule
        what = f"blocked|{kind.value}|{words}|{memory.generation}"
    elif finding.state in UNSEEN:
        what = f"{finding.state.value}|{finding.reason or ''}|{memory.turn}"
    else:
        return ""
    return hashlib.blake2s(f"{who}|{what}".encode("utf-8", "replace"), digest_size=8).hexdigest()
