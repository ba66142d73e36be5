"""A simulated week of twenty agents in Berlin, around the night in which the clocks change.

The engine runs whole, behind it a House whose screens are the truth. Agents work, ask, finish, break and
start anew; the person answers, visits, looks on, mutes, pauses, locks his screen and leaves; twice the
machine sleeps, once its clock is set. Each banner is held against the screens as it is shown.
"""

from __future__ import annotations

import heapq
import itertools
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.support.house import Actor, House
from trayagent.engine import engine, listing, pace, planner, rhythm
from trayagent.model.effects import Banner, CloseBanner, Effect, RecordDelivery, RecordTransition, Sound
from trayagent.model.events import (
    BannerClosed,
    BannerFailed,
    BannerShown,
    DesktopQuiet,
    Event,
    Locked,
    MuteSet,
    Paused,
    Resumed,
    UserIdle,
    Visited,
    Wall,
)
from trayagent.model.keys import PaneKey
from trayagent.model.settings import DetectSettings, QuietSettings, QuietSpan, Settings
from trayagent.model.states import State

BERLIN = ZoneInfo("Europe/Berlin")
DAY = 86400.0
AGENTS = 20
# Night by night: Monday to Thursday, and later on Friday and Saturday; Sunday has the hours of weekdays.
WORKDAYS = QuietSpan(22 * 60, 7 * 60, frozenset({0, 1, 2, 3, 6}))
WEEKEND = QuietSpan(23 * 60 + 30, 9 * 60, frozenset({4, 5}))
# Agents here draw once a turn and then are silent, which is no stall.
SETTINGS = Settings(quiet_hours=QuietSettings((WORKDAYS, WEEKEND)), detect=DetectSettings(stall=30 * DAY))
LAG = 0.6  # seconds for which a screen's last content may still be believed: drain, look, freshness
FINAL = {"delivered", "merged", "cancelled", "held", "failed"}
# Rows of a transition: delayed and held as often as it takes, at most one telling, again if that failed.
HISTORY = re.compile(r"[dh]*(c|[Dm](f[dh]*(c|[Dm]f?)?)?)?")
LETTERS = {"delayed": "d", "held": "h", "failed": "f", "delivered": "D", "merged": "m", "cancelled": "c"}


