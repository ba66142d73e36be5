"""Whatever happens: nothing dropped, nothing doubled, nothing untrue, no limit exceeded.

The bench compares each banner with the truth as it is shown, and knows what held it.
"""

from __future__ import annotations

import heapq
import itertools
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.alerts.bench import Bench, key
from trayagent.model.effects import Banner, RecordDelivery, RecordFollowUp
from trayagent.model.events import BannerClosed, BannerFailed, Forget, MuteSet, Paused, Read, Visited
from trayagent.model.settings import AlertSettings, QuietSettings, QuietSpan, RemindSettings, Settings
from trayagent.model.states import State

BLOCKED, DONE, ERROR, WORKING, IDLE = State.BLOCKED, State.DONE, State.ERROR, State.WORKING, State.IDLE

# A transition's rows in the ledger: first letters of delayed, held, failed, delivered (D), merged, cancelled.
LETTERS = {"delayed": "d", "held": "h", "failed": "f", "delivered": "D", "merged": "m", "cancelled": "c"}
HISTORY = re.compile(r"[dh]*(c|[Dm](f[dh]*(c|[Dm]f?)?)?)?")


def check_ledger(bench: Bench) -> Counter[str]:
    """Every transition has one final outcome, reached in an order that makes sense; returns them counted."""
    rows = bench.rows
    assert rows.keys() == bench.transitions.keys()
    for id, history in rows.items():
        text = "".join(LETTERS[row.outcome] for row in history)
        assert text and HISTORY.fullmatch(text), (id, history)
        assert text[-1] != "d" and not {"hc", "fc"} & {text[-2:]}, (id, history)
        assert all(row.reason for row in history if row.outcome != "delivered")
        assert [row.at for row in history] == sorted(row.at for row in history)
    return Counter(history[-1].outcome for history in rows.values())


def check_limits(bench: Bench) -> None:
    """Never more banners than the limits allow, in any window."""
    rate = bench.settings.alerts.rate
    failed = {e.alert for _, e in bench.log if isinstance(e, RecordDelivery) and e.outcome == "failed"}
    shown = [(at, effect) for at, effect in bench.log if isinstance(effect, Banner)]
    for (first, _), (last, _) in zip(shown, shown[rate.total :], strict=False):
        assert last - first >= rate.window - 1e-6
    of_pane: dict[object, list[float]] = defaultdict(list)
    subjects: dict[object, float] = {}
    told = [
        (at, e)
        for at, e in bench.log
        if isinstance(e, RecordDelivery) and e.outcome in ("delivered", "merged")
    ]
    for at, row in told:
        transition = bench.transitions[row.transition]
        of_pane[transition.pane].append(at)
        subject = (transition.pane, transition.after, transition.decision.fingerprint)
        assert at - subjects.get(subject, -100) >= rate.same - 1e-6
        if row.alert not in failed:
            subjects[subject] = at
    for times in of_pane.values():
        assert all(b - a >= rate.window - 1e-6 for a, b in zip(times, times[rate.pane :], strict=False))


def check_screen(bench: Bench) -> None:
    """A banner stays only while one of its panes is as it said."""
    for alert in bench.open:
        records = [e for _, e in bench.log if isinstance(e, RecordDelivery | RecordFollowUp)]
        ids = [record.transition for record in records if record.alert == alert]
        assert any(true(bench, id) for id in ids), alert


def true(bench: Bench, id: int) -> bool:
    """Whether the pane still is what the transition made of it."""
    transition = bench.transitions[id]
    view = bench.panes.get(transition.pane)
    told = (transition.after, transition.decision.fingerprint)
    return view is not None and (view.state, view.fingerprint) == told


# -- random streams ----------------------------------------------------------------------

