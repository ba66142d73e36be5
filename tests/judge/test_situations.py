"""The situations in which other programs disagree, each with our decision and its reason.

They run through the whole engine in simulated time. docs/protocols.md lists them.
"""

from __future__ import annotations

from tests.support.house import Actor, House, process_of
from trayagent.model.evidence import Claim, Decision
from trayagent.model.states import Kind, Reason, State

UNKNOWN_SCREEN = "a screen that no rule knows"


def at_work(text: str = "BUSY") -> tuple[House, Actor]:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(10)
    if text != "BUSY":
        house.show(api, text)
        house.run(2)
    return house, api


def says(house: House, actor: Actor, state: State | None, source: str = "hook", **more: object) -> None:
    claim = Claim(actor.key, source, state, house.now, owner=process_of(actor), **more)  # type: ignore[arg-type]
    house.feed(claim)


def decision(house: House, actor: Actor) -> Decision:
    return house.engine.core.panes[actor.key].memory.decision


def test_a_prompt_beats_a_hook_that_says_working_once_the_claim_is_two_seconds_old() -> None:
    for complete in (False, True):
        house, api = at_work()
        says(house, api, State.WORKING, complete=complete)
        house.show(api, "ASK rm -rf build")
        house.run(1)
        assert house.state(api) is State.WORKING
        house.run(1.5)
        assert house.state(api) is State.BLOCKED
        assert decision(house, api).why.startswith("the screen asks, though the hook says working")


def test_a_prompt_beats_a_hook_that_says_idle_at_once() -> None:
    house, api = at_work()
    says(house, api, State.IDLE, complete=True)
    house.show(api, "ASK rm -rf build")
    house.run(1.2)
    assert house.state(api) is State.BLOCKED
    assert decision(house, api).why.startswith("the screen asks, though the hook says idle")


def test_the_loan_is_returned_to_the_claim_when_the_prompt_is_gone() -> None:
    house, api = at_work()
    says(house, api, State.WORKING, complete=True)
    house.show(api, "ASK rm -rf build")
    house.run(4)
    assert house.state(api) is State.BLOCKED
    house.show(api, "FREE")
    house.run(2)
    assert house.state(api) is State.WORKING
    assert decision(house, api).why == "the hook says working"


def test_a_free_prompt_ends_a_partial_hooks_question_and_not_a_complete_ones() -> None:
    for complete, state in ((False, State.IDLE), (True, State.BLOCKED)):
        house, api = at_work()
        says(house, api, State.BLOCKED, complete=complete, kind=Kind.PERMISSION)
        assert house.state(api) is State.BLOCKED
        house.show(api, "FREE")
        house.run(3)
        assert house.state(api) is state
        assert "the hook says blocked" in decision(house, api).why


def test_a_hook_that_is_silent_for_an_hour_is_kept_and_an_option_is_not() -> None:
    house, api = at_work(UNKNOWN_SCREEN)
    says(house, api, State.WORKING, complete=True)
    house.run(3600)
    assert house.state(api) is State.WORKING
    assert decision(house, api).why == "the hook says working"
    house, api = at_work("BUSY")
    says(house, api, State.BLOCKED, "option")
    house.run(590)
    assert decision(house, api).source == "option"
    house.run(20)
    assert decision(house, api).source != "option"


def test_a_spinner_that_vanishes_for_200_ms_changes_nothing() -> None:
    house, api = at_work()
    before = list(house.transitions)
    house.show(api, "FREE-less frame".replace("FREE", "half"))
    house.run(0.2)
    house.show(api, "BUSY")
    house.run(5)
    assert house.transitions == before
    assert decision(house, api).why == "rule busy of robot"


def test_a_screen_that_no_rule_knows_keeps_the_state() -> None:
    house, api = at_work()
    house.show(api, UNKNOWN_SCREEN)
    house.run(3)
    assert house.state(api) is State.WORKING
    assert decision(house, api).why == "rule busy of robot"


