"""com.canonical.dbusmenu, version 3: the menu as an object on the session bus.

The interface is that of libdbusmenu's dbus-menu.xml. Signals are few: ItemsPropertiesUpdated for rows that
changed, LayoutUpdated only where rows came, went or moved, nothing otherwise. `menu.Rows` decides; this file
speaks. One object serves one connection to the bus; the rows outlive it.

Whether the menu is open: Plasma and GNOME's extension send `opened` and `closed`. GTK's libdbusmenu (Xfce,
MATE, waybar) sends neither for the menu as a whole, only AboutToShow (measured with xfce4-panel 4.18); there
it counts as open from AboutToShow to the next click, at most OPEN_AT_MOST seconds.
"""

# No postponed annotations here: dbus-fast reads the D-Bus signatures from them.

import asyncio
import logging
from collections.abc import Callable
from typing import Annotated, Any

from dbus_fast import DBusError, PropertyAccess, Variant
from dbus_fast.annotations import DBusBool, DBusInt32, DBusSignature, DBusStr, DBusUInt32, DBusVariant
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property, dbus_signal

from trayagent.desktop.tray.menu import ROOT, Change, Rows

log = logging.getLogger(__name__)

INTERFACE = "com.canonical.dbusmenu"
READ = PropertyAccess.READ
OPEN_AT_MOST = 10.0

Names = Annotated[list[str], DBusSignature("as")]
Ids = Annotated[list[int], DBusSignature("ai")]


class DBusMenu(ServiceInterface):
    """The menu's object. on_click: a row's action; on_about_to_show: the menu is about to open."""

    def __init__(
        self,
        rows: Rows,
        on_click: Callable[[tuple[str, ...]], None],
        on_about_to_show: Callable[[], None],
    ) -> None:
        super().__init__(INTERFACE)
        self._rows = rows
        self._on_click = on_click
        self._on_about_to_show = on_about_to_show
        self._tells = False  # this host says when it opens and closes the menu
        self._limit: asyncio.TimerHandle | None = None
        rows.frozen = False  # a new connection: no host shows the menu yet

    def tell(self, change: Change) -> None:
        """Send the signals of a change."""
        if change.set or change.unset:
            self.ItemsPropertiesUpdated(
                [[number, names] for number, names in change.set.items()],
                [[number, names] for number, names in change.unset.items()],
            )
        if change.parent is not None:
            self.LayoutUpdated(self._rows.revision, change.parent)

    def closed(self) -> None:
        """No host shows the menu any more."""
        self._set_limit(None)
        self.tell(self._rows.thaw())

    def _layout(self, number: int, depth: int, names: list[str]) -> list[Any]:
        below = [] if depth == 0 else self._rows.rows[number].children
        children = [Variant("(ia{sv}av)", self._layout(child, depth - 1, names)) for child in below]
        return [number, self._properties(number, names), children]

    def _properties(self, number: int, names: list[str]) -> dict[str, Variant]:
        properties = self._rows.rows[number].properties
        return {name: value for name, value in properties.items() if not names or name in names}

    def _known(self, number: int) -> int:
        if number not in self._rows.rows:
            raise DBusError(f"{INTERFACE}.Error", f"no row {number}")
        return number

    def _event(self, number: int, kind: str) -> None:
        if kind == "clicked":
            self._on_click(self._rows.rows[number].action)
            if not self._tells:
                self.closed()
        elif kind == "opened" and number == ROOT:
            self._tells = self._rows.frozen = True
            self._set_limit(None)
        elif kind == "closed" and number == ROOT:
            self.closed()

    def _about_to_show(self) -> bool:
        """True if the host must read the layout again before it shows the menu."""
        before = self._rows.revision
        self.closed()  # a host that never told of closing cannot keep the menu frozen
        self._on_about_to_show()
        if not self._tells:
            self._rows.frozen = True
            self._set_limit(OPEN_AT_MOST)
        return self._rows.revision != before

    def _set_limit(self, seconds: float | None) -> None:
        if self._limit is not None:
            self._limit.cancel()
        loop = asyncio.get_running_loop()
        self._limit = None if seconds is None else loop.call_later(seconds, self.closed)

    # -- properties --------------------------------------------------------------------------

    @dbus_property(access=READ)
    def Version(self) -> DBusUInt32:
        return 3

    @dbus_property(access=READ)
    def TextDirection(self) -> DBusStr:
        return "ltr"

    @dbus_property(access=READ)
    def Status(self) -> DBusStr:
        return "normal"

    @dbus_property(access=READ)
    def IconThemePath(self) -> Names:
        return []

    # -- methods -----------------------------------------------------------------------------

    @dbus_method()
    def GetLayout(
        self, parent: DBusInt32, depth: DBusInt32, names: Names
    ) -> Annotated[tuple[int, list[Any]], DBusSignature("u(ia{sv}av)")]:
        return self._rows.revision, self._layout(self._known(parent), depth, names)

    @dbus_method()
    def GetGroupProperties(self, ids: Ids, names: Names) -> Annotated[list[Any], DBusSignature("a(ia{sv})")]:
        wanted = ids or list(self._rows.rows)
        return [[number, self._properties(number, names)] for number in wanted if number in self._rows.rows]

    @dbus_method()
    def GetProperty(self, number: DBusInt32, name: DBusStr) -> DBusVariant:
        properties = self._rows.rows[self._known(number)].properties
        if name not in properties:
            raise DBusError(f"{INTERFACE}.Error", f"row {number} has no property {name}")
        return properties[name]

    @dbus_method()
    def Event(self, number: DBusInt32, kind: DBusStr, data: DBusVariant, timestamp: DBusUInt32) -> None:
        self._event(self._known(number), kind)

    @dbus_method()
    def EventGroup(self, events: Annotated[list[Any], DBusSignature("a(isvu)")]) -> Ids:
        unknown = [number for number, *_ in events if number not in self._rows.rows]
        for number, kind, _, _ in events:
            if number in self._rows.rows:
                self._event(number, kind)
        return unknown

    @dbus_method()
    def AboutToShow(self, number: DBusInt32) -> DBusBool:
        return self._about_to_show() if self._known(number) == ROOT else False

    @dbus_method()
    def AboutToShowGroup(self, ids: Ids) -> Annotated[tuple[list[int], list[int]], DBusSignature("aiai")]:
        unknown = [number for number in ids if number not in self._rows.rows]
        updated = [ROOT] if ROOT in ids and self._about_to_show() else []
        return updated, unknown

    # -- signals -----------------------------------------------------------------------------

    @dbus_signal()
    def ItemsPropertiesUpdated(
        self, updated: list[Any], removed: list[Any]
    ) -> Annotated[tuple[list[Any], list[Any]], DBusSignature("a(ia{sv})a(ias)")]:
        return updated, removed

    @dbus_signal()
    def LayoutUpdated(self, revision: int, parent: int) -> Annotated[tuple[int, int], DBusSignature("ui")]:
        return revision, parent

    @dbus_signal()
    def ItemActivationRequested(
        self, number: int, timestamp: int
    ) -> Annotated[tuple[int, int], DBusSignature("iu")]:
        return number, timestamp
