"""What follows an alert that nobody takes up, and what is different in some folders."""

from __future__ import annotations

import pytest

from tests.alerts.bench import Bench, key
from trayagent.model.effects import RecordFollowUp, Send, Sound
from trayagent.model.events import BannerClosed, MuteSet, Paused, Visited
from trayagent.model.settings import (
    AlertSettings,
    Profile,
    QuietSettings,
    QuietSpan,
    RemindSettings,
    Settings,
    SinkSettings,
    StateSwitches,
)
from trayagent.model.states import State

BLOCKED, DONE, ERROR = State.BLOCKED, State.DONE, State.ERROR


def reminded(times: int = 1, every: float = 60.0) -> Bench:
    remind = RemindSettings(after=60.0, every=every, times=times)
    return Bench(Settings(alerts=AlertSettings(remind=remind, merge=0.0)))


def followed(bench: Bench) -> list[str]:
    return [effect.what for _, effect in bench.log if isinstance(effect, RecordFollowUp)]


# -- reminders -----------------------------------------------------------------------------


def test_nobody_is_reminded_unless_he_asked_for_it() -> None:
    bench = Bench()
    bench.turn(1, BLOCKED)
    bench.go(86_400)
    assert bench.times == [1001.0] and followed(bench) == []


@pytest.mark.parametrize("state", [BLOCKED, ERROR])
def test_what_still_needs_somebody_is_told_again_so_many_times(state: State) -> None:
    bench = reminded(times=3, every=40.0)
    id = bench.turn(1, state)
    bench.go(3600)
    first = bench.times[0]
    assert bench.times == [first, first + 60, first + 100, first + 140]
    assert bench.outcomes(id) == [("delivered", "")], "its outcome stays"
    assert [why for _, why in bench.closed] == ["reminded"] * 3 and len(bench.open) == 1


def test_a_done_turn_is_never_reminded_of() -> None:
    bench = reminded()
    bench.turn(1, DONE)
    bench.go(3600)
    assert len(bench.banners) == 1


@pytest.mark.parametrize("how", ["answered", "visited", "dismissed", "gone"])
def test_what_was_taken_up_is_not_reminded_of(how: str) -> None:
    bench = reminded()
    bench.turn(1, BLOCKED)
    bench.go(30)
    match how:
        case "answered":
            bench.turn(1, State.WORKING)
        case "visited":
            bench.feed(Visited(key(1)))
        case "dismissed":
            bench.feed(BannerClosed(bench.banners[0].alert, "user"))
        case _:
            bench.gone(1)
    bench.go(3600)
    assert len(bench.banners) == 1


def test_a_banner_that_ran_out_of_time_is_reminded_of() -> None:
    bench = reminded()
    bench.turn(1, BLOCKED)
    bench.go(30)
    bench.feed(BannerClosed(bench.banners[0].alert, "time"))
    bench.go(3600)
    assert len(bench.banners) == 2


@pytest.mark.parametrize("hold", ["paused", "muted", "dnd", "locked", "watching"])
def test_a_reminder_waits_for_the_end_of_whatever_holds_alerts(hold: str) -> None:
    bench = reminded()
    bench.turn(1, BLOCKED)
    bench.go(30)
    match hold:
        case "paused":
            bench.feed(Paused(bench.now + 300))
        case "muted":
            bench.feed(MuteSet("pane", key(1).token, bench.now + 300))
        case "watching":
            bench.change(looked_at={key(1)})
        case _:
            bench.change(**{hold: True})
    bench.go(299)
    assert len(bench.banners) == 1
    bench.change(dnd=False, locked=False, looked_at=set())
    bench.go(2)
    assert len(bench.banners) == 2


def test_reminders_that_are_due_together_share_a_banner() -> None:
    bench = reminded()
    bench.settings = Settings(alerts=AlertSettings(remind=RemindSettings(after=60.0)))
    bench.configure(bench.settings)
    bench.turn(1, BLOCKED)
    bench.turn(2, BLOCKED)
    bench.go(3600)
    assert [len(banner.panes) for banner in bench.banners] == [2, 2]


