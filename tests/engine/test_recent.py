"""The menu's Recent: which alerts are in it, what became of them, and when they are read."""

from __future__ import annotations

import pytest

from tests.support.house import SERVER, House
from trayagent.engine.recent import KEPT, Recent
from trayagent.model.effects import RecordDelivery, RecordRead, RecordTransition, Tray
from trayagent.model.events import Configured, DesktopQuiet, Paused, Programs, Read, Recalled, Tick, Visited
from trayagent.model.evidence import Decision, Labels, Transition
from trayagent.model.keys import PaneKey
from trayagent.model.settings import QuietSettings, QuietSpan, Settings
from trayagent.model.states import State
from trayagent.model.view import MenuItem


def find(house: House, id: str) -> MenuItem | None:
    return next((each for each in house.tray.menu if each.id == id), None)


def rows(house: House) -> list[str]:
    """The labels of Recent, newest first, without what belongs to the list as a whole."""
    recent = find(house, "recent")
    return [] if recent is None else [row.label for row in recent.children[:-2]]


def test_an_alert_is_unread_until_its_pane_is_visited_and_its_text_goes_with_that() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "ASK rm -rf build")
    house.run(0.5)
    assert rows(house) == [], "nothing was told yet"
    house.run(3)
    assert rows(house) == ["◆ api · rm -rf build · just now · unread"]
    recent = find(house, "recent")
    assert recent is not None and recent.children[0].action == ("jump", api.key.token)
    house.feed(Visited(api.key))
    house.run(125)
    house.feed(Tick())
    assert rows(house) == ["◆ api · Asks for permission · 2 min ago"]
    recent = find(house, "recent")
    assert recent is not None and not recent.children[-1].enabled


def test_an_answered_question_is_read() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "ASK one")
    house.run(3)
    house.show(api, "BUSY")
    house.run(1)
    assert rows(house) == ["◆ api · Asks for permission · just now"]


def test_what_nobody_would_call_an_alert_is_not_in_it() -> None:
    house = House()
    old = house.pane("old", born=500.0)
    house.show(old, "ASK at first sight")
    short = house.pane("short")
    house.show(short, "ASK for a moment")
    house.run(0.4)
    house.show(short, "BUSY")
    house.run(2)
    house.show(short, "FREE")  # a short turn
    watched = house.pane("watched")
    house.show(watched, "BUSY")
    house.watch(watched)
    house.run(10)
    house.show(watched, "ASK me")
    house.run(5)
    assert {"first-sight", "settle", "short-turn", "watching"} <= {reason for _, reason in house.outcomes}
    assert rows(house) == []


def test_what_was_held_says_why_and_is_told_later_as_the_same_row() -> None:
    house = House()
    api = house.pane("api")
    house.feed(Paused(house.now + 60))
    house.show(api, "ASK me")
    house.run(5)
    assert rows(house) == ["◆ api · me · just now · held: paused · unread"]
    before = find(house, "recent")
    house.run(60)
    assert rows(house) == ["◆ api · me · 1 min ago · unread"]
    after = find(house, "recent")
    assert before is not None and after is not None and before.children[0].id == after.children[0].id


def test_a_pane_that_is_gone_can_be_told_of_but_not_shown() -> None:
    house = House()
    api = house.pane("api")
    house.show(api, "ASK me")
    house.run(3)
    house.remove(api)
    house.run(5)
    recent = find(house, "recent")
    assert recent is not None
    assert [row.enabled for row in recent.children] == [False, True, False]
    assert "unread" not in recent.children[0].label


def recalled(id: int, pane: PaneKey, **fields: object) -> Recalled:
    wall = 1_800_001_000.0 - 599 + id  # ten minutes before the house is built, in the house's clock
    return Recalled(id, wall, pane, State.DONE, Labels(f"p{id}"), "delivered", **fields)  # type: ignore[arg-type]


def test_the_last_start_is_remembered() -> None:
    house = House(started=1000.0)
    gone, alive = PaneKey(SERVER, "%77"), PaneKey(SERVER, "%1")
    house.feed(recalled(1, gone))
    house.feed(recalled(2, alive, read=False, message="secret"))
    house.pane("api")
    house.run(1)
    recent = find(house, "recent")
    assert recent is not None
    assert [row.label for row in recent.children[:2]] == [
        "✔ p2 · secret · 9 min ago · unread",
        "✔ p1 · The turn has ended · 9 min ago",
    ]
    assert [row.enabled for row in recent.children[:2]] == [True, False]


@pytest.mark.parametrize("there", [True, False])
def test_an_item_of_the_last_start_is_read_by_hand_though_nothing_shows_it_any_more(there: bool) -> None:
    house = House()
    pane = house.pane("api").key if there else PaneKey(SERVER, "%77")
    house.feed(recalled(1, pane, read=False))
    house.feed(Read())
    assert rows(house) == ["✔ p1 · The turn has ended · 9 min ago"]
    assert [(read.pane, read.how) for read in house.of(RecordRead)] == [(pane, "command")]
    house.feed(Read())
    assert len(house.of(RecordRead)) == 1


def test_as_many_are_shown_as_the_config_says_and_no_more_are_kept_than_that_needs() -> None:
    recent = Recent()
    for id in range(1, KEPT + 50):
        pane = PaneKey(SERVER, f"%{id}")
        change = Transition(pane, id, State.WORKING, State.DONE, Decision(State.DONE, "", ""), "robot", None)
        recent.note([RecordTransition(id, change), RecordDelivery(id, id, "delivered")])
    assert [entry.id for entry in recent.last(3)] == [KEPT + 49, KEPT + 48, KEPT + 47]
    assert len(recent.last(10_000)) == KEPT


# -- what else the tray shows, and when ------------------------------------------------------


def test_a_pause_that_ends_is_seen_though_nothing_else_happens() -> None:
    house = House()
    house.feed(Paused(house.now + 1800))
    assert house.tray.paused
    house.run(1799)
    assert house.tray.paused
    house.run(2)
    assert not house.tray.paused


NINE_TO_TEN = Settings(quiet_hours=QuietSettings((QuietSpan(9 * 60, 10 * 60),), zone="UTC"))


def test_quiet_hours_that_begin_and_end_are_seen() -> None:
    house = House(NINE_TO_TEN)  # it is built at 08:16:40 UTC
    labels = []
    for _ in range(3):
        row = find(house, "quiet")
        assert row is not None
        labels.append(row.label.rsplit(" ", 1)[0].removesuffix(" Sat"))
        house.run(3600)
    assert labels == ["Quiet hours: next", "Quiet hours until", "Quiet hours: next"]


def test_time_alone_sends_no_trays() -> None:
    house = House(NINE_TO_TEN)
    api = house.pane("api")
    house.show(api, "FREE")
    house.run(30)
    before = len(house.of(Tray))
    house.run(2000)  # until shortly before nine
    assert len(house.of(Tray)) == before


def test_the_configs_trouble_and_the_desktops_are_in_the_menu_while_they_last() -> None:
    house = House()
    house.feed(Programs(editor=True))
    house.feed(Configured(house.settings, ("config.yaml:3:1: oops",)))
    house.feed(DesktopQuiet(True))
    row = find(house, "config|problem")
    assert row is not None and row.action == ("edit-config",)
    assert find(house, "dnd") is not None
    house.feed(Configured(house.settings))
    house.feed(DesktopQuiet(False))
    assert find(house, "config|problem") is None and find(house, "dnd") is None
