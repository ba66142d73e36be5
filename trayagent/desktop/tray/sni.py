"""The tray of Linux desktops: StatusNotifierItem and dbusmenu on the session bus.

Theory of operation. Three parties may come, go and come again in any order: the bus, the watcher (the
register of items, a well-known name, most often part of the panel), and hosts (those who draw). The item
is exported once per connection and registered once per watcher: whenever either of the two is new, and
only then. A host that comes late asks the watcher, so nothing is done for it. If nobody draws the icon
for a minute, that is a problem, told once until somebody does.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from trayagent.desktop.bus import BusError, SessionBus
from trayagent.desktop.tray import base
from trayagent.desktop.tray.dbusmenu import DBusMenu
from trayagent.desktop.tray.icons import Icons, icon_name
from trayagent.desktop.tray.item import ITEM_PATH, MENU_PATH, Face, Item
from trayagent.desktop.tray.menu import Rows
from trayagent.model.view import TrayView

log = logging.getLogger(__name__)

WATCHER, WATCHER_PATH = "org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher"
PATIENCE = 60.0  # seconds without anybody who draws the icon before that is a problem
RETRY = 2.0  # seconds until a watcher that refused or did not answer is asked again

REMEDIES = {
    "gnome": "on GNOME, install and enable the extension AppIndicator and KStatusNotifierItem Support",
    "xfce": "on Xfce, add the item Status Tray Plugin to the panel",
    "mate": "on MATE, add the Notification Area to the panel",
    "lxqt": "on LXQt, add the Status Notifier plugin to the panel",
    "kde": "on Plasma, add the System Tray to a panel",
    "sway": "on sway, start a bar with a tray (swaybar, or waybar with the module tray)",
    "hyprland": "on Hyprland, start a bar with a tray, such as waybar with the module tray",
}
REMEDY = "start a panel or bar that shows StatusNotifierItem icons (XEmbed trays alone do not)"

_numbers = itertools.count(1)


def remedy(environ: Mapping[str, str]) -> str:
    """What would make the icon visible on this desktop ($XDG_CURRENT_DESKTOP), as half a sentence."""
    names = environ.get("XDG_CURRENT_DESKTOP", "").lower().split(":")
    return next((text for desktop, text in REMEDIES.items() if desktop in names), REMEDY)


class SniTray(base.Tray):
    """The tray over D-Bus. bus: shared with other users, closed by its owner. patience: seconds."""

    def __init__(
        self,
        bus: SessionBus,
        on_action: Callable[[base.Action], None],
        *,
        on_about_to_show: Callable[[], None] | None = None,
        on_problem: Callable[[str], None] | None = None,
        icons: Icons | None = None,
        patience: float = PATIENCE,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(on_action, on_about_to_show=on_about_to_show, on_problem=on_problem)
        self._bus = bus
        self._icons = icons or Icons()
        self._patience = patience
        self._environ = os.environ if environ is None else environ
        self._view = TrayView()
        self._rows = Rows(self._icons.png)
        self._item: Item | None = None
        self._menu: DBusMenu | None = None
        self._name = f"org.kde.StatusNotifierItem-{os.getpid()}-{next(_numbers)}"
        self._token = ""
        self._watcher = ""  # unique name of its owner
        self._named = ""  # our unique name on the connection on which the item is exported and named
        self._registered = ("", "")  # (our unique name, the watcher's) of the last registration
        self._host = False
        self._problem = ""
        self._timer: asyncio.TimerHandle | None = None
        self._work: asyncio.Task[None] | None = None
        self._again = asyncio.Event()
        self._tried = asyncio.Event()  # the first registration is over, or there is no watcher
        self._undo: list[Callable[[], None]] = []

    # -- the interface -----------------------------------------------------------------------

    @property
    def capabilities(self) -> frozenset[str]:
        """What StatusNotifierItem can do; whether a host does it is the host's affair."""
        return frozenset({base.MENU, base.LIVE_MENU, base.CLICK, base.MIDDLE_CLICK, base.TOOLTIP, base.TOKEN})

    def start(self) -> None:
        """Begin to show the icon; needs a running loop. Further calls do nothing."""
        if self._work is not None:
            return
        self._check_thread()
        self._work = asyncio.get_running_loop().create_task(self._keep_registered(), name="tray")
        self._undo = [
            self._bus.subscribe(self._bus_changed),
            self._bus.watch_name(WATCHER, self._watcher_changed),
            *(
                self._bus.watch_signal(WATCHER, f"StatusNotifierHost{what}", self._hosts_changed)
                for what in ("Registered", "Unregistered")
            ),
        ]
        self._bus.start()
        self._judge()

    def show(self, view: TrayView) -> None:
        """Make the icon, tooltip and menu be this; nothing is sent for what did not change."""
        self._check_thread()
        if view == self._view:
            return
        self._view = view
        change = self._rows.update(view.menu)
        if self._bus.connected and self._item is not None and self._menu is not None:
            self._item.wear(self._face())
            self._menu.tell(change)

    @property
    def drawn(self) -> bool:
        """The icon is registered, and the watcher has a host."""
        return self._host

    async def settled(self, timeout: float) -> bool:
        """See Tray.settled."""
        end = asyncio.get_running_loop().time() + timeout
        if await self._bus.wait(timeout):
            try:
                async with asyncio.timeout_at(end):
                    await self._tried.wait()
            except TimeoutError:
                log.debug("the icon is not registered within %g s", timeout)
        return self._host

    def problems(self) -> tuple[str, ...]:
        """Why nobody draws the icon; the bus tells itself what is wrong with the bus."""
        return (self._problem,) if self._problem else ()

    async def close(self) -> None:
        """Take the icon away for good; the bus stays."""
        for undo in self._undo:
            undo()
        self._undo = []
        self._cancel_timer()
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        if self._item is None:
            return
        self._item = self._menu = None
        self._bus.unexport(MENU_PATH)
        self._bus.unexport(ITEM_PATH)
        try:
            await self._bus.release_name(self._name)
        except BusError as error:
            log.debug("the tray's name was not released: %s", error)

    def take_token(self) -> str:
        """The activation token that came with the last click, once; "" if the host gave none."""
        token, self._token = self._token, ""
        return token

    # -- what happens on the bus -----------------------------------------------------------------

    def _bus_changed(self, connected: bool) -> None:
        if not connected:
            self._item = self._menu = None
            self._named = ""
            self._registered = ("", "")  # a new bus gives the same unique names once more
            self._host = False
        self._again.set()
        self._judge()

    def _watcher_changed(self, owner: str) -> None:
        self._watcher = owner
        if not owner:
            self._tried.set()
        self._host = False
        if self._menu is not None:
            self._menu.closed()  # a panel that is gone shows no menu
        self._again.set()
        self._judge()

    def _hosts_changed(self, body: list[Any]) -> None:
        self._again.set()

    def _face(self) -> Face:
        view = self._view
        return Face(icon_name(view), view.count > 0 and not view.paused, view.title, view.tooltip)

    def _keep_token(self, token: str) -> None:
        self._token = token

    # -- registration ------------------------------------------------------------------------

    async def _keep_registered(self) -> None:
        """The one task that exports and registers, so that no two registrations overlap."""
        while True:
            await self._again.wait()
            self._again.clear()
            try:
                await self._settle()
            except BusError as error:
                if self._bus.connected and self._watcher:
                    log.info("the tray's watcher: %s; asking it again", error)
                    await self._pause()
                    self._again.set()
            self._judge()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(RETRY):
                await self._again.wait()
        except TimeoutError:
            return

    async def _settle(self) -> None:
        """Bring exports and registration up to what bus and watcher are now; raises BusError."""
        if not self._bus.connected:
            return
        me = self._bus.unique_name
        if self._named != me:
            self._export()
            await self._bus.request_name(self._name)
            self._named = me
        if not self._watcher:
            return
        if self._registered != (me, self._watcher):
            pair = (me, self._watcher)
            register = "RegisterStatusNotifierItem"
            await self._bus.call(pair[1], WATCHER_PATH, WATCHER, register, "s", [self._name])
            self._registered = pair
        self._host = await self._has_host()
        self._tried.set()

    def _export(self) -> None:
        self._item = Item(
            self._face(),
            self._icons.pixmaps,
            lambda: self._act(self._view.click),
            lambda: self._act(self._view.middle),
            self._keep_token,
        )
        self._menu = DBusMenu(self._rows, self._act, self._about_to_show)
        self._bus.unexport(MENU_PATH)
        self._bus.unexport(ITEM_PATH)
        self._bus.export(MENU_PATH, self._menu)
        self._bus.export(ITEM_PATH, self._item)

    async def _has_host(self) -> bool:
        """Whether somebody draws what the watcher lists; a watcher that does not say is believed to."""
        try:
            (answer,) = await self._bus.call(
                self._watcher,
                WATCHER_PATH,
                "org.freedesktop.DBus.Properties",
                "Get",
                "ss",
                [WATCHER, "IsStatusNotifierHostRegistered"],
            )
        except BusError as error:
            log.debug("the tray's watcher does not say whether it has a host: %s", error)
            return True
        return bool(answer.value)

    # -- the problem -------------------------------------------------------------------------

    def _judge(self) -> None:
        """Start the clock when nobody draws the icon, stop it when somebody does."""
        if self._host:
            self._cancel_timer()
            self._problem = ""
        elif self._timer is None and not self._problem:
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._unseen)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _unseen(self) -> None:
        self._timer = None
        self._problem = f"no panel shows the tray icon: {remedy(self._environ)}"
        if self._bus.connected:  # without a bus, that is the problem, and the bus has told it
            self._report(self._problem)
