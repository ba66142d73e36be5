"""The order in which evidence speaks; the first rule that has an opinion decides.

| rule      | speaks when                                                            |
| --------- | ---------------------------------------------------------------------- |
| presence  | the agent is not in front any more, or is a one-shot run               |
| loan      | the screen asks, and the reports have not noticed                      |
| reports   | a live claim of 7501, report, hook, pane option or transcript          |
| manifest  | the screen or title matched a rule                                     |
| contract  | `THINKTERM_AGENT` named a state                                        |
| loose     | progress, prompt marks, notifications                                  |
| silence   | nothing speaks: keep what was, unless it has been silent for too long  |

A finding says what the state is; whether it may be told at once is `holds`' business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from trayagent.judge.evidence import Evidence, Front
from trayagent.judge.lifetimes import next_end
from trayagent.judge.rollup import loudest
from trayagent.model.evidence import Claim, Decision, Option, Verdict
from trayagent.model.states import Kind, Reason, State

# Strongest first. `report` and `7501` are what a program says of itself, as it happens.
REPORT_RANK = {source: rank for rank, source in enumerate(("7501", "report", "hook", "option", "transcript"))}
# These say `done` when a turn ends, so that their `idle` after work is a turn that its user ended.
SAYS_DONE = frozenset({"7501", "report", "hook"})
LOOSE = frozenset({"progress", "mark", "notification"})

# A claim must be this old before the screen's question may overrule it: a report that
# has just been made knows more than the frame before it. Quiet claims are overruled at once.
LOAN_AGE = 2.0
STALL_AGAIN = 10.0  # seconds until a silent job that is not at rest is measured again
QUIET = frozenset({State.IDLE, State.DONE, State.UNKNOWN})
BUSY = frozenset({State.WORKING, State.BLOCKED})


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule found. sure: not to be held back. same: keep the state as it is."""

    state: State
    why: str
    source: str
    kind: Kind | None = None
    reason: Reason | None = None
    message: str = ""
    options: tuple[Option, ...] = ()
    rule: str = ""
    sure: bool = False
    keep: bool = False
    own_interrupt: bool = False
    ended: bool = False
    look_again_at: float | None = None


def presence(before: Decision, evidence: Evidence, now: float) -> Finding | None:
    """The agent has left the terminal, or works for as long as it lives."""
    if evidence.front in (Front.SHELL, Front.GONE):
        return _ended(before, evidence)
    if evidence.headless:
        return Finding(State.WORKING, "a one-shot run works while it lives", "presence", sure=True)
    return None


def _ended(before: Decision, evidence: Evidence) -> Finding:
    ending = evidence.ending
    where = "the shell is back in front" if evidence.front is Front.SHELL else "its process has ended"
    mid_turn = before.state in (State.WORKING, State.BLOCKED)
    crashed = ending is not None and ending.crashed
    if before.state in (State.DONE, State.ERROR):
        return Finding(before.state, f"{where}; not seen yet", "presence", keep=True, ended=True)
    if crashed and (mid_turn or evidence.headless):
        assert ending is not None
        how = f"signal {ending.signal}" if ending.signal is not None else f"exit status {ending.status}"
        why = f"{where}: it ended with {how} while {before.state.value}"
        return Finding(State.ERROR, why, "presence", reason=Reason.CRASH, message=f"ended with {how}",
                       sure=True, ended=True)  # fmt: skip
    if evidence.headless and mid_turn:
        return Finding(State.DONE, f"{where}: the one-shot run ended", "presence", sure=True, ended=True)
    why = f"{where}: it ended mid-turn" if mid_turn else where
    return Finding(State.IDLE, why, "presence", sure=True, ended=True)


def loan(before: Decision, evidence: Evidence, now: float) -> Finding | None:
    """A question on the screen that the reports have missed: dialogs fire no hook everywhere."""
    verdict = evidence.verdict
    claim = best_claim(evidence.claims)
    if claim is None or verdict is None or verdict.keep or verdict.state is not State.BLOCKED:
        return None
    if claim.state is State.BLOCKED:
        return None
    age = 0.0 if claim.state in QUIET else LOAN_AGE
    standing = (
        before.state is State.BLOCKED and claim.state in QUIET and evidence.wrote_at <= evidence.looked_at
    )
    if not standing and (evidence.looked_at <= claim.at or evidence.wrote_at <= claim.at):
        return None
    if now - claim.at < age:
        return _claimed(claim, look_again_at=claim.at + age)
    return replace(from_verdict(evidence), why=f"the screen asks, though the {claim.source} says "
                   f"{claim.state.value if claim.state else 'nothing'}: {_rule(evidence)}")  # fmt: skip


