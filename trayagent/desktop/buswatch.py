"""What users of the session bus wait for: signals, and owners of names; without the connection itself."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dbus_fast import Message

log = logging.getLogger(__name__)

BUS_NAME, BUS_PATH = "org.freedesktop.DBus", "/org/freedesktop/DBus"


@dataclass(eq=False, slots=True)
class SignalWatch:
    interface: str
    member: str
    callback: Callable[[list[Any]], None]
    sender: str = ""
    path: str = ""
    arg0: str = ""

    @property
    def rule(self) -> str:
        parts = {"type": "signal", "sender": self.sender, "interface": self.interface}
        parts |= {"member": self.member, "path": self.path, "arg0": self.arg0}
        return ",".join(f"{key}='{value}'" for key, value in parts.items() if value)

    def wants(self, message: Message) -> bool:
        return (
            message.member == self.member
            and message.interface == self.interface
            and (not self.path or message.path == self.path)
            and (not self.arg0 or (bool(message.body) and message.body[0] == self.arg0))
        )


@dataclass(eq=False, slots=True)
class NameWatch:
    """owner None: nobody has been told anything yet. news counts NameOwnerChanged signals."""

    name: str
    callback: Callable[[str], None]
    owner: str | None = None
    news: int = 0
    signal: SignalWatch = field(init=False)

    def __post_init__(self) -> None:
        self.signal = SignalWatch(
            BUS_NAME, "NameOwnerChanged", self._changed, sender=BUS_NAME, path=BUS_PATH, arg0=self.name
        )

    def _changed(self, body: list[Any]) -> None:
        self.news += 1
        self.tell(body[2])

    def tell(self, owner: str) -> None:
        if owner != self.owner:
            self.owner = owner
            guarded(self.callback, owner)


def guarded(callback: Callable[..., object], *args: object) -> None:
    """Call a user's callback; what it raises is its own fault, and is logged."""
    try:
        callback(*args)
    except Exception:
        log.exception("a callback of the session bus failed")
