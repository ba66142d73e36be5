"""Waits until a StatusNotifierItem is registered at the panel's watcher."""

from __future__ import annotations

import asyncio
import threading
import time

from dbus_fast import Message
from dbus_fast.aio import MessageBus

DEADLINE = 30.0
WATCHER = "org.kde.StatusNotifierWatcher"


class Icon:
    """Listens from the moment that the block is entered; `wait` returns the monotonic seconds of the
    watcher's StatusNotifierItemRegistered signal (StatusNotifierItem specification)."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._ready, self._seen = threading.Event(), threading.Event()
        self._at = 0.0
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Icon:
        self._thread.start()
        assert self._ready.wait(DEADLINE), "no session bus"
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(DEADLINE)

    def wait(self) -> float:
        """When the icon was registered."""
        assert self._seen.wait(DEADLINE), "no icon was registered"
        return self._at

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._listen())
        finally:
            self._loop.close()

    async def _listen(self) -> None:
        bus = await MessageBus(bus_address=self._address).connect()
        bus.add_message_handler(self._hear)
        rule = f"type='signal',interface='{WATCHER}',member='StatusNotifierItemRegistered'"
        await bus.call(
            Message(
                destination="org.freedesktop.DBus",
                path="/org/freedesktop/DBus",
                interface="org.freedesktop.DBus",
                member="AddMatch",
                signature="s",
                body=[rule],
            )
        )
        self._ready.set()
        await self._end.wait()
        bus.disconnect()

    def _hear(self, message: Message) -> bool:
        if message.member == "StatusNotifierItemRegistered" and not self._seen.is_set():
            self._at = time.monotonic()
            self._seen.set()
        return False