def reports(before: Decision, evidence: Evidence, now: float) -> Finding | None:
    """What the program, or somebody on its behalf, says of it."""
    claim = best_claim(evidence.claims)
    if claim is None or claim.state is None:
        return None
    verdict = evidence.verdict
    if _lowered(claim, verdict, evidence):
        free = from_verdict(evidence)
        what = "the turn broke" if free.state is State.ERROR else "a free prompt"
        return replace(free, why=f"{what}, though the {claim.source} says "
                       f"{claim.state.value}: {_rule(evidence)}")  # fmt: skip
    children = running(evidence.claims)
    if children and claim.state in QUIET:
        return replace(_claimed(claim), state=State.WORKING, message="",
                       why=f"{_agents(children)} running, though the {claim.source} says "
                       f"{claim.state.value}")  # fmt: skip
    return _claimed(claim)


def _lowered(claim: Claim, verdict: Verdict | None, evidence: Evidence) -> bool:
    """Partial hook sets miss ends: a firm free prompt ends their claim. An error row ends a turn
    that no hook ends (it is held like any other end), but answers no question."""
    if claim.complete or claim.source not in ("hook", "transcript") or evidence.looked_at <= claim.at:
        return False
    if verdict is None or verdict.keep:
        return False
    if claim.state is State.WORKING and _broken(verdict):
        return evidence.wrote_at > claim.at  # else the row is that of the turn before
    return claim.state in BUSY and verdict.state is State.IDLE and verdict.firm_idle


def _broken(verdict: Verdict) -> bool:
    return verdict.state is State.ERROR or (verdict.state is State.IDLE and verdict.reason is not None)


def running(claims: tuple[Claim, ...]) -> int:
    """How many sub-agents are at work, by the strongest source that tells of any: each source
    counts the same children, so they are not added up."""
    children = [claim for claim in claims if claim.id and claim.source in REPORT_RANK]
    if not children:
        return 0
    strongest = min(REPORT_RANK[claim.source] for claim in children)
    return sum(claim.state in BUSY for claim in children if REPORT_RANK[claim.source] == strongest)


def _agents(count: int) -> str:
    return f"{count} agent{'s' if count > 1 else ''}"


def manifest(before: Decision, evidence: Evidence, now: float) -> Finding | None:
    """What the manifest makes of screen and title."""
    verdict = evidence.verdict
    if verdict is None or verdict.keep or verdict.state is None:
        return None
    return from_verdict(evidence)


def contract(before: Decision, evidence: Evidence, now: float) -> Finding | None:
    """THINKTERM_AGENT; in its own words the screen wins on state, so it stands behind it."""
    live = [claim for claim in evidence.claims if claim.source == "contract" and claim.state is not None]
    newest = max(live, key=_newest, default=None)
    return _claimed(newest) if newest else None


def loose(before: Decision, evidence: Evidence, now: float) -> Finding | None:
    """Progress, marks and notifications: hints, the newest counts; an event is void after the next write."""
    live = [
        claim
        for claim in evidence.claims
        if claim.source in LOOSE
        and claim.state is not None
        and not (claim.source == "notification" and evidence.wrote_at > claim.at)
    ]
    newest = max(live, key=_newest, default=None)
    return replace(_claimed(newest), source="loose", sure=False) if newest else None


def silence(before: Decision, evidence: Evidence, now: float) -> Finding:
    """Nothing speaks: what was, stays."""
    verdict = evidence.verdict
    if verdict is None:
        why = "not looked at yet"
    elif verdict.keep:
        why = f"rule {verdict.rule} of {verdict.manifest} keeps the state"
    else:
        why = f"no rule of {verdict.manifest} knows this screen"
    return Finding(before.state, why, "silence", keep=True)


