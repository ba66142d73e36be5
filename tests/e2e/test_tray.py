"""The icon in a real panel: state and number are seen, a click on a row jumps, a restart loses nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.stage import Stage, asking
from tests.support.daemon import Daemon
from tests.support.desktop import Desktop, need, wait_until
from tests.support.tmux import IDLE, AttachedClient

pytestmark = [pytest.mark.desktop, pytest.mark.tmux]

SIZE = 32  # of the panel, hence of the square that holds the icon
LEFT = 1280 - SIZE
AMBER = (0xF7, 0xA8, 0x1B)
LABEL = re.compile(r"""'label': <(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")>""")

Pixels = list[tuple[int, int, int]]


@dataclass
class Panel:
    """A desktop with a panel, three agents, one xterm that shows something else, and the daemon."""

    desktop: Desktop
    stage: Stage
    daemon: Daemon
    panes: dict[str, str]
    client: AttachedClient

    # -- the icon --------------------------------------------------------------------------

    def icon(self) -> Pixels:
        """The icon's place on the panel, once it stands still."""
        while True:
            seen = self.desktop.pixels(LEFT, 0, SIZE, SIZE)
            time.sleep(0.1)
            if self.desktop.pixels(LEFT, 0, SIZE, SIZE) == seen:
                return seen

    def has(self, colour: tuple[int, int, int], least: int = 8) -> bool:
        """Whether about this colour is in the icon's place."""
        near = (all(abs(a - b) < 24 for a, b in zip(pixel, colour, strict=True)) for pixel in self.icon())
        return sum(near) >= least

    # -- the menu --------------------------------------------------------------------------

    def labels(self) -> list[str]:
        """The labels of the menu's rows, as the bus tells them to the panel; submenus behind their row."""
        answer = self.desktop.run(
            "gdbus", "call", "--session", "--dest", f"org.kde.StatusNotifierItem-{self.daemon.pid}-1",
            "--object-path", "/StatusNotifierItem/Menu", "--method", "com.canonical.dbusmenu.GetLayout",
            "0", "int32 -1", "[]",
        )  # fmt: skip
        return [single or double for single, double in LABEL.findall(answer)]

    def counts(self, number: int) -> bool:
        """Whether the menu's first row says that so many need the person."""
        return self.labels()[0].startswith(f"{number} need")

    def open_menu(self) -> tuple[int, int, int, int]:
        """Open the menu with the right button; returns its place: left, top, width, height."""
        menus = lambda: [popup for popup in self.desktop.popups() if popup[4] > 60]  # noqa: E731
        while True:
            self.desktop.click(LEFT + SIZE // 2, SIZE // 2, button=3)
            wait_until(menus, "a menu")
            _, x, y, width, height = menus()[0]
            if height > 150:  # the panel has its own, smaller one, until it has read ours
                return x, y, width, height
            self.desktop.key("Escape")
            wait_until(lambda: not menus(), "the panel's own menu is closed")

    def click_row(self, number: int) -> None:
        """Click the row that the keyboard reaches with so many steps down."""
        x, y, width, height = self.open_menu()
        self.desktop.xdotool("mousemove", "300", "600")
        plain = self._still(x, y, width, height)
        for _ in range(number):
            self.desktop.key("Down")
        wait_until(lambda: self.desktop.pixels(x, y, width, height) != plain, "a row in another colour")
        lit = self._still(x, y, width, height)
        rows = [at for at in range(height) if _row(lit, at, width) != _row(plain, at, width)]
        self.desktop.click(x + width // 2, y + (rows[0] + rows[-1]) // 2)

    def _still(self, x: int, y: int, width: int, height: int) -> Pixels:
        while True:
            seen = self.desktop.pixels(x, y, width, height)
            time.sleep(0.1)
            if self.desktop.pixels(x, y, width, height) == seen:
                return seen

    # -- what happens ----------------------------------------------------------------------

    def ask(self, project: str) -> None:
        """The agent of a project asks."""
        pane = self.panes[project]
        self.stage.press(pane)
        self.daemon.wait_for(lambda: self.daemon.state(pane) == "blocked", f"{project} is blocked")

    def shows(self, project: str) -> bool:
        """Whether the xterm shows the project's pane."""
        return self.client.shows.endswith(f" {self.panes[project]}")


def _row(pixels: Pixels, number: int, width: int) -> Pixels:
    return pixels[number * width : (number + 1) * width]


@pytest.fixture
def panel(stage: Stage, only: list[str]) -> Iterator[Panel]:
    need("xfce4-panel", "gdbus", "xterm")
    with Desktop(tray="xfce4-panel", panel_size=SIZE) as desktop:
        casts = {"shop-api": "claude/edit", "web": "codex/edit", "infra": "opencode/perm_write"}
        panes = {
            project: stage.play(cast.partition("/")[0], project, asking(cast))
            for project, cast in casts.items()
        }
        stage.server.new_session("home", IDLE)
        client = stage.server.attach_xterm(desktop.env, "=home:", "-geometry", "80x24+100+200")
        with Daemon(env=desktop.env, args=only) as daemon:
            daemon.wait_for(lambda: [pane["state"] for pane in daemon.list()] == ["idle"] * 3, "three agents")
            yield Panel(desktop, stage, daemon, panes, client)


def test_the_icon_follows_and_a_click_on_a_row_jumps(panel: Panel) -> None:
    wait_until(lambda: len(set(panel.icon())) > 4, "an icon")
    assert not panel.has(AMBER)
    panel.ask("shop-api")
    wait_until(lambda: panel.counts(1) and panel.has(AMBER, 40), "the amber icon")
    one = panel.icon()
    panel.ask("web")
    wait_until(lambda: panel.icon() != one, "another number")
    assert panel.has(AMBER, 40)
    wait_until(lambda: panel.counts(2), "two in the first row")
    rows = panel.labels()
    assert rows[1].startswith("◆ shop-api · "), "longest waiting first"
    assert rows[2].startswith("◆ web · ")
    assert any(row.startswith("○ infra") for row in rows)
    assert "Quit" in rows

    assert not panel.shows("web")
    panel.click_row(2)
    panel.daemon.wait_for(lambda: panel.shows("web"), "the xterm to show the row's pane")
    panel.desktop.click(LEFT + SIZE // 2, SIZE // 2)
    panel.daemon.wait_for(lambda: panel.shows("shop-api"), "the left click to go to the longest waiting")
    panel.stage.press(panel.panes["shop-api"])
    panel.stage.press(panel.panes["web"])
    wait_until(lambda: not panel.has(AMBER), "a calm icon once both are answered")


def test_a_panel_restart_loses_nothing(panel: Panel) -> None:
    panel.ask("shop-api")
    panel.ask("web")
    wait_until(lambda: panel.counts(2) and panel.has(AMBER, 40), "the amber icon")
    two, rows = panel.icon(), panel.labels()
    panel.desktop.stop("xfce4-panel")
    wait_until(lambda: not panel.has(AMBER), "no panel, no icon")
    panel.desktop.start_panel()
    wait_until(lambda: panel.icon() == two, "the same icon with the same number")
    strip = lambda labels: [label.rpartition(" · ")[0] for label in labels]  # noqa: E731 (the wait goes on)
    assert strip(panel.labels()) == strip(rows)
    panel.desktop.stop("xfce4-panel")
    panel.ask("infra")  # while nobody shows it
    panel.desktop.start_panel()
    wait_until(lambda: panel.counts(3), "three in the first row")
    wait_until(lambda: panel.has(AMBER, 40) and panel.icon() != two, "the number that it is now")
    assert [label[:3] for label in panel.labels()[1:4]] == ["◆ s", "◆ w", "◆ i"]
    panel.click_row(3)
    panel.daemon.wait_for(lambda: panel.shows("infra"), "a click on the row of the newest")
