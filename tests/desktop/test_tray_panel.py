"""The tray in a real panel (xfce4-panel): seen, clicked, read while open, back after the panel restarts."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace

import pytest

from tests.desktop.sni_ends import until
from tests.support.desktop import Desktop
from trayagent.desktop.bus import SessionBus
from trayagent.desktop.tray.sni import SniTray
from trayagent.model.states import State
from trayagent.model.view import MenuItem, TrayView

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.skipif(
        not shutil.which("xfce4-panel"), reason="no xfce4-panel: run tests/run.sh as root once"
    ),
]

SIZE = 32  # of the panel, hence of the square that holds the icon
LEFT = 1280 - SIZE
BACKGROUND = (0x33, 0x55, 0x77)

BLOCKED = TrayView(
    State.BLOCKED,
    count=2,
    tooltip="2 need you",
    menu=(
        MenuItem("p1", "◆ shop_api  Run the migration?  12 min", ("jump", "p1")),
        MenuItem("p2", "✖ web  API limit reached  3 min", ("jump", "p2")),
        MenuItem("quit", "Quit", ("quit",)),
    ),
    click=("jump", "p1"),
    middle=("next",),
)
WORKING = replace(BLOCKED, state=State.WORKING, count=0)
ERROR = replace(BLOCKED, state=State.ERROR)


@pytest.fixture
def panel() -> Iterator[Desktop]:
    with Desktop(tray="xfce4-panel", panel_size=SIZE) as desktop:
        yield desktop


class Shown:
    """The tray on that panel, and what was done with it."""

    def __init__(self, panel: Desktop) -> None:
        self.panel = panel
        self.actions: list[tuple[str, ...]] = []
        self.bus = SessionBus(environ=panel.env)
        self.asked = 0
        self.tray = SniTray(self.bus, self.actions.append, on_about_to_show=self.ask, environ=panel.env)
        self.tray.show(BLOCKED)
        self.tray.start()

    def ask(self) -> None:
        self.asked += 1

    def colours(self, wanted: tuple[int, int, int]) -> int:
        """How many pixels of the icon's place are about that colour."""
        place = self.panel.pixels(LEFT, 0, SIZE, SIZE)
        return sum(all(abs(a - b) < 24 for a, b in zip(pixel, wanted, strict=True)) for pixel in place)

    def amber(self) -> bool:
        return self.colours((0xF7, 0xA8, 0x1B)) > 40

    def red(self) -> bool:
        return self.colours((0xE5, 0x48, 0x4D)) > 40

    def blue(self) -> bool:
        return self.colours((0x4A, 0x8F, 0xDB)) > 8

    def click(self, button: int) -> None:
        self.panel.click(LEFT + SIZE // 2, SIZE // 2, button)

    def menus(self) -> list[tuple[int, int, int, int, int]]:
        """Menus that are open (tooltips are smaller than three rows)."""
        return [popup for popup in self.panel.popups() if popup[4] > 60]

    async def open_menu(self) -> tuple[int, int, int, int, int]:
        """Open the menu. A panel that has not read ours yet shows its own one: close that, try again."""
        await until(self.amber, "the icon")
        self.asked = 0
        while True:
            self.click(3)
            await until(self.menus, "a menu")
            await asyncio.sleep(0.1)
            if self.asked:
                return self.menus()[0]
            self.panel.key("Escape")
            await until(lambda: not self.menus(), "the panel's own menu is closed")

    def click_row(self, menu: tuple[int, int, int, int, int], row: int) -> None:
        _, x, y, width, height = menu
        self.panel.click(x + width // 2, y + height * (2 * row + 1) // (2 * len(BLOCKED.menu)))


async def still(look: Callable[[], list[tuple[int, int, int]]]) -> list[tuple[int, int, int]]:
    """What `look` sees once it has seen the same for a tenth of a second (the menu has been painted)."""
    while True:
        seen = look()
        await asyncio.sleep(0.1)
        if look() == seen:
            return seen


@pytest.fixture
async def shown(panel: Desktop) -> AsyncIterator[Shown]:
    shown = Shown(panel)
    yield shown
    await shown.tray.close()
    await shown.bus.close()


async def test_the_icon_appears_and_follows_state_and_number(shown: Shown) -> None:
    await until(shown.amber, "the amber icon")
    two = shown.panel.pixels(LEFT, 0, SIZE, SIZE)
    shown.tray.show(replace(BLOCKED, count=3))
    await until(lambda: shown.panel.pixels(LEFT, 0, SIZE, SIZE) != two, "another number")
    assert shown.amber()
    shown.tray.show(WORKING)
    await until(lambda: shown.blue() and not shown.amber(), "the calm dot")
    shown.tray.show(ERROR)
    await until(lambda: shown.red() and not shown.blue(), "the red cross")
    await shown.tray.close()
    await until(lambda: not shown.red(), "the icon is gone")


async def test_left_and_middle_clicks_are_the_actions_of_the_view(shown: Shown) -> None:
    await until(shown.amber, "the icon")
    shown.click(1)
    await until(lambda: shown.actions == [("jump", "p1")], "the left click")
    shown.click(2)
    await until(lambda: shown.actions[1:] == [("next",)], "the middle click")


async def test_a_row_that_is_clicked_gives_its_action(shown: Shown) -> None:
    menu = await shown.open_menu()
    shown.click_row(menu, 1)
    await until(lambda: shown.actions == [("jump", "p2")], "the row's action")
    await until(lambda: not shown.menus(), "the menu is closed")


async def test_an_open_menu_stays_open_and_is_updated_in_place(shown: Shown) -> None:
    menu = await shown.open_menu()
    window, x, y, width, height = menu
    shown.panel.xdotool("mousemove", "200", "500")

    def row() -> list[tuple[int, int, int]]:
        return shown.panel.pixels(x, y, width, height // 3)

    before = await still(row)
    fresh = replace(BLOCKED.menu[0], label="◆ shop_api  Run the migration?  13 min")
    shown.tray.show(replace(BLOCKED, menu=(fresh, *BLOCKED.menu[1:], MenuItem("new", "New", ("new",)))))
    await until(lambda: row() != before, "the row's new text")
    assert [popup[0] for popup in shown.menus()] == [window]
    assert shown.menus()[0][4] == height
    shown.click_row(menu, 2)
    await until(lambda: shown.actions == [("quit",)], "the row under the pointer is still the same one")
    again = await shown.open_menu()
    assert again[4] > height


async def test_the_icon_comes_back_each_time_the_panel_restarts(shown: Shown) -> None:
    for _ in range(2):
        await until(shown.amber, "the icon")
        shown.panel.stop("xfce4-panel")
        await until(lambda: not shown.amber(), "no panel, no icon")
        shown.panel.start_panel()
    await until(shown.amber, "the icon again")
    shown.click(1)
    await until(lambda: shown.actions == [("jump", "p1")], "a click on it")