# -- escalation ----------------------------------------------------------------------------


def escalating() -> Bench:
    return Bench(Settings(alerts=AlertSettings(escalate_sound=300.0)))


def test_a_question_sounds_once_more_when_nobody_is_there() -> None:
    bench = escalating()
    bench.turn(1, BLOCKED)
    bench.go(10)
    bench.change(away=True)
    bench.go(3600)
    assert bench.sounds == [1001.0, 1300.0] and followed(bench) == ["sounded"]
    assert len(bench.banners) == 1


def test_it_does_not_sound_for_somebody_who_is_there_until_he_leaves() -> None:
    bench = escalating()
    bench.turn(1, BLOCKED)
    bench.go(1000)
    assert len(bench.sounds) == 1
    bench.change(away=True)
    bench.go(1)
    assert len(bench.sounds) == 2


@pytest.mark.parametrize("silence", ["paused", "muted", "dnd", "locked"])
def test_no_silence_is_broken(silence: str) -> None:
    bench = escalating()
    bench.turn(1, BLOCKED)
    bench.go(10)
    match silence:
        case "paused":
            bench.feed(Paused(None))
        case "muted":
            bench.feed(MuteSet("agent", "claude", None))
        case _:
            bench.change(**{silence: True})
    bench.change(away=True)
    bench.go(86_400)
    assert len(bench.sounds) == 1


@pytest.mark.parametrize("state", [DONE, ERROR])
def test_only_questions_escalate(state: State) -> None:
    bench = escalating()
    bench.turn(1, state)
    bench.change(away=True)
    bench.go(3600)
    assert len(bench.sounds) == 1


# -- sinks ---------------------------------------------------------------------------------


def sinking(**parts: object) -> Bench:
    sink = SinkSettings("phone", ("notify-phone",), **parts)  # type: ignore[arg-type]
    return Bench(Settings(alerts=AlertSettings(sinks=(sink,))))


def sent(bench: Bench) -> list[tuple[float, Send]]:
    return [(at, effect) for at, effect in bench.log if isinstance(effect, Send)]


def test_a_sink_is_sent_each_banner_about_its_states() -> None:
    bench = sinking()
    id = bench.turn(1, BLOCKED, message="Run it?")
    bench.go(60)
    bench.turn(2, DONE)
    bench.go(60)
    ((at, one),) = sent(bench)
    assert (at, one.transition, one.alert) == (bench.times[0], id, bench.banners[0].alert)
    assert (one.title, one.body, one.state) == (bench.banners[0].title, "Run it?", BLOCKED)
    assert one.at_wall == 1000.0 + bench.wall_offset and one.labels.project == "p1"
    assert followed(bench) == ["sent"] and len(bench.banners) == 2


def test_a_merged_banner_is_one_message_about_the_panes_that_the_sink_wants() -> None:
    bench = sinking()
    for number, state in ((1, BLOCKED), (2, BLOCKED), (3, DONE)):
        bench.turn(number, state)
    bench.go(60)
    ((_, one),) = sent(bench)
    assert len(bench.banners[0].panes) == 3 and [pane.id for pane in one.panes] == ["%1", "%2"]


def test_what_is_held_is_not_sent_and_the_text_is_as_short_as_asked() -> None:
    bench = sinking(text="none")
    bench.feed(Paused(bench.now + 100))
    bench.turn(1, BLOCKED, message="secret")
    bench.go(90)
    assert sent(bench) == []
    bench.go(30)
    ((_, one),) = sent(bench)
    assert "secret" not in one.title + one.body


def test_a_sink_for_the_absent_is_sent_once_what_stands_while_nobody_is_there() -> None:
    bench = sinking(when="away", after=600.0)
    bench.turn(1, BLOCKED)
    bench.go(700)
    assert sent(bench) == [], "somebody is there"
    bench.change(away=True)
    bench.go(3600)
    assert [at for at, _ in sent(bench)] == [1700.0]


