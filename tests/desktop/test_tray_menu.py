"""The menu's rows: numbers that stay, changes as small as they can be, and an open menu that holds still."""

from __future__ import annotations

from typing import Any

import pytest

from trayagent.desktop.tray.menu import ROOT, Change, Rows
from trayagent.model.view import MenuItem


def row(id: str, label: str = "", **more: Any) -> MenuItem:
    return MenuItem(id, label or id, (id,), **more)


def labels(rows: Rows) -> list[str]:
    return [rows.rows[n].properties["label"].value for n in rows.rows[ROOT].children]


def numbers(rows: Rows) -> dict[str, int]:
    return {rows.rows[n].properties["label"].value: n for n in rows.rows[ROOT].children}


def test_equal_menus_change_nothing() -> None:
    rows = Rows()
    rows.update((row("a"), row("b")))
    assert rows.update((row("a"), row("b"))) == Change()


def test_a_new_label_is_a_property_and_not_a_layout() -> None:
    rows = Rows()
    rows.update((row("a"), row("b")))
    before, revision = numbers(rows), rows.revision
    change = rows.update((row("a", "a, 3 min"), row("b")))
    assert change.parent is None
    assert {n: set(names) for n, names in change.set.items()} == {before["a"]: {"label"}}
    assert rows.revision == revision


def test_rows_keep_their_numbers_when_others_come_go_and_move() -> None:
    rows = Rows()
    rows.update((row("a"), row("b"), row("c")))
    before = numbers(rows)
    change = rows.update((row("c"), row("new"), row("a")))
    after = numbers(rows)
    assert change.parent == ROOT
    assert (after["a"], after["c"]) == (before["a"], before["c"])
    assert after["new"] not in before.values()


def test_the_number_of_a_row_that_is_gone_is_never_given_to_another() -> None:
    rows = Rows()
    rows.update((row("a"), row("b")))
    before = numbers(rows)
    rows.update((row("a"),))
    rows.update((row("a"), row("b"), row("c")))
    assert not {numbers(rows)["b"], numbers(rows)["c"]} & set(before.values())


def test_the_same_id_in_two_submenus_is_two_rows() -> None:
    rows = Rows()
    rows.update((row("a", children=(row("jump"),)), row("b", children=(row("jump"),))))
    assert len(rows.rows) == 5


def test_the_same_id_twice_among_siblings_is_told_and_shown_once(caplog: pytest.LogCaptureFixture) -> None:
    rows = Rows()
    rows.update((row("a"), row("a")))
    assert labels(rows) == ["a"]
    assert "the id 'a'" in caplog.text


def test_a_change_inside_one_submenu_names_that_submenu() -> None:
    rows = Rows()
    rows.update((row("a", children=(row("x"),)), row("b")))
    number = numbers(rows)["a"]
    assert rows.update((row("a", children=(row("x"), row("y"))), row("b"))).parent == number


def test_underscores_are_doubled_and_toggles_separators_and_submenus_have_their_properties() -> None:
    rows = Rows(lambda name: b"png" if name == "blocked" else b"")
    rows.update(
        (
            row("a", "shop_api"),
            MenuItem("s", separator=True),
            row("c", toggle="check", checked=True),
            row("r", toggle="radio"),
            row("m", children=(row("x"),)),
            row("off", enabled=False),
            row("i", icon="blocked"),
            row("t", icon="face-smile"),
        )
    )
    found = [{k: v.value for k, v in rows.rows[n].properties.items()} for n in rows.rows[ROOT].children]
    assert found[0]["label"] == "shop__api"
    assert found[1]["type"] == "separator"
    assert (found[2]["toggle-type"], found[2]["toggle-state"]) == ("checkmark", 1)
    assert (found[3]["toggle-type"], found[3]["toggle-state"]) == ("radio", 0)
    assert found[4]["children-display"] == "submenu"
    assert found[5]["enabled"] is False
    assert found[6]["icon-data"] == b"png"
    assert found[7]["icon-name"] == "face-smile"


def test_a_disabled_row_does_nothing_even_if_it_is_clicked() -> None:
    rows = Rows()
    rows.update((row("a", enabled=False),))
    assert rows.rows[numbers(rows)["a"]].action == ()


def test_a_property_that_is_gone_is_named() -> None:
    rows = Rows()
    rows.update((row("a", icon="face-smile"),))
    change = rows.update((row("a"),))
    assert change.unset == {numbers(rows)["a"]: ["icon-name"]}


def test_an_open_menu_keeps_its_shape_while_its_rows_change() -> None:
    rows = Rows()
    rows.update((row("a"), row("b")))
    before = numbers(rows)
    rows.frozen = True
    change = rows.update((row("new"), row("a", "a, 3 min")))
    assert change.parent is None
    assert labels(rows) == ["a, 3 min", "b"]
    assert not rows.rows[before["b"]].properties["enabled"].value
    assert rows.rows[before["b"]].action == ()
    assert rows.behind


def test_a_menu_that_closes_catches_up_in_one_change() -> None:
    rows = Rows()
    rows.update((row("a"), row("b")))
    before = numbers(rows)
    rows.frozen = True
    rows.update((row("new"), row("a")))
    rows.update((row("new"), row("newer"), row("a")))
    change = rows.thaw()
    assert change.parent == ROOT
    assert labels(rows) == ["new", "newer", "a"]
    assert numbers(rows)["a"] == before["a"]
    assert not rows.behind
    assert rows.thaw() == Change()


def test_a_row_that_comes_back_while_the_menu_is_open_is_itself_again() -> None:
    rows = Rows()
    rows.update((row("a"), row("b")))
    before = dict(rows.rows)
    rows.frozen = True
    rows.update((row("a"),))
    rows.update((row("a"), row("b")))
    assert rows.rows == before
    assert not rows.behind


def test_a_row_that_becomes_a_submenu_waits_until_the_menu_is_closed() -> None:
    rows = Rows()
    rows.update((row("a"),))
    rows.frozen = True
    assert rows.update((row("a", children=(row("x"),)),)) == Change()
    assert rows.thaw().parent is not None
    assert len(rows.rows) == 3