def test_a_pager_or_picker_keeps_the_state() -> None:
    house, api = at_work()
    house.show(api, "KEEP transcript")
    house.run(3)
    assert house.state(api) is State.WORKING


def test_an_agent_that_was_killed_in_mid_turn_is_a_crash() -> None:
    house, api = at_work()
    house.end(api, status=None, signal=9)
    house.run(1)
    assert house.state(api) is State.ERROR
    last = decision(house, api)
    assert last.reason is Reason.CRASH
    assert "it ended with signal 9 while working" in last.why


def test_ctrl_c_to_the_shell_ends_a_claim_that_was_never_taken_back() -> None:
    house, api = at_work()
    says(house, api, State.WORKING, complete=True)
    house.end(api, status=130)
    house.run(1)
    assert house.state(api) is State.IDLE
    assert decision(house, api).why == "the shell is back in front: it ended mid-turn"
    house.run(10)
    assert house.engine.core.view(api.key) is None


def test_a_turn_whose_sub_agents_still_run_is_at_work() -> None:
    house, api = at_work(UNKNOWN_SCREEN)
    for child in ("one", "two", "three"):
        says(house, api, State.WORKING, id=child)
    says(house, api, State.DONE)
    assert house.state(api) is State.WORKING
    assert decision(house, api).why == "3 agents running, though the hook says done"
    for child in ("one", "two", "three"):
        says(house, api, None, id=child)
    assert house.state(api) is State.DONE


def test_idle_after_work_from_a_source_that_knows_done_is_a_turn_that_its_user_ended() -> None:
    for source in ("7501", "report", "hook"):
        house, api = at_work()
        says(house, api, State.WORKING, source)
        house.run(10)
        says(house, api, State.IDLE, source)
        house.run(5)
        assert house.state(api) is State.IDLE
        assert "the user interrupted the turn" in decision(house, api).why
    house, api = at_work()
    says(house, api, State.WORKING, "option")
    house.run(10)
    says(house, api, State.IDLE, "option")
    house.run(5)
    assert house.state(api) is State.DONE


def test_a_turn_that_ends_unseen_is_done_and_idle_when_the_pane_is_typed_in() -> None:
    house, api = at_work()
    house.show(api, "FREE")
    house.run(5)
    assert house.state(api) is State.DONE
    assert decision(house, api).why == "rule free of robot"
    house.type(api)
    house.run(1)
    assert house.state(api) is State.IDLE
    assert decision(house, api).why == "done, and seen"


def test_a_claim_of_the_process_before_says_nothing_about_its_successor() -> None:
    house, api = at_work()
    says(house, api, State.BLOCKED)
    old = process_of(api)
    house.end(api)
    house.run(10)
    house.start(api, born=house.now)
    house.show(api, "BUSY")
    house.run(3)
    house.feed(Claim(api.key, "hook", State.BLOCKED, house.now, owner=old))
    house.run(1)
    assert house.state(api) is State.WORKING
    assert decision(house, api).why == "rule busy of robot"


def test_a_nested_one_shot_run_cannot_speak_for_the_agent_in_front() -> None:
    house, api = at_work()
    nested = process_of(house.pane("other"))
    house.feed(Claim(api.key, "hook", State.IDLE, house.now, owner=nested, complete=True))
    house.run(1)
    assert house.state(api) is State.WORKING


def test_an_idle_report_leaves_a_question_that_still_stands() -> None:
    house, api = at_work()
    house.show(api, "ASK rm -rf build")
    house.run(3)
    assert house.state(api) is State.BLOCKED
    before = list(house.transitions)
    says(house, api, State.IDLE, event="Stop")
    house.run(3)
    assert house.state(api) is State.BLOCKED
    assert house.transitions == before
    house.type(api)
    house.show(api, "FREE")
    house.run(3)
    assert house.state(api) is not State.BLOCKED
