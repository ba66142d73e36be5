"""The tray item on a bus of its own, with watchers and hosts that come and go in every order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest
from dbus_fast import Variant

from tests.desktop.sni_ends import FakeWatcher, Host, until
from tests.support.desktop import Desktop
from trayagent.desktop.bus import SessionBus
from trayagent.desktop.tray import base, sni
from trayagent.desktop.tray.sni import REMEDY, SniTray, remedy
from trayagent.model.states import State
from trayagent.model.view import MenuItem, TrayView

pytestmark = pytest.mark.desktop

VIEW = TrayView(
    State.BLOCKED,
    count=2,
    title="trayagent",
    tooltip="2 need you & 1 <done>",
    menu=(
        MenuItem("p1", "shop_api", ("jump", "p1"), children=()),
        MenuItem("p2", "web", children=(MenuItem("mute", "Mute 1 h", ("mute", "p2")),)),
        MenuItem("quit", "Quit", ("quit",)),
    ),
    click=("jump", "p1"),
    middle=("next",),
)


class Owner:
    """The daemon's side: what the tray told."""

    def __init__(self, desktop: Desktop, patience: float = 60.0) -> None:
        self.actions: list[tuple[str, ...]] = []
        self.problems: list[str] = []
        self.asked = 0
        self.address = desktop.env["DBUS_SESSION_BUS_ADDRESS"]
        self.bus = SessionBus(environ=desktop.env)
        self.tray = SniTray(
            self.bus,
            self.actions.append,
            on_about_to_show=self.about_to_show,
            on_problem=self.problems.append,
            patience=patience,
            environ=desktop.env,
        )
        self.fresh: TrayView | None = None
        self.tray.show(VIEW)

    def about_to_show(self) -> None:
        self.asked += 1
        if self.fresh is not None:
            self.tray.show(self.fresh)

    async def close(self) -> None:
        await self.tray.close()
        await self.bus.close()


@pytest.fixture
def buses() -> Iterator[Desktop]:
    with Desktop(screen=False) as private:
        yield private


@pytest.fixture
async def owner(buses: Desktop) -> AsyncIterator[Owner]:
    owner = Owner(buses)
    owner.tray.start()
    yield owner
    await owner.close()


@pytest.fixture
async def host(owner: Owner) -> AsyncIterator[Host]:
    """A host that draws the owner's item."""
    async with FakeWatcher(owner.address) as watcher:
        await until(lambda: watcher.items, "the registration")
        async with Host(owner.address, watcher.items[0]) as host:
            yield host


# -- watchers ------------------------------------------------------------------------------


async def test_each_watcher_that_comes_is_registered_with_once(owner: Owner) -> None:
    for _ in range(5):
        async with FakeWatcher(owner.address) as watcher:
            await until(lambda watcher=watcher: watcher.items, "the registration")
            async with Host(owner.address, watcher.items[0]) as host:
                assert await host.property("Id") == "trayagent"
                await host.property("Title")  # a few round trips more: no second registration follows
            assert len(watcher.items) == 1


async def test_a_watcher_that_comes_after_us_and_a_host_that_comes_after_it_find_the_icon(
    buses: Desktop,
) -> None:
    owner = Owner(buses, patience=0.3)
    owner.tray.start()
    await until(lambda: owner.problems, "the problem")
    async with FakeWatcher(owner.address, host=False) as watcher:
        await until(lambda: watcher.items, "the registration")
        assert owner.tray.problems()
        watcher.host_arrives()
        await until(lambda: not owner.tray.problems(), "the host is noticed")
        assert len(watcher.items) == 1
    await owner.close()


async def test_a_watcher_that_refuses_is_asked_again(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sni, "RETRY", 0.05)
    async with FakeWatcher(owner.address, refuse=2) as watcher:
        await until(lambda: watcher.items, "the third attempt")
        await until(lambda: owner.tray._host, "the host is noticed")
        assert len(watcher.items) == 1


async def test_nobody_who_draws_the_icon_is_a_problem_told_once_with_a_remedy(buses: Desktop) -> None:
    owner = Owner(buses, patience=0.1)
    owner.tray.start()
    await until(lambda: owner.problems, "the problem")
    await asyncio.sleep(0.5)  # five times the patience
    assert len(owner.problems) == 1
    assert "Xfce" in owner.problems[0]
    assert owner.tray.problems() == tuple(owner.problems)
    await owner.close()


def test_the_remedy_is_that_of_the_desktop_at_hand() -> None:
    assert "AppIndicator" in remedy({"XDG_CURRENT_DESKTOP": "ubuntu:GNOME"})
    assert remedy({"XDG_CURRENT_DESKTOP": "Ratpoison"}) == remedy({}) == REMEDY


async def test_a_restart_of_the_bus_brings_the_icon_back(buses: Desktop, owner: Owner) -> None:
    async with FakeWatcher(owner.address) as watcher:
        await until(lambda: watcher.items, "the registration")
        buses.stop("dbus")
        await until(lambda: not owner.bus.connected, "the loss")
        owner.tray.show(replace(VIEW, count=3))
        buses.start_bus()
    async with FakeWatcher(owner.address) as watcher:
        await until(lambda: watcher.items, "the registration on the new bus")
        async with Host(owner.address, watcher.items[0]) as host:
            assert [p["label"] for _, p in await host.rows()] == ["shop__api", "web", "Quit"]


