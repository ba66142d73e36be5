"""The tray by pystray: real GTK on a real XEmbed tray (trayer), and what goes wrong with stand-ins."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.desktop import Desktop
from trayagent.desktop.bus import SessionBus
from trayagent.desktop.tray import base, choose, pystray_child
from trayagent.desktop.tray.pystray_ import CHILD, PystrayTray
from trayagent.desktop.tray.sni import SniTray
from trayagent.model.states import State
from trayagent.model.view import MenuItem, TrayView

BLOCKED = TrayView(
    State.BLOCKED,
    count=2,
    tooltip="2 need you",
    menu=(
        MenuItem("p1", "shop_api", ("jump", "p1")),
        MenuItem("p2", "web", ("jump", "p2"), enabled=False),
        MenuItem("s", separator=True),
        MenuItem(
            "sounds",
            "Sounds",
            children=(
                MenuItem("on", "On", ("sounds", "audio"), toggle="radio", checked=True),
                MenuItem("off", "Off", ("sounds", "off"), toggle="radio"),
            ),
        ),
        MenuItem("quit", "Quit", ("quit",)),
    ),
    click=("jump", "p1"),
)

# A child that is ready, notes each line that it hears, and clicks on what is typed into its fifo.
STAND_IN = """
import json, sys
print(json.dumps({"ready": {"backend": "stand-in", "click": True}}), flush=True)
for line in sys.stdin:
    with open(sys.argv[1], "a") as heard:
        heard.write(line)
    message = json.loads(line)
    if message.get("title") == "click":
        print(json.dumps({"clicked": message.get("click", 1)}), flush=True)
    if message.get("title") == "end":
        sys.exit(7)
