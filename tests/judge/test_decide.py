"""Arbitration: what wins, what is held back, and what counts as seen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trayagent.judge import Ending, Evidence, Front, Memory, decide, fresh, loudest, seen
from trayagent.model.evidence import Claim, Verdict
from trayagent.model.keys import PaneKey, ProcessKey, ServerKey
from trayagent.model.states import Kind, Reason, State

PANE = PaneKey(ServerKey("tmux", "/tmp/s", 10, 100), "%1")
PROCESS = ProcessKey(4242, 5000)


def verdict(state: State | None, message: str = "", **more: object) -> Verdict:
    return Verdict(state, "claude", rule="a-rule", message=message, **more)  # type: ignore[arg-type]


def evidence(state: State | None = None, at: float = 0.0, **more: object) -> Evidence:
    given_verdict = more.pop("verdict", verdict(state) if state else None)
    defaults = {
        "front": Front.AGENT,
        "process": PROCESS,
        "verdict": given_verdict,
        "looked_at": at,
        "wrote_at": at - 0.01,
    }
    return Evidence(**{**defaults, **more})  # type: ignore[arg-type]


def run(*steps: tuple[float, Evidence], start: Memory | None = None) -> Memory:
    memory = start or fresh(PROCESS, 0.0)
    for now, given_evidence in steps:
        memory = decide(memory, given_evidence, now)
    return memory


def at_work(since: float = 0.0) -> Memory:
    return run((since, evidence(State.WORKING, since)))


def claim(source: str, state: State, at: float, **more: object) -> Claim:
    return Claim(PANE, source, state, at, **more)  # type: ignore[arg-type]


def test_first_sight_is_told_at_once_whatever_it_is() -> None:
    for state in (State.IDLE, State.WORKING, State.BLOCKED):
        assert run((1.0, evidence(state, 1.0))).decision.state is state


def test_nothing_looked_at_yet_is_unknown() -> None:
    memory = run((1.0, evidence()))
    assert memory.decision.state is State.UNKNOWN
    assert memory.decision.why == "not looked at yet"


def test_into_blocked_without_any_hold() -> None:
    memory = run((5.0, evidence(verdict=verdict(State.BLOCKED, "rm -rf x", kind=Kind.PERMISSION), at=5.0)),
                 start=at_work())  # fmt: skip
    assert memory.decision.state is State.BLOCKED
    assert memory.decision.kind is Kind.PERMISSION


def test_working_to_idle_waits_until_silence_has_agreed() -> None:
    memory = run((10.0, evidence(State.IDLE, 10.0)), start=at_work())
    assert memory.decision.state is State.WORKING
    assert memory.decision.look_again_at == pytest.approx(10.45)
    memory = run((10.3, evidence(State.IDLE, 10.0)), start=memory)
    assert memory.decision.state is State.WORKING
    memory = run((10.45, evidence(State.IDLE, 10.0)), start=memory)
    assert memory.decision.state is State.DONE


def test_a_spinner_that_vanishes_for_a_moment_changes_nothing() -> None:
    memory = run(
        (10.0, evidence(State.IDLE, 10.0)),
        (10.2, evidence(State.WORKING, 10.2)),
        (10.5, evidence(State.WORKING, 10.5)),
        start=at_work(),
    )
    assert memory.decision.state is State.WORKING
    assert memory.held is None


def test_a_hold_never_lasts_longer_than_its_cap() -> None:
    memory = run(
        (10.0, evidence(State.IDLE, 10.0)),
        (10.46, evidence(State.IDLE, 10.0, wrote_at=10.3)),
        start=at_work(),
    )
    assert memory.decision.state is State.WORKING  # it wrote after the look: not confirmed
    memory = run((10.7, evidence(State.IDLE, 10.0, wrote_at=10.65)), start=memory)
    assert memory.decision.state is State.DONE


def test_a_firm_idle_verdict_skips_the_hold() -> None:
    firm = verdict(State.IDLE, firm_idle=True)
    assert run((9.0, evidence(verdict=firm, at=9.0)), start=at_work()).decision.state is State.DONE


def test_leaving_blocked_is_held_unless_a_key_was_just_read() -> None:
    asked = run((1.0, evidence(State.BLOCKED, 1.0)), start=at_work())
    held = run((5.0, evidence(State.WORKING, 5.0)), start=asked)
    assert held.decision.state is State.BLOCKED
    answered = run((5.0, evidence(State.WORKING, 5.0, typed_at=4.8)), start=asked)
    assert answered.decision.state is State.WORKING


def test_a_key_read_as_the_question_appears_is_no_answer() -> None:
    asked = run((4.9, evidence(State.BLOCKED, 4.9)), start=at_work())
    assert (
        run((5.0, evidence(State.WORKING, 5.0, typed_at=4.95)), start=asked).decision.state is State.BLOCKED
    )


def test_a_second_question_is_a_second_event_even_with_the_same_words() -> None:
    question = evidence(verdict=verdict(State.BLOCKED, "rm x", kind=Kind.PERMISSION), at=1.0)
    first = run((1.0, question), start=at_work())
    other = run(
        (1.3, evidence(verdict=verdict(State.BLOCKED, "rm y", kind=Kind.PERMISSION), at=1.3)), start=first
    )
    assert other.decision.fingerprint != first.decision.fingerprint
    again = run(
        (2.0, evidence(State.WORKING, 2.0, typed_at=1.9)),
        (3.0, replace(question, looked_at=3.0)),
        start=first,
    )
    assert again.decision.state is State.BLOCKED
    assert again.decision.fingerprint != first.decision.fingerprint


def test_the_same_question_drawn_again_is_no_new_event() -> None:
    first = run((1.0, evidence(verdict=verdict(State.BLOCKED, "│ rm  x │"), at=1.0)), start=at_work())
    again = run((2.0, evidence(verdict=verdict(State.BLOCKED, "rm x"), at=2.0)), start=first)
    assert again.decision.fingerprint == first.decision.fingerprint
    assert again.since == first.since


def test_a_fingerprint_does_not_give_the_question_away() -> None:
    memory = run((1.0, evidence(verdict=verdict(State.BLOCKED, "secretword"), at=1.0)))
    assert "secretword" not in memory.decision.fingerprint


def test_a_turn_that_ends_unseen_is_done_until_somebody_looks() -> None:
    firm = verdict(State.IDLE, firm_idle=True)
    done = run((9.0, evidence(verdict=firm, at=9.0)), start=at_work(since=2.0))
    assert done.decision.state is State.DONE
    assert done.worked == pytest.approx(7.0)
    still = run((20.0, evidence(verdict=firm, at=20.0)), start=done)
    assert (still.decision.state, still.decision.fingerprint) == (State.DONE, done.decision.fingerprint)
    looked = seen(still, 21.0)
    assert looked.decision.state is State.IDLE
    assert run((22.0, evidence(verdict=firm, at=22.0)), start=looked).decision.state is State.IDLE


def test_esc_at_a_prompt_is_idle_and_silent() -> None:
    asked = run((1.0, evidence(State.BLOCKED, 1.0)), start=at_work())
    memory = run((5.0, evidence(State.IDLE, 5.0, typed_at=4.9)), start=asked)
    assert memory.decision.state is State.IDLE
    assert memory.decision.own_interrupt


def test_a_turn_that_the_user_interrupted_is_not_done() -> None:
    row = verdict(State.IDLE, firm_idle=True, interrupted=True)
    memory = run((5.0, evidence(verdict=row, at=5.0)), start=at_work())
    assert memory.decision.state is State.IDLE
    assert memory.decision.own_interrupt


def test_an_idle_row_with_a_reason_is_a_broken_turn_until_seen() -> None:
    row = verdict(State.IDLE, "API Error: 500", firm_idle=True, reason=Reason.API)
    memory = run((5.0, evidence(verdict=row, at=5.0)), start=at_work())
    assert (memory.decision.state, memory.decision.reason) == (State.ERROR, Reason.API)
    memory = run((6.0, evidence(verdict=row, at=6.0)), start=seen(memory, 5.5))
    assert memory.decision.state is State.IDLE


def test_no_opinion_keeps_the_state() -> None:
    for nothing in (verdict(None), verdict(None, keep=True)):
        memory = run((5.0, evidence(verdict=nothing, at=5.0)), start=at_work())
        assert memory.decision.state is State.WORKING


def test_nothing_after_the_shell_is_back_counts() -> None:
    hook = claim("hook", State.WORKING, 4.0, complete=True)
    memory = run((5.0, evidence(State.WORKING, 5.0, front=Front.SHELL, claims=(hook,))), start=at_work())
    assert memory.decision.state is State.IDLE
    assert "mid-turn" in memory.decision.why


@pytest.mark.parametrize(
    ("ending", "state"),
    [
        (Ending(signal=9), State.ERROR),
        (Ending(status=1), State.ERROR),
        (Ending(status=0), State.IDLE),
        (Ending(status=130), State.IDLE),
        (Ending(signal=15), State.IDLE),
        (None, State.IDLE),
    ],
)
def test_how_an_agent_ended_in_a_turn(ending: Ending | None, state: State) -> None:
    memory = run((5.0, evidence(front=Front.SHELL, ending=ending)), start=at_work())
    assert memory.decision.state is state
    assert memory.decision.reason is (Reason.CRASH if state is State.ERROR else None)


def test_a_bad_exit_outside_of_a_turn_is_no_error() -> None:
    idle = run((1.0, evidence(State.IDLE, 1.0)))
    assert (
        run((5.0, evidence(front=Front.SHELL, ending=Ending(status=1))), start=idle).decision.state
        is State.IDLE
    )


def test_a_one_shot_run_works_while_it_lives_and_is_done_afterwards() -> None:
    memory = run((1.0, evidence(headless=True)))
    assert memory.decision.state is State.WORKING
    over = evidence(headless=True, front=Front.SHELL, ending=Ending(status=0))
    assert run((9.0, over), start=memory).decision.state is State.DONE
    bad = evidence(headless=True, front=Front.SHELL, ending=Ending(status=2))
    assert run((9.0, bad), start=memory).decision.state is State.ERROR


def test_what_ended_unseen_stays_until_seen_after_the_agent_left() -> None:
    done = run((9.0, evidence(verdict=verdict(State.IDLE, firm_idle=True), at=9.0)), start=at_work())
    left = run((12.0, evidence(front=Front.SHELL)), start=done)
    assert left.decision.state is State.DONE


def test_a_question_on_the_screen_overrules_a_working_claim_that_is_two_seconds_old() -> None:
    hook = claim("hook", State.WORKING, 4.0)
    asks = evidence(State.BLOCKED, 5.0, claims=(hook,), wrote_at=4.9)
    early = run((5.0, asks), start=at_work())
    assert early.decision.state is State.WORKING
    assert early.decision.look_again_at == pytest.approx(6.0)
    late = run((6.0, asks), start=early)
    assert late.decision.state is State.BLOCKED


def test_a_quiet_claim_is_overruled_at_once() -> None:
    hook = claim("hook", State.IDLE, 4.9, complete=True)
    asks = evidence(State.BLOCKED, 5.0, claims=(hook,), wrote_at=4.95)
    assert run((5.0, asks), start=at_work()).decision.state is State.BLOCKED


def test_a_screen_that_was_not_written_after_the_claim_lends_nothing() -> None:
    hook = claim("hook", State.WORKING, 4.0)
    old = evidence(State.BLOCKED, 5.0, claims=(hook,), wrote_at=3.9)
    assert run((9.0, old), start=at_work()).decision.state is State.WORKING


def test_partial_hooks_are_lowered_by_a_firm_free_prompt_and_complete_ones_are_not() -> None:
    free = verdict(State.IDLE, firm_idle=True)
    partial = claim("hook", State.WORKING, 1.0)
    complete = replace(partial, complete=True)
    assert (
        run((9.0, evidence(verdict=free, at=9.0, claims=(partial,))), start=at_work()).decision.state
        is State.DONE
    )
    kept = run((9.0, evidence(verdict=free, at=9.0, claims=(complete,))), start=at_work())
    assert kept.decision.state is State.WORKING


def test_the_stronger_source_speaks_first() -> None:
    option, report = claim("option", State.IDLE, 9.0), claim("7501", State.WORKING, 1.0)
    memory = run((9.5, evidence(State.IDLE, 9.5, claims=(option, report))))
    assert (memory.decision.state, memory.decision.source) == (State.WORKING, "7501")


def test_the_screen_stands_above_the_contract() -> None:
    contract = claim("contract", State.WORKING, 1.0)
    assert run((2.0, evidence(State.IDLE, 2.0, claims=(contract,)))).decision.state is State.IDLE
    assert (
        run((2.0, evidence(verdict=verdict(None), at=2.0, claims=(contract,)))).decision.state
        is State.WORKING
    )


def test_a_notification_is_void_once_the_pane_writes() -> None:
    note = claim("notification", State.BLOCKED, 2.0)
    live = evidence(verdict=verdict(None), at=2.1, claims=(note,), wrote_at=1.9)
    assert run((2.2, live)).decision.state is State.BLOCKED
    assert run((2.6, replace(live, wrote_at=2.5))).decision.state is State.UNKNOWN


def test_silence_while_working_becomes_unknown_only_when_the_job_is_at_rest() -> None:
    quiet = evidence(State.WORKING, 1.0, wrote_at=1.0)
    memory = run((2.0, quiet), start=at_work())
    assert memory.decision.look_again_at == pytest.approx(31.0)
    assert run((32.0, replace(quiet, at_rest=False)), start=memory).decision.state is State.WORKING
    assert run((32.0, replace(quiet, at_rest=None)), start=memory).decision.state is State.WORKING
    stalled = run((32.0, replace(quiet, at_rest=True)), start=memory)
    assert stalled.decision.state is State.UNKNOWN
    assert "silent for 31 s" in stalled.decision.why
    assert run((40.0, evidence(State.WORKING, 40.0)), start=stalled).decision.state is State.WORKING


def test_blocked_in_silence_stays_blocked_for_ever() -> None:
    asked = run((1.0, evidence(State.BLOCKED, 1.0)), start=at_work())
    night = evidence(State.BLOCKED, 1.0, wrote_at=1.0, at_rest=True)
    assert run((40_000.0, night), start=asked).decision.state is State.BLOCKED


def test_the_loudest_state_is_the_one_that_needs_a_person() -> None:
    assert loudest([]) is State.UNKNOWN
    assert loudest([State.WORKING, State.DONE]) is State.DONE
    assert loudest([State.ERROR, State.BLOCKED, State.DONE]) is State.BLOCKED


STATES = st.sampled_from(list(State))
CLAIMS = st.builds(
    claim,
    st.sampled_from(
        ["7501", "report", "hook", "option", "transcript", "contract", "progress", "notification"]
    ),
    STATES,
    st.floats(0, 50),
    complete=st.booleans(),
)
VERDICTS = st.one_of(
    st.none(),
    st.builds(
        verdict,
        st.sampled_from([None, State.IDLE, State.WORKING, State.BLOCKED]),
        st.sampled_from(["", "rm x", "rm y"]),
        firm_idle=st.booleans(),
        interrupted=st.booleans(),
        keep=st.booleans(),
    ),
)
EVIDENCE = st.builds(
    evidence,
    verdict=VERDICTS,
    at=st.floats(0, 50),
    front=st.sampled_from(list(Front)),
    claims=st.lists(CLAIMS, max_size=4).map(tuple),
    wrote_at=st.floats(0, 50),
    typed_at=st.floats(0, 50),
    at_rest=st.sampled_from([None, True, False]),
    headless=st.booleans(),
    ending=st.sampled_from([None, Ending(0), Ending(1), Ending(signal=9)]),
)


@given(st.lists(st.tuples(st.floats(0.01, 5), EVIDENCE), max_size=12))
def test_every_decision_has_a_reason_and_never_looks_back(steps: list[tuple[float, Evidence]]) -> None:
    memory, now = fresh(PROCESS, 0.0), 0.0
    for gap, given_evidence in steps:
        now += gap
        after = decide(memory, given_evidence, now)
        assert after.decision.why
        assert memory.since <= after.since <= now
        if after.decision.fingerprint == "":
            assert after.decision.state not in (State.BLOCKED, State.DONE, State.ERROR)
        memory = after


@given(EVIDENCE, st.permutations(range(4)))
def test_the_order_of_evidence_does_not_matter(given_evidence: Evidence, order: list[int]) -> None:
    claims = given_evidence.claims
    distinct = {(one.source, one.at): one for one in claims}
    shuffled = [
        one for _, one in sorted(zip(order, distinct.values(), strict=False), key=lambda pair: pair[0])
    ]
    memory = fresh(PROCESS, 0.0)
    base = decide(memory, replace(given_evidence, claims=tuple(distinct.values())), 60.0)
    other = decide(memory, replace(given_evidence, claims=tuple(shuffled)), 60.0)
    assert base.decision.state is other.decision.state


@given(EVIDENCE)
def test_a_claim_never_outlives_its_process(given_evidence: Evidence) -> None:
    gone = replace(given_evidence, front=Front.GONE)
    assert decide(at_work(), gone, 60.0).decision.source in ("presence", "silence", "screen")
    assert decide(at_work(), gone, 60.0) == decide(at_work(), replace(gone, claims=()), 60.0)