PANES = st.integers(0, 4)
STEPS = st.one_of(
    st.tuples(
        st.just("turn"),
        PANES,
        st.sampled_from([BLOCKED, BLOCKED, BLOCKED, DONE, ERROR, WORKING, IDLE]),
        st.sampled_from(["", "", "a", "b"]),
        st.sampled_from([0.0, 60.0, 60.0]),
    ),
    st.tuples(st.just("go"), st.sampled_from([0.01, 0.3, 1.0, 2.0, 5.0, 12.0, 40.0])),
    st.tuples(st.just("look"), st.frozensets(PANES, max_size=2)),
    st.tuples(st.sampled_from(["away", "locked", "dnd", "catching_up"]), st.booleans()),
    st.tuples(st.just("pause"), st.sampled_from([None, -1.0, 3.0, 30.0])),
    st.tuples(st.just("mute"), PANES, st.sampled_from([None, -1.0, 3.0, 30.0])),
    st.tuples(st.just("seen"), PANES, st.sampled_from(["watched", "typed", "clicked", "answered"])),
    st.tuples(st.just("gone"), PANES),
    st.tuples(st.just("forget"), PANES),
    st.tuples(st.just("read")),
    st.tuples(st.just("fail")),
    st.tuples(st.just("close"), st.sampled_from(["user", "time"])),
)


def step(bench: Bench, name: str, *args: object) -> None:
    """One thing that happens."""
    if name == "turn":
        number, state, fingerprint, worked = args
        bench.turn(number, state, fingerprint, worked=worked)  # type: ignore[arg-type]
    elif name == "go":
        bench.go(args[0])  # type: ignore[arg-type]
    elif name == "look":
        bench.change(looked_at={key(number) for number in args[0]})  # type: ignore[attr-defined]
    elif name in ("away", "locked", "dnd", "catching_up"):
        bench.change(**{name: args[0]})
    elif name == "pause":
        bench.feed(Paused(None if args[0] is None else bench.now + args[0]))  # type: ignore[operator]
    elif name == "mute":
        end = None if args[1] is None else bench.now + args[1]  # type: ignore[operator]
        bench.feed(MuteSet("pane", key(args[0]).token, end))  # type: ignore[arg-type]
    elif name == "seen":
        bench.seen(*args)  # type: ignore[arg-type]
    elif name == "gone":
        bench.gone(args[0])  # type: ignore[arg-type]
    elif name == "forget":
        bench.feed(Forget(key(args[0])))  # type: ignore[arg-type]
    elif name == "read":
        bench.feed(Read())
    elif bench.banners:
        alert = bench.banners[-1].alert
        bench.feed(BannerFailed(alert, "no reply") if name == "fail" else BannerClosed(alert, args[0]))  # type: ignore[arg-type]


CONFIGS = [
    Settings(),
    Settings(alerts=AlertSettings(merge=0.0)),
    Settings(alerts=AlertSettings(remind=RemindSettings(after=10.0, every=20.0, times=2))),
]


@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, max_size=60), st.sampled_from(CONFIGS))
def test_any_stream_of_events_leaves_a_ledger_that_adds_up(steps: list[tuple], config: Settings) -> None:
    bench = Bench(config)
    for name, *args in steps:
        step(bench, name, *args)
        check_screen(bench)
    bench.change(away=False, locked=False, dnd=False, catching_up=False, looked_at=set())
    bench.feed(Paused(bench.now))
    for number in range(5):
        bench.feed(MuteSet("pane", key(number).token, bench.now))
    bench.go(120)
    assert bench.alerts.wake_at() is None
    check_ledger(bench)
    check_limits(bench)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 5)), min_size=1, max_size=40))
def test_a_blocked_pane_that_nobody_answers_is_always_told(arrivals: list[tuple[int, float]]) -> None:
    bench = Bench()
    latest: dict[int, int] = {}
    for number, wait in arrivals:
        latest[number] = bench.turn(number, BLOCKED)
        bench.go(wait)
    bench.go(60)
    assert all(bench.outcomes(id)[-1][0] in ("delivered", "merged") for id in latest.values())
    check_limits(bench)


# -- a day of thirty agents --------------------------------------------------------------


