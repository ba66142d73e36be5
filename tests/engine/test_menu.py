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
from trayagent.engine.menu import tray_view
from trayagent.model.events import MuteSet, Paused
from trayagent.model.evidence import Labels
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.settings import Settings, TraySettings
from trayagent.model.states import GLYPH, State
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
        "Mute or forget",
        "Pause",
        "Quit",
    ]


def test_an_empty_tray_still_pauses_and_quits() -> None:
    view = tray()
    assert labels(view) == ["No agents", "--", "Pause", "Quit"]
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


def test_a_click_on_a_pane_jumps_and_its_submenu_has_mutes_and_forget() -> None:
    view = tray(pane(1, BLOCKED))
    token = PaneKey(SERVER, "%1").token
    row = item(view, f"pane|{token}")
    assert (row.action, row.children) == (("jump", token), ())
    assert [(each.label, each.action) for each in item(view, f"more|{token}").children] == [
        ("Mute 1 h", ("mute", "pane", token, "1h")),
        ("Mute until tomorrow", ("mute", "pane", token, "tomorrow")),
        ("Mute always", ("mute", "pane", token, "always")),
        ("Forget", ("forget", token)),
    ]


def test_a_muted_pane_says_until_when_and_offers_to_undo_each_mute() -> None:
    alerts = Alerts(Settings(), words=wording)
    muted = pane(1, BLOCKED, muted=True, muted_until=4600.0)
    world = None
    alerts.feed(MuteSet("project", "/src/p1", 4600.0), world, 1000.0)  # type: ignore[arg-type]
    alerts.feed(MuteSet("pane", muted.key.token, 4000.0), world, 1000.0)  # type: ignore[arg-type]
    row = item(tray(muted, alerts=alerts), f"pane|{muted.key.token}")
    assert row.label.endswith("· muted until 14:00")
    more = item(tray(muted, alerts=alerts), f"more|{muted.key.token}")
    assert [(each.label, each.action) for each in more.children[:-1]] == [
        ("Unmute", ("mute", "pane", muted.key.token, "off")),
        ("Unmute project /src/p1", ("mute", "project", "/src/p1", "off")),
    ]


def test_a_mute_of_the_config_can_only_be_told() -> None:
    muted = pane(1, BLOCKED, muted=True)
    row = item(tray(muted), f"pane|{muted.key.token}")
    assert row.label.endswith("· muted until undone")
    more = item(tray(muted), f"more|{muted.key.token}")
    assert [(each.label, each.enabled, each.action) for each in more.children[:-1]] == [
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


def test_a_question_is_short_plain_and_masked() -> None:
    message = "export KEY=sk-ant-api03-" + "Ab3dEf6hIj9k" * 8 + "\x1b[0m\u202e\nmore"
    row = tray(pane(1, BLOCKED, message=message)).menu[2]
    assert "Ab3dEf6h" not in row.label and "\u202e" not in row.label and "\n" not in row.label
    assert len(tray(pane(1, BLOCKED, message="word " * 500)).menu[2].label) < 100


def test_nothing_changed_is_equal() -> None:
    assert tray(pane(1, BLOCKED), pane(2, DONE)) == tray(pane(2, DONE), pane(1, BLOCKED))