"""


async def until(done: Callable[[], object], what: str, seconds: float = 20.0) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while not done():
        assert asyncio.get_running_loop().time() < end, f"not in time: {what}"
        await asyncio.sleep(0.02)


class Told:
    """A tray with a stand-in behind it, and what came of it."""

    def __init__(self, *command: str, **more: float) -> None:
        self.actions: list[tuple[str, ...]] = []
        self.problems: list[str] = []
        self.tray = PystrayTray(
            self.actions.append, on_problem=self.problems.append, command=command, retry=0.05, **more
        )


@pytest.fixture
async def stand_in(tmp_path: Path) -> AsyncIterator[Told]:
    told = Told(sys.executable, "-c", STAND_IN, str(tmp_path / "heard"))
    yield told
    await told.tray.close()


def heard(folder: Path) -> list[dict[str, object]]:
    path = folder / "heard"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def test_only_what_changed_is_sent_and_nothing_for_an_equal_view(
    stand_in: Told, tmp_path: Path
) -> None:
    stand_in.tray.show(BLOCKED)
    stand_in.tray.start()
    assert await stand_in.tray.settled(20)
    for _ in range(100):
        stand_in.tray.show(replace(BLOCKED))
    stand_in.tray.show(replace(BLOCKED, tooltip="3 need you"))
    stand_in.tray.show(replace(BLOCKED, tooltip="3 need you", state=State.ERROR))
    await until(lambda: len(heard(tmp_path)) == 3, "three lines")
    first, second, third = heard(tmp_path)
    assert first.keys() == {"icon", "title", "click", "menu"}
    assert second == {"title": "3 need you"}
    assert third.keys() == {"icon"}
    rows = first["menu"]
    assert isinstance(rows, list)
    assert [row.get("label") for row in rows] == ["shop_api", "web", None, "Sounds", "Quit"]
    assert (rows[1]["enabled"], rows[2]) == (False, {})
    assert [row["checked"] for row in rows[3]["children"]] == [True, False]


async def test_a_click_is_the_action_of_what_was_clicked_also_in_a_menu_that_is_old(stand_in: Told) -> None:
    stand_in.tray.start()
    stand_in.tray.show(replace(BLOCKED, tooltip="click"))
    await until(lambda: stand_in.actions, "a click")
    assert stand_in.actions == [("jump", "p1")]
    old = stand_in.tray._number(("quit",))
    stand_in.tray.show(replace(BLOCKED, menu=()))
    stand_in.tray._hear({"clicked": old})
    stand_in.tray._hear({"clicked": 99999})
    assert stand_in.actions[1:] == [("quit",)]


async def test_a_process_that_ends_is_told_once_and_started_again(stand_in: Told, tmp_path: Path) -> None:
    stand_in.tray.start()
    stand_in.tray.show(replace(BLOCKED, tooltip="end"))
    await until(lambda: len(heard(tmp_path)) >= 3, "three starts")
    assert set(stand_in.problems) == {"pystray's process ended with 7"}
    stand_in.tray.show(BLOCKED)
    await until(lambda: stand_in.tray.drawn and heard(tmp_path)[-1].get("title") == "2 need you", "a fourth")
    assert stand_in.tray.problems() == ()


async def test_a_toolkit_that_is_never_ready_is_a_problem_and_keeps_nobody_from_ending() -> None:
    told = Told(sys.executable, "-c", "import time; time.sleep(1000)", ready=0.3)
    told.tray.start()
    told.tray.show(BLOCKED)
    assert not await told.tray.settled(20)
    assert told.problems == ["pystray is not ready within 0.3 s"]
    await asyncio.wait_for(told.tray.close(), 20)


async def test_a_process_that_makes_no_sense_or_cannot_be_started_is_a_problem() -> None:
    for command, why in ((("echo", "nonsense"), "makes no sense"), (("/nonexistent",), "cannot be started")):
        told = Told(*command)
        told.tray.start()
        assert not await told.tray.settled(20)
        assert why in told.problems[0]
        await told.tray.close()


@pytest.mark.parametrize(
    ("backend", "why"),
    [("dummy", "shows no icons"), ("xorg", "no menus"), ("nonsense", "unknown backend")],
)
async def test_a_backend_that_cannot_serve_is_refused_with_the_reason_and_not_tried_again(
    backend: str, why: str, desktop: Desktop
) -> None:
    problems: list[str] = []
    tray = PystrayTray(
        lambda action: None,
        on_problem=problems.append,
        environ={**desktop.env, "PYSTRAY_BACKEND": backend},
        retry=0.05,
    )
    tray.start()
    assert not await tray.settled(20)
    await asyncio.sleep(0.3)
    assert len(problems) == 1 and why in problems[0], problems
    assert tray.problems() == (problems[0],)
    await tray.close()


def test_calls_from_another_thread_are_refused() -> None:
    import threading

    tray = PystrayTray(lambda action: None)
    caught: list[BaseException] = []

    def call() -> None:
        try:
            tray.show(BLOCKED)
        except RuntimeError as error:
            caught.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert len(caught) == 1


# -- pystray itself ------------------------------------------------------------------------


@pytest.fixture
def pystray(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """pystray with its backend for tests."""
    monkeypatch.setenv("PYSTRAY_BACKEND", "dummy")
    import pystray

    return pystray


def test_rows_are_pystrays_items(pystray: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"label": "one", "number": 5},
        {},
        {"label": "greyed", "enabled": False},
        {"label": "more", "children": [{"label": "pick", "toggle": "radio", "checked": True, "number": 6}]},
        {"label": "tick", "toggle": "check", "checked": False, "number": 7},
    ]
    menu = pystray_child.menu_of(pystray, rows, click=9)
    one, line, greyed, more, tick = menu.items[1:]
    assert [item.text for item in menu] == ["one", "- - - -", "greyed", "more", "tick"]
    assert line is pystray.Menu.SEPARATOR and not greyed.enabled and one.checked is None
    (pick,) = more.submenu.items
    assert (pick.radio, pick.checked, tick.radio, tick.checked) == (True, True, False, False)
    menu(None)
    pick(None)
    told = [json.loads(out) for out in capsys.readouterr().out.splitlines()]
    assert told == [{"clicked": 9}, {"clicked": 6}]


@pytest.mark.skipif(sys.platform != "linux", reason="auto is another one elsewhere")
def test_the_setting_names_the_backend() -> None:
    bus = SessionBus(environ={})
    assert isinstance(choose.tray("auto", bus, print), SniTray)
    assert isinstance(choose.tray("sni", bus, print), SniTray)
    assert isinstance(choose.tray("pystray", bus, print), PystrayTray)
    assert choose.tray("off", bus, print) is None


# -- the real thing ------------------------------------------------------------------------


def gtk_python() -> str:
    """An interpreter that has PyGObject with GTK 3, "" if there is none."""
    probe = "import gi; gi.require_version('Gtk', '3.0'); from gi.repository import Gtk"
    for python in (sys.executable, "/usr/bin/python3"):
        if shutil.which(python) and not subprocess.run([python, "-c", probe], capture_output=True).returncode:
            return python
    return ""


@pytest.fixture
def xembed() -> Iterator[Desktop]:
    """A desktop with trayer, whose panel lies at the lower right."""
    if not shutil.which("trayer") or not gtk_python():
        pytest.skip("no XEmbed tray or no GTK for Python: apt-get install trayer python3-gi gir1.2-gtk-3.0")
    with Desktop() as desktop:
        desktop.spawn(
            "trayer", "trayer", "--edge", "top", "--align", "right", "--widthtype", "pixel", "--width", "64",
            "--height", "32", "--SetDockType", "true", "--tint", "0x335577",
        )  # fmt: skip
        yield desktop


@pytest.mark.desktop
async def test_on_a_real_xembed_tray_the_icon_is_drawn_follows_and_its_menu_works(xembed: Desktop) -> None:
    actions: list[tuple[str, ...]] = []
    environ = {
        **xembed.env,
        "PYSTRAY_BACKEND": "gtk",
        "PYTHONPATH": os.pathsep.join({sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]}),
    }
    tray = PystrayTray(actions.append, environ=environ, command=(gtk_python(), str(CHILD)))
    tray.show(BLOCKED)
    tray.start()
    try:
        assert await tray.settled(20), tray.problems()
        assert base.CLICK in tray.capabilities

        def place() -> tuple[set[tuple[int, int, int]], int]:
            found = xembed.pixels(1216, 0, 64, 32)
            colours = {pixel for pixel in found if max(pixel) - min(pixel) > 100}
            return colours, len(colours)

        await until(lambda: place()[1] > 3, "a coloured icon in the tray")
        red = place()[0]
        tray.show(replace(BLOCKED, state=State.WORKING, count=0))
        await until(lambda: place()[0] != red, "another icon")
        left = next(
            x for x in range(1216, 1280) if any(max(p) - min(p) > 100 for p in xembed.pixels(x, 0, 1, 32))
        )
        xembed.click(left + 6, 16, 1)
        await until(lambda: actions == [("jump", "p1")], "the left click")
        xembed.click(left + 6, 16, 3)
        await until(xembed.popups, "the menu")
        xembed.key("Down", "Return")
        await until(lambda: len(actions) == 2, "a click on the first row")
        assert actions[1] == ("jump", "p1")
    finally:
        await asyncio.wait_for(tray.close(), 20)
    await until(lambda: place()[1] == 0, "the icon is taken away")
