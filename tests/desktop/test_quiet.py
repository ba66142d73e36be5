"""Do-not-disturb: dunst and Xfce themselves, the other servers played as their interfaces are documented."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from dbus_fast import Variant

from tests.desktop.ears import Ears, eventually
from tests.desktop.fake_bus import FakeService
from tests.support.desktop import Desktop
from trayagent.desktop.bus import SessionBus
from trayagent.desktop.quiet import probes
from trayagent.desktop.quiet.probes import NOTIFICATIONS, PATH, PROPERTIES
from trayagent.desktop.quiet.watch import QuietWatch
from trayagent.model.events import DesktopQuiet

pytestmark = pytest.mark.desktop


@pytest.fixture(scope="module")
def bench() -> Iterator[Desktop]:
    with Desktop() as desktop:
        yield desktop


@pytest.fixture
def address(bench: Desktop) -> str:
    return bench.env["DBUS_SESSION_BUS_ADDRESS"]


@pytest.fixture
async def ears() -> Ears:
    return Ears()


@pytest.fixture
async def watch(bench: Desktop, ears: Ears) -> AsyncIterator[QuietWatch]:
    bus = SessionBus(environ=bench.env)
    assert await bus.wait(15)
    quiet = QuietWatch(ears.hear, bus)
    quiet.start()
    yield quiet
    await quiet.stop()
    await bus.close()


def server(address: str, name: str, answers: dict[tuple[str, str], Any]) -> FakeService:
    about = {(PATH, "GetServerInformation"): ("ssss", [name, "vendor", "1", "1.2"])}
    return FakeService(address, NOTIFICATIONS, {**about, **answers})


# -- the real ones ---------------------------------------------------------------------------


async def test_a_paused_dunst_is_quiet_as_soon_as_it_is(bench, watch, ears) -> None:
    bench.start_notifier("dunst")
    try:
        await eventually(lambda: watch.source == "dunst", "dunst is known")
        assert await watch.probe() == DesktopQuiet(False)
        set_paused(bench, "true")
        await ears.event(DesktopQuiet(True, "dunst"))
        assert await watch.probe() == DesktopQuiet(True, "dunst")
        set_paused(bench, "false")
        await ears.event(DesktopQuiet(False, "dunst"))
        set_paused(bench, "true")
        await ears.until(lambda: len(ears.events) == 3, "quiet again")
    finally:
        bench.stop("dunst")
    await ears.until(lambda: len(ears.events) == 4, "the end of it, with dunst's own end")
    assert not watch.now.on


def set_paused(desktop: Desktop, value: str) -> None:
    arguments = ["string:org.dunstproject.cmd0", "string:paused", f"variant:boolean:{value}"]
    desktop.run("dbus-send", "--session", "--print-reply", f"--dest={NOTIFICATIONS}", PATH,
                f"{PROPERTIES}.Set", *arguments)  # fmt: skip


async def test_a_dunst_that_is_paused_already_is_told_at_the_start(bench, ears) -> None:
    bench.start_notifier("dunst")
    set_paused(bench, "true")
    bus = SessionBus(environ=bench.env)
    watch = QuietWatch(ears.hear, bus)
    watch.start()
    bus.start()
    try:
        await ears.event(DesktopQuiet(True, "dunst"))
    finally:
        await watch.stop()
        await bus.close()
        bench.stop("dunst")


async def test_xfce_s_switch_is_heard(bench, watch, ears) -> None:
    switch = ["xfconf-query", "-c", "xfce4-notifyd", "-p", "/do-not-disturb"]
    bench.start_notifier("xfce4-notifyd")
    try:
        await eventually(lambda: watch.source == "Xfce", "Xfce is known")
        assert await watch.probe() == DesktopQuiet(False), "the key was never set"
        assert watch.problems() == ()
        bench.run(*switch, "-n", "-t", "bool", "-s", "true")
        await ears.event(DesktopQuiet(True, "Xfce"))
        bench.run(*switch, "-r")
        await ears.event(DesktopQuiet(False, "Xfce"))
    finally:
        bench.stop("xfce4-notifyd")


# -- as documented ---------------------------------------------------------------------------


async def test_plasma_s_inhibition(watch, ears, address) -> None:
    inhibited = [True]
    answers = {(PATH, "Get"): lambda body: ("v", [Variant("b", inhibited[0])])}
    async with server(address, "Plasma", answers) as plasma:
        await ears.event(DesktopQuiet(True, "Plasma"))
        inhibited[0] = False
        changed = {"Inhibited": Variant("b", False)}
        plasma.signal(PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as", NOTIFICATIONS, changed, [])
        await ears.event(DesktopQuiet(False, "Plasma"))


async def test_mako_s_modes_are_asked_before_an_alert(watch, ears, address) -> None:
    modes = ["default"]
    answers = {("/fr/emersion/Mako", "ListModes"): lambda body: ("as", [modes])}
    async with server(address, "mako", answers):
        await eventually(lambda: watch.source == "mako", "mako is known")
        assert await watch.probe() == DesktopQuiet(False)
        modes.append("do-not-disturb")
        assert await watch.probe() == DesktopQuiet(True, "mako")
        modes.pop()
        assert await watch.probe() == DesktopQuiet(False, "mako")
        assert ears.events == [DesktopQuiet(True, "mako"), DesktopQuiet(False, "mako")]


@pytest.mark.parametrize("modern", [True, False])
async def test_swaync_s_switch_and_its_inhibitors(watch, ears, address, modern) -> None:
    name, path = "org.erikreider.swaync.cc", "/org/erikreider/swaync/cc"
    state = [False, False, 0, False]  # dnd, open, count, inhibited
    answers: dict[tuple[str, str], Any] = {(path, "GetDnd"): lambda body: ("b", [state[0]])}
    if modern:
        answers[path, "GetSubscribeData"] = lambda body: ("(bbub)", [state])
    async with FakeService(address, name, answers) as centre, server(address, "SwayNotificationCenter", {}):
        await eventually(lambda: watch.source == "swaync", "swaync is known")
        assert await watch.probe() == DesktopQuiet(False)
        state[0] = True
        centre.signal(path, name, "Subscribe", "ubb", 0, True, False)
        await ears.event(DesktopQuiet(True, "swaync"))
        state[0], state[3] = False, modern
        assert (await watch.probe()).on is modern


GSETTINGS = """#!/bin/sh
[ "$1 $2 $3" = "get $WANTED" ] || exit 1
cat "$VALUE"
"""


@pytest.fixture
def gsettings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A `gsettings` that answers one key (named in WANTED) with the content of the file that is returned."""
    tool, value = tmp_path / "gsettings", tmp_path / "value"
    tool.write_text(GSETTINGS)
    tool.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("VALUE", str(value))
    return value


