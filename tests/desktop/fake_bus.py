"""A program on a private bus that answers as it is told, for services that cannot run in a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbus_fast import Message, MessageType, NameFlag
from dbus_fast.aio import MessageBus

Answer = tuple[str, list[Any]]


class FakeService:
    """Owns `name`. answers: (path, member) -> (signature, body), or a function of the request's body that
    returns it; whatever else is asked gets UnknownMethod. calls: (path, member, body) so far."""

    def __init__(
        self, address: str, name: str, answers: dict[tuple[str, str], Answer | Callable[[list[Any]], Answer]]
    ) -> None:
        self.address, self.name, self.answers = address, name, answers
        self.calls: list[tuple[str, str, list[Any]]] = []
        self._bus: MessageBus | None = None

    async def __aenter__(self) -> FakeService:
        self._bus = await MessageBus(bus_address=self.address).connect()
        self._bus.add_message_handler(self._handle)
        await self._bus.request_name(self.name, NameFlag.REPLACE_EXISTING)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._bus is not None:
            self._bus.disconnect()
            await self._bus.wait_for_disconnect()

    def signal(self, path: str, interface: str, member: str, signature: str, *body: Any) -> None:
        """Send a signal to everybody."""
        assert self._bus is not None
        self._bus.send(Message.new_signal(path, interface, member, signature, list(body)))

    def _handle(self, message: Message) -> Message | None:
        if message.message_type is not MessageType.METHOD_CALL or message.interface == "org.freedesktop.DBus":
            return None
        self.calls.append((message.path, message.member, message.body))
        answer = self.answers.get((message.path, message.member))
        if callable(answer):
            answer = answer(message.body)
        if answer is None:
            return Message.new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", "unknown")
        return Message.new_method_return(message, *answer)
