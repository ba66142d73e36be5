"""What an agent says in its own output (OSC 7501) becomes its pane's state."""

from __future__ import annotations

from base64 import b64encode

import pytest

from tests.support.house import Actor, House
from trayagent.model.events import Output
from trayagent.model.states import Kind, State

ASKS = b"\x1b]7501;state=blocked:kind=permission:msg=" + b64encode(b"Run make?") + b"\x1b\\"


def writes(house: House, actor: Actor, data: bytes, lost: bool = False) -> None:
    house.feed(Output(actor.key, data, house.now, lost))


@pytest.fixture
def house() -> House:
    return House()


def backup(house: House) -> Actor:
    """A program that no table knows, so that only its own word counts."""
    actor = house.pane("backup", agent="rsync")
    house.run(1)
    return actor


def listed(house: House, actor: Actor) -> bool:
    return any(view.key == actor.key for view in house.engine.views(house.now))


def test_blocked_with_its_message_until_it_is_cleared(house: House) -> None:
    actor = backup(house)
    writes(house, actor, b"text" + ASKS[:20])
    assert not listed(house, actor)
    writes(house, actor, ASKS[20:])
    view = house.view(actor)
    assert (view.state, view.kind, view.message) == (State.BLOCKED, Kind.PERMISSION, "Run make?")
    writes(house, actor, b"\x1b]7501;state=clear\x07")
    house.run(5)
    assert not listed(house, actor)


@pytest.mark.parametrize("end", [b"\x1bc", b"\x1b]133;A\x07", b"\x1b]133;D;0\x1b\\"])
def test_a_reset_and_a_shells_mark_end_it(house: House, end: bytes) -> None:
    actor = backup(house)
    writes(house, actor, ASKS)
    assert listed(house, actor)
    writes(house, actor, end)
    house.run(5)
    assert not listed(house, actor)


def test_half_a_sequence_before_lost_bytes_does_not_count(house: House) -> None:
    actor = backup(house)
    writes(house, actor, ASKS[:20])
    writes(house, actor, ASKS[20:], lost=True)
    assert not listed(house, actor)


def test_a_clear_takes_what_is_below_and_no_more(house: House) -> None:
    actor = backup(house)
    writes(house, actor, b"\x1b]7501;state=working:app=tool\x07\x1b]7501;state=working:id=a/b\x07")
    writes(house, actor, b"\x1b]7501;state=done:id=ab\x07\x1b]7501;state=clear:id=a\x07")
    claims = house.engine.core.panes[actor.key].claims
    assert {(claim.id, claim.agent) for claim in claims.values()} == {("", "tool"), ("ab", "tool")}


def test_so_many_records_and_no_more(house: House) -> None:
    actor = backup(house)
    for number in range(300):
        writes(house, actor, b"\x1b]7501;state=working:id=r%d\x07" % number)
    assert len(house.engine.core.panes[actor.key].claims) == 256


def test_an_agents_word_counts_and_a_mark_that_it_draws_itself_does_not_end_it(house: House) -> None:
    agent = house.pane("work")
    house.show(agent, "FREE")
    house.run(5)
    writes(house, agent, ASKS)
    house.run(5)
    writes(house, agent, b"\x1b]133;A\x07")
    view = house.view(agent)
    assert (view.state, view.kind, view.message) == (State.BLOCKED, Kind.PERMISSION, "Run make?")
    writes(house, agent, b"\x1b]7501;state=clear\x07")
    house.run(5)
    assert house.state(agent) is State.IDLE


def test_the_next_process_does_not_inherit_what_was_said(house: House) -> None:
    agent = house.pane("work")
    house.run(1)
    writes(house, agent, ASKS)
    house.end(agent)
    house.run(20)
    house.start(agent)
    house.run(5)
    assert house.state(agent) is not State.BLOCKED


def test_what_a_program_says_before_its_job_is_read_counts(house: House) -> None:
    actor = backup(house)
    pane = house.engine.core.panes[actor.key]
    job, pane.job = pane.job, None
    assert job is not None
    writes(house, actor, ASKS)
    assert not any(claim.owner for claim in pane.claims.values())
    house.feed(job)
    assert house.view(actor).message == "Run make?"


def test_one_output_counts_as_its_reports_leave_it_in_order(house: House) -> None:
    actor = backup(house)
    writes(house, actor, b"\x1b]7501;state=working:id=old\x07")
    writes(house, actor, b"\x1b]7501;state=done\x07\x1b]7501;state=clear\x07" + ASKS)
    claims = house.engine.core.panes[actor.key].claims.values()
    assert [(claim.id, claim.state) for claim in claims] == [("", State.BLOCKED)]
    writes(house, actor, ASKS + b"\x1b]7501;state=clear\x07")
    house.run(5)
    assert not listed(house, actor)