class Week(House):
    """The house, its truth, and what must never happen in it."""

    def __init__(self, start: datetime, seed: int) -> None:
        self.rng = random.Random(seed)
        self.past: dict[PaneKey, list[tuple[float, str]]] = defaultdict(list)
        self.offset = start.timestamp() - 1000.0
        self.locked = self.dnd = False
        self.paused_until = 0.0
        self.muted: dict[PaneKey, float] = {}
        self.looked_at: Actor | None = None
        self.looked_at_since = 0.0
        self.shown: dict[int, tuple[float, Banner]] = {}
        self.agenda: list[tuple[float, int, Callable[[], None]]] = []
        self.ticket = itertools.count()
        self.asked = itertools.count(1)
        self.answers: list[Event] = []
        self.depth = 0
        self.heard_at = 0.0
        super().__init__(SETTINGS)
        self.feed(Wall(self.offset, "Europe/Berlin"))
        self.nightly = self.pane("nightly")
        self.draw(self.nightly, "BUSY")

    # -- time ----------------------------------------------------------------------------

    @property
    def clock(self) -> datetime:
        """What the clock on the wall shows."""
        return datetime.fromtimestamp(self.now + self.offset, BERLIN)

    @property
    def quiet(self) -> bool:
        """By the plain words of the setting."""
        minute, today = self.clock.hour * 60 + self.clock.minute, self.clock.weekday()
        return any(
            (minute >= span.start and today in span.days)
            or (minute < span.end and (today - 1) % 7 in span.days)
            for span in (WORKDAYS, WEEKEND)
        )

    def at(self, seconds: float, what: Callable[[], None]) -> None:
        """Do something so many seconds from now."""
        heapq.heappush(self.agenda, (self.now + seconds, next(self.ticket), what))

    def live(self, until: float) -> None:
        """Until this engine second."""
        while self.agenda and self.agenda[0][0] <= until:
            moment, _, what = heapq.heappop(self.agenda)
            self.run(max(moment - self.now, 0.0))
            what()
        self.run(max(until - self.now, 0.0))

    def sleep(self, seconds: float) -> None:
        """The machine sleeps: nobody draws, and what would have happened happens later."""
        self.now += seconds
        self.agenda = [(moment + seconds, number, what) for moment, number, what in self.agenda]
        self.feed(Resumed(seconds))
        self.feed(Wall(self.offset, "Europe/Berlin"))

    def set_clock(self, seconds: float) -> None:
        """The wall clock is set."""
        self.offset += seconds
        self.feed(Wall(self.offset, "Europe/Berlin"))

    # -- agents --------------------------------------------------------------------------

    def draw(self, actor: Actor, text: str) -> None:
        self.past[actor.key].append((self.now, text))
        self.show(actor, text)

    def begin(self, actor: Actor) -> None:
        """A turn begins: it asks, ends, breaks off, or goes on after asking nobody."""
        if actor.agent is None:
            self.start(actor, born=self.now)
        self.draw(actor, "BUSY")
        if actor is self.nightly:
            return
        long = self.rng.expovariate(1 / 3000)
        kind = self.rng.choices(["ask", "end", "short", "auto", "break"], [35, 40, 8, 12, 5])[0]
        if kind == "ask":
            self.at(long, lambda: self.ask(actor))
        elif kind == "auto":
            self.at(long, lambda: self.draw(actor, f"ASK passing {next(self.asked)}"))
            self.at(long + 0.4, lambda: self.begin(actor))
        elif kind == "break":
            self.at(long, lambda: self.break_off(actor))
        else:
            self.at(2.0 if kind == "short" else long + 6, lambda: self.free(actor))

    def ask(self, actor: Actor) -> None:
        if actor.agent is None:
            self.start(actor, born=self.now)
        self.draw(actor, f"ASK question {next(self.asked)} of {actor.info.window}")
        if self.rng.random() < 0.1:  # somebody answers elsewhere, without a key in the pane
            self.at(self.rng.uniform(1, 3600), lambda: self.answered(actor))

    def answered(self, actor: Actor) -> None:
        if actor.text.startswith("ASK"):
            self.begin(actor)

    def free(self, actor: Actor) -> None:
        self.draw(actor, "FREE")
        if self.rng.random() < 0.5:
            self.at(self.rng.expovariate(1 / 7200), lambda: self.again(actor))

    def again(self, actor: Actor) -> None:
        if actor.text == "FREE":
            self.begin(actor)

    def break_off(self, actor: Actor) -> None:
        self.past[actor.key].append((self.now, "BROKEN"))
        self.end(actor, status=1)
        actor.text = "$"
        self.at(self.rng.uniform(600, 5000), lambda: self.begin(actor))

    # -- the person ----------------------------------------------------------------------

    def person(self) -> None:
        """Every few minutes he does something, if he is there."""
        self.at(self.rng.uniform(120, 1500), self.person)
        if not 10 <= self.clock.hour < 22 or self.locked or (self.idle or 0) > 300:
            return
        actor = self.rng.choice(list(self.actors.values()))
        kinds = ["answer", "visit", "watch", "mute", "pause", "dnd", "away", "lock", "dismiss"]
        kind = self.rng.choices(kinds, [40, 15, 15, 4, 2, 2, 4, 3, 15])[0]
        if kind == "answer":
            for each in list(self.actors.values())[:: self.rng.choice([1, 2, 3])]:
                if each.text.startswith("ASK"):
                    self.type(each)
                    self.at(0.3, lambda each=each: self.answered(each))  # type: ignore[misc]
                elif each.text == "FREE" and self.rng.random() < 0.3:
                    self.type(each)
                    self.at(0.3, lambda each=each: self.again(each))  # type: ignore[misc]
        elif kind == "visit":
            self.feed(Visited(actor.key))
        elif kind == "watch":
            self.look_at(actor)
            self.at(self.rng.uniform(5, 400), lambda: self.look_at(None))
        elif kind == "mute":
            end = self.now + self.rng.uniform(60, 7200)
            self.muted[actor.key] = end
            self.feed(MuteSet("pane", actor.key.token, end))
        elif kind == "pause":
            self.paused_until = self.now + self.rng.uniform(60, 3600)
            self.feed(Paused(self.paused_until))
        elif kind == "dnd":
            self.quieten(True)
            self.at(self.rng.uniform(60, 3600), lambda: self.quieten(False))
        elif kind == "away":
            self.leave()
        elif kind == "lock":
            self.lock(True)
            self.at(self.rng.uniform(60, 5400), lambda: self.lock(False))
        elif self.shown:
            self.feed(BannerClosed(max(self.shown), self.rng.choice(["user", "time"])))

    def look_at(self, actor: Actor | None) -> None:
        self.looked_at, self.looked_at_since = actor, self.now
        self.watch(actor)

    def leave(self) -> None:
        self.idle = 400.0
        self.feed(UserIdle(400.0))
        self.at(self.rng.uniform(60, 3600), self.come_back)

    def come_back(self) -> None:
        self.idle = 0.0
        self.feed(UserIdle(0.0))

    def lock(self, on: bool) -> None:
        self.locked = on
        self.feed(Locked(on))

    def quieten(self, on: bool) -> None:
        self.dnd = on
        self.feed(DesktopQuiet(on, "test"))

    # -- what is shown -------------------------------------------------------------------

    def feed(self, event: Event) -> None:
        """Once all that an event leads to is done, the notification server answers."""
        if isinstance(event, UserIdle):
            self.heard_at = self.now
        self.depth += 1
        super().feed(event)
        self.depth -= 1
        if self.depth == 0 and self.answers:
            self.feed(self.answers.pop(0))

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, Banner):
            self.check(effect)
            self.shown[effect.alert] = self.now, effect
            failed = self.rng.random() < 0.03
            self.answers.append(
                BannerFailed(effect.alert, "refused") if failed else BannerShown(effect.alert)
            )
        elif isinstance(effect, Sound):
            assert not (self.quiet or self.locked or self.dnd or self.now < self.paused_until)
        elif isinstance(effect, CloseBanner):
            assert effect.alert in self.shown
        super()._perform(effect)

    def check(self, banner: Banner) -> None:
        """Nothing while everything is held; nothing muted or looked at; nothing untrue."""
        assert not self.quiet, (self.clock, banner)
        assert not (self.locked or self.dnd or self.now < self.paused_until), (self.clock, banner)
        needing = 0
        for key in banner.panes:
            assert self.now >= self.muted.get(key, 0.0), (self.clock, banner)
            # A person of whom nothing was heard for five minutes counts as absent, and a hold that an event
            # ends is told at once: who is there is not asked first.
            present = (self.idle or 0) < 300 and self.now - self.heard_at < 300
            settled = self.now - self.looked_at_since > LAG
            looked_at = self.looked_at is not None and self.looked_at.key == key
            assert not (looked_at and present and settled), banner
            state = next(view for view in self.engine.views(self.now) if view.key == key).state
            needing += state in (State.BLOCKED, State.ERROR)
            assert any(_says(text, state) for text in self.recent(key)), (state, self.recent(key), banner)
            if len(banner.panes) == 1 and state is State.BLOCKED:
                assert any(_question(text) in banner.body for text in self.recent(key) if "ASK" in text)
        if banner.kind == "digest" and len(banner.panes) > 1:
            told = re.search(r"(\d+) needs? you", banner.title)
            assert (int(told[1]) if told else 0) == needing, banner.title

    def recent(self, key: PaneKey) -> list[str]:
        """What the pane shows now, and what it showed so shortly ago that nobody can know better."""
        past = self.past[key]
        return [past[-1][1], *(before for (_, before), (at, _) in itertools.pairwise(past[-6:])
                               if self.now - at <= LAG)]  # fmt: skip


