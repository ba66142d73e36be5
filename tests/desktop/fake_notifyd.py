"""A notification server that does as it is told: capabilities, silence, refusals, signals."""

from __future__ import annotations

import asyncio
from typing import Any

from dbus_fast import Message, MessageType, NameFlag
from dbus_fast.aio import MessageBus

NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"


class FakeNotifyd:
    """mode: `ok`; `silent` never answers Notify; `hung` never answers anything; `refuse` answers with an
    error; `closes` closes each banner in the same breath in which it takes it."""

    def __init__(
        self, address: str, capabilities: tuple[str, ...] = ("body", "actions"), mode: str = "ok"
    ) -> None:
        self.address, self.capabilities, self.mode = address, capabilities, mode
        self.notified: list[list[Any]] = []
        self.closed: list[int] = []
        self.asked = 0
        self.waiting: list[Message] = []
        self._next = 0
        self._bus: MessageBus | None = None
        self._news = asyncio.Event()

    async def __aenter__(self) -> FakeNotifyd:
        self._bus = await MessageBus(bus_address=self.address).connect()
        self._bus.add_message_handler(self._handle)
        await self._bus.request_name(NAME, NameFlag.REPLACE_EXISTING)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._bus is not None:
            self._bus.disconnect()
            await self._bus.wait_for_disconnect()

    def signal(self, member: str, signature: str, *body: Any) -> None:
        """Send one of the interface's signals to everybody."""
        assert self._bus is not None
        self._bus.send(Message.new_signal(PATH, NAME, member, signature, list(body)))

    def answer_late(self) -> None:
        """Answer every Notify that has been left waiting."""
        assert self._bus is not None
        for message in self.waiting:
            self._bus.send(Message.new_method_return(message, "u", [self._id()]))
        self.waiting.clear()

    async def heard(self, what: list[Any], count: int = 1) -> None:
        """Wait until a list of this server (`notified`, `closed`, `waiting`) has `count` entries."""
        async with asyncio.timeout(15):
            while len(what) < count:
                self._news.clear()
                await self._news.wait()

    def _id(self) -> int:
        self._next += 1
        return self._next

    def _handle(self, message: Message) -> Message | bool | None:
        if message.message_type is not MessageType.METHOD_CALL or message.interface != NAME:
            return None
        self._news.set()
        if self.mode == "hung":
            return True
        if message.member == "GetCapabilities":
            self.asked += 1
            return Message.new_method_return(message, "as", [list(self.capabilities)])
        if message.member == "GetServerInformation":
            return Message.new_method_return(message, "ssss", ["fake", "tests", "1", "1.2"])
        if message.member == "CloseNotification":
            self.closed.append(message.body[0])
            self.signal("NotificationClosed", "uu", message.body[0], 3)
            return Message.new_method_return(message)
        return self._notify(message)

    def _notify(self, message: Message) -> Message | bool:
        self.notified.append(message.body)
        if self.mode == "silent":
            self.waiting.append(message)
            return True
        if self.mode == "refuse":
            return Message.new_error(message, f"{NAME}.Error.ExcessNotificationGeneration", "too many")
        id_ = self._id()
        if self.mode == "closes":
            assert self._bus is not None
            self._bus.send(Message.new_method_return(message, "u", [id_]))
            self.signal("NotificationClosed", "uu", id_, 1)
            return True
        return Message.new_method_return(message, "u", [id_])
