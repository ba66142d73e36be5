"""The whole menu in a real panel: what its rows do, walked with the keyboard as a person would."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

from tests.e2e.stage import Stage, asking
from tests.support.banners import BannerMonitor
from tests.support.daemon import Daemon
from tests.support.desktop import Desktop, need, wait_until
from tests.support.tmux import IDLE

pytestmark = [pytest.mark.desktop, pytest.mark.tmux]

SIZE = 32  # of the panel, hence of the square that holds the icon
LEFT = 1280 - SIZE


@dataclass(frozen=True)
class Row:
    """A row as the panel has it. chosen: a radio or check that is on."""

    label: str
    selectable: bool
    chosen: bool
    children: tuple[Row, ...]


@dataclass
class Tray:
    """A desktop with panel and banners, two agents, and the daemon."""

    desktop: Desktop
    stage: Stage
    daemon: Daemon
    heard: BannerMonitor
    panes: dict[str, str]

    def rows(self, *, opens: bool = True) -> tuple[Row, ...]:
        """The menu as the bus tells it to the panel. opens: it is about to be opened, and so drawn afresh."""
        return asyncio.run(self._rows(opens))

    async def _rows(self, opens: bool) -> tuple[Row, ...]:
        bus = await MessageBus(bus_address=self.desktop.env["DBUS_SESSION_BUS_ADDRESS"]).connect()

        async def call(member: str, signature: str, body: list[Any]) -> list[Any]:
            answer = await bus.call(
                Message(
                    destination=f"org.kde.StatusNotifierItem-{self.daemon.pid}-1",
                    path="/StatusNotifierItem/Menu",
                    interface="com.canonical.dbusmenu",
                    member=member,
                    signature=signature,
                    body=body,
                )
            )
            assert answer is not None and answer.message_type is not MessageType.ERROR, answer and answer.body
            return list(answer.body)

        if opens:
            await call("AboutToShow", "i", [0])
        _, root = await call("GetLayout", "iias", [0, -1, []])
        bus.disconnect()
        return _row(root).children

    def row(self, *path: str) -> Row:
        """The row behind these labels (each the beginning of one)."""
        rows, found = self.rows(), None
        for label in path:
            found = next((row for row in rows if row.label.startswith(label)), None)
            assert found is not None, f"{label!r} is not among {[row.label for row in rows]}"
            rows = found.children
        assert found is not None
        return found

    def choose(self, *path: str) -> None:
        """Open the menu and go to a row with the keyboard: down to it, right into a submenu, Return."""
        self._open()
        rows = self.rows(opens=False)
        for depth, label in enumerate(path):
            ways = [row.label for row in rows if row.selectable]
            steps = next(n for n, found in enumerate(ways) if found.startswith(label))
            for _ in range(steps + (depth == 0)):  # a submenu opens with its first row chosen
                self.desktop.key("Down")
                time.sleep(0.03)
            rows = next(row.children for row in rows if row.label.startswith(label))
            if rows:
                menus = len(self._menus())
                self.desktop.key("Right")
                wait_until(lambda before=menus: len(self._menus()) > before, f"the submenu {label}")
        self.desktop.key("Return")
        wait_until(lambda: not self._menus(), "the menu is closed")

    def _menus(self) -> list[tuple[int, int, int, int, int]]:
        return [popup for popup in self.desktop.popups() if popup[4] > 60 and popup[3] < 700]

    def wait_for_icon(self) -> None:
        """Until something is drawn in the icon's place."""
        wait_until(lambda: len(set(self.desktop.pixels(LEFT, 0, SIZE, SIZE))) > 4, "an icon")

    def _open(self) -> None:
        self.wait_for_icon()
        while True:
            self.desktop.click(LEFT + SIZE // 2, SIZE // 2, button=3)
            wait_until(self._menus, "a menu")
            if self._menus()[0][4] > 150:  # the panel has its own, smaller one, until it has read ours
                self.desktop.xdotool("mousemove", "300", "600")
                return
            self.desktop.key("Escape")
            wait_until(lambda: not self._menus(), "the panel's own menu is closed")

    def ask(self, project: str) -> None:
        """The agent of a project asks, and the person is told."""
        self.stage.press(self.panes[project])
        self.daemon.wait_for(
            lambda: self.daemon.state(self.panes[project]) == "blocked", f"{project} is blocked"
        )
        self.daemon.wait_for(lambda: self.heard.about(project), f"the banner of {project}")


def _row(node: list[Any]) -> Row:
    _, properties, children = node
    said = {name: value.value for name, value in properties.items()}
    selectable = said.get("type") != "separator" and said.get("enabled", True)
    label = str(said.get("label", "")).replace("__", "_")
    return Row(label, selectable, said.get("toggle-state") == 1, tuple(_row(one.value) for one in children))


@pytest.fixture
def tray(stage: Stage, only: list[str]) -> Iterator[Tray]:
    need("xfce4-panel", "xterm")
    with (
        Desktop(tray="xfce4-panel", notify="dunst", panel_size=SIZE) as desktop,
        BannerMonitor(desktop.env["DBUS_SESSION_BUS_ADDRESS"]) as heard,
    ):
        casts = {"shop-api": "claude/edit", "web": "codex/edit"}
        panes = {
            project: stage.play(cast.partition("/")[0], project, asking(cast))
            for project, cast in casts.items()
        }
        stage.server.new_session("home", IDLE)
        environ = {"TERMINAL": "xterm -T opened", "EDITOR": "cat"}
        with Daemon(env=desktop.env, args=only, environ=environ) as daemon:
            daemon.wait_for(lambda: [pane["state"] for pane in daemon.list()] == ["idle"] * 2, "two agents")
            yield Tray(desktop, stage, daemon, heard, panes)


def test_what_is_chosen_in_submenus_is_in_force_and_kept(tray: Tray) -> None:
    daemon = tray.daemon
    tray.choose("Sounds", "Off")
    daemon.wait_for(lambda: daemon.ask("status")["sounds"] == "off", "sounds to be off")
    assert tray.row("Sounds: off", "Off").chosen and not tray.row("Sounds", "Audio").chosen
    tray.choose("Pause", "1 h")
    daemon.wait_for(lambda: daemon.ask("status")["paused"]["on"], "the pause")
    tray.choose("Mute, why?, forget", "Mute a project", "web", "Always")
    daemon.wait_for(lambda: tray.row("Mute, why?, forget", "Mute a project", "web · muted"), "the mute")

    daemon.stop()
    daemon.start()
    daemon.wait_for(lambda: len(daemon.list()) == 2, "both agents again")
    assert daemon.ask("status")["sounds"] == "off"
    wait_until(lambda: tray.row("Paused until"), "the pause")
    assert tray.row("Mute, why?, forget", "Mute a project", "web · muted", "Unmute project")
    assert daemon.cli("sounds", "mode", "both").returncode == 0
    assert tray.row("Sounds: both", "Both").chosen
    daemon.write_config("sounds: {mode: bell}\n")
    daemon.wait_for(lambda: daemon.ask("status")["sounds"] == "bell", "the config's later word")


def test_recent_leads_to_the_pane_and_remembers_over_a_restart(tray: Tray) -> None:
    client = tray.stage.server.attach_xterm(tray.desktop.env, "=home:", "-geometry", "80x24+100+200")
    tray.ask("shop-api")
    tray.ask("web")
    newest = tray.row("Recent").children[0]
    assert newest.label.startswith("◆ web · ") and newest.label.endswith(" · just now · unread")
    tray.choose("Recent", "◆ shop-api")
    tray.daemon.wait_for(lambda: client.shows.endswith(f" {tray.panes['shop-api']}"), "a click jumps")
    tray.daemon.wait_for(lambda: "unread" not in tray.row("Recent", "◆ shop-api").label, "the item is read")

    tray.daemon.stop()
    tray.daemon.start()
    tray.daemon.wait_for(lambda: len(tray.daemon.list()) == 2, "both agents again")
    wait_until(
        lambda: [row.label[:6] for row in tray.row("Recent").children[:2]] == ["◆ web ", "◆ shop"], "Recent"
    )
    assert "unread" in tray.row("Recent", "◆ web").label
    assert "unread" not in tray.row("Recent", "◆ shop-api").label
    tray.choose("Recent", "Mark all read")
    tray.daemon.wait_for(lambda: "unread" not in tray.row("Recent", "◆ web").label, "all to be read")
    assert not tray.row("Recent", "Mark all read").selectable


def test_the_config_is_made_opened_and_its_trouble_told_in_the_menu(tray: Tray) -> None:
    assert not tray.daemon.config.exists()
    tray.choose("Edit config")
    tray.daemon.wait_for(tray.daemon.config.exists, "a config file with every key")
    assert "# trayagent's configuration" in tray.daemon.config.read_text()
    tray.daemon.write_config("alerts:\n  setle: {blocked: 2}\n")
    wait_until(
        lambda: tray.rows()[1].label.startswith("config.yaml:2:3: alerts.setle: "), "the problem's row"
    )
    assert tray.rows()[1].selectable
    tray.daemon.write_config("alerts:\n  settle: {blocked: 2}\n")
    wait_until(lambda: not tray.rows()[1].label.startswith("config.yaml"), "the row to go")


def test_why_doctor_and_about_answer_in_the_persons_own_way(tray: Tray) -> None:
    for way in (("Mute, why?, forget", "○ shop-api", "Why idle?"), ("Doctor",)):
        tray.choose(*way)
        wait_until(lambda: tray.desktop.windows("^opened$"), f"a terminal for {way[-1]}")
        window = str(tray.desktop.windows("^opened$")[0])
        command = _commands_of(int(tray.desktop.xdotool("getwindowpid", window)))
        assert re.search(r"explain \S+:%\d+" if way[-1] != "Doctor" else r"trayagent\S* doctor", command), (
            command
        )
        tray.desktop.xdotool("windowclose", window)
        wait_until(lambda: not tray.desktop.windows("^opened$"), "the terminal to go")
    tray.choose("About")
    (about,) = wait_for_banner(tray, "trayagent 0")
    assert str(tray.daemon.config) in about.body and "Watching 3 panes of 1 tmux server." in about.body


def test_a_target_that_is_copied_can_be_pasted_into_a_command(tray: Tray) -> None:
    need("xclip")
    tray.choose("Mute, why?, forget", "○ web", "Copy target")
    paste = ["xclip", "-selection", "clipboard", "-o"]
    pasted = lambda: subprocess.run(paste, env=tray.desktop.env, capture_output=True, text=True).stdout  # noqa: E731
    wait_until(pasted, "a text in the clipboard")
    assert tray.daemon.json("get", pasted())["pane_id"] == tray.panes["web"]


def test_a_click_that_comes_to_nothing_says_why(tray: Tray) -> None:
    tray.wait_for_icon()
    tray.desktop.click(LEFT + SIZE // 2, SIZE // 2, button=2)
    (said,) = wait_for_banner(tray, "did not work")
    assert said.body == "Nobody needs you"


def wait_for_banner(tray: Tray, text: str) -> list:
    wait_until(lambda: tray.heard.about(text), f"a banner about {text}")
    return tray.heard.about(text)


def _commands_of(pid: int) -> str:
    """The command lines of a process and all below it."""
    found = [Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [_commands_of(int(child)) for child in children.read_text().split()]
    return "\n".join(found)