Rule = Callable[[Decision, Evidence, float], "Finding | None"]
RULES: tuple[Rule, ...] = (presence, loan, reports, manifest, contract, loose, silence)


def first(before: Decision, evidence: Evidence, now: float) -> Finding:
    """The finding of the first rule that speaks, with `stalled` behind all of them."""
    for rule in RULES:
        finding = rule(before, evidence, now)
        if finding is not None:
            return _watched(stalled(finding, before, evidence, now), evidence, now)
    raise AssertionError("silence always speaks")


def _watched(finding: Finding, evidence: Evidence, now: float) -> Finding:
    """The end of any claim is a moment at which the decision may change."""
    present = evidence.front not in (Front.SHELL, Front.GONE)
    end = next_end(evidence.claims, now) if present else None
    if end is None or (finding.look_again_at is not None and finding.look_again_at <= end):
        return finding
    return replace(finding, look_again_at=end)


def stalled(finding: Finding, before: Decision, evidence: Evidence, now: float) -> Finding:
    """Working, but nothing was written for long, no CPU is used and no child was started:
    honest is `unknown` (idle would hide a hung agent, done would be a false alarm)."""
    if finding.state is not State.WORKING or evidence.stall <= 0 or evidence.headless:
        return finding
    if finding.source not in ("screen", "silence", "loose"):
        return finding
    last = max(evidence.wrote_at, evidence.typed_at)
    if evidence.wrote_at == float("-inf"):
        return finding
    if now - last < evidence.stall:
        return replace(finding, look_again_at=last + evidence.stall)
    if not evidence.at_rest:
        return replace(finding, look_again_at=now + STALL_AGAIN)
    quiet = int(now - last)
    return Finding(State.UNKNOWN, f"silent for {quiet} s while working, no CPU used, no child started",
                   "silence", sure=True)  # fmt: skip


def best_claim(claims: tuple[Claim, ...]) -> Claim | None:
    """The pane's own claim of the strongest source, among its equals the newest.

    Where no source speaks for the pane itself, its records do (7501 has no root then): the
    strongest source's loudest one.
    """
    ranked = [claim for claim in claims if claim.source in REPORT_RANK and claim.state is not None]
    if not ranked:
        return None
    own = [claim for claim in ranked if not claim.id]
    strongest = min(REPORT_RANK[claim.source] for claim in own or ranked)
    equals = [claim for claim in own or ranked if REPORT_RANK[claim.source] == strongest]
    if not own:
        top = loudest(claim.state for claim in equals if claim.state is not None)
        equals = [claim for claim in equals if claim.state is top]
    return max(equals, key=_newest)


def _newest(claim: Claim) -> tuple[float, str, str, str]:
    """Orders claims by age; the rest only makes equal evidence give the same answer in any order."""
    return claim.at, claim.source, claim.state.value if claim.state else "", claim.id


def from_verdict(evidence: Evidence) -> Finding:
    """The manifest's verdict as a finding. An idle verdict with a reason is a turn that broke."""
    verdict = evidence.verdict
    assert verdict is not None and verdict.state is not None
    state = verdict.state
    if state is State.IDLE and verdict.reason is not None:
        state = State.ERROR
    return Finding(
        state,
        _rule(evidence),
        "screen",
        kind=verdict.kind if state is State.BLOCKED else None,
        reason=verdict.reason if state is State.ERROR else None,
        message=verdict.message,
        options=verdict.options,
        rule=verdict.rule,
        sure=verdict.firm_idle,
        own_interrupt=verdict.interrupted,
    )


def _claimed(claim: Claim, look_again_at: float | None = None) -> Finding:
    state = claim.state or State.UNKNOWN
    return Finding(
        state,
        f"the {claim.source} says {state.value}",
        claim.source,
        kind=claim.kind or (Kind.OTHER if state is State.BLOCKED else None),
        reason=claim.reason or (Reason.OTHER if state is State.ERROR else None),
        message=claim.message,
        sure=True,
        own_interrupt=state is State.IDLE and claim.source in SAYS_DONE,
        look_again_at=look_again_at,
    )


def _rule(evidence: Evidence) -> str:
    verdict = evidence.verdict
    assert verdict is not None
    return f"rule {verdict.rule} of {verdict.manifest}"