def _says(text: str, state: State) -> bool:
    wanted = {State.BLOCKED: "ASK", State.DONE: "FREE", State.ERROR: "BROKEN"}
    return text.startswith(wanted[state])


def _question(text: str) -> str:
    return text.removeprefix("ASK ")


def script(week: Week, actors: list[Actor]) -> list[tuple[float, Callable[[], None]]]:
    """What must happen whatever else does, by the seconds since 08:00 of the first day: at 03:30 somebody
    asks, once it is under the person's eyes; two sleeps, the first from 01:00 to 08:30; the clock is set."""
    happens: list[tuple[float, Callable[[], None]]] = [
        (19.5 * 3600 + night * DAY, lambda: week.ask(week.nightly)) for night in range(1, 7)
    ]
    watched = 2 * DAY + 4 * 3600
    happens += [
        (watched, lambda: week.look_at(actors[0])),
        (watched + 5, lambda: week.ask(actors[0])),
        (watched + 60, lambda: week.look_at(None)),
        (17 * 3600, lambda: week.sleep(7.5 * 3600)),
        (3.3 * DAY, lambda: week.sleep(2 * 3600)),
        (5.5 * DAY, lambda: week.set_clock(90 * 60.0)),
    ]
    return sorted(happens, key=lambda one: one[0])


def live_a_week(start: datetime, seed: int) -> Week:
    """Everything that a week has; the engine's second at its end."""
    week = Week(start, seed)
    for number in range(AGENTS - 1):
        actor = week.pane(f"agent{number}")
        week.past[actor.key].append((week.now, ""))
        week.at(week.rng.uniform(1, 3600), lambda actor=actor: week.begin(actor))  # type: ignore[misc]
    week.at(60, week.person)
    begun = week.now
    for moment, what in script(week, list(week.actors.values())):
        week.live(begun + moment)
        what()
    week.live(begun + 7 * DAY)
    while week.quiet or week.locked or week.dnd or week.now < week.paused_until:
        week.live(week.now + 600)
    week.agenda = []
    week.look_at(None)
    week.ask(week.nightly)
    week.run(7300)  # the last mutes end
    return week


