"""The tray as data: sections, order, ids, actions, badge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trayagent.alerts.hours import until
from trayagent.alerts.policy import Alerts
from trayagent.engine import wording
from trayagent.engine.menu import stale_at, tray_view
from trayagent.engine.recent import Entry
from trayagent.model.events import MuteSet, Paused, Programs
from trayagent.model.evidence import Labels
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.settings import QuietSettings, QuietSpan, Settings, SoundSettings, TraySettings
from trayagent.model.states import GLYPH, Kind, State
from trayagent.model.view import MenuItem, PaneView, TrayView

BLOCKED, DONE, ERROR, WORKING, IDLE = State.BLOCKED, State.DONE, State.ERROR, State.WORKING, State.IDLE
OFFSET = 1_772_629_200.0 - 1000.0  # engine second 1000 is 2026-03-04 13:00 UTC
SERVER = ServerKey("tmux", "/tmp/s|odd", 1, 2)


def pane(number: int, state: State, **fields: object) -> PaneView:
    key = PaneKey(SERVER, f"%{number}")
    view = PaneView(
        key, Labels(f"p{number}", f"/src/p{number}"), "claude", "Claude Code", state, 1000.0 - number * 60,
        "screen", "", "default", "work", "w", number, key.id,
    )  # fmt: skip
    return replace(view, **fields)  # type: ignore[arg-type]


def tray(*views: PaneView, alerts: Alerts | None = None, now: float = 1000.0, **rest: object) -> TrayView:
    rest = {"settings": Settings(), "wall_offset": OFFSET, "zone": "UTC", **rest}
    return tray_view(views, now, alerts=alerts or Alerts(Settings(), words=wording), **rest)  # type: ignore[arg-type]


def flat(items: tuple[MenuItem, ...]) -> Iterator[MenuItem]:
    for item in items:
        yield item
        yield from flat(item.children)


def labels(view: TrayView) -> list[str]:
    return ["--" if item.separator else item.label for item in view.menu]


def item(view: TrayView, id: str) -> MenuItem:
    return next(each for each in flat(view.menu) if each.id == id)


def test_sections_in_order_and_the_longest_waiting_first() -> None:
    view = tray(
        pane(1, BLOCKED, message="Run npm test?"),
        pane(2, IDLE),
        pane(3, WORKING),
        pane(4, DONE),
        pane(5, ERROR),
    )
    assert labels(view) == [
        "2 need you, 1 working, 1 done",
        "--",
        "✖ p5 · The turn ended with an error · 5 min",
        "◆ p1 · Run npm test? · 1 min",
        "--",
        "✔ p4 · Claude Code · 4 min",
        "--",
        "● p3 · Claude Code · 3 min",
        "○ p2 · Claude Code",
        "--",
        "Mute, why?, forget",
        "Pause",
        "Sounds: audio",
        "--",
        "Edit config",
        "Doctor",
        "About",
        "Quit",
    ]


def test_an_empty_tray_still_pauses_and_quits() -> None:
    view = tray()
    assert labels(view) == [
        "No agents",
        "--",
        "Pause",
        "Sounds: audio",
        "--",
        "Edit config",
        "Doctor",
        "About",
        "Quit",
    ]
    assert (view.state, view.count, view.click, view.middle) == (State.UNKNOWN, 0, (), ("next",))
    assert not view.menu[0].enabled and view.menu[-1].action == ("quit",)


def test_left_click_jumps_to_the_first_that_needs_you() -> None:
    view = tray(pane(1, BLOCKED), pane(2, ERROR), pane(9, DONE))
    verb, token = view.click
    assert verb == "jump" and PaneKey.from_token(token) == PaneKey(SERVER, "%2")
    assert tray(pane(9, DONE)).click == ()


def test_the_icon_shows_the_loudest_state() -> None:
    assert tray(pane(1, ERROR), pane(2, BLOCKED)).state is BLOCKED
    assert tray(pane(1, ERROR), pane(2, DONE)).state is ERROR
    assert tray(pane(1, WORKING), pane(2, DONE)).state is DONE
    assert tray(pane(1, WORKING), pane(2, IDLE)).state is WORKING


@given(st.lists(st.sampled_from(list(State)), max_size=40))
def test_the_badge_equals_the_first_section_and_every_pane_has_one_row(states: list[State]) -> None:
    view = tray(*(pane(number, state) for number, state in enumerate(states)))
    loud = [each for each in view.menu if each.label[:1] in (GLYPH[BLOCKED], GLYPH[ERROR])]
    assert view.count == len(loud) == sum(state in (BLOCKED, ERROR) for state in states)
    rows = [each.id for each in flat(view.menu) if each.action[:1] == ("jump",)]
    assert len(rows) == len(states) == len(set(rows))
    ids = [each.id for each in flat(view.menu)]
    assert len(ids) == len(set(ids))


def test_ids_belong_to_panes_and_stay_when_they_move() -> None:
    before, after = tray(pane(1, WORKING), pane(2, IDLE)), tray(pane(1, BLOCKED), pane(2, IDLE))
    assert {each.id for each in flat(before.menu)} - {each.id for each in flat(after.menu)} == set()


def test_a_click_on_a_pane_jumps_and_its_submenu_has_the_rest() -> None:
    view = tray(pane(1, BLOCKED, labels=Labels("p1", target="default:%1")))
    token = PaneKey(SERVER, "%1").token
    row = item(view, f"pane|{token}")
    assert (row.action, row.children) == (("jump", token), ())
    assert [(each.label, each.action) for each in item(view, f"more|{token}").children] == [
        ("Mute 1 h", ("mute", "pane", token, "1h")),
        ("Mute until tomorrow", ("mute", "pane", token, "tomorrow")),
        ("Mute always", ("mute", "pane", token, "always")),
        ("", ()),
        ("Copy target default:%1", ("copy", token)),
        ("Why blocked?", ("why", token)),
        ("Forget", ("forget", token)),
    ]


def test_what_needs_a_program_that_is_not_there_is_absent() -> None:
    view = tray(pane(1, BLOCKED), programs=Programs(), config_problems=("config.yaml:3:1: oops",))
    words = {each.action[0] for each in flat(view.menu) if each.action}
    assert words == {"jump", "mute", "forget", "pause", "sounds", "test-sound", "doctor", "about", "quit"}
    assert item(view, "panes").label == "Mute, forget"
    assert not item(view, "config|problem").enabled


def test_sessions_projects_and_agents_are_muted_once_for_all_their_panes() -> None:
    shop = {"labels": Labels("shop", "/src/shop"), "server": "default", "session": "work"}
    alerts = Alerts(Settings(), words=wording)
    alerts.feed(MuteSet("project", "notes", None), None, 1000.0)  # type: ignore[arg-type]
    view = tray(
        pane(1, IDLE, **shop),
        pane(2, BLOCKED, **shop),
        pane(3, IDLE, agent="codex", name="Codex", labels=Labels("notes", "/src/notes"), muted=True),
        alerts=alerts,
    )
    scopes = {
        name: [
            (row.label, [each.label for each in row.children]) for row in item(view, f"scope|{name}").children
        ]
        for name in ("session", "project", "agent")
    }
    times = ["1 h", "Until tomorrow", "Always"]
    assert scopes["project"] == [("notes · muted", ["Unmute project notes"]), ("shop", times)]
    assert scopes["agent"] == [("Claude Code", times), ("Codex", times)]
    assert scopes["session"] == [("work", times)]
    assert item(view, "scope|project|/src/shop|mute|1h").action == ("mute", "project", "/src/shop", "1h")
    assert item(view, "scope|session|default:work|mute|1h").action[1:3] == ("session", "default:work")
    assert item(view, "scope|project|/src/notes|unmute|project|notes").action[-1] == "off"


def test_projects_of_one_name_are_told_apart_by_their_folder() -> None:
    both = [pane(n, IDLE, labels=Labels("api", f"/src/{n}/api")) for n in (1, 2)]
    rows = item(tray(*both), "scope|project").children
    assert [row.label for row in rows] == ["/src/1/api", "/src/2/api"]


def test_a_muted_pane_says_until_when_and_offers_to_undo_each_mute() -> None:
    alerts = Alerts(Settings(), words=wording)
    muted = pane(1, BLOCKED, muted=True, muted_until=4600.0)
    world = None
    alerts.feed(MuteSet("project", "/src/p1", 4600.0), world, 1000.0)  # type: ignore[arg-type]
    alerts.feed(MuteSet("pane", muted.key.token, 4000.0), world, 1000.0)  # type: ignore[arg-type]
    row = item(tray(muted, alerts=alerts), f"pane|{muted.key.token}")
    assert row.label.endswith("· muted until 14:00")
    more = item(tray(muted, alerts=alerts), f"more|{muted.key.token}")
    assert [(each.label, each.action) for each in more.children[:-4]] == [
        ("Unmute", ("mute", "pane", muted.key.token, "off")),
        ("Unmute project /src/p1", ("mute", "project", "/src/p1", "off")),
    ]


def test_a_mute_of_the_config_can_only_be_told() -> None:
    muted = pane(1, BLOCKED, muted=True)
    row = item(tray(muted), f"pane|{muted.key.token}")
    assert row.label.endswith("· muted until undone")
    more = item(tray(muted), f"more|{muted.key.token}")
    assert [(each.label, each.enabled, each.action) for each in more.children[:-4]] == [
        ("Muted in the config", False, ())
    ]


def test_working_and_idle_fold_and_nothing_else_does() -> None:
    views = [pane(number, WORKING) for number in range(12)] + [
        pane(20 + number, BLOCKED) for number in range(12)
    ]
    view = tray(*views)
    more = item(view, "more")
    assert more.label == "4 more" and len(more.children) == 4
    assert sum(each.label.startswith("◆") for each in view.menu) == 12
    assert all(each.id != "more" for each in tray(*views[:8]).menu)
    small = tray(*views[:4], settings=Settings(tray=TraySettings(fold=2)))
    assert item(small, "more").label == "2 more"


def test_panes_of_one_project_are_told_apart() -> None:
    same = {"labels": Labels("shop", "/src/shop")}
    view = tray(pane(1, IDLE, **same), pane(2, IDLE, **same), pane(3, IDLE))
    assert labels(view)[2:5] == [
        "○ p3 · Claude Code",
        "○ shop [work:2 %2] · Claude Code",
        "○ shop [work:1 %1] · Claude Code",
    ]


def test_pause_offers_ends_that_the_policy_understands() -> None:
    choices = item(tray(), "pause").children
    assert [each.label for each in choices] == ["30 min", "1 h", "4 h", "Until tomorrow", "Until unpaused"]
    ends = [until(each.action[1], 1000.0, OFFSET, "UTC") for each in choices]
    assert ends == [2800.0, 4600.0, 15400.0, 1000.0 + 19 * 3600, None]


@pytest.mark.parametrize(
    ("end", "text"),
    [(2800.0, "until 13:30"), (1000.0 + 19 * 3600, "until Thu 08:00"), (None, "until undone")],
)
def test_a_pause_shows_its_end_in_icon_tooltip_and_menu(end: float | None, text: str) -> None:
    alerts = Alerts(Settings(), words=wording)
    alerts.feed(Paused(end), None, 1000.0)  # type: ignore[arg-type]
    view = tray(pane(1, WORKING), alerts=alerts)
    assert view.paused and view.tooltip == f"1 working · paused {text}"
    assert item(view, "pause").label == f"Paused {text}"
    assert item(view, "pause").children[0].action == ("pause", "off")
    if end is not None:
        over = tray(pane(1, WORKING), alerts=alerts, now=end)
        assert not over.paused and over.tooltip == "1 working"


def test_the_zone_is_the_persons() -> None:
    alerts = Alerts(Settings(), words=wording)
    alerts.feed(Paused(2800.0), None, 1000.0)  # type: ignore[arg-type]
    assert tray(alerts=alerts, zone="Asia/Tokyo").tooltip == "No agents · paused until 22:30"


def test_problems_are_told_under_the_status_line() -> None:
    view = tray(
        problems=("config.yaml:3:1: alrts: unknown key, did you mean alerts?", "a\x1b[31m socket\nrefused")
    )
    assert labels(view)[1:4] == [
        "config.yaml:3:1: alrts: unknown key, did you mean alerts?",
        "a socket refused",
        "--",
    ]
    assert not any(each.enabled for each in view.menu[:3])


def test_the_first_thing_that_is_wrong_with_the_config_is_a_row_that_opens_it() -> None:
    view = tray(config_problems=("config.yaml:3:1: alrts: unknown key", "config.yaml:9:1: another"))
    assert labels(view)[:3] == ["No agents", "config.yaml:3:1: alrts: unknown key", "--"]
    assert view.menu[1].action == item(view, "config").action == ("edit-config",)


def test_sounds_are_a_radio_with_a_test_and_say_their_mode() -> None:
    view = tray(settings=Settings(sounds=SoundSettings(mode="bell")))
    sounds = item(view, "sounds")
    assert sounds.label == "Sounds: terminal bell"
    assert [
        (each.label, each.checked, each.action) for each in sounds.children if each.toggle == "radio"
    ] == [
        ("Audio", False, ("sounds", "audio")),
        ("Terminal bell", True, ("sounds", "bell")),
        ("Both", False, ("sounds", "both")),
        ("Off", False, ("sounds", "off")),
    ]
    assert sounds.children[-1].action == ("test-sound",)


NIGHT = QuietSettings((QuietSpan(22 * 60, 7 * 60),))


@pytest.mark.parametrize(
    ("hours", "text"),
    [
        (0, "Quiet hours: next 22:00"),
        (9, "Quiet hours until Thu 07:00"),
        (12, "Quiet hours until 07:00"),
        (18, "Quiet hours: next 22:00"),
    ],
)
def test_quiet_hours_tell_their_end_or_their_next_beginning(hours: int, text: str) -> None:
    view = tray(settings=Settings(quiet_hours=NIGHT), now=1000.0 + hours * 3600)
    assert item(view, "quiet").label == text and not item(view, "quiet").enabled


def test_without_quiet_hours_nothing_is_said_of_them() -> None:
    for spans in ((), (QuietSpan(60, 60),), (QuietSpan(60, 120, frozenset()),)):
        view = tray(settings=Settings(quiet_hours=QuietSettings(spans)))
        assert all(each.id != "quiet" for each in view.menu)


def test_quiet_hours_on_weekdays_name_the_day_on_which_they_begin() -> None:
    friday = QuietSettings((QuietSpan(22 * 60, 7 * 60, frozenset({4})),))
    assert item(tray(settings=Settings(quiet_hours=friday)), "quiet").label == "Quiet hours: next Fri 22:00"


def test_the_desktops_do_not_disturb_is_told() -> None:
    assert item(tray(dnd=True), "dnd").label == "Do not disturb is on"
    assert all(each.id != "dnd" for each in tray().menu)


def test_the_tray_is_stale_when_a_pause_a_mute_or_quiet_hours_end() -> None:
    def stale(
        *views: PaneView, until: float | None = None, quiet: QuietSettings | None = None
    ) -> float | None:
        alerts = Alerts(Settings(), words=wording)
        if until is not None:
            alerts.feed(Paused(until), None, 1000.0)  # type: ignore[arg-type]
        settings = Settings(quiet_hours=quiet or QuietSettings())
        return stale_at(views, 1000.0, alerts=alerts, settings=settings, wall_offset=OFFSET, zone="UTC")

    assert stale(pane(1, BLOCKED)) is None
    assert stale(until=2000.0) == 2000.0
    assert stale(pane(1, BLOCKED, muted=True, muted_until=1500.0), until=2000.0) == 1500.0
    assert stale(quiet=NIGHT, until=100_000.0) == 1000.0 + 9 * 3600


# -- Recent ------------------------------------------------------------------------------


def past(id: int, state: State = BLOCKED, **fields: object) -> Entry:
    labels = Labels(f"p{id}", f"/src/p{id}", agent_name="Claude Code")
    entry = Entry(
        id, 1000.0 - id * 60, PaneKey(SERVER, f"%{id}"), state, labels, outcome="delivered", read=True
    )
    return replace(entry, **fields)  # type: ignore[arg-type]


def test_recent_tells_who_what_when_what_became_of_it_and_whether_it_was_seen() -> None:
    entries = (
        past(0, message="Run npm test?", read=False),
        past(1, kind=Kind.PLAN),
        past(2, DONE, outcome="held", held_by="quiet-hours"),
        past(3, ERROR, outcome="failed", held_by="no server"),
        past(90, outcome="held", held_by="desktop-dnd"),
    )
    recent = item(tray(recent=entries, alive={entries[0].pane, entries[2].pane}), "recent")
    assert [each.label for each in recent.children] == [
        "◆ p0 · Run npm test? · just now · unread",
        "◆ p1 · Has a plan to approve · 1 min ago",
        "✔ p2 · The turn has ended · 2 min ago · held: quiet hours",
        "✖ p3 · The turn ended with an error · 3 min ago · no banner",
        "◆ p90 · Waits for an answer · 1 h 30 min ago · held: do not disturb",
        "",
        "Mark all read",
    ]
    assert [each.id for each in recent.children[:2]] == ["recent|0", "recent|1"]
    assert [each.action[:1] for each in recent.children[:5]] == [("jump",), (), ("jump",), (), ()]
    assert [each.enabled for each in recent.children[:5]] == [True, False, True, False, False]


def test_all_can_be_marked_read_while_something_is_unread() -> None:
    for read in (True, False):
        row = item(tray(recent=(past(1, read=read),)), "recent|read")
        assert (row.action, row.enabled) == (("read",), not read)
    assert all(each.id != "recent" for each in tray().menu)


def test_a_question_is_short_plain_and_masked() -> None:
    message = "export KEY=sk-ant-api03-" + "Ab3dEf6hIj9k" * 8 + "\x1b[0m\u202e\nmore"
    row = tray(pane(1, BLOCKED, message=message)).menu[2]
    assert "Ab3dEf6h" not in row.label and "\u202e" not in row.label and "\n" not in row.label
    assert len(tray(pane(1, BLOCKED, message="word " * 500)).menu[2].label) < 100


def test_nothing_changed_is_equal() -> None:
    assert tray(pane(1, BLOCKED), pane(2, DONE)) == tray(pane(2, DONE), pane(1, BLOCKED))