async def test_closing_takes_the_item_and_its_name_from_the_bus(buses: Desktop) -> None:
    owner = Owner(buses)
    owner.tray.start()
    async with FakeWatcher(owner.address) as watcher:
        await until(lambda: watcher.items, "the registration")
        assert buses.owner(watcher.items[0])
        await owner.tray.close()
        assert not buses.owner(watcher.items[0])
    await owner.close()


# -- what a host sees ------------------------------------------------------------------------


async def test_the_item_shows_icon_title_tooltip_and_status(owner: Owner, host: Host) -> None:
    assert await host.property("Status") == "NeedsAttention"
    assert await host.property("Title") == "trayagent"
    assert await host.property("ItemIsMenu") is False
    assert list(await host.property("ToolTip")) == ["", [], "trayagent", "2 need you &amp; 1 &lt;done&gt;"]
    pixmaps = await host.property("IconPixmap")
    assert [pixmap[0] for pixmap in pixmaps] == [16, 22, 24, 32, 44, 48, 64]
    assert pixmaps == await host.property("AttentionIconPixmap")
    owner.tray.show(replace(VIEW, state=State.WORKING, count=0))
    assert await host.property("Status") == "Active"
    assert await host.property("IconPixmap") != pixmaps
    assert await host.property("AttentionIconPixmap") == []


async def test_a_thousand_equal_views_send_no_signal_at_all(owner: Owner, host: Host) -> None:
    for _ in range(1000):
        owner.tray.show(replace(VIEW, menu=tuple(replace(item) for item in VIEW.menu)))
    owner.tray.show(replace(VIEW, title="the end"))
    await until(lambda: host.heard["NewTitle"], "the signal of the one change")
    assert host.heard == {"NewTitle": 1, "NewToolTip": 1}


async def test_each_change_sends_its_own_signals_only(owner: Owner, host: Host) -> None:
    async def heard(view: TrayView) -> dict[str, int]:
        before = host.heard.copy()
        owner.tray.show(view)
        await host.property("Title")  # signals and replies arrive in order
        return dict(host.heard - before)

    assert await heard(replace(VIEW, tooltip="2 need you, for 1 min")) == {"NewToolTip": 1}
    assert await heard(replace(VIEW, tooltip="2 need you, for 1 min", count=3)) == {
        "NewIcon": 1,
        "NewAttentionIcon": 1,
    }
    calm = replace(VIEW, tooltip="", state=State.DONE, count=0)
    assert await heard(calm) == {"NewIcon": 1, "NewStatus": 1, "NewToolTip": 1}
    assert await heard(replace(calm, click=("other",))) == {}
    relabelled = (replace(VIEW.menu[0], label="shop_api, 1 min"), *VIEW.menu[1:])
    assert await heard(replace(calm, menu=relabelled)) == {"ItemsPropertiesUpdated": 1}
    assert await heard(replace(calm, menu=relabelled[1:])) == {"LayoutUpdated": 1}


async def test_clicks_give_the_actions_of_the_view_of_that_moment(owner: Owner, host: Host) -> None:
    await host.item("ProvideXdgActivationToken", "s", "token-1")
    await host.item("Activate", "ii", 0, 0)
    assert (owner.tray.take_token(), owner.tray.take_token()) == ("token-1", "")
    await host.item("SecondaryActivate", "ii", 0, 0)
    owner.tray.show(replace(VIEW, click=("centre",), middle=()))
    await host.item("Activate", "ii", 0, 0)
    await host.item("SecondaryActivate", "ii", 0, 0)
    await host.item("ContextMenu", "ii", 0, 0)
    await host.item("Scroll", "is", 1, "vertical")
    assert owner.actions == [("jump", "p1"), ("next",), ("centre",)]


async def test_an_action_that_raises_is_logged_and_the_tray_lives(
    buses: Desktop, caplog: pytest.LogCaptureFixture
) -> None:
    bus = SessionBus(environ=buses.env)

    def broken(action: tuple[str, ...]) -> None:
        raise ValueError("mine")

    tray = SniTray(bus, broken, environ=buses.env)
    tray.show(VIEW)
    tray.start()
    async with FakeWatcher(buses.env["DBUS_SESSION_BUS_ADDRESS"]) as watcher:
        await until(lambda: watcher.items, "the registration")
        async with Host(buses.env["DBUS_SESSION_BUS_ADDRESS"], watcher.items[0]) as host:
            await host.item("Activate", "ii", 0, 0)
            assert "a callback of the tray failed" in caplog.text
            assert await host.property("Title") == "trayagent"
    await tray.close()
    await bus.close()


def test_calls_from_another_thread_are_refused(buses: Desktop) -> None:
    async def main() -> None:
        owner = Owner(buses)
        with pytest.raises(RuntimeError, match="thread"):
            await asyncio.to_thread(owner.tray.show, replace(VIEW, count=3))
        await owner.close()

    asyncio.run(main())


