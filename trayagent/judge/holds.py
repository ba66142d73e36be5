"""Which findings must prove themselves for a moment before they are told.

A half-drawn frame must not end a question or a turn: leaving blocked, and going from
working to idle (or to an error row above a free prompt), waits until no look has
contradicted it for `hold` seconds, and at the latest `cap` seconds after the first sign.
A terminal that stays silent counts as agreeing. Entering blocked is told at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from trayagent.judge.evidence import Evidence
from trayagent.judge.rules import Finding
from trayagent.model.evidence import Decision
from trayagent.model.states import State

# A key that was read this shortly before, after the question had stood for a moment, is
# the answer; queries at start-up and focus reports come at other times.
ANSWER_WITHIN = 0.5
STOOD_FOR = 0.3
SLACK = 0.005  # timers fire a hair early

FREE_PROMPT = frozenset({State.IDLE, State.DONE, State.ERROR})


@dataclass(frozen=True, slots=True)
class Hold:
    """A change on probation. agreed_since restarts when the target changes, begun does not."""

    target: State
    begun: float
    agreed_since: float


def guarded(before: Decision, finding: Finding) -> bool:
    """Whether this change is of a kind that half-drawn frames fake."""
    if before.state is State.BLOCKED:
        return finding.state is not State.BLOCKED
    return before.state is State.WORKING and finding.state in FREE_PROMPT


def hold(
    before: Decision, since: float, held: Hold | None, finding: Finding, evidence: Evidence, now: float
) -> tuple[Hold | None, float | None]:
    """(None, None): tell it now. Else the hold, and when to look again (engine seconds)."""
    if (
        finding.keep
        or finding.sure
        or not guarded(before, finding)
        or _answered(before, since, evidence, now)
    ):
        return None, None
    if held is None:
        held = Hold(finding.state, now, now)
    elif held.target is not finding.state:
        held = Hold(finding.state, held.begun, now)
    agreed = now - held.agreed_since >= evidence.hold - SLACK
    silent = evidence.wrote_at <= evidence.looked_at
    confirmed = silent or evidence.looked_at > held.agreed_since
    if (agreed and confirmed) or now - held.begun >= evidence.cap - SLACK:
        return None, None
    if agreed:
        return held, held.begun + evidence.cap
    return held, min(held.agreed_since + evidence.hold, held.begun + evidence.cap)


def _answered(before: Decision, since: float, evidence: Evidence, now: float) -> bool:
    return (
        before.state is State.BLOCKED
        and now - evidence.typed_at <= ANSWER_WITHIN
        and evidence.typed_at - since >= STOOD_FOR
    )