class Day:
    """Thirty agents from eight in the morning, and a person who works, lunches, locks and sleeps."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        quiet = QuietSettings((QuietSpan(22 * 60, 7 * 60),))
        self.bench = Bench(Settings(quiet_hours=quiet))
        self.bench.wall_offset = 1_772_611_200.0 - self.bench.now  # 2026-03-04 08:00 UTC
        self.queue: list[tuple[float, int, Callable[[], None]]] = []
        self.count = itertools.count()
        self.ended: dict[int, float] = {}
        self.last: dict[int, int] = {}

    def at(self, delay: float, act: Callable[[], None]) -> None:
        heapq.heappush(self.queue, (self.bench.now + delay, next(self.count), act))

    def turn(self, number: int, state: State, worked: float = 60.0) -> None:
        if number in self.last:
            self.ended[self.last[number]] = self.bench.now
        self.last[number] = self.bench.turn(number, state, worked=worked)

    def work(self, number: int) -> None:
        """A turn: it works, asks now and then, and ends."""
        self.turn(number, WORKING)
        length = self.random.expovariate(1 / 300)
        asks = self.random.random() < 0.5
        self.at(length, lambda: self.ask(number) if asks else self.end(number, length))

    def ask(self, number: int) -> None:
        self.turn(number, BLOCKED)
        self.at(self.random.choice([0.3, 5, 60, 900]) * self.random.random(), lambda: self.answer(number))

    def answer(self, number: int) -> None:
        self.bench.seen(number, "answered")
        if self.random.random() < 0.3:
            self.ask(number)  # the next question, at once
        else:
            self.work(number)

    def end(self, number: int, worked: float) -> None:
        self.turn(number, ERROR if self.random.random() < 0.1 else DONE, worked)
        self.at(self.random.expovariate(1 / 600), lambda: self.visit(number))

    def visit(self, number: int) -> None:
        self.bench.feed(Visited(key(number)))
        self.turn(number, IDLE)
        self.at(self.random.expovariate(1 / 60), lambda: self.work(number))

    def glance(self) -> None:
        """The person turns to some pane, or to none."""
        self.bench.change(looked_at={key(self.random.randrange(40))})
        self.at(self.random.expovariate(1 / 30), self.glance)

    def live(self, hours: float) -> Bench:
        bench, hour = self.bench, 3600.0
        for number in range(30):
            self.at(self.random.uniform(0, 600), lambda number=number: self.work(number))
        self.at(0, self.glance)
        for start, length, name in (
            (4, 0.7, "away"),
            (4.1, 0.6, "locked"),
            (7, 0.5, "dnd"),
            (13, 11, "away"),
        ):
            self.at(start * hour, lambda name=name: bench.change(**{name: True}))
            self.at((start + length) * hour, lambda name=name: bench.change(**{name: False}))
        self.at(2 * hour, lambda: bench.feed(Paused(bench.now + hour)))
        self.at(6 * hour, lambda: bench.feed(MuteSet("project", "p3", bench.now + hour)))
        end = bench.now + hours * hour
        while self.queue and self.queue[0][0] <= end:
            moment, _, act = heapq.heappop(self.queue)
            bench.go(moment - bench.now)
            act()
        bench.looked_at = set()
        bench.go(600)
        return bench


def test_a_day_of_thirty_agents_adds_up() -> None:
    day = Day(seed=7)
    bench = day.live(hours=24)
    finals = check_ledger(bench)
    check_limits(bench)
    assert len(bench.transitions) > 5000 and finals.total() == len(bench.transitions)
    assert finals["delivered"] > 500 and finals["merged"] > 100 and finals["cancelled"] > 50
    reasons = {
        reason for id in bench.transitions for outcome, reason in bench.outcomes(id) if outcome == "held"
    }
    assert reasons >= {
        "state-off", "short-turn", "watching", "paused", "muted", "quiet-hours", "desktop-dnd", "locked",
    }  # fmt: skip


def test_in_a_day_of_thirty_agents_no_prompt_that_stands_is_cancelled() -> None:
    day = Day(seed=11)
    bench = day.live(hours=6)
    longest = 2.0 + 3.0 + 10.0  # settle, merge, one window of the rate limit
    for id, transition in bench.transitions.items():
        if bench.outcomes(id)[-1][0] == "cancelled":
            assert day.ended[id] - transition.at <= longest, bench.outcomes(id)
