"""Windows on X11: EWMH through python-xlib, in a thread of its own (`xthread`).

Theory of operation. PropertyNotify of the root's _NET_ACTIVE_WINDOW is the only thing
that is waited for. Between two windows many window managers set it to 0 for a moment, so a 0 is
believed only after it has stood for SETTLE seconds. A server that goes away makes the
active window unknown; it is looked for again, with the display that the login session names now.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping

from trayagent.desktop.bus import SessionBus
from trayagent.desktop.window import login
from trayagent.desktop.window.base import Capabilities, Emit, RaiseResult, Windows
from trayagent.desktop.window.ewmh import Screen
from trayagent.desktop.window.idle import mutter_idle
from trayagent.desktop.window.nonce import find_by_title
from trayagent.desktop.window.xthread import XGone, XThread
from trayagent.model.events import ActiveWindow
from trayagent.model.panes import Client

log = logging.getLogger(__name__)

SETTLE = 0.15  # seconds for which "no window" must stand
ACTIVATED = 1.0  # seconds for the window manager to do as it was asked

UNKNOWN = ActiveWindow(known=False)


def _look(screen: Screen) -> tuple[ActiveWindow, Capabilities]:
    """The active window, and what this screen can do. Runs in the X thread."""
    window = screen.active()
    now = UNKNOWN if window is None else ActiveWindow(True, window, screen.pid(window) if window else 0)
    manager = screen.manager()
    able = Capabilities(
        active=now.known,
        raises=screen.supports("_NET_ACTIVE_WINDOW"),
        idle=screen.has_idle,
        about=("Xwayland" if screen.wayland else "X11")
        + (f", {manager}" if manager else ", no window manager"),
    )
    return now, able


class X11Windows(Windows):
    """environ: names the display. bus: asked for the login session's display when that one is gone."""

    name = "x11"

    def __init__(self, environ: Mapping[str, str] | None = None, bus: SessionBus | None = None) -> None:
        self._environ = dict(os.environ if environ is None else environ)
        self._bus = bus
        self._emit: Emit | None = None
        self._x = XThread(self._environ, self._came, self._seen, self._went, _look)
        self._told: ActiveWindow | None = None
        self._now = UNKNOWN
        self._later: asyncio.TimerHandle | None = None
        self._moved = asyncio.Event()
        self._able = Capabilities()
        self._problem = ""
        self._tasks: set[asyncio.Task[None]] = set()

    # -- the interface -----------------------------------------------------------------------

    def start(self, emit: Emit) -> None:
        """Watch the active window; nothing is known until the server answers."""
        self._emit = emit
        self._tell(UNKNOWN)
        self._x.start()

    async def stop(self) -> None:
        """Leave the X server."""
        self._emit = None
        if self._later is not None:
            self._later.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._x.stop()

    async def window_of(self, client: Client) -> int | None:
        """The window that shows the client, None if there is none, or several that may be it."""
        try:
            found = await self._x.ask(lambda screen: screen.candidates(client.window_hint, client.pids))
        except XGone as error:
            log.debug("cannot find the window of %s: %s", client.name, error)
            return None
        return found[0] if len(found) == 1 else None

    async def raise_window(
        self, window: int | None, pids: tuple[int, ...], token: str | None = None, tty: str = ""
    ) -> RaiseResult:
        """See Windows.raise_window."""
        try:
            found = await self._x.ask(lambda screen: screen.candidates(window, pids))
            if len(found) > 1 and tty:
                hit = await find_by_title(tty, lambda: self._titles(found))
                found = (hit,) if hit is not None else found
            if len(found) != 1:
                return RaiseResult(False, _lacking(found))
            return await self._raise(found[0], token)
        except XGone as error:
            return RaiseResult(False, str(error))

    async def idle_seconds(self) -> float | None:
        """Seconds since the last key or pointer movement. An Xwayland hears of its own windows only, so
        there the compositor is asked; None if that does not say."""
        try:
            idle = await self._x.ask(lambda screen: screen.idle())
        except XGone as error:
            log.debug("idle: %s", error)
            idle = None
        return await mutter_idle(self._bus) if idle is None and self._bus is not None else idle

    @property
    def display(self) -> Mapping[str, str]:
        """The display in use, which the login session may have named after our start."""
        return {name: self._environ[name] for name in login.WANTED if name in self._environ}

    async def ring(self) -> bool:
        """Ring the X server's bell (whose sound, if any, is the desktop's choice)."""
        try:
            await self._x.ask(lambda screen: screen.ring())
        except XGone as error:
            log.debug("bell: %s", error)
            return False
        return True

    @property
    def capabilities(self) -> Capabilities:
        """As of the last change of the active window or the window manager."""
        return self._able

    def problems(self) -> tuple[str, ...]:
        """Why there is no X server, if there is none."""
        return (self._problem,) if self._problem else ()

    # -- raising -----------------------------------------------------------------------------

    async def _titles(self, windows: tuple[int, ...]) -> dict[int, str]:
        return await self._x.ask(lambda screen: {window: screen.title(window) for window in windows})

    async def _raise(self, window: int, token: str | None) -> RaiseResult:
        if not self._able.raises:
            return RaiseResult(False, "the window manager cannot be asked to activate a window")
        await self._x.ask(lambda screen: screen.activate(window, token))
        if await self._reached(window):
            return RaiseResult(True)
        if window not in await self._x.ask(lambda screen: screen.windows()):
            return RaiseResult(False, "the window is gone")
        await self._x.ask(lambda screen: screen.restore(window))
        await self._x.ask(lambda screen: screen.activate(window, token))
        if await self._reached(window):
            return RaiseResult(True)
        return RaiseResult(False, "the window manager did not activate the window")

    async def _reached(self, window: int) -> bool:
        try:
            async with asyncio.timeout(ACTIVATED):
                while self._now.window != window:
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            return False
        return True

    # -- news --------------------------------------------------------------------------------

    def _came(self) -> None:
        self._problem = ""

    def _went(self, why: str) -> None:
        problem = f"no X server, hence no focus and no idle time: {why}"
        if not self._problem:
            log.warning("%s; start trayagent on a desktop, or set DISPLAY", problem)
        self._problem = problem
        self._able = Capabilities(about="no X server")
        self._changed(UNKNOWN)
        if self._bus is not None:
            self._spawn_search(self._bus)

    def _spawn_search(self, bus: SessionBus) -> None:
        async def search() -> None:
            if await login.find_display(bus, self._environ):
                self._x.retry()

        task = asyncio.get_running_loop().create_task(search())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _seen(self, news: tuple[ActiveWindow, Capabilities]) -> None:
        now, self._able = news
        self._changed(now)

    def _changed(self, now: ActiveWindow) -> None:
        self._now = now
        self._moved.set()
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if now.known and not now.window and self._told is not None and self._told.window:
            self._later = asyncio.get_running_loop().call_later(SETTLE, self._tell, now)
        else:
            self._tell(now)

    def _tell(self, now: ActiveWindow) -> None:
        if now != self._told and self._emit is not None:
            self._told = now
            self._emit(now)


def _lacking(found: tuple[int, ...]) -> str:
    if not found:
        return "no window of this terminal was found"
    return f"{len(found)} windows share this terminal's process, and which is the right one is not known"
