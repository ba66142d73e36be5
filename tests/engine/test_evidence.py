"""Claims in the running engine: how long they count, and what sub-agents do to their parent."""

from __future__ import annotations

from tests.support.house import House, process_of
from trayagent.engine.explain import explain
from trayagent.model.evidence import Claim
from trayagent.model.states import State


def test_a_contract_ends_after_six_hours_exactly_when_it_is_due_and_idle_never_does() -> None:
    house = House()
    pane = house.pane("api")
    house.show(pane, "nothing that a rule knows")
    house.run(1)
    said = house.now
    house.feed(Claim(pane.key, "contract", State.WORKING, said, owner=process_of(pane)))
    assert house.state(pane) is State.WORKING
    again = house.engine.core.panes[pane.key].memory.decision.look_again_at
    assert again is not None and house.now < again <= said + 6 * 3600
    house.feed(Claim(pane.key, "contract", State.IDLE, house.now, owner=process_of(pane)))
    decision = house.engine.core.panes[pane.key].memory.decision
    assert decision.look_again_at is None


def test_explain_says_why_a_claim_does_not_count() -> None:
    house = House()
    pane = house.pane("api")
    house.show(pane, "BUSY")
    house.run(1)
    house.feed(Claim(pane.key, "report", State.BLOCKED, house.now, expires=house.now + 5))
    assert house.state(pane) is State.BLOCKED
    house.run(10)
    assert house.state(pane) is State.WORKING
    answer = explain(house.engine.core, pane.key)
    assert answer is not None
    (row,) = answer["claims"]
    assert not row["live"]
    assert row["why_not"].startswith("it ended ")


def test_a_program_that_is_no_agent_leaves_the_list_when_its_claim_ends() -> None:
    house = House()
    pane = house.pane("build", agent="rsync")
    house.run(1)
    ends, owner = house.now + 5, process_of(pane)
    house.feed(Claim(pane.key, "7501", State.WORKING, house.now, agent="rsync", owner=owner, expires=ends))
    assert house.state(pane) is State.WORKING
    house.run(30)
    assert house.engine.core.view(pane.key) is None


def test_a_parent_works_on_while_its_sub_agents_do() -> None:
    house = House()
    pane = house.pane("api")
    house.show(pane, "nothing that a rule knows")
    house.run(1)
    owner = process_of(pane)
    for child in ("a", "b", "c"):
        house.feed(Claim(pane.key, "7501", State.WORKING, house.now, owner=owner, id=child))
    house.feed(Claim(pane.key, "7501", State.DONE, house.now, owner=owner))
    decision = house.engine.core.panes[pane.key].memory.decision
    assert decision.state is State.WORKING
    assert decision.why == "3 agents running, though the 7501 says done"
    for child in ("a", "b", "c"):
        house.feed(Claim(pane.key, "7501", None, house.now, owner=owner, id=child))
    assert house.state(pane) is State.DONE
