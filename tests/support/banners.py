"""Overhears a session bus: every banner that anybody asks for, and what becomes of it.

    with BannerMonitor(desktop.env["DBUS_SESSION_BUS_ADDRESS"]) as heard:
        ...
        assert [banner.summary for banner in heard.banners] == ["api needs you · Claude Code"]

It is a monitor (org.freedesktop.DBus.Monitoring), so it stands between nobody. A thread of its own
listens; what it has heard can be read from any other one.
"""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

NAME = "org.freedesktop.Notifications"
DEADLINE = 15.0


@dataclass(slots=True)
class Heard:
    """One Notify call. at: monotonic seconds. id: the server's answer, 0 before it came. closed: the
    reason of NotificationClosed (1 time, 2 user, 3 taken back), 0 while it is open. pressed: actions."""

    at: float
    summary: str
    body: str
    actions: list[str]
    hints: dict[str, Any]
    replaces: int
    id: int = 0
    closed: int = 0
    pressed: list[str] = field(default_factory=list)


class BannerMonitor:
    """Listens from the moment that the block is entered."""

    def __init__(self, address: str) -> None:
        self.banners: list[Heard] = []
        self._address = address
        self._waiting: dict[tuple[str, int], Heard] = {}
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> BannerMonitor:
        self._thread.start()
        assert self._ready.wait(DEADLINE), "no monitor on the session bus"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(DEADLINE)

    def about(self, text: str) -> list[Heard]:
        """The banners whose title or body has this text in it."""
        return [banner for banner in list(self.banners) if text in banner.summary or text in banner.body]

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._listen())
        finally:
            self._loop.close()

    async def _listen(self) -> None:
        bus = await MessageBus(bus_address=self._address).connect()
        bus.add_message_handler(self._hear)
        rules = [
            f"type='method_call',interface='{NAME}',member='Notify'",
            "type='method_return'",
            f"type='signal',interface='{NAME}'",
        ]
        answer = await bus.call(
            Message(
                destination="org.freedesktop.DBus",
                path="/org/freedesktop/DBus",
                interface="org.freedesktop.DBus.Monitoring",
                member="BecomeMonitor",
                signature="asu",
                body=[rules, 0],
            )
        )
        assert answer is not None and answer.message_type is not MessageType.ERROR, answer and answer.body
        self._ready.set()
        await self._end.wait()
        bus.disconnect()

    def _hear(self, message: Message) -> bool:
        """True: a monitor answers nothing."""
        if message.member == "Notify" and message.message_type is MessageType.METHOD_CALL:
            _, replaces, _, summary, body, actions, hints, _ = message.body
            values = {name: value.value for name, value in hints.items()}
            banner = Heard(time.monotonic(), summary, body, actions[::2], values, replaces)
            self._waiting[message.sender or "", message.serial] = banner
            self.banners.append(banner)
        elif message.message_type is MessageType.METHOD_RETURN:
            banner_asked = self._waiting.pop((message.destination or "", message.reply_serial or 0), None)
            if banner_asked is not None:
                banner_asked.id = message.body[0]
            elif not self._ready.is_set():
                return False  # the answer to BecomeMonitor itself
        elif message.member == "NotificationClosed":
            for banner in self._open(message.body[0]):
                banner.closed = message.body[1]
        elif message.member == "ActionInvoked":
            for banner in self._open(message.body[0]):
                banner.pressed.append(message.body[1])
        return message.message_type in (MessageType.METHOD_CALL, MessageType.SIGNAL)

    def _open(self, id: int) -> list[Heard]:
        return [banner for banner in self.banners if banner.id == id and not banner.closed]