@pytest.mark.parametrize(
    ("name", "source", "key", "path", "loud", "quiet"),
    [
        ("gnome-shell", "GNOME", "org.gnome.desktop.notifications show-banners",
         "/org/gnome/desktop/notifications/show-banners", "true", "false"),
        ("cinnamon", "Cinnamon", "org.cinnamon.desktop.notifications display-notifications",
         "/org/cinnamon/desktop/notifications/display-notifications", "true", "false"),
        ("Notification Daemon", "MATE", "org.mate.NotificationDaemon do-not-disturb",
         "/org/mate/notification-daemon/do-not-disturb", "false", "true"),
    ],
)  # fmt: skip
async def test_desktops_that_keep_it_in_gsettings(
    watch, ears, address, gsettings, monkeypatch, name, source, key, path, loud, quiet
) -> None:
    monkeypatch.setenv("WANTED", key)
    gsettings.write_text(f"{loud}\n")
    store = "ca.desrt.dconf"
    async with FakeService(address, store, {}) as dconf, server(address, name, {}):
        await eventually(lambda: watch.source == source, "the server is known")
        assert await watch.probe() == DesktopQuiet(False)
        gsettings.write_text(f"{quiet}\n")
        folder, _, leaf = path.rpartition("/")
        dconf.signal(
            "/ca/desrt/dconf/Writer/user", f"{store}.Writer", "Notify", "sass", folder + "/", [leaf], "t"
        )
        await ears.event(DesktopQuiet(True, source))
        gsettings.write_text(f"{loud}\n")
        dconf.signal("/ca/desrt/dconf/Writer/user", f"{store}.Writer", "Notify", "sass", path, [""], "t")
        await ears.event(DesktopQuiet(False, source))


async def test_other_settings_cost_no_question(watch, ears, address, gsettings, monkeypatch) -> None:
    monkeypatch.setenv("WANTED", "org.gnome.desktop.notifications show-banners")
    gsettings.write_text("true\n")
    async with FakeService(address, "ca.desrt.dconf", {}) as dconf, server(address, "gnome-shell", {}):
        await eventually(lambda: watch.source == "GNOME", "GNOME is known")
        await watch.probe()
        gsettings.write_text("false\n")
        dconf.signal(
            "/x", "ca.desrt.dconf.Writer", "Notify", "sass", "/org/gnome/shell/", ["favorite-apps"], "t"
        )
        await watch._bus.call(
            "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId"
        )  # the signal is through
        assert ears.events == []


# -- nobody knows ----------------------------------------------------------------------------


async def test_an_error_is_not_quiet(watch, ears, address) -> None:
    async with server(address, "dunst", {(PATH, "Get"): ("v", [Variant("b", True)])}) as dunst:
        await ears.event(DesktopQuiet(True, "dunst"))
        del dunst.answers[PATH, "Get"]
        assert await watch.probe() == DesktopQuiet(False, "dunst")
        assert "dunst does not say" in watch.problems()[0]
        dunst.answers[PATH, "Get"] = ("v", [Variant("s", "nonsense")])
        assert not (await watch.probe()).on
        dunst.answers[PATH, "Get"] = ("b", [True])
        assert not (await watch.probe()).on


async def test_a_missing_or_broken_tool_is_not_quiet(watch, address, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    async with server(address, "gnome-shell", {}):
        await eventually(lambda: watch.source == "GNOME", "GNOME is known")
        assert await watch.probe() == DesktopQuiet(False)
        assert "GNOME does not say" in watch.problems()[0]


async def test_a_tool_that_hangs_is_ended_and_not_quiet(watch, address, monkeypatch, tmp_path) -> None:
    pid = tmp_path / "pid"
    tool = tmp_path / "gsettings"
    tool.write_text(f"#!/bin/sh\necho $$ > {pid}\nexec sleep 600\n")
    tool.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(probes, "ANSWER", 0.3)
    async with server(address, "gnome-shell", {}):
        await eventually(lambda: watch.source == "GNOME", "GNOME is known")
        assert await watch.probe() == DesktopQuiet(False)
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)


async def test_an_unknown_server_is_not_quiet(watch, address) -> None:
    async with server(address, "something else", {}) as other:
        await eventually(lambda: other.calls, "it is asked who it is")
        assert await watch.probe() == DesktopQuiet(False)
        assert watch.source == ""


async def test_without_a_server_or_a_bus_it_is_not_quiet(watch, tmp_path) -> None:
    assert await watch.probe() == DesktopQuiet(False)
    bus = SessionBus(environ={"XDG_RUNTIME_DIR": str(tmp_path)})
    lonely = QuietWatch(lambda event: None, bus)
    lonely.start()
    assert await lonely.probe() == DesktopQuiet(False)
    await lonely.stop()
    await bus.close()
