"""The broker's rules, one by one and under any sequence of words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trayagent.model.keys import PaneKey, ProcessKey, ServerKey
from trayagent.model.states import State
from trayagent.reports.broker import REMEMBERED, Broker, Record, Seat
from trayagent.reports.request import Refused, Report, read_report

PANE = PaneKey(ServerKey("tmux", "/tmp/s", 1, 2), "%1")
OTHER = PaneKey(ServerKey("tmux", "/tmp/s", 1, 2), "%2")
AGENT, CHILD, NEXT = ProcessKey(100, 7), ProcessKey(101, 8), ProcessKey(200, 9)


class World:
    """Processes with groups, and a broker that is told of them."""

    def __init__(self) -> None:
        self.groups: dict[ProcessKey, int] = {AGENT: 100, CHILD: 100, NEXT: 200}
        self.front = 100
        self.broker = Broker(self.groups.get)
        self.now = 0.0

    def seat(self, owner: ProcessKey) -> Seat:
        group = self.groups.get(owner, 0)
        return Seat(owner, group, group == self.front)

    def report(
        self,
        sequence: int,
        state: State = State.WORKING,
        *,
        instance: str = "one",
        owner: ProcessKey = AGENT,
        pane: PaneKey = PANE,
        agent: str = "bot",
        message: str = "",
        session: str | None = None,
        resume: tuple[str, ...] | None = None,
    ) -> Record:
        self.now += 1
        said = Report(agent, instance, sequence, state, message, session, resume)
        return self.broker.report(pane, said, self.seat(owner), self.now)

    def refused(self, why: str, *args: object, **kwargs: object) -> None:
        """The report is refused with these words, and nothing has changed."""
        self.broker.settle(PANE)
        before = (dict(self.broker.records), {key: dict(ids) for key, ids in self.broker.retired.items()})
        with pytest.raises(Refused, match=why):
            self.report(*args, **kwargs)  # type: ignore[arg-type]
        assert (self.broker.records, self.broker.retired) == before


def test_a_sequence_number_must_be_above_the_last_one() -> None:
    world = World()
    world.report(3)
    world.refused("sequence 3 is not above 3", 3)
    world.refused("sequence 2 is not above 3", 2)
    assert world.report(7, State.DONE).state is State.DONE


def test_an_instance_belongs_to_one_process_and_one_agent() -> None:
    world = World()
    world.report(1)
    world.refused("belongs to process 100", 2, owner=CHILD)
    world.refused("is bot, not cat", 2, agent="cat")
    world.refused("reports for another pane", 2, pane=OTHER)


def test_only_what_is_in_front_may_speak() -> None:
    world = World()
    world.refused("not in the pane's foreground", 1, owner=NEXT)
    world.report(1)
    world.front = 200
    world.refused("not in the pane's foreground", 2)


def test_another_reporter_cannot_take_the_same_group() -> None:
    world = World()
    world.report(1)
    world.refused("process 100 reports for this process group", 1, instance="two", owner=CHILD)
    world.refused("process 100 reports for this process group", 1, instance="two", owner=AGENT)


def test_a_program_in_another_group_replaces_and_the_replaced_never_speaks_again() -> None:
    world = World()
    world.report(1)
    world.front = 200
    assert world.report(1, instance="two", owner=NEXT).owner == NEXT
    world.front = 100
    world.refused("was released or replaced", 2)


def test_an_owner_that_ended_or_moved_to_another_group_is_off_the_record() -> None:
    for ended in (True, False):
        world = World()
        world.report(1)
        if ended:
            del world.groups[AGENT]
        else:
            world.groups[AGENT] = 300
        assert world.broker.settle(PANE) is None
        assert world.report(1, instance="two", owner=CHILD).owner == CHILD
        world.groups[AGENT] = 100
        world.refused("was released or replaced", 2)


def test_a_release_needs_a_number_too_and_is_final() -> None:
    world = World()
    world.report(1)
    with pytest.raises(Refused, match="sequence 1 is not above 1"):
        world.broker.release(PANE, "one", 1, world.seat(AGENT))
    with pytest.raises(Refused, match="no instance 'two'"):
        world.broker.release(PANE, "two", 2, world.seat(AGENT))
    with pytest.raises(Refused, match="belongs to process 100"):
        world.broker.release(PANE, "one", 2, world.seat(CHILD))
    world.broker.release(PANE, "one", 2, world.seat(AGENT))
    world.refused("was released or replaced", 3)
    with pytest.raises(Refused, match="was released or replaced"):
        world.broker.release(PANE, "one", 4, world.seat(AGENT))
    assert world.report(1, instance="two").sequence == 1


def test_a_left_out_session_is_kept_and_a_left_out_message_is_cleared() -> None:
    world = World()
    world.report(1, message="why", session="s1")
    record = world.report(2)
    assert (record.message, record.session_id) == ("", "s1")


def test_resume_arguments_stay_until_the_session_changes() -> None:
    world = World()
    world.report(1, session="s1", resume=("bot", "resume", "s1"))
    assert world.report(2).resume == ("bot", "resume", "s1")
    assert world.report(3, session="s1").resume == ("bot", "resume", "s1")
    assert world.report(4, session="s2").resume == ()
    assert world.report(5, session="s2", resume=("bot", "s2")).resume == ("bot", "s2")


def test_so_many_ended_instances_are_remembered_and_no_more() -> None:
    world = World()
    for number in range(REMEMBERED + 5):
        world.report(1, instance=f"i{number}")
        world.broker.release(PANE, f"i{number}", 2, world.seat(AGENT))
    assert len(world.broker.retired[PANE]) == REMEMBERED
    world.refused("was released or replaced", 1, instance=f"i{REMEMBERED + 4}")


def test_set_state_gives_way_to_an_instance_and_never_stands_against_one() -> None:
    world = World()
    world.broker.set_state(PANE, "bot", State.WORKING, "", world.seat(AGENT), 1.0)
    assert world.report(1).instance == "one"
    with pytest.raises(Refused, match="instance 'one' of process 100"):
        world.broker.set_state(PANE, "bot", State.DONE, "", world.seat(AGENT), 2.0)
    world.broker.release(PANE, "one", 2, world.seat(AGENT))
    world.broker.set_state(PANE, "bot", State.DONE, "", world.seat(AGENT), 3.0)
    world.broker.set_state(PANE, "bot", None, "", world.seat(AGENT), 4.0)
    assert world.broker.records == {}


WORDS = st.tuples(
    st.sampled_from(["report", "release", "set", "front", "move", "end"]),
    st.sampled_from([AGENT, CHILD, NEXT]),
    st.sampled_from(["one", "two", "three"]),
    st.integers(1, 6),
    st.sampled_from([PANE, OTHER]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=30))
def test_whatever_is_said_no_number_falls_and_nobody_comes_back(words: list[Any]) -> None:
    world = World()
    broker = world.broker
    taken: dict[tuple[PaneKey, str], int] = {}
    over: set[tuple[PaneKey, str]] = set()
    for verb, owner, instance, number, pane in words:
        key, before = (pane, instance), dict(broker.records)
        living = broker.records.get(pane)
        if living is not None and world.groups.get(living.owner) != living.group:
            over.add((pane, living.instance))
        try:
            if verb == "report":
                record = world.report(number, instance=instance, owner=owner, pane=pane)
                assert key not in over, "nobody comes back"
                assert number > taken.get(key, 0), "numbers only rise"
                assert world.groups[owner] == world.front, "only who is in front speaks"
                taken[key] = record.sequence
                if living is not None and living.instance not in ("", instance):
                    over.add((pane, living.instance))
            elif verb == "release":
                broker.release(pane, instance, number, world.seat(owner))
                assert key not in over and number > taken[key]
                over.add(key)
            elif verb == "set":
                broker.set_state(pane, "bot", State.IDLE, "", world.seat(owner), 0.0)
        except Refused:
            kept = {pane: record for pane, record in before.items() if pane in broker.records}
            assert broker.records == kept, "a refusal changes nothing but what had ended before"
        if verb == "front":
            world.front = 300 - world.front
        elif verb == "move" and owner in world.groups:
            world.groups[owner] = 300 - world.groups[owner]
        elif verb == "end":
            world.groups.pop(owner, None)
        for pane, ids in broker.retired.items():
            assert pane not in broker.records or broker.records[pane].instance not in ids


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"agent": ""}, "agent is missing"),
        ({"agent": "x" * 65}, "agent has 65 bytes"),
        ({"agent": "a\x1b[2J"}, "agent holds control"),
        ({"instance": "  "}, "instance is missing"),
        ({"instance": "i" * 257}, "instance has 257 bytes"),
        ({"sequence": 0}, "start at 1"),
        ({"sequence": -4}, "start at 1"),
        ({"sequence": 2**63}, "start at 1"),
        ({"sequence": 10**3000}, "start at 1"),
        ({"status": "asleep"}, "no such status"),
        ({"status": "unknown"}, "no such status"),
        ({"message": "é" * 4097}, "longer than 8192 bytes"),
        ({"session_id": ""}, "session id is missing"),
        ({"session_id": "a\nb"}, "session id holds control"),
        ({"resume": ["x"]}, "need the session id"),
        ({"session_id": "s", "resume": []}, "list of texts"),
        ({"session_id": "s", "resume": ["x", 3]}, "list of texts"),
        ({"session_id": "s", "resume": ["x"] * 129}, "129 arguments"),
        ({"session_id": "s", "resume": ["x" * 32769]}, "32769 bytes"),
        ({"session_id": "s", "resume": ["x", "a\nb"]}, "control characters"),
        ({"session_id": "s", "resume": ["", "b"]}, "names no program"),
    ],
)
def test_what_is_beyond_a_limit_is_refused_with_its_reason(change: dict[str, object], why: str) -> None:
    good = {"agent": "bot", "instance": "one", "sequence": 1, "status": "idle"}
    assert read_report(good) == Report("bot", "one", 1, State.IDLE)
    with pytest.raises(Refused, match=why):
        read_report({**good, **change})


def test_a_report_at_every_limit_is_taken() -> None:
    args = {
        "agent": "é" * 32,
        "instance": "i" * 256,
        "sequence": 2**63 - 1,
        "status": "needs-input",
        "message": "m" * 8192,
        "session_id": "s" * 1024,
        "resume": ["x" * 256] * 128,
    }
    report = read_report(args)
    assert report.state is State.BLOCKED
    assert report.resume is not None and len(report.resume) == 128


def test_a_message_keeps_its_lines_and_loses_controls_and_bidi() -> None:
    args = {"agent": "b", "instance": "i", "sequence": 1, "status": "blocked"}
    said = read_report({**args, "message": "Run\x1b[31m this?\n\n  rm \u202e-rf\x07 x  \n"})
    assert said.message == "Run [31m this?\nrm -rf x"
