"""Watching, pause, mutes, quiet hours, do not disturb, lock: what is held, and the digest afterwards."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.alerts.bench import Bench, key
from trayagent.alerts.cases import LEAD
from trayagent.model.effects import Note
from trayagent.model.events import MuteSet, Paused
from trayagent.model.settings import (
    AlertSettings,
    MuteRule,
    QuietSettings,
    QuietSpan,
    Settings,
    SoundSettings,
    StateSwitches,
)
from trayagent.model.states import State

ASKED = 2 * LEAD  # from the end of a hold to its digest

BLOCKED, DONE, ERROR, WORKING = State.BLOCKED, State.DONE, State.ERROR, State.WORKING
NIGHT = QuietSettings((QuietSpan(22 * 60, 7 * 60),))

END = datetime(2026, 3, 4, 7, tzinfo=UTC).timestamp()


def at(bench: Bench, text: str, zone: str = "UTC") -> None:
    """Set the wall clock, before anything happens."""
    moment = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
    bench.zone, bench.wall_offset = zone, moment.timestamp() - bench.now


def hold(bench: Bench, reason: str) -> None:
    match reason:
        case "paused":
            bench.feed(Paused(None))
        case "muted":
            for agent in ("claude", "codex"):
                bench.feed(MuteSet("agent", agent, None))
        case "desktop-dnd":
            bench.change(dnd=True)
        case "locked":
            bench.change(locked=True)
        case _:
            raise AssertionError(reason)


def let_go(bench: Bench, reason: str) -> None:
    match reason:
        case "paused":
            bench.feed(Paused(bench.now))
        case "muted":
            for agent in ("claude", "codex"):
                bench.feed(MuteSet("agent", agent, bench.now))
        case "desktop-dnd":
            bench.change(dnd=False)
        case "locked":
            bench.change(locked=False)


HOLDS = pytest.mark.parametrize("reason", ["paused", "muted", "desktop-dnd", "locked"])


@HOLDS
def test_held_alerts_make_no_banner_and_no_sound_and_the_reason_is_kept(reason: str) -> None:
    bench = Bench()
    hold(bench, reason)
    ids = [bench.turn(1, BLOCKED), bench.turn(2, DONE)]
    bench.go(3600)
    assert not bench.banners and not bench.sounds
    assert all(bench.outcomes(id) == [("held", reason)] for id in ids)


@HOLDS
def test_what_is_still_true_when_a_hold_ends_is_one_digest(reason: str) -> None:
    bench = Bench()
    hold(bench, reason)
    true = [bench.turn(1, BLOCKED), bench.turn(2, ERROR), bench.turn(3, DONE)]
    answered, gone = bench.turn(4, BLOCKED), bench.turn(5, BLOCKED)
    bench.go(600)
    bench.turn(4, WORKING)
    bench.gone(5)
    let_go(bench, reason)
    bench.go(600)
    (banner,) = bench.banners
    assert banner.kind == "digest" and set(banner.panes) == {key(1), key(2), key(3)}
    assert banner.title.endswith(": 2 need you, 1 done")
    assert all(bench.outcomes(id) == [("held", reason), ("merged", reason)] for id in true)
    assert bench.outcomes(answered) == bench.outcomes(gone) == [("held", reason)]


@HOLDS
def test_a_digest_of_one_pane_says_what_it_asks(reason: str) -> None:
    bench = Bench()
    hold(bench, reason)
    id = bench.turn(1, BLOCKED, message="Run npm test?", project="shop-api")
    bench.go(600)
    let_go(bench, reason)
    bench.go(1)
    (banner,) = bench.banners
    assert "shop-api needs you" in banner.title and banner.body.startswith("Run npm test?")
    assert bench.outcomes(id) == [("held", reason), ("delivered", "")]


@HOLDS
def test_who_is_there_is_asked_between_the_end_of_a_hold_and_the_digest(reason: str) -> None:
    bench = Bench()
    hold(bench, reason)
    watched, told = bench.turn(1, BLOCKED), bench.turn(2, BLOCKED)
    bench.go(600)
    let_go(bench, reason)
    assert not bench.banners and not bench.alerts.about_to_tell(bench.now)
    wake = bench.alerts.wake_at()
    assert wake == bench.now + LEAD
    assert bench.alerts.about_to_tell(wake) == {key(1), key(2)}
    bench.change(looked_at={key(1)})  # the answer
    bench.go(60)
    assert bench.outcomes(watched)[-1] == ("held", "watching")
    (banner,) = bench.banners
    assert banner.panes == (key(2),) and bench.outcomes(told)[-1] == ("delivered", "")


@HOLDS
def test_what_was_read_while_it_was_held_is_not_in_the_digest(reason: str) -> None:
    bench = Bench()
    hold(bench, reason)
    bench.turn(1, BLOCKED)
    bench.turn(2, BLOCKED)
    bench.go(60)
    bench.seen(1, "clicked")
    let_go(bench, reason)
    bench.go(60)
    assert [banner.panes for banner in bench.banners] == [(key(2),)]


def test_nothing_held_no_digest() -> None:
    bench = Bench()
    bench.feed(Paused(None))
    bench.turn(1, BLOCKED)
    bench.go(0.5)
    bench.turn(1, WORKING)
    bench.go(60)
    bench.feed(Paused(bench.now))
    bench.go(60)
    assert not bench.banners


def test_a_hold_that_ends_into_another_goes_on_with_the_new_reason() -> None:
    bench = Bench()
    bench.change(locked=True)
    bench.feed(Paused(bench.now + 60))
    id = bench.turn(1, BLOCKED)
    bench.go(120)
    assert bench.outcomes(id) == [("held", "paused"), ("held", "locked")]
    bench.change(locked=False)
    bench.go(1)
    assert bench.outcomes(id)[-1] == ("delivered", "") and len(bench.banners) == 1


def test_a_state_that_is_switched_off_meanwhile_is_not_in_the_digest() -> None:
    bench = Bench()
    bench.feed(Paused(bench.now + 60))
    id = bench.turn(1, DONE)
    bench.go(10)
    bench.configure(Settings(alerts=AlertSettings(states=StateSwitches(done=False))))
    bench.go(120)
    assert bench.outcomes(id) == [("held", "paused"), ("held", "state-off")] and not bench.banners


def test_a_digest_and_a_new_event_at_the_same_time_are_one_banner() -> None:
    bench = Bench()
    bench.feed(Paused(bench.now + 60))
    bench.turn(1, BLOCKED)
    bench.go(59.5)
    bench.turn(2, BLOCKED)
    bench.go(60)
    (banner,) = bench.banners
    assert banner.kind == "digest" and set(banner.panes) == {key(1), key(2)}


# -- watching ----------------------------------------------------------------------------


def test_a_watched_pane_is_held_as_watched_and_looking_away_brings_nothing() -> None:
    bench = Bench()
    bench.looked_at = {key(1)}
    id = bench.turn(1, BLOCKED)
    bench.go(60)
    assert bench.outcomes(id) == [("held", "watching")] and not bench.alerts.has_open(key(1))
    bench.change(looked_at=set())
    bench.go(600)
    assert not bench.banners


def test_looking_away_before_the_settle_time_ends_is_not_watching() -> None:
    bench = Bench()
    bench.looked_at = {key(1)}
    id = bench.turn(1, BLOCKED)
    bench.go(0.5)
    bench.change(looked_at=set())
    bench.go(60)
    assert bench.outcomes(id) == [("delivered", "")]


def test_an_empty_chair_watches_nothing() -> None:
    bench = Bench()
    bench.looked_at = {key(1), key(2)}
    read = bench.turn(1, BLOCKED)
    bench.go(400)  # somebody is there, and moves the mouse now and then
    unread = bench.turn(2, BLOCKED)
    bench.seen(2, "watched")
    bench.go(290)
    bench.change(away=True)  # no input for 300 s: since before the second prompt came
    bench.go(60)
    assert bench.outcomes(read) == [("held", "watching")]
    assert bench.outcomes(unread) == [("held", "watching"), ("delivered", "")]
    assert [banner.panes for banner in bench.banners] == [(key(2),)]


def test_seeing_it_again_and_again_does_not_make_it_unseen() -> None:
    bench = Bench()
    bench.looked_at = {key(1)}
    id = bench.turn(1, BLOCKED)
    for _ in range(40):
        bench.go(10)
        bench.seen(1, "watched")
    bench.change(away=True)
    bench.go(60)
    assert bench.outcomes(id) == [("held", "watching")] and not bench.banners
    assert bench.reads == [("%1", "watched")]


def test_while_away_nothing_is_watched() -> None:
    bench = Bench()
    bench.looked_at, bench.away = {key(1)}, True
    bench.turn(1, BLOCKED)
    bench.go(60)
    assert len(bench.banners) == 1


# -- pause and mutes ---------------------------------------------------------------------


def test_a_pause_ends_by_itself_at_its_moment() -> None:
    bench = Bench()
    bench.feed(Paused(1060.0))
    assert bench.alerts.paused(1059.9) == (True, 1060.0)
    bench.turn(1, BLOCKED)
    bench.go(600)
    assert bench.times == [1060.0 + ASKED] and bench.alerts.paused(bench.now) == (False, None)


@pytest.mark.parametrize(
    ("scope", "value"),
    [
        ("pane", key(1).token),
        ("session", "work"),
        ("session", "default:work"),
        ("project", "/home/u/shop"),
        ("project", "shop"),
        ("agent", "claude"),
    ],
)
def test_a_mute_holds_what_its_scope_names_and_nothing_else(scope: str, value: str) -> None:
    bench = Bench()
    bench.feed(MuteSet(scope, value, None))
    bench.turn(1, BLOCKED, project="shop")
    bench.turn(2, BLOCKED, project="web", agent="codex")
    bench.rename(2, session="other")
    bench.go(60)
    assert [banner.panes for banner in bench.banners] == [(key(2),)]
    muted, other = bench.panes[key(1)], bench.panes[key(2)]
    assert bench.alerts.muted(muted, bench.now) == (True, None)
    assert bench.alerts.mutes(muted, bench.now) == ((scope, value),)
    assert bench.alerts.muted(other, bench.now) == (False, None)


def test_a_mute_ends_and_the_longest_of_several_counts() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.feed(MuteSet("agent", "claude", 1060.0))
    bench.feed(MuteSet("pane", key(1).token, 1090.0))
    assert bench.alerts.muted(bench.panes[key(1)], bench.now) == (True, 1090.0)
    bench.go(600)
    assert bench.times == [1090.0 + ASKED]


def test_a_mute_from_the_config_has_no_end_and_cannot_be_taken_back() -> None:
    bench = Bench(Settings(alerts=AlertSettings(mute=(MuteRule("project", "p1"), MuteRule("planet", "x")))))
    id = bench.turn(1, BLOCKED)
    bench.turn(2, BLOCKED)
    bench.feed(MuteSet("project", "p1", bench.now))
    bench.go(60)
    assert bench.outcomes(id) == [("held", "muted")] and len(bench.banners) == 1
    assert bench.alerts.mutes(bench.panes[key(1)], bench.now) == ()


def test_a_mute_of_an_hour_is_over_after_a_night_of_sleep() -> None:
    bench = Bench()
    bench.feed(MuteSet("agent", "claude", bench.now + 3600))
    for number in range(5):
        bench.turn(number, BLOCKED)
    bench.go(60)
    bench.catching_up = True
    bench.now += 8 * 3600
    bench.poll()
    bench.change(catching_up=False)
    bench.go(60)
    assert len(bench.banners) == 1 and len(bench.banners[0].panes) == 5


def test_mutes_and_pause_survive_a_restart_by_the_wall_clock() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.feed(MuteSet("pane", key(1).token, bench.now + 3600))
    bench.feed(MuteSet("agent", "codex", None))
    bench.feed(Paused(bench.now + 60))
    state = bench.alerts.state(bench.wall_offset)
    after = Bench(now=50.0)  # the machine was started anew
    after.turn(1, BLOCKED)
    assert after.alerts.restore(state, bench.wall_offset + bench.now - 50.0, 50.0) == []
    assert after.alerts.muted(after.panes[key(1)], 50.0) == (True, 3650.0)
    assert after.alerts.paused(50.0) == (True, 110.0)
    assert after.alerts.state(bench.wall_offset + bench.now - 50.0) == state


@pytest.mark.parametrize(
    "state",
    [
        None,
        [],
        {"paused": 3, "mutes": []},
        {"paused": {"until": "noon"}},
        {"mutes": [{"scope": "agent"}, 7, None]},
        {"mutes": {"scope": "agent"}},
    ],
)
def test_a_damaged_state_file_is_reported_and_the_rest_is_used(state: object) -> None:
    bench = Bench()
    assert bench.alerts.restore(state, 0.0, bench.now)
    assert bench.alerts.paused(bench.now) == (False, None)


# -- quiet hours -------------------------------------------------------------------------


def test_quiet_hours_hold_over_midnight_and_end_in_one_digest() -> None:
    bench = Bench(Settings(quiet_hours=NIGHT))
    at(bench, "2026-03-04T23:59:00")
    ids = [bench.turn(1, BLOCKED), bench.turn(2, DONE)]
    bench.go(7 * 3600 + 59)
    assert not bench.banners and all(bench.outcomes(id) == [("held", "quiet-hours")] for id in ids)
    bench.go(2)
    (banner,) = bench.banners
    assert banner.title == "After quiet hours: 1 needs you, 1 done"
    assert bench.times == [pytest.approx(1000 + 7 * 3600 + 60 + ASKED, abs=0.1)]


@pytest.mark.parametrize("fraction", [0.1234567, 0.3333333, 0.7654321, 0.9999999])
def test_an_end_that_no_float_meets_exactly_is_still_met(fraction: float) -> None:
    for second in range(40):
        bench = Bench(Settings(quiet_hours=NIGHT), now=1000.0 + second * 1.7)
        at(bench, "2026-03-04T06:59:50")
        bench.wall_offset += fraction
        bench.turn(1, BLOCKED)
        bench.go(20)
        assert len(bench.banners) == 1 and abs(bench.times[0] + bench.wall_offset - END - ASKED) < 0.1


def test_allowed_states_pass_through_quiet_hours() -> None:
    bench = Bench(Settings(quiet_hours=QuietSettings(NIGHT.spans, frozenset({BLOCKED}))))
    at(bench, "2026-03-04T23:59:00")
    blocked, done = bench.turn(1, BLOCKED), bench.turn(2, DONE)
    bench.go(60)
    assert bench.outcomes(blocked) == [("delivered", "")] and bench.outcomes(done) == [
        ("held", "quiet-hours")
    ]


def test_the_zone_of_the_config_comes_before_the_systems() -> None:
    quiet = QuietSettings(NIGHT.spans, zone="Asia/Tokyo")
    bench = Bench(Settings(quiet_hours=quiet))
    at(bench, "2026-03-04T14:00:00")  # 23:00 in Tokyo
    id = bench.turn(1, BLOCKED)
    bench.go(60)
    assert bench.outcomes(id) == [("held", "quiet-hours")]


def test_an_unknown_zone_is_said_once_and_changes_nothing_else() -> None:
    bench = Bench(Settings(quiet_hours=QuietSettings(zone="Europe/Nowhere")))
    bench.turn(1, BLOCKED)
    bench.go(60)
    (note,) = bench.of(Note)
    assert "Europe/Nowhere" in note.text and len(bench.banners) == 1  # type: ignore[union-attr]


# -- lock --------------------------------------------------------------------------------


def test_a_sound_behind_the_lock_only_when_asked_for() -> None:
    bench = Bench(Settings(sounds=SoundSettings(while_locked=True)))
    bench.change(locked=True)
    bench.turn(1, BLOCKED)
    bench.go(60)
    assert not bench.banners and len(bench.sounds) == 1


def test_explain_says_what_is_open() -> None:
    bench = Bench()
    bench.feed(Paused(bench.now + 100))
    id = bench.turn(1, BLOCKED)
    bench.go(5)
    bench.turn(2, DONE)
    assert bench.alerts.snapshot(bench.now) == {
        "paused": True,
        "paused_for": 95.0,
        "cases": {
            key(1).token: {"transition": id, "state": "blocked", "held": "paused", "waits": "", "for": 95.0},
            key(2).token: {"transition": id + 1, "state": "done", "held": "", "waits": "settle", "for": 2.0},
        },
    }
