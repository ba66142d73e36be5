"""What holds of every decision, whatever the evidence."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.judge.test_decide import EVIDENCE, PANE, PROCESS, at_work, claim, evidence, verdict
from trayagent.judge import Evidence, Front, decide, fresh
from trayagent.judge.lifetimes import LIFETIME, ends_at, next_end, why_not
from trayagent.judge.rules import best_claim
from trayagent.model.evidence import Claim
from trayagent.model.keys import ProcessKey
from trayagent.model.states import RANK, State

SOURCES = ["7501", "report", "hook", "option", "transcript", "contract", "progress", "mark", "notification"]
CLAIMS = st.builds(
    Claim,
    st.just(PANE),
    st.sampled_from(SOURCES),
    st.sampled_from(list(State)),
    st.floats(0, 100),
    id=st.sampled_from(["", "one", "two"]),
    owner=st.sampled_from([None, PROCESS, ProcessKey(9, 9)]),
    expires=st.one_of(st.none(), st.floats(0, 30_000)),
    complete=st.booleans(),
)
MANY = st.lists(CLAIMS, max_size=5, unique_by=lambda one: (one.source, one.id))


@given(EVIDENCE, MANY, st.randoms())
def test_equal_evidence_in_any_order_gives_the_same_decision(given_evidence: Evidence, claims: list[Claim],
                                                             chance: object) -> None:  # fmt: skip
    shuffled = list(claims)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    one = decide(at_work(), replace(given_evidence, claims=tuple(claims)), 110.0)
    other = decide(at_work(), replace(given_evidence, claims=tuple(shuffled)), 110.0)
    assert one == other


@given(st.lists(st.tuples(st.floats(0.01, 5), EVIDENCE, MANY), max_size=8))
def test_the_next_look_is_always_in_the_future(steps: list[tuple[float, Evidence, list[Claim]]]) -> None:
    memory, now = fresh(PROCESS, 0.0), 100.0
    for gap, given_evidence, claims in steps:
        now += gap
        memory = decide(memory, replace(given_evidence, claims=tuple(claims)), now)
        assert memory.decision.why
        assert memory.since <= now
        again = memory.decision.look_again_at
        assert again is None or again > now


@given(CLAIMS, st.floats(0, 40_000))
def test_a_claim_counts_only_for_its_own_process_and_only_until_its_end(one: Claim, now: float) -> None:
    counts = not why_not(one, PROCESS, 10.0, 0.0, now)
    if one.owner not in (None, PROCESS) or one.at < 10.0:
        assert not counts
    end = ends_at(one)
    assert not (counts and end is not None and end <= now)
    if one.source in LIFETIME and one.expires is None and end is not None:
        assert end <= one.at + LIFETIME[one.source]
    assert end is None or one.expires is None or end <= one.expires


@given(MANY, st.floats(0, 40_000))
def test_between_two_ends_no_claim_starts_or_stops_counting(claims: list[Claim], now: float) -> None:
    end = next_end(claims, now)
    assume(end is not None and end > now + 0.01)
    assert end is not None
    for moment in (now, end - 0.001):
        assert [why_not(one, PROCESS, 0.0, 0.0, now) == "" for one in claims] == [
            why_not(one, PROCESS, 0.0, 0.0, moment) == "" for one in claims
        ]
    assert any(ends_at(one) == end for one in claims)


@given(EVIDENCE, MANY)
def test_into_blocked_at_once_whatever_is_on_probation(given_evidence: Evidence, claims: list[Claim]) -> None:
    memory = decide(at_work(), evidence(State.IDLE, 99.0), 99.1)  # working -> idle is on probation
    assert memory.held is not None
    asks = replace(
        given_evidence, front=Front.AGENT, headless=False, claims=(claim("7501", State.BLOCKED, 99.5),)
    )
    assert decide(memory, asks, 100.0).decision.state is State.BLOCKED
    seen = replace(asks, claims=(), verdict=verdict(State.BLOCKED, "rm x"), looked_at=99.9)
    assert decide(memory, seen, 100.0).decision.state is State.BLOCKED


@given(st.sampled_from(["7501", "report", "hook", "option"]), st.floats(2.0, 50.0))
def test_the_loan_is_always_returned(source: str, age: float) -> None:
    works = claim(source, State.WORKING, 100.0, complete=True)
    now = 100.0 + age
    asks = evidence(State.BLOCKED, now, claims=(works,))
    lent = decide(at_work(), asks, now)
    assert lent.decision.state is State.BLOCKED
    for step in (0.1, 0.5, 1.0):  # the hold, and then its end
        later = evidence(verdict=verdict(None), at=now + step, claims=(works,))
        lent = decide(lent, later, now + step)
    assert lent.decision.state is State.WORKING
    assert lent.decision.why == f"the {source} says working"


@given(MANY)
def test_the_pane_itself_speaks_before_its_records_and_these_by_loudness(claims: list[Claim]) -> None:
    best = best_claim(tuple(claims))
    ranked = [one for one in claims if one.source in ("7501", "report", "hook", "option", "transcript")]
    if best is None:
        assert not ranked
    elif any(not one.id for one in ranked):
        assert not best.id
    else:
        assert best.state is not None
        equals = [one.state for one in ranked if one.source == best.source and one.state is not None]
        assert RANK[best.state] == min(RANK[state] for state in equals)
