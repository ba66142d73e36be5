"""Settle, merge, rate, banners that are taken back, failures: what is told, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.alerts.bench import Bench, key
from trayagent.model.events import BannerClosed, BannerFailed, BannerShown, Forget, Read, Visited
from trayagent.model.settings import AlertSettings, Settings, SoundSettings, StateSwitches
from trayagent.model.states import State

BLOCKED, DONE, ERROR, WORKING, IDLE = State.BLOCKED, State.DONE, State.ERROR, State.WORKING, State.IDLE


def with_alerts(**fields: object) -> Settings:
    return Settings(alerts=AlertSettings(**fields))  # type: ignore[arg-type]


# -- never told --------------------------------------------------------------------------


def test_what_was_there_before_us_is_no_news() -> None:
    bench = Bench()
    id = bench.turn(1, BLOCKED, first_sight=True)
    bench.go(60)
    assert bench.outcomes(id) == [("held", "first-sight")] and not bench.banners


def test_a_pane_that_appears_blocked_later_is_told() -> None:
    bench = Bench()
    id = bench.turn(1, BLOCKED)
    bench.go(60)
    assert bench.outcomes(id) == [("delivered", "")]


@pytest.mark.parametrize("state", [IDLE, WORKING, State.UNKNOWN])
def test_working_idle_and_unknown_are_never_told(state: State) -> None:
    bench = Bench()
    id = bench.turn(1, state)
    bench.go(60)
    assert bench.outcomes(id) == [("held", "state-off")]


@pytest.mark.parametrize(
    "alerts",
    [
        {"enabled": False},
        {"states": StateSwitches(done=False)},
        {"agents": (("claude", StateSwitches(done=False)),)},
        {"projects": (("shop", StateSwitches(done=False)),)},
        {"projects": (("/home/u/shop", StateSwitches(done=False)),)},
    ],
)
def test_a_state_is_switched_off_for_all_for_an_agent_or_for_a_project(alerts: dict[str, object]) -> None:
    bench = Bench(with_alerts(**alerts))
    id = bench.turn(1, DONE, project="shop")
    bench.go(60)
    assert bench.outcomes(id) == [("held", "state-off")] and not bench.banners


def test_switches_of_other_agents_and_projects_do_not_count() -> None:
    off = StateSwitches(done=False)
    bench = Bench(with_alerts(agents=(("codex", off),), projects=(("web", off),)))
    id = bench.turn(1, DONE, project="shop")
    bench.go(60)
    assert bench.outcomes(id) == [("delivered", "")]


@pytest.mark.parametrize(("worked", "told"), [(0.0, False), (4.99, False), (5.0, True), (300.0, True)])
def test_a_short_turn_ends_silently(worked: float, told: bool) -> None:
    bench = Bench()
    id = bench.turn(1, DONE, worked=worked)
    bench.go(60)
    assert bench.outcomes(id) == [("delivered", "") if told else ("held", "short-turn")]


def test_the_minimum_length_of_a_turn_is_configurable_and_never_filters_blocked() -> None:
    bench = Bench(with_alerts(short_turn=10.0))
    done, blocked = bench.turn(1, DONE, worked=9.0), bench.turn(2, BLOCKED, worked=0.1)
    bench.go(60)
    assert bench.outcomes(done) == [("held", "short-turn")]
    assert bench.outcomes(blocked) == [("delivered", "")]


@pytest.mark.parametrize("state", [IDLE, DONE, ERROR])
def test_what_i_interrupted_myself_gives_no_banner(state: State) -> None:
    bench = Bench()
    id = bench.turn(1, state, own_interrupt=True)
    bench.go(60)
    assert bench.outcomes(id) == [("held", "own-interrupt")] and not bench.banners


def test_the_first_rule_that_holds_names_the_reason() -> None:
    bench = Bench(with_alerts(states=StateSwitches(done=False)))
    first = bench.turn(1, DONE, worked=1, first_sight=True, own_interrupt=True)
    second = bench.turn(2, DONE, worked=1, own_interrupt=True)
    bench.configure(Settings())
    third = bench.turn(3, DONE, worked=1, own_interrupt=True)
    assert [bench.outcomes(id)[0][1] for id in (first, second, third)] == [
        "first-sight",
        "state-off",
        "short-turn",
    ]


# -- settle ------------------------------------------------------------------------------


@pytest.mark.parametrize(("state", "wait"), [(BLOCKED, 1.0), (ERROR, 2.0), (DONE, 2.0)])
def test_a_lone_pane_is_told_right_after_its_settle_time(state: State, wait: float) -> None:
    bench = Bench()
    bench.turn(1, state)
    bench.go(60)
    assert bench.times == [1000 + wait]


def test_a_prompt_that_is_gone_within_its_settle_time_is_cancelled() -> None:
    bench = Bench()
    id = bench.turn(1, BLOCKED)
    bench.go(0.3)
    bench.turn(1, WORKING)
    bench.go(60)
    assert bench.outcomes(id) == [("cancelled", "settle")] and not bench.banners


def test_a_new_prompt_within_the_settle_time_cancels_the_old_one_and_settles_anew() -> None:
    bench = Bench()
    old = bench.turn(1, BLOCKED, "a")
    bench.go(0.8)
    new = bench.turn(1, BLOCKED, "b")
    bench.go(60)
    assert bench.outcomes(old) == [("cancelled", "settle")]
    assert bench.outcomes(new) == [("delivered", "")] and bench.times == [1001.8]


def test_a_pane_that_goes_while_it_settles_is_not_told() -> None:
    bench = Bench()
    id = bench.turn(1, BLOCKED)
    bench.go(0.5)
    bench.gone(1)
    bench.go(60)
    assert bench.outcomes(id) == [("cancelled", "settle")] and not bench.banners


def test_what_changed_without_a_word_is_not_told() -> None:
    bench = Bench()
    id = bench.turn(1, BLOCKED, "a")
    bench.rename(1, fingerprint="b")
    bench.go(60)
    assert not bench.banners and bench.outcomes(id)[-1][0] == "cancelled"


def test_an_idle_prompt_that_nobody_touches_gives_one_alert() -> None:
    bench = Bench()
    bench.turn(1, DONE)
    bench.go(3600)
    assert len(bench.banners) == 1 and len(bench.sounds) == 1


# -- a second event ----------------------------------------------------------------------


def test_a_second_prompt_right_after_the_answer_is_a_second_banner_and_the_first_is_closed() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED, "a", message="Run npm test?")
    bench.go(5)
    bench.seen(1, "answered")
    bench.turn(1, WORKING)
    bench.go(0.3)
    bench.turn(1, BLOCKED, "b", message="Run npm publish?")
    bench.go(5)
    first, second = bench.banners
    assert "npm publish" in second.body and first.alert != second.alert
    assert bench.closed == [(first.alert, "answered")] and bench.open == {second.alert}


def test_a_new_fingerprint_in_the_same_state_closes_the_old_banner() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED, "a")
    bench.go(5)
    bench.turn(1, BLOCKED, "b")
    assert bench.closed == [(1, "replaced")]
    bench.go(5)
    assert bench.open == {2}


@pytest.mark.parametrize(("state", "why"), [(WORKING, "answered"), (DONE, "replaced")])
def test_a_banner_closes_when_the_pane_leaves_the_state(state: State, why: str) -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.go(5)
    bench.turn(1, state)
    assert bench.closed == [(1, why)]


def test_a_banner_closes_when_the_pane_goes() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.go(5)
    bench.gone(1)
    assert bench.closed == [(1, "gone")] and bench.reads == []


# -- merge -------------------------------------------------------------------------------


def test_thirty_blocks_at_once_are_one_banner() -> None:
    bench = Bench()
    ids = [bench.turn(number, BLOCKED) for number in range(30)]
    bench.go(60)
    (banner,) = bench.banners
    assert bench.times == [1001.0] and banner.kind == "merged" and len(banner.panes) == 30
    assert banner.title == "p0, p1, p10 and 27 more need you"
    assert all(bench.outcomes(id) == [("merged", "merge")] for id in ids)
    assert len(bench.sounds) == 1


def test_panes_due_within_three_seconds_share_one_banner() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED, project="api")
    bench.go(0.5)
    bench.turn(2, BLOCKED, project="web")
    bench.go(0.4)
    bench.turn(3, BLOCKED, project="infra")
    bench.go(60)
    assert [banner.title for banner in bench.banners] == ["api, web, infra need you"]
    assert bench.times == [1001.9]


def test_a_pane_waits_for_others_no_longer_than_the_merge_window() -> None:
    bench = Bench()
    for number in range(12):  # one every half second: there is always another one settling
        bench.turn(number, BLOCKED)
        bench.go(0.5)
    bench.go(60)
    assert bench.times[0] == pytest.approx(1004.0, abs=0.001)
    assert len(bench.banners[0].panes) == 7 and sum(len(banner.panes) for banner in bench.banners) == 12


def test_a_pane_whose_alert_will_be_held_keeps_nobody_waiting() -> None:
    bench = Bench()
    bench.looked_at = {key(2)}
    bench.turn(1, BLOCKED)
    bench.go(0.5)
    bench.turn(2, BLOCKED)
    bench.go(60)
    assert bench.times == [1001.0] and bench.banners[0].panes == (key(1),)


def test_one_that_is_answered_while_others_are_awaited_is_left_out() -> None:
    bench = Bench()
    first = bench.turn(1, BLOCKED)
    bench.go(0.5)
    second = bench.turn(2, BLOCKED)
    bench.go(0.7)
    bench.turn(1, WORKING)
    bench.go(60)
    assert bench.outcomes(first) == [("cancelled", "merge")]
    assert bench.outcomes(second) == [("delivered", "")] and bench.times == [1001.5]


def test_a_merged_banner_names_the_most_urgent_first_and_takes_its_state() -> None:
    bench = Bench()
    bench.turn(1, DONE)
    bench.turn(2, ERROR)
    bench.go(1)
    bench.turn(3, BLOCKED)
    bench.go(60)
    (banner,) = bench.banners
    assert banner.panes == (key(3), key(2), key(1))
    assert banner.state is BLOCKED and banner.urgency == "normal"


def test_a_merged_banner_stays_until_its_last_pane_is_answered() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.turn(2, BLOCKED)
    bench.go(5)
    bench.turn(1, WORKING)
    assert bench.closed == []
    bench.turn(2, WORKING)
    assert bench.closed == [(1, "answered")]


def test_a_click_on_a_merged_banner_goes_to_the_first_pane_that_still_is_as_it_says() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.turn(2, DONE)
    bench.go(5)
    assert bench.alerts.panes_of(1) == (key(1), key(2))
    bench.turn(1, WORKING)
    assert bench.alerts.panes_of(1) == (key(2),) and bench.alerts.panes_of(9) == ()


def test_a_pane_of_a_merged_banner_gets_its_own_for_its_next_prompt() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.turn(2, BLOCKED)
    bench.go(5)
    bench.turn(1, BLOCKED)
    bench.go(5)
    assert bench.closed == [] and bench.banners[1].panes == (key(1),)
    bench.turn(2, WORKING)
    assert bench.closed == [(1, "answered")]


# -- rate --------------------------------------------------------------------------------


def test_the_same_fingerprint_is_told_again_after_thirty_seconds_if_it_is_still_true() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED, "same")
    bench.go(5)
    bench.turn(1, State.UNKNOWN)
    again = bench.turn(1, BLOCKED, "same")
    bench.go(60)
    assert bench.outcomes(again) == [("delayed", "rate-same"), ("delivered", "")]
    assert bench.times == [1001.0, 1031.0]


def test_a_delayed_alert_that_is_no_longer_true_is_cancelled() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED, "same")
    bench.go(5)
    bench.turn(1, WORKING)
    again = bench.turn(1, BLOCKED, "same")
    bench.go(5)
    bench.turn(1, WORKING)
    bench.go(60)
    assert bench.outcomes(again) == [("delayed", "rate-same"), ("cancelled", "rate-same")]


def test_a_pane_gets_three_banners_in_ten_seconds_and_the_fourth_when_there_is_room() -> None:
    bench = Bench()
    for _ in range(4):
        id = bench.turn(1, BLOCKED)
        bench.go(1.5)
    bench.go(60)
    assert bench.times == [1001.0, 1002.5, 1004.0, 1011.0]
    assert bench.outcomes(id) == [("delayed", "rate-pane"), ("delivered", "")]


def test_six_banners_in_all_in_ten_seconds_and_the_others_share_the_next() -> None:
    bench = Bench(with_alerts(merge=0.0))
    for number in range(9):
        id = bench.turn(number, BLOCKED)
        bench.go(0.1)
    bench.go(60)
    assert bench.times == [1001.0, 1001.1, 1001.2, 1001.3, 1001.4, 1001.5, 1011.0]
    assert len(bench.banners[-1].panes) == 3
    assert bench.outcomes(id) == [("delayed", "rate-total"), ("merged", "merge")]


def test_a_limit_of_zero_does_not_silence_for_ever() -> None:
    rate = replace(AlertSettings().rate, pane=0, total=0)
    bench = Bench(with_alerts(rate=rate))
    bench.turn(1, BLOCKED)
    bench.go(60)
    assert len(bench.banners) == 1


# -- seen, dismissed, forgotten ----------------------------------------------------------


@pytest.mark.parametrize("how", ["watched", "typed"])
def test_a_pane_that_is_seen_closes_its_banner_and_is_read_once(how: str) -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.go(5)
    bench.seen(1, how)
    bench.seen(1, how)
    assert bench.closed == [(1, how)] and bench.reads == [("%1", how)]


def test_a_pane_that_is_seen_while_it_settles_is_not_told() -> None:
    bench = Bench()
    watched, typed = bench.turn(1, BLOCKED), bench.turn(2, BLOCKED)
    bench.go(0.5)
    bench.seen(1, "watched")
    bench.seen(2, "typed")
    bench.go(60)
    assert bench.outcomes(watched) == [("held", "watching")]
    assert bench.outcomes(typed) == [("held", "seen")] and not bench.banners


def test_an_answer_within_the_settle_time_cancels() -> None:
    bench = Bench()
    id = bench.turn(1, BLOCKED)
    bench.go(0.5)
    bench.seen(1, "answered")
    bench.turn(1, WORKING)
    assert bench.outcomes(id) == [("cancelled", "settle")] and bench.reads == [("%1", "answered")]


def test_a_visit_reads_and_closes() -> None:
    bench = Bench()
    bench.turn(1, DONE)
    bench.go(5)
    bench.feed(Visited(key(1)))
    assert bench.closed == [(1, "clicked")] and bench.reads == [("%1", "clicked")]


def test_a_dismissed_banner_is_read_and_every_pane_in_it() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.turn(2, DONE)
    bench.go(5)
    bench.feed(BannerClosed(1, "user"))
    assert sorted(bench.reads) == [("%1", "dismissed"), ("%2", "dismissed")] and bench.closed == []


@pytest.mark.parametrize("by", ["time", "us", "other"])
def test_a_banner_that_times_out_stays_unread(by: str) -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.go(5)
    bench.feed(BannerShown(1))
    bench.feed(BannerClosed(1, by))
    bench.turn(1, WORKING)
    assert bench.reads == [] and bench.closed == []


def test_mark_all_read_closes_every_banner() -> None:
    bench = Bench()
    bench.turn(1, DONE)
    bench.go(5)
    bench.turn(2, ERROR)
    bench.go(5)
    bench.turn(3, WORKING)
    bench.feed(Read())
    assert bench.closed == [(1, "command"), (2, "command")]
    assert bench.reads == [("%1", "command"), ("%2", "command")]


def test_a_forgotten_pane_is_told_again_when_it_changes() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED, "a")
    bench.go(0.2)
    bench.feed(Forget(key(1)))
    bench.go(60)
    assert not bench.banners
    bench.turn(1, BLOCKED, "b")
    bench.go(60)
    assert len(bench.banners) == 1


def test_strange_alert_ids_are_ignored() -> None:
    bench = Bench()
    for event in (BannerShown(77), BannerFailed(77, "?"), BannerClosed(77, "user")):
        bench.feed(event)
    assert bench.log == []


# -- failures ----------------------------------------------------------------------------


def test_banners_that_failed_stay_unread_and_are_tried_once_more_together() -> None:
    bench = Bench()
    first = bench.turn(1, BLOCKED)
    bench.go(4)
    second = bench.turn(2, BLOCKED)
    bench.go(1.2)
    bench.feed(BannerFailed(1, "ExcessNotificationGeneration"))
    bench.feed(BannerFailed(2, "ExcessNotificationGeneration"))
    bench.go(60)
    assert [len(banner.panes) for banner in bench.banners] == [1, 1, 2]
    for id in (first, second):
        assert bench.outcomes(id) == [
            ("delivered", ""),
            ("failed", "ExcessNotificationGeneration"),
            ("merged", "merge"),
        ]
    bench.feed(BannerFailed(3, "ExcessNotificationGeneration"))
    bench.go(60)
    assert len(bench.banners) == 3 and bench.reads == []
    assert bench.outcomes(first)[-1] == ("failed", "ExcessNotificationGeneration")


def test_a_failed_banner_whose_pane_was_answered_is_not_tried_again() -> None:
    bench = Bench()
    id = bench.turn(1, BLOCKED)
    bench.go(2)
    bench.feed(BannerFailed(1, "no reply"))
    bench.turn(1, WORKING)
    bench.go(60)
    assert len(bench.banners) == 1 and bench.outcomes(id)[-1] == ("failed", "no reply")


# -- banner, sound, time -----------------------------------------------------------------


def test_the_banner_says_where_and_who_and_offers_jump_and_mute() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED, message="Bash command: npm test", project="shop-api")
    bench.go(5)
    (banner,) = bench.banners
    assert (banner.title, banner.body) == ("shop-api needs you · Claude", "Bash command: npm test")
    assert banner.actions == (("default", "Jump"), ("mute", "Mute 1 h"))
    assert (banner.kind, banner.agent, banner.panes) == ("single", "claude", (key(1),))


def test_urgency_goes_by_state_and_setting() -> None:
    bench = Bench(with_alerts(critical=frozenset({ERROR})))
    for number, state in enumerate((BLOCKED, ERROR, DONE)):
        bench.turn(number, state)
        bench.go(10)
    assert [banner.urgency for banner in bench.banners] == ["normal", "critical", "low"]


def test_sounds_keep_three_seconds_between_them() -> None:
    bench = Bench(with_alerts(merge=0.0))
    for number in range(4):
        bench.turn(number, BLOCKED)
        bench.go(1.5)
    bench.go(60)
    assert len(bench.banners) == 4 and bench.sounds == [1001.0, 1004.0]


def test_no_sound_when_sounds_are_off() -> None:
    bench = Bench(Settings(sounds=SoundSettings(mode="off")))
    bench.turn(1, BLOCKED)
    bench.go(60)
    assert bench.banners and not bench.sounds


def test_attention_is_asked_for_a_moment_before_a_banner_is_due() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    assert bench.alerts.about_to_tell(1000.0) == frozenset()
    assert bench.alerts.wake_at() == 1000.75
    assert bench.alerts.about_to_tell(1000.75) == {key(1)}
    bench.go(0.8)
    assert bench.alerts.wake_at() == 1001.0
    bench.change(looked_at={key(1)})
    assert bench.alerts.about_to_tell(1000.8) == {key(1)}, "it may have been looked away from since"
    bench.go(60)
    assert not bench.banners


def test_nothing_is_told_until_all_panes_were_looked_at_again_after_a_sleep() -> None:
    bench = Bench()
    stays, passes = bench.turn(1, BLOCKED), bench.turn(2, BLOCKED)
    bench.catching_up = True
    bench.now += 8 * 3600
    bench.poll()
    assert bench.alerts.wake_at() is None and bench.alerts.about_to_tell(bench.now) == frozenset()
    bench.turn(2, WORKING)
    assert not bench.banners
    bench.change(catching_up=False)
    (banner,) = bench.banners
    assert banner.panes == (key(1),) and banner.body.endswith("waiting for 8 h")
    assert bench.outcomes(stays) == [("delivered", "")] and bench.outcomes(passes)[-1][0] == "cancelled"
    bench.go(3600)
    assert len(bench.banners) == 1


def test_thirty_settles_that_a_sleep_ended_are_one_banner() -> None:
    bench = Bench()
    for number in range(30):
        bench.turn(number, BLOCKED)
        bench.go(0.02)
    bench.go(0.01)
    bench.now += 8 * 3600
    bench.go(60)
    assert len(bench.banners) == 1 and len(bench.banners[0].panes) == 30


def test_ids_go_on_where_the_last_start_ended() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.go(5)
    assert bench.alerts.next_alert == 2 and bench.alerts.new_alert() == 2 and bench.alerts.next_alert == 3


def test_nothing_open_needs_no_waking() -> None:
    bench = Bench()
    assert bench.alerts.wake_at() is None
    bench.turn(1, BLOCKED)
    bench.go(60)
    assert bench.alerts.wake_at() is None and bench.polls < 20
    assert bench.alerts.has_open(key(1))
    bench.seen(1, "clicked")
    assert not bench.alerts.has_open(key(1))