def test_a_locked_screen_holds_the_banner_but_not_the_message_to_the_absent() -> None:
    bench = sinking(when="away")
    bench.change(locked=True)
    bench.turn(1, BLOCKED)
    bench.go(60)
    assert bench.banners == [] and [at for at, _ in sent(bench)] == [1001.0]


def test_what_is_answered_in_time_is_not_sent() -> None:
    bench = sinking(when="away", after=600.0)
    bench.change(away=True)
    bench.turn(1, BLOCKED)
    bench.go(300)
    bench.turn(1, State.WORKING)
    bench.go(3600)
    assert sent(bench) == []


# -- profiles ------------------------------------------------------------------------------


def profiled(**parts: object) -> Settings:
    profile = Profile(("/home/u/play*",), **parts)  # type: ignore[arg-type]
    return Settings(alerts=AlertSettings(profiles=(profile,), merge=0.0))


def test_a_profile_says_which_states_are_told_in_its_folders_alone() -> None:
    bench = Bench(profiled(states=StateSwitches(done=False)))
    there, elsewhere = bench.turn(1, DONE, project="play/toy"), bench.turn(2, DONE, project="work")
    bench.go(60)
    assert bench.outcomes(there) == [("held", "state-off")]
    assert bench.outcomes(elsewhere) == [("delivered", "")]


def test_a_profile_may_tell_what_is_switched_off_elsewhere() -> None:
    settings = profiled(states=StateSwitches())
    profiles = settings.alerts.profiles
    bench = Bench(Settings(alerts=AlertSettings(states=StateSwitches(done=False), profiles=profiles)))
    there, elsewhere = bench.turn(1, DONE, project="play/toy"), bench.turn(2, DONE, project="work")
    bench.go(60)
    assert bench.outcomes(there) == [("delivered", "")]
    assert bench.outcomes(elsewhere) == [("held", "state-off")]


def test_a_profile_has_its_own_quiet_hours() -> None:
    always = QuietSpan(0, 24 * 60 - 1)
    bench = Bench(profiled(quiet=(always,)))
    there, elsewhere = bench.turn(1, BLOCKED, project="play"), bench.turn(2, BLOCKED, project="work")
    bench.go(60)
    assert bench.outcomes(there) == [("held", "quiet-hours")]
    assert bench.outcomes(elsewhere) == [("delivered", "")]


def test_a_profile_may_do_without_quiet_hours() -> None:
    settings = profiled(quiet=())
    bench = Bench(Settings(alerts=settings.alerts, quiet_hours=QuietSettings((QuietSpan(0, 1439),))))
    there, elsewhere = bench.turn(1, BLOCKED, project="play"), bench.turn(2, BLOCKED, project="work")
    bench.go(60)
    assert bench.outcomes(there) == [("delivered", "")]
    assert bench.outcomes(elsewhere) == [("held", "quiet-hours")]


def test_a_profile_has_its_own_sounds() -> None:
    bench = Bench(profiled(sounds=(("blocked", "/s/knock.ogg"),)))
    bench.turn(1, BLOCKED, project="play")
    bench.go(10)
    bench.turn(2, BLOCKED, project="work")
    bench.go(10)
    assert [sound.file for sound in bench.of(Sound)] == ["/s/knock.ogg", ""]  # type: ignore[attr-defined]


def test_of_two_profiles_the_first_that_speaks_of_a_matter_counts() -> None:
    profiles = (
        Profile(("/home/u/*",), sounds=(("blocked", "off"),)),
        Profile(("/home/u/play",), states=StateSwitches(blocked=False), sounds=(("blocked", "/x.wav"),)),
    )
    bench = Bench(Settings(alerts=AlertSettings(profiles=profiles)))
    there, elsewhere = bench.turn(1, BLOCKED, project="play"), bench.turn(2, BLOCKED, project="work")
    bench.go(60)
    assert bench.outcomes(there) == [("held", "state-off")]
    assert bench.outcomes(elsewhere) == [("delivered", "")]
    assert [sound.file for sound in bench.of(Sound)] == ["off"]  # type: ignore[attr-defined]
