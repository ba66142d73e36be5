"""When a pane is due for a look, and what a look is shared with."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trayagent.engine.planner import Due, Planner
from trayagent.engine.rhythm import BEAT, FLOOR, SAFETY
from trayagent.model.keys import PaneKey, ServerKey

SERVER = ServerKey("tmux", "/tmp/s", 1, 1)
T = 1000.5


def key(number: int) -> PaneKey:
    return PaneKey(SERVER, f"%{number}")


def planner(count: int = 1, agent: bool = True) -> Planner:
    made = Planner()
    made.want_list(SERVER, T - 10)
    made.look_began(Due(SERVER, (), True, False, "list"), T - 10)
    made.look_ended(SERVER)
    for number in range(count):
        made.add(key(number), f"/dev/pts/{number}")
        made.is_now(key(number), agent=agent, working=False, calm_from=float("inf"))
        made.looked(key(number), T - 10, False)
    return made


def looks(made: Planner, now: float) -> list[Due]:
    due, _ = made.due(now)
    for one in due:
        made.look_began(one, now)
        for pane in one.panes:
            made.looked(pane, now, False)
        made.look_ended(one.server)
    return due


def test_a_pane_that_falls_silent_is_looked_at_soon() -> None:
    made = planner()
    made.wrote(["/dev/pts/0"], T)
    wake = made.wake_at()
    assert wake is not None and T < wake <= T + 0.21
    assert [one.panes for one in looks(made, wake)] == [(key(0),)]


def test_a_pane_that_writes_on_is_looked_at_once_a_beat() -> None:
    made = planner()
    moments = []
    for tenth in range(50):
        now = T + tenth / 10
        made.wrote(["/dev/pts/0"], now)
        moments += [now for _ in looks(made, now)]
    gaps = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert gaps and all(gap == pytest.approx(BEAT, abs=0.11) for gap in gaps)


def test_what_has_not_written_is_looked_at_after_thirty_seconds_only() -> None:
    made = planner()
    assert looks(made, T) == []
    wake = made.wake_at()
    assert wake == pytest.approx(T - 10 + SAFETY)
    assert looks(made, wake)[0].panes == (key(0),)


def test_panes_that_are_due_together_share_one_command() -> None:
    made = planner(3)
    made.wrote(["/dev/pts/0", "/dev/pts/1"], T)
    made.wrote(["/dev/pts/2"], T + 0.03)
    wake = made.wake_at()
    assert wake is not None
    (due,) = looks(made, wake)
    assert set(due.panes) == {key(0), key(1), key(2)}


def test_two_looks_keep_the_floor_and_a_key_lifts_it() -> None:
    made = planner()
    made.looked(key(0), T, False)
    made.wrote(["/dev/pts/0"], T + 0.02)
    assert looks(made, T + 0.24) == []
    made.typed(["/dev/pts/0"], T + 0.2)
    assert len(looks(made, T + 0.24)) == 1
    assert FLOOR > 0.24


def test_a_server_that_is_being_read_is_left_alone_until_it_answers() -> None:
    made = planner()
    made.wrote(["/dev/pts/0"], T)
    due, _ = made.due(T + 0.2)
    made.look_began(due[0], T + 0.2)
    made.wrote(["/dev/pts/0"], T + 0.3)
    assert made.due(T + 1.4)[0] == []
    made.look_ended(SERVER)
    assert len(made.due(T + 1.4)[0]) == 1


def test_a_write_during_a_look_is_not_taken_for_seen() -> None:
    made = planner()
    made.wrote(["/dev/pts/0"], T + 0.2)
    made.looked(key(0), T, False)
    assert made.pending(key(0))
    made.looked(key(0), T + 0.3, False)
    assert not made.pending(key(0))


def test_a_pane_without_an_agent_is_examined_and_never_captured() -> None:
    made = planner(agent=False)
    made.wrote(["/dev/pts/0"], T)
    due, jobs = made.due(T + 0.5)
    assert (due, jobs) == ([], [key(0)])


def test_a_pane_that_pauses_all_the_time_must_be_silent_for_longer() -> None:
    made = planner()
    rhythm = made.rhythms[key(0)]
    for step in range(8):
        made.wrote(["/dev/pts/0"], T + step * 0.4)
    assert 0.4 < rhythm.patience < 0.7
    for step in range(200):
        made.wrote(["/dev/pts/0"], T + 3.2 + step * 0.1)
    assert rhythm.patience == pytest.approx(0.2)


def test_silences_that_mean_nothing_make_the_rest_of_the_turn_cheaper() -> None:
    made = planner()
    rhythm = made.rhythms[key(0)]
    for _ in range(8):
        made.look_began(Due(SERVER, (key(0),), False, False, "silent"), T)
        made.look_ended(SERVER)
    assert rhythm.misses == 8
    assert rhythm.patience == pytest.approx(1.0)


def test_a_person_taking_time_to_answer_is_no_pause() -> None:
    made = planner()
    rhythm = made.rhythms[key(0)]
    made.is_now(key(0), agent=True, working=False, calm_from=T - 5)
    for step in range(8):
        made.wrote(["/dev/pts/0"], T + step * 0.4)
    assert rhythm.patience == pytest.approx(0.2)


def test_lost_events_make_every_pane_due() -> None:
    made = planner(3)
    made.overflow(T)
    wake = made.wake_at()
    assert wake is not None
    assert len(looks(made, wake)[0].panes) == 3


def test_without_a_pulse_working_panes_are_polled_more_often() -> None:
    made = planner(2)
    made.hear(False, frozenset())
    for number in range(2):
        made.looked(key(number), T, False)
    made.is_now(key(0), agent=True, working=True, calm_from=float("inf"))
    assert looks(made, T + 0.55)[0].panes == (key(0),)
    assert {pane for one in looks(made, T + 2.0) for pane in one.panes} == {key(0), key(1)}


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0.0, 0.4)), max_size=60))
def test_no_write_waits_longer_than_a_beat(writes: list[tuple[int, float]]) -> None:
    made = planner(4)
    now, unseen = T, {}
    for number, gap in [*writes, (0, 2.0)]:
        end = now + gap
        while (wake := made.wake_at()) is not None and wake <= end:
            now = max(now, wake)
            for one in looks(made, now):
                for pane in one.panes:
                    unseen.pop(pane, None)
            now += 1e-3
        now = max(now, end)
        assert all(now - since < BEAT + 0.15 for since in unseen.values())
        made.wrote([f"/dev/pts/{number}"], now)
        unseen.setdefault(key(number), now)