WEEKS = [
    pytest.param((datetime(2027, 3, 25, 8, tzinfo=BERLIN), 1), id="spring forward"),
    pytest.param((datetime(2027, 10, 28, 8, tzinfo=BERLIN), 2), id="fall back"),
]


@pytest.fixture(scope="module", params=WEEKS)
def week(request: pytest.FixtureRequest) -> Week:
    """Looks that are taken in case all else was missed, and menus that nobody opens, would be nine tenths of
    the work, and have tests of their own: here they come once in six hours."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (rhythm, planner):
            patch.setattr(module, "SAFETY", 6 * 3600.0)
        patch.setattr(engine, "TOOLTIP_EVERY", 6 * 3600.0)
        patch.setattr(listing, "DISCOVER_EVERY", 6 * 3600.0)
        patch.setattr(pace, "LAZY", 6 * 3600.0)
        patch.setattr(pace, "REFILL", 3600.0)
        return live_a_week(*request.param)


def rows_of(week: Week) -> dict[int, list[RecordDelivery]]:
    rows: dict[int, list[RecordDelivery]] = defaultdict(list)
    for row in week.of(RecordDelivery):
        rows[row.transition].append(row)
    return rows


def test_each_transition_of_a_week_has_one_final_outcome(week: Week) -> None:
    transitions = {effect.id: effect.transition for effect in week.of(RecordTransition)}
    rows = rows_of(week)
    assert len(transitions) > 1500
    assert rows.keys() == transitions.keys()
    for id, history in rows.items():
        text = "".join(LETTERS[row.outcome] for row in history)
        assert HISTORY.fullmatch(text) and history[-1].outcome in FINAL, (id, history)
        assert [row.at for row in history] == sorted(row.at for row in history)
        for row in history:
            if row.outcome in ("delivered", "merged"):
                assert row.alert is not None
                at, banner = week.shown[row.alert]
                assert transitions[id].pane in banner.panes and at == pytest.approx(row.at)


def test_a_week_has_all_that_a_week_can_have(week: Week) -> None:
    rows = [row for history in rows_of(week).values() for row in history]
    reasons = Counter(row.reason for row in rows)
    outcomes = Counter(row.outcome for row in rows)
    assert {"quiet-hours", "muted", "paused", "locked", "desktop-dnd", "watching", "short-turn"} <= set(
        reasons
    )
    assert all(outcomes[outcome] for outcome in ("delivered", "merged", "held", "cancelled", "failed"))
    assert Counter(banner.kind for _, banner in week.shown.values()).keys() >= {"single", "merged", "digest"}


def test_whoever_waits_when_the_week_is_over_was_told_of(week: Week) -> None:
    """Once nothing holds any more, each question that still stands was told, or was looked at."""
    rows = rows_of(week)
    latest = {effect.transition.pane: effect.id for effect in week.of(RecordTransition)}
    waiting = [actor for actor in week.actors.values() if actor.text.startswith("ASK")]
    assert waiting
    for actor in waiting:
        last = rows[latest[actor.key]][-1]
        assert last.outcome in ("delivered", "merged") or last.reason in (
            "watching", "clicked", "watched", "typed", "command", "dismissed",
        ), last  # fmt: skip


def test_the_night_ends_in_a_digest_at_the_minute_that_the_clock_on_the_wall_shows(week: Week) -> None:
    """07:00 or 09:00 local time, before and after the change."""
    ends = [
        datetime.fromtimestamp(at + _offset_at(week, at), BERLIN)
        for at, banner in week.shown.values()
        if banner.kind == "digest" and banner.title.startswith("After quiet hours")
    ]
    mornings = {end.date(): end.strftime("%H:%M") for end in reversed(ends)}
    sunday = next(day for day in mornings if day.weekday() == 6)
    assert mornings[sunday] == "09:00" and mornings[sunday + timedelta(days=1)] == "07:00", mornings
    assert mornings[sunday - timedelta(days=1)] == "09:00", mornings


def _offset_at(week: Week, at: float) -> float:
    """The wall clock's distance before or after it was set."""
    return week.offset - (90 * 60.0 if at < 1000 + 5.5 * DAY else 0.0)


def test_the_number_on_the_icon_is_the_number_of_those_who_wait(week: Week) -> None:
    waiting = sum(actor.text.startswith("ASK") for actor in week.actors.values())
    views = week.engine.views(week.now)
    assert week.tray.count == sum(view.needs_you for view in views)
    assert sum(view.state is State.BLOCKED for view in views) == waiting
