"""The other ends of a tray item, for tests: a watcher to switch on and off, and a host that listens."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from dbus_fast import DBusError, Message, MessageType, PropertyAccess
from dbus_fast.aio import MessageBus
from dbus_fast.annotations import DBusBool, DBusStr
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property, dbus_signal

from tests.support.desktop import DEADLINE

WATCHER, WATCHER_PATH = "org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher"
ITEM, ITEM_PATH = "org.kde.StatusNotifierItem", "/StatusNotifierItem"
MENU, MENU_PATH = "com.canonical.dbusmenu", "/StatusNotifierItem/Menu"


async def until(done: Callable[[], object], what: str, timeout: float = DEADLINE) -> None:
    """Wait until `done` answers true while the loop runs on; AssertionError names `what`."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout
    while not done():
        assert loop.time() < end, f"not within {timeout:g} s: {what}"
        await asyncio.sleep(0.01)


async def _leave(bus: MessageBus) -> None:
    if bus.connected:
        bus.disconnect()
        await bus.wait_for_disconnect()


class _Watcher(ServiceInterface):
    def __init__(self, host: bool, refuse: int) -> None:
        super().__init__(WATCHER)
        self.host = host
        self.refuse = refuse
        self.items: list[str] = []

    @dbus_method()
    def RegisterStatusNotifierItem(self, service: DBusStr) -> None:
        if self.refuse:
            self.refuse -= 1
            raise DBusError("org.example.Busy", "later")
        self.items.append(service)

    @dbus_property(access=PropertyAccess.READ)
    def IsStatusNotifierHostRegistered(self) -> DBusBool:
        return self.host

    @dbus_signal()
    def StatusNotifierHostRegistered(self) -> None:
        return None


class FakeWatcher:
    """A watcher (and, with host, somebody who draws) on a connection of its own.

    refuse: how many registrations are refused first."""

    def __init__(self, address: str, host: bool = True, refuse: int = 0) -> None:
        self._address = address
        self._object = _Watcher(host, refuse)
        self._bus: MessageBus | None = None

    async def __aenter__(self) -> "FakeWatcher":
        self._bus = await MessageBus(bus_address=self._address).connect()
        self._bus.export(WATCHER_PATH, self._object)
        await self._bus.request_name(WATCHER)
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._bus is not None
        await _leave(self._bus)

    @property
    def items(self) -> list[str]:
        """Each registration, in order."""
        return self._object.items

    def host_arrives(self) -> None:
        """Somebody who draws comes late."""
        self._object.host = True
        self._object.StatusNotifierHostRegistered()


class Host:
    """A host: hears the item's and the menu's signals, asks for properties, sends what a person does."""

    def __init__(self, address: str, item: str) -> None:
        self._address = address
        self._item = item
        self.heard: Counter[str] = Counter()
        self.bodies: list[tuple[str, list[Any]]] = []

    async def __aenter__(self) -> "Host":
        self._bus = await MessageBus(bus_address=self._address).connect()
        self._bus.add_message_handler(self._hear)
        for interface in (ITEM, MENU):
            rule = f"type='signal',interface='{interface}'"
            await self._call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "AddMatch", "s", [rule])
        return self

    async def __aexit__(self, *error: object) -> None:
        await _leave(self._bus)

    def _hear(self, message: Message) -> None:
        if message.message_type is MessageType.SIGNAL and message.interface in (ITEM, MENU):
            self.heard[message.member or ""] += 1
            self.bodies.append((message.member or "", message.body))

    async def _call(
        self, to: str, path: str, interface: str, member: str, signature: str, body: list[Any]
    ) -> Any:
        message = Message(
            destination=to, path=path, interface=interface, member=member, signature=signature, body=body
        )
        async with asyncio.timeout(DEADLINE):
            reply = await self._bus.call(message)
        assert reply is not None
        assert reply.message_type is MessageType.METHOD_RETURN, reply.body
        return reply.body[0] if len(reply.body) == 1 else reply.body

    async def item(self, member: str, signature: str = "", *body: Any) -> Any:
        """Call a method of the item."""
        return await self._call(self._item, ITEM_PATH, ITEM, member, signature, list(body))

    async def menu(self, member: str, signature: str = "", *body: Any) -> Any:
        """Call a method of the menu."""
        return await self._call(self._item, MENU_PATH, MENU, member, signature, list(body))

    async def property(self, name: str) -> Any:
        """A property of the item."""
        interface = "org.freedesktop.DBus.Properties"
        return (await self._call(self._item, ITEM_PATH, interface, "Get", "ss", [ITEM, name])).value

    async def rows(self) -> list[tuple[int, dict[str, Any]]]:
        """The rows at the top of the menu: number and properties."""
        _, (_, _, children) = await self.menu("GetLayout", "iias", 0, -1, [])
        return [(child.value[0], {k: v.value for k, v in child.value[1].items()}) for child in children]

    async def number(self, label: str) -> int:
        """The number of the row with that label."""
        return next(number for number, properties in await self.rows() if properties.get("label") == label)
