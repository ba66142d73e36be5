"""The whole engine in simulated time: from screens to banners, and why not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.house import House, process_of
from trayagent.model.effects import Look, RecordGone, RecordRead
from trayagent.model.events import Forget, MuteSet, Remembered, Resumed, Visited
from trayagent.model.settings import AlertSettings, DetectSettings, RateSettings, Settings
from trayagent.model.states import State


def test_a_question_is_told_after_it_stood_for_a_second_and_taken_back_when_answered() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(5)
    assert house.state(api) is State.WORKING
    house.show(api, "ASK rm -rf build")
    house.run(0.5)
    assert house.state(api) is State.BLOCKED
    assert house.banners == []
    house.run(1.5)
    assert [(banner.title, banner.body) for banner in house.banners] == [
        ("api needs you · Robot", "rm -rf build")
    ]
    assert house.tray.count == 1
    house.type(api)
    house.show(api, "BUSY")
    house.run(1)
    assert house.state(api) is State.WORKING
    assert house.closed == [house.banners[0].alert]
    assert house.tray.count == 0


def test_a_second_question_right_after_the_first_answer_opens_a_second_banner() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "ASK one")
    house.run(3)
    house.show(api, "BUSY")
    house.run(0.3)
    house.show(api, "ASK two")
    house.run(3)
    assert [banner.body for banner in house.banners] == ["one", "two"]
    assert house.closed == [house.banners[0].alert]


def test_a_finished_turn_is_done_until_the_pane_is_visited() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(20)
    house.show(api, "FREE")
    house.run(4)
    assert house.state(api) is State.DONE
    assert len(house.banners) == 1
    house.feed(Visited(api.key))
    assert house.state(api) is State.IDLE
    assert house.closed == [house.banners[0].alert]
    assert any(read.how == "clicked" for read in house.of(RecordRead))
    house.run(100)
    assert len(house.banners) == 1


def test_a_fresh_agent_that_is_idle_is_never_told() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "FREE")
    house.run(60)
    assert house.state(api) is State.IDLE
    assert house.banners == []


def test_a_question_in_a_pane_that_appeared_later_is_told_even_if_it_is_the_first_thing_seen() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "ASK to trust this folder")
    house.run(3)
    assert len(house.banners) == 1


def test_what_was_there_before_we_started_is_shown_and_not_told() -> None:
    house = House()
    old = house.pane("old", born=500.0)
    house.show(old, "ASK me")
    house.run(3)
    assert house.state(old) is State.BLOCKED
    assert house.banners == []
    assert ("held", "first-sight") in house.outcomes
    house.show(old, "BUSY")
    house.run(10)
    house.show(old, "ASK again")
    house.run(3)
    assert [banner.body for banner in house.banners] == ["again"]


def test_what_the_ledger_remembers_is_not_told_twice_and_a_change_is() -> None:
    house = House()
    first = house.pane("one", born=500.0)
    house.show(first, "ASK me")
    house.run(3)
    again = House(started=house.now)
    view = house.view(first)
    memory = Remembered(
        first.key, process_of(first), "robot", State.BLOCKED, view.fingerprint, 1_800_001_000.0
    )
    again.feed(memory)
    again.actors[first.key] = first
    again.list()
    again.run(5)
    assert again.state(first) is State.BLOCKED
    assert again.transitions == []
    again.show(first, "ASK other")
    again.run(3)
    assert [banner.body for banner in again.banners] == ["other"]


def test_what_was_held_when_we_stopped_is_told_by_the_next_start() -> None:
    first = House()
    old = first.pane("old", born=500.0)
    house = House(started=first.now + 60)
    house.feed(
        Remembered(old.key, process_of(old), "robot", State.BLOCKED, "x", 1_800_001_000.0, alerted=False)
    )
    house.actors[old.key] = old
    house.list()
    house.show(old, "ASK me")
    house.run(5)
    assert [banner.body for banner in house.banners] == ["me"]


def test_a_watched_pane_is_not_told_and_says_so() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.watch(api)
    house.run(10)
    house.show(api, "ASK me")
    house.run(5)
    assert house.banners == []
    assert ("held", "watching") in house.outcomes


def test_somebody_who_left_the_keyboard_is_not_watching() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.watch(api)
    house.run(10)
    house.idle = 400.0
    house.show(api, "ASK me")
    house.run(5)
    assert len(house.banners) == 1


def test_attention_is_asked_for_just_before_a_banner() -> None:
    house = House()
    api = house.pane("api")
    house.watch(None)
    house.show(api, "ASK me")
    house.run(0.7)
    house.watch(api)
    house.run(3)
    assert house.banners == []


def test_a_muted_pane_is_held_with_its_reason() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(3)
    house.feed(MuteSet("pane", api.key.token, house.now + 3600))
    house.show(api, "ASK me")
    house.run(5)
    assert house.banners == []
    assert ("held", "muted") in house.outcomes


def test_the_rate_limit_delays_and_delivers_what_is_still_true() -> None:
    limits = RateSettings(pane=2, window=10.0)
    house = House(Settings(alerts=AlertSettings(rate=limits)))
    api = house.pane("api")
    for question in ("one", "two", "three"):
        house.show(api, "BUSY")
        house.run(0.4)
        house.show(api, f"ASK {question}")
        house.run(1.6)
    assert [banner.body for banner in house.banners] == ["one", "two"]
    assert "delayed" in [outcome for outcome, _ in house.outcomes]
    house.run(12)
    assert [banner.body for banner in house.banners] == ["one", "two", "three"]


def test_a_dialog_that_stands_for_a_moment_only_is_not_told() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(5)
    house.show(api, "ASK x")
    house.run(0.4)
    house.show(api, "BUSY")
    house.run(5)
    assert house.banners == []


def test_a_dialog_that_goes_as_its_settle_time_ends_is_not_told() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(5)
    house.show(api, "ASK x")
    while house.state(api) is not State.BLOCKED:
        house.run(0.05)
    house.run(0.7)
    house.show(api, "BUSY")
    house.run(5)
    assert house.banners == []
    assert house.state(api) is State.WORKING


def test_an_answered_question_is_read_so_that_its_text_can_be_let_go() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "ASK x")
    house.run(3)
    house.show(api, "ASK y")
    house.run(3)
    house.show(api, "BUSY")
    house.run(3)
    assert [read.how for read in house.of(RecordRead)] == ["answered", "answered"]


def test_an_agent_that_is_killed_in_a_turn_is_an_error_and_stays_until_seen() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(10)
    house.end(api, status=None, signal=9)
    house.run(10)
    assert house.state(api) is State.ERROR
    assert len(house.banners) == 1
    house.feed(Visited(api.key))
    house.run(1)
    assert house.engine.views(house.now) == ()


def test_an_agent_that_quits_leaves_the_list_without_a_banner() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "FREE")
    house.run(10)
    house.end(api, status=0)
    house.run(1)
    assert house.state(api) is State.IDLE
    house.run(5)
    assert house.engine.views(house.now) == ()
    assert house.banners == []
    assert len(house.of(RecordGone)) == 1


def test_another_agent_in_the_same_pane_starts_clean() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(10)
    house.end(api, status=0)
    house.start(api)
    house.show(api, "FREE")
    house.run(5)
    assert house.state(api) is State.IDLE
    assert house.banners == []


def test_a_pane_that_disappears_with_an_unseen_end_stays_until_read() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(10)
    house.show(api, "FREE")
    house.run(3)
    house.remove(api)
    house.run(60)
    assert house.view(api).state is State.DONE
    house.feed(Visited(api.key))
    house.run(1)
    assert house.engine.views(house.now) == ()


def test_a_killed_server_takes_all_its_panes_along() -> None:
    house = House()
    panes = [house.pane(name) for name in ("a", "b")]
    for pane in panes:
        house.show(pane, "FREE")
    house.run(5)
    for pane in panes:
        house.actors.pop(pane.key)
    house.list()
    house.run(5)
    assert house.engine.views(house.now) == ()


def test_forget_lasts_until_the_pane_changes() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "ASK x")
    house.run(3)
    house.feed(Forget(api.key))
    assert house.engine.views(house.now) == ()
    house.show(api, "BUSY")
    house.run(3)
    assert house.state(api) is State.WORKING


def test_no_opinion_and_keep_change_nothing() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(3)
    for text in ("KEEP", "nobody knows this"):
        house.show(api, text)
        house.run(3)
        assert house.state(api) is State.WORKING


def test_a_silent_agent_that_uses_no_cpu_becomes_unknown_and_comes_back_when_it_writes() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(40)
    assert house.state(api) is State.UNKNOWN
    assert "silent" in house.view(api).why
    house.show(api, "BUSY .")
    house.run(2)
    assert house.state(api) is State.WORKING


def test_a_silent_agent_that_computes_is_still_working() -> None:
    house = House(Settings(detect=DetectSettings(stall=5.0)))
    api = house.pane("api")
    house.show(api, "BUSY")
    for _ in range(40):
        api.cpu += 0.5
        house.run(0.5)
    assert house.state(api) is State.WORKING


def test_quiet_panes_cost_a_look_every_thirty_seconds_and_no_more() -> None:
    house = House()
    panes = [house.pane(f"p{n}") for n in range(10)]
    for pane in panes:
        house.show(pane, "FREE")
    house.run(60)
    before = len(house.of(Look))
    house.run(300)
    assert len(house.of(Look)) - before <= 21


@pytest.mark.parametrize("every", [0.1, 0.25, 0.7])
def test_a_dialog_of_an_agent_that_never_stops_drawing_is_seen_within_a_second(every: float) -> None:
    house = House()
    api = house.pane("api")
    for step in range(int(10 / every)):
        house.show(api, f"BUSY {step}")
        house.run(every)
    asked = house.now
    while house.state(api) is not State.BLOCKED:
        house.show(api, f"ASK x\n{house.now}")
        house.run(every)
        assert house.now - asked < 1.4
    assert house.now - asked < 1.2


def test_fifty_busy_panes_share_one_command_a_second() -> None:
    house = House()
    panes = [house.pane(f"p{n}") for n in range(50)]
    for step in range(100):
        for pane in panes:
            house.show(pane, f"BUSY {step}")
        house.run(0.1)
    before = len(house.of(Look))
    for step in range(100):
        for pane in panes:
            house.show(pane, f"BUSY {step}")
        house.run(0.1)
    assert len(house.of(Look)) - before <= 12


def test_after_a_suspend_nothing_is_told_before_everything_was_looked_at() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "ASK me")
    house.run(0.6)
    api.text = "FREE"
    house.now += 8 * 3600
    house.feed(Resumed(8 * 3600.0))
    house.run(5)
    assert house.banners == []
    assert house.state(api) is State.IDLE


def test_a_question_that_stood_through_a_night_of_sleep_waits_since_before_it_and_is_told_once() -> None:
    house = House()
    api, web = house.pane("api"), house.pane("web")
    house.show(api, "ASK one")
    house.run(5)
    house.show(web, "ASK two")
    house.run(0.6)
    house.now += 8 * 3600
    house.feed(Resumed(8 * 3600.0))
    house.run(60)
    assert [len(banner.panes) for banner in house.banners] == [1, 1]
    assert "waiting for 8 h" in house.banners[1].body
    assert "longest wait 8 h" in house.tray.tooltip


def test_a_one_shot_run_works_while_it_lives_and_is_done_afterwards() -> None:
    house = House()
    api = house.pane("api", argv=("--once",))
    house.run(20)
    assert house.state(api) is State.WORKING
    house.end(api, status=0)
    house.run(4)
    assert house.state(api) is State.DONE


def test_typing_into_a_finished_pane_is_having_seen_it() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(10)
    house.show(api, "FREE")
    house.run(5)
    house.type(api)
    house.run(0.3)
    assert house.state(api) is State.IDLE


def test_the_reply_to_a_query_as_a_turn_ends_is_not_somebody_typing() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "BUSY")
    house.run(10)
    house.show(api, "FREE")
    house.type(api)
    house.run(3)
    assert house.state(api) is State.DONE


def test_without_a_pulse_panes_are_polled_and_the_states_are_the_same() -> None:
    from trayagent.model.events import PulseState

    house = House()
    house.feed(PulseState(False))
    api = house.pane("api")
    house._drain_at = None
    api.text = "BUSY"
    house.run(6)
    assert house.state(api) is State.WORKING
    api.text = "ASK x"
    house.run(3)
    assert house.state(api) is State.BLOCKED
    assert len(house.banners) == 1


def test_explain_names_the_rule_and_every_source() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "ASK rm")
    house.run(2)
    told = house.engine.explain(api.key, house.now)
    assert told is not None
    assert told["decision"]["rule"] == "asks"
    assert told["evidence"][0]["source"] == "presence"
    assert told["identity"]["agent"] == "robot"
    assert house.engine.explain(replace(api.key, id="%99"), house.now) is None