# -- the menu ------------------------------------------------------------------------------------


async def test_clicking_a_row_or_a_row_of_a_submenu_gives_its_action(owner: Owner, host: Host) -> None:
    _, layout = await host.menu("GetLayout", "iias", await host.number("web"), -1, [])
    submenu = [child.value[0] for child in layout[2]]
    await host.menu("Event", "isvu", await host.number("shop__api"), "clicked", _nothing(), 0)
    assert await host.menu("EventGroup", "a(isvu)", [[submenu[0], "clicked", _nothing(), 0]]) == []
    assert owner.actions == [("jump", "p1"), ("mute", "p2")]


async def test_rows_that_do_not_exist_are_errors_and_never_actions(owner: Owner, host: Host) -> None:
    assert await host.menu("EventGroup", "a(isvu)", [[999, "clicked", _nothing(), 0]]) == [999]
    assert await host.menu("AboutToShowGroup", "ai", [0, 999]) == [[], [999]]
    assert await host.menu("GetGroupProperties", "aias", [999], []) == []
    with pytest.raises(AssertionError, match="no row 999"):
        await host.menu("GetLayout", "iias", 999, -1, [])
    with pytest.raises(AssertionError, match="no property"):
        await host.menu("GetProperty", "is", 0, "colour")
    assert owner.actions == []


async def test_layout_depth_and_property_names_are_respected(owner: Owner, host: Host) -> None:
    _, (_, _, children) = await host.menu("GetLayout", "iias", 0, 1, ["label"])
    web = children[1].value
    assert (set(web[1]), web[2]) == ({"label"}, [])
    assert (await host.menu("GetProperty", "is", web[0], "label")).value == "web"
    groups = await host.menu("GetGroupProperties", "aias", [web[0]], ["enabled"])
    assert [(number, set(names)) for number, names in groups] == [(web[0], {"enabled"})]


async def test_a_menu_about_to_show_is_refreshed_first(owner: Owner, host: Host) -> None:
    assert await host.menu("AboutToShow", "i", 0) is False
    assert owner.asked == 1
    owner.fresh = replace(VIEW, menu=(MenuItem("only", "Only"),))
    assert await host.menu("AboutToShow", "i", 0) is True
    assert [p["label"] for _, p in await host.rows()] == ["Only"]


async def test_an_open_menu_is_updated_in_place_and_rebuilt_when_it_closes(owner: Owner, host: Host) -> None:
    await host.menu("AboutToShow", "i", 0)
    await host.menu("Event", "isvu", 0, "opened", _nothing(), 0)
    grown = (MenuItem("p0", "new"), replace(VIEW.menu[0], label="shop_api, 1 min"), *VIEW.menu[1:])
    owner.tray.show(replace(VIEW, menu=grown))
    assert [p["label"] for _, p in await host.rows()] == ["shop__api, 1 min", "web", "Quit"]
    assert (host.heard["ItemsPropertiesUpdated"], host.heard["LayoutUpdated"]) == (1, 0)
    await host.menu("Event", "isvu", 0, "closed", _nothing(), 0)
    assert [p["label"] for _, p in await host.rows()] == ["new", "shop__api, 1 min", "web", "Quit"]
    assert host.heard["LayoutUpdated"] == 1


async def test_a_host_that_tells_nothing_of_opening_still_gets_a_menu_that_holds_still(
    owner: Owner, host: Host
) -> None:
    await host.menu("AboutToShow", "i", 0)
    owner.tray.show(replace(VIEW, menu=VIEW.menu[1:]))
    shop, *_ = await host.rows()
    assert shop[1]["label"] == "shop__api" and shop[1]["enabled"] is False
    await host.menu("Event", "isvu", await host.number("Quit"), "clicked", _nothing(), 0)
    assert [p["label"] for _, p in await host.rows()] == ["web", "Quit"]
    assert host.heard["LayoutUpdated"] == 1


async def test_a_panel_that_dies_with_the_menu_open_does_not_freeze_the_next_one(owner: Owner) -> None:
    async with FakeWatcher(owner.address) as watcher:
        await until(lambda: watcher.items, "the registration")
        async with Host(owner.address, watcher.items[0]) as host:
            await host.menu("Event", "isvu", 0, "opened", _nothing(), 0)
    await until(lambda: not owner.tray._watcher, "the loss of the watcher")
    owner.tray.show(replace(VIEW, menu=VIEW.menu[1:]))
    async with FakeWatcher(owner.address) as watcher:
        await until(lambda: watcher.items, "the registration")
        async with Host(owner.address, watcher.items[0]) as host:
            assert [p["label"] for _, p in await host.rows()] == ["web", "Quit"]


def test_the_backend_says_what_it_can() -> None:
    async def main() -> None:
        tray = SniTray(SessionBus(environ={}), lambda action: None, environ={})
        assert {base.MENU, base.CLICK, base.MIDDLE_CLICK, base.LIVE_MENU} <= tray.capabilities

    asyncio.run(main())


def _nothing() -> Any:
    return Variant("s", "")
