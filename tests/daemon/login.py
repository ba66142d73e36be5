"""What a login session's systemd tells on the session bus: the variables that its programs start with."""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType

from dbus_fast import PropertyAccess
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_property

NAME, PATH = "org.freedesktop.systemd1", "/org/freedesktop/systemd1"
DEADLINE = 15.0


class _Manager(ServiceInterface):
    def __init__(self, environment: list[str]) -> None:
        super().__init__(f"{NAME}.Manager")
        self._environment = environment

    @dbus_property(access=PropertyAccess.READ)
    def Environment(self) -> "as":  # type: ignore[valid-type]  # noqa: F722
        return self._environment


class LoginSession:
    """The user's systemd manager on a bus, while the block is entered. variables: its Environment."""

    def __init__(self, address: str, **variables: str) -> None:
        self._address = address
        self._environment = [f"{name}={value}" for name, value in variables.items()]
        self._loop = asyncio.new_event_loop()
        self._ready, self._end = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> LoginSession:
        self._thread.start()
        assert self._ready.wait(DEADLINE), "no systemd on the bus"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(DEADLINE)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        bus = await MessageBus(bus_address=self._address).connect()
        bus.export(PATH, _Manager(self._environment))
        await bus.request_name(NAME)
        self._ready.set()
        await self._end.wait()
        if bus.connected:
            bus.disconnect()
            await bus.wait_for_disconnect()
