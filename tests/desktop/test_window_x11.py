"""Windows on a real X server with openbox and real terminals."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from dbus_fast import Variant
from Xlib import X, display
from Xlib.ext import record

from tests.desktop.ears import Ears, eventually
from tests.desktop.fake_bus import FakeService
from tests.support.desktop import Desktop, wait_until
from trayagent.desktop.bus import SessionBus
from trayagent.desktop.notify.freedesktop import FreedesktopNotifier
from trayagent.desktop.window import idle, login
from trayagent.desktop.window.x11 import X11Windows
from trayagent.model.effects import Banner
from trayagent.model.events import ActiveWindow, BannerFailed
from trayagent.model.keys import ServerKey
from trayagent.model.panes import Client
from trayagent.model.states import State

pytestmark = pytest.mark.desktop

BELL = 104  # core request


class Terminal:
    """An xterm with a client in it that does nothing."""

    def __init__(self, desktop: Desktop, name: str) -> None:
        self.desktop, self.name = desktop, name
        told = desktop.folder / f"told-{name}"
        told.unlink(missing_ok=True)
        script = f"echo $$ $WINDOWID $(tty) >{told}.new; mv {told}.new {told}; exec sleep 900"
        self.process = desktop.spawn(name, "xterm", "-T", name, "-e", "sh", "-c", script)
        wait_until(told.exists, f"xterm {name}")
        pid, window, self.tty = told.read_text().split()
        self.pid, self.window = int(pid), int(window)
        wait_until(lambda: self.window in listed(desktop), f"the window of {name}")

    @property
    def pids(self) -> tuple[int, ...]:
        """As sources/ fills Client.pids: the client and its ancestors."""
        return (self.pid, self.process.pid, os.getpid())

    def client(self, hint: int | None = None, pids: tuple[int, ...] | None = None) -> Client:
        server = ServerKey("tmux", "/tmp/s", 1, 2)
        pids = self.pids if pids is None else pids
        return Client(server, self.name, self.pid, self.tty, "$0", "@0", None, window_hint=hint, pids=pids)

    def close(self) -> None:
        self.desktop.stop(self.name)


def listed(desktop: Desktop) -> list[int]:
    """The window manager's windows."""
    root = desktop.x.screen().root
    found = root.get_full_property(desktop.x.intern_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
    return list(found.value) if found else []


@pytest.fixture(scope="module")
def bench() -> Iterator[Desktop]:
    with Desktop() as desktop:
        yield desktop


@pytest.fixture
def three(bench: Desktop) -> Iterator[list[Terminal]]:
    terminals = [Terminal(bench, name) for name in ("one", "two", "three")]
    yield terminals
    for terminal in terminals:
        terminal.close()


@pytest.fixture
async def ears() -> Ears:
    return Ears()


@pytest.fixture
async def windows(bench: Desktop, ears: Ears) -> AsyncIterator[X11Windows]:
    backend = X11Windows(bench.env)
    backend.start(ears.hear)
    await ears.until(lambda: ears.events and ears.events[-1].known, "an answer of the X server")
    yield backend
    await backend.stop()


def focus(desktop: Desktop, window: int) -> None:
    """Somebody activates a window; not we."""
    desktop.xdotool("windowactivate", "--sync", str(window))


async def now_active(ears: Ears, window: int, pid: int | None = None) -> None:
    await ears.until(
        lambda: ears.events[-1].window == window and (pid is None or ears.events[-1].pid == pid),
        f"window {window} active",
    )


# -- the active window -----------------------------------------------------------------------


async def test_the_active_window_is_told_with_its_process(bench, three, windows, ears) -> None:
    one, two, _ = three
    for terminal in (one, two, one):
        await asyncio.to_thread(focus, bench, terminal.window)
        await now_active(ears, terminal.window, terminal.process.pid)


async def test_no_moment_without_a_window_between_two(bench, three, windows, ears) -> None:
    for _ in range(3):
        for terminal in three:
            await asyncio.to_thread(focus, bench, terminal.window)
            await now_active(ears, terminal.window)
    seen = [event.window for event in ears.events if event.known]
    assert 0 not in seen[next(i for i, window in enumerate(seen) if window) :]
    assert all(a != b for a, b in zip(ears.events, ears.events[1:], strict=False)), "told at changes only"


async def test_the_end_of_the_last_window_is_told(bench, windows, ears) -> None:
    terminal = Terminal(bench, "only")
    await now_active(ears, terminal.window)
    await asyncio.to_thread(terminal.close)
    await now_active(ears, 0)
    assert ears.events[-1] == ActiveWindow(True, 0, 0)


async def test_without_a_window_manager_nothing_is_known(bench, windows, ears) -> None:
    await asyncio.to_thread(bench.stop, "openbox")
    try:
        await ears.until(lambda: not ears.events[-1].known, "unknown")
        assert not windows.capabilities.raises
        result = await windows.raise_window(None, (1,))
        assert not result.ok
    finally:
        await asyncio.to_thread(bench.start_openbox)
    await ears.until(lambda: ears.events[-1].known, "known again")


async def test_a_lost_display_is_unknown_and_found_again(ears) -> None:
    def start(number: str) -> None:
        desktop.spawn("again", "Xvfb", number, "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset")
        desktop.spawn("openbox", "openbox", "--sm-disable")

    with Desktop() as desktop:
        backend = X11Windows(desktop.env)
        backend.start(ears.hear)
        try:
            await ears.until(lambda: ears.events and ears.events[-1].known, "known")
            await asyncio.to_thread(desktop.stop, "openbox")
            await asyncio.to_thread(desktop.stop, "xvfb", signal.SIGKILL)
            desktop._x = None  # its server is gone
            await ears.until(lambda: not ears.events[-1].known and backend.problems(), "unknown")
            assert await backend.idle_seconds() is None
            result = await backend.raise_window(None, (1,))
            assert (result.ok, result.why) == (False, "there is no X server")
            await asyncio.to_thread(start, desktop.env["DISPLAY"])
            await ears.until(lambda: ears.events[-1].known, "known again", 40)
            assert backend.problems() == ()
        finally:
            await backend.stop()


async def test_a_stopped_x_server_blocks_nothing(ears) -> None:
    with Desktop() as desktop:
        backend = X11Windows(desktop.env)
        backend.start(ears.hear)
        xvfb = desktop.programs["xvfb"].pid
        try:
            await ears.until(lambda: ears.events and ears.events[-1].known, "known")
            os.kill(xvfb, signal.SIGSTOP)
            asking = asyncio.create_task(backend.raise_window(None, (1,)))
            longest, last = 0.0, time.monotonic()
            while not asking.done():
                await asyncio.sleep(0.01)
                longest, last = max(longest, time.monotonic() - last), time.monotonic()
            assert asking.result().why == "the X server does not answer"
            assert longest < 0.5
        finally:
            os.kill(xvfb, signal.SIGCONT)
            await backend.stop()


async def test_a_display_that_ended_is_replaced_by_the_login_session_s(bench, ears, monkeypatch) -> None:
    """The environment is that of an old tmux server; the user's systemd manager knows the new display."""
    monkeypatch.setenv("XAUTHORITY", "/nowhere/old")
    said = Variant("as", [f"DISPLAY={bench.env['DISPLAY']}", "XAUTHORITY=/nowhere/new", "OTHER=1"])
    properties = {(login.MANAGER, "Get"): ("v", [said])}
    bus = SessionBus(environ=bench.env)
    assert await bus.wait(15)
    async with FakeService(bench.env["DBUS_SESSION_BUS_ADDRESS"], login.SYSTEMD, properties):
        backend = X11Windows({"DISPLAY": ":59999"}, bus)
        backend.start(ears.hear)
        await ears.until(lambda: ears.events[-1].known, "the new display")
        assert os.environ["XAUTHORITY"] == "/nowhere/new"
        await backend.stop()
    await bus.close()


@pytest.mark.parametrize("name", ["", ":", ":999999", "no-such-host.invalid:0", "nonsense", "::"])
async def test_an_odd_display_is_a_problem_to_tell_and_no_more(ears, name) -> None:
    backend = X11Windows({"DISPLAY": name})
    backend.start(ears.hear)
    await eventually(backend.problems, "the problem")
    assert ears.events == [ActiveWindow(known=False)]
    await backend.stop()


# -- which window ----------------------------------------------------------------------------


async def test_a_client_s_window_is_found_by_its_process_or_its_hint(three, windows) -> None:
    for terminal in three:
        assert await windows.window_of(terminal.client()) == terminal.window
        assert await windows.window_of(terminal.client(hint=terminal.window)) == terminal.window


async def test_a_hint_that_was_inherited_from_another_terminal_is_not_believed(three, windows) -> None:
    one, two, _ = three
    assert await windows.window_of(one.client(hint=two.window)) == one.window
    assert await windows.window_of(one.client(hint=two.window, pids=(os.getpid(),))) is None


@pytest.mark.parametrize("hint", [0, 1, 0x7FFFFFFF, 0xFFFFFFFF])
async def test_a_hint_that_names_no_window_is_ignored(three, windows, hint) -> None:
    assert await windows.window_of(three[0].client(hint=hint)) == three[0].window
    assert await windows.window_of(three[0].client(hint=hint, pids=())) is None


async def test_a_hint_that_names_an_inner_window_leads_to_its_frame(bench, three, windows) -> None:
    one = three[0]
    inner = display.Display(bench.env["DISPLAY"])
    try:
        children = inner.create_resource_object("window", one.window).query_tree().children
        assert await windows.window_of(one.client(hint=children[0].id)) == one.window
    finally:
        inner.close()


# -- raising ---------------------------------------------------------------------------------


async def test_the_right_window_of_three_gets_the_keyboard(bench, three, windows, ears) -> None:
    for terminal in (three[0], three[2], three[1], three[0]):
        result = await windows.raise_window(None, terminal.pids)
        assert result.ok, result.why
        assert int(await asyncio.to_thread(bench.xdotool, "getactivewindow")) == terminal.window
        await now_active(ears, terminal.window)


async def test_a_minimised_window_comes_back(bench, three, windows) -> None:
    one = three[0]
    await asyncio.to_thread(bench.xdotool, "windowminimize", "--sync", str(one.window))
    assert one.window not in bench.windows("^one$")
    result = await windows.raise_window(one.window, one.pids)
    assert result.ok, result.why
    assert one.window in bench.windows("^one$")


async def test_a_window_on_another_desktop_is_gone_to(bench, three, windows) -> None:
    one = three[0]
    bench.xdotool("set_num_desktops", "3")
    bench.xdotool("set_desktop_for_window", str(one.window), "2")
    try:
        assert bench.xdotool("get_desktop") == "0"
        result = await windows.raise_window(None, one.pids)
        assert result.ok, result.why
        assert bench.xdotool("get_desktop") == "2"
        assert bench.xdotool("get_desktop_for_window", str(one.window)) == "2", "it was not dragged along"
    finally:
        bench.xdotool("set_desktop", "0")
        bench.xdotool("set_num_desktops", "1")


async def test_a_window_that_is_gone_is_said_to_be(three, windows) -> None:
    three[0].close()
    result = await windows.raise_window(three[0].window, three[0].pids)
    assert (result.ok, result.why) == (False, "no window of this terminal was found")


async def test_a_token_s_time_is_used(bench, three, windows) -> None:
    result = await windows.raise_window(None, three[0].pids, token="panel-1234-host_TIME2147483647")
    assert result.ok
    result = await windows.raise_window(None, three[1].pids, token="not a startup id")
    assert result.ok


# -- several windows of one process ----------------------------------------------------------


def pretend_shared(desktop: Desktop, terminals: list[Terminal]) -> None:
    """Let all windows claim the first one's process, as those of gnome-terminal do."""
    atom = desktop.x.intern_atom("_NET_WM_PID")
    for terminal in terminals:
        window = desktop.x.create_resource_object("window", terminal.window)
        window.change_property(atom, 6, 32, [terminals[0].process.pid])  # 6: CARDINAL
    desktop.x.sync()


async def test_a_title_for_a_moment_finds_the_window_and_is_put_back(bench, three, windows) -> None:
    pretend_shared(bench, three)
    shared = three[0].process.pid
    assert await windows.window_of(three[1].client(pids=(three[1].pid, shared))) is None
    for terminal in (three[1], three[2], three[0]):
        result = await windows.raise_window(None, (terminal.pid, shared), tty=terminal.tty)
        assert result.ok, result.why
        assert int(await asyncio.to_thread(bench.xdotool, "getactivewindow")) == terminal.window

    def titles() -> list[str]:
        return [bench.xdotool("getwindowname", str(terminal.window)) for terminal in three]

    await asyncio.to_thread(wait_until, lambda: titles() == ["one", "two", "three"], "the old titles")


@pytest.mark.parametrize("tty", ["", "/dev/null", "/etc/passwd", "/dev/pts/99999", "/dev/pts/../null"])
async def test_without_a_terminal_of_ours_nothing_is_raised(bench, three, windows, tty) -> None:
    pretend_shared(bench, three)
    result = await windows.raise_window(None, (three[0].process.pid,), tty=tty)
    assert not result.ok
    assert result.why.startswith("3 windows share this terminal's process")


async def test_a_regular_file_is_never_written_to(bench, three, windows, tmp_path: Path) -> None:
    pretend_shared(bench, three)
    target = tmp_path / "tty1"
    target.write_text("untouched")
    assert not (await windows.raise_window(None, (three[0].process.pid,), tty=str(target))).ok
    assert target.read_text() == "untouched"


# -- idleness --------------------------------------------------------------------------------


async def test_idle_time_grows_and_ends_with_the_pointer(bench, windows) -> None:
    bench.xdotool("mousemove", "10", "10")
    await asyncio.sleep(1.2)
    before = await windows.idle_seconds()
    assert before is not None
    assert before >= 1.0
    bench.xdotool("mousemove", "20", "20")
    again = await windows.idle_seconds()
    assert again is not None
    assert again < before


async def test_an_xwayland_is_not_asked_for_idleness_or_no_window(bench) -> None:
    ears = Ears()
    backend = X11Windows({**bench.env, "WAYLAND_DISPLAY": "wayland-0"})
    backend.start(ears.hear)
    await eventually(lambda: backend.capabilities.about.startswith("Xwayland"), "a connection")
    assert await backend.idle_seconds() is None
    assert not ears.events[-1].known
    await backend.stop()


async def test_gnome_tells_the_idle_time_where_x_cannot(bench) -> None:
    bus = SessionBus(environ=bench.env)
    assert await bus.wait(15)
    backend = X11Windows({**bench.env, "WAYLAND_DISPLAY": "wayland-0"}, bus)
    backend.start(Ears().hear)
    await eventually(lambda: backend.capabilities.about.startswith("Xwayland"), "a connection")
    answers = {(idle.CORE, "GetIdletime"): ("t", [42_500])}
    async with FakeService(bench.env["DBUS_SESSION_BUS_ADDRESS"], idle.MUTTER, answers):
        assert await backend.idle_seconds() == 42.5
    assert await backend.idle_seconds() is None
    await backend.stop()
    await bus.close()


# -- the bell --------------------------------------------------------------------------------


async def test_the_bell_rings(bench, windows) -> None:
    """The server's RECORD extension tells each Bell request that it gets."""
    name = bench.env["DISPLAY"]
    control, data = display.Display(name), display.Display(name)
    rung = threading.Event()
    requests = {"core_requests": (BELL, BELL)}
    nothing = dict.fromkeys(("core_replies", "delivered_events", "device_events"), (0, 0))
    nothing |= dict.fromkeys(("ext_requests", "ext_replies"), (0, 0, 0, 0))
    wanted = {**requests, **nothing, "errors": (0, 0), "client_started": False, "client_died": False}
    context = control.record_create_context(0, [record.AllClients], [wanted])
    control.sync()

    def heard(reply: Any) -> None:
        if reply.category == record.FromClient and reply.data[0] == BELL:
            rung.set()

    listener = threading.Thread(target=data.record_enable_context, args=(context, heard))
    listener.start()
    try:
        async with asyncio.timeout(15):
            while not rung.is_set():  # the recording begins a moment after its thread
                assert await windows.ring()
                await asyncio.sleep(0.05)
    finally:
        control.record_disable_context(context)
        control.flush()
        await asyncio.to_thread(listener.join)
        control.close()
        data.close()


async def test_no_bell_without_a_display(ears) -> None:
    backend = X11Windows({"DISPLAY": ""})
    backend.start(ears.hear)
    assert not await backend.ring()
    await backend.stop()


# -- nobody's focus is taken -----------------------------------------------------------------


class Witness:
    """Hears every request to activate a window that anybody sends to the root window."""

    def __init__(self, desktop: Desktop) -> None:
        self.x = display.Display(desktop.env["DISPLAY"])
        self.x.screen().root.change_attributes(event_mask=X.SubstructureNotifyMask)
        self.asked = {self.x.intern_atom(name) for name in ("_NET_ACTIVE_WINDOW", "_NET_CURRENT_DESKTOP")}
        self.x.sync()

    def requests(self) -> int:
        self.x.sync()
        events = [self.x.next_event() for _ in range(self.x.pending_events())]
        return sum(e.type & 0x7F == X.ClientMessage and e.client_type in self.asked for e in events)


async def test_no_window_is_raised_without_a_click(bench, three, windows, ears) -> None:
    """Banners, looking for windows, changes of focus and idle questions send no request; a raise does."""
    witness = Witness(bench)
    bus = SessionBus(environ=bench.env)
    banners = FreedesktopNotifier(bus, ears.hear, ears.act)
    banners.start()
    try:
        banners.show(Banner(1, (), "shop-api needs you", "", State.BLOCKED))
        await ears.until(lambda: any(isinstance(e, BannerFailed) for e in ears.events), "the banner's end")
        for terminal in three:
            await windows.window_of(terminal.client(hint=terminal.window))
        await windows.idle_seconds()
        assert await asyncio.to_thread(witness.requests) == 0
        await windows.raise_window(None, three[0].pids)
        assert await asyncio.to_thread(witness.requests) > 0, "the witness hears"
    finally:
        witness.x.close()
        await banners.stop()
        await bus.close()
