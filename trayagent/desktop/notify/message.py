"""One banner as the arguments of Notify, and a failed call in words (Desktop Notifications Spec. 1.2)."""

from __future__ import annotations

from typing import Any

from dbus_fast import Variant

from trayagent.desktop.bus import BusError
from trayagent.desktop.notify import text
from trayagent.desktop.notify.base import Capabilities
from trayagent.model.effects import Banner

APP, DESKTOP_ENTRY = "trayagent", "trayagent"
URGENCY = {"low": 0, "normal": 1, "critical": 2}
_ERROR = "org.freedesktop.DBus.Error."
# Servers that know no GetCapabilities are asked for nothing but plain text.
INCAPABLE = {_ERROR + name for name in ("UnknownMethod", "UnknownInterface", "UnknownObject")}


def arguments(banner: Banner, can: Capabilities, icon: str) -> list[Any]:
    """What Notify takes, `susssasa{sv}i`, as far as this server can use it."""
    body = text.body(banner.body)
    return [
        APP,
        0,  # replaces nothing
        icon,
        text.title(banner.title),
        text.escaped(body) if can.markup else body,
        actions(banner) if can.actions else [],
        hints(banner),
        0 if banner.urgency == "critical" else -1,  # never, or as the server likes
    ]


def actions(banner: Banner) -> list[str]:
    """Keys and labels in turn. Some servers draw `default` as a button, so it has a label too."""
    pairs = [
        (key, text.title(label) or ("Jump" if key == "default" else key)) for key, label in banner.actions
    ]
    return [word for pair in pairs for word in pair]


def hints(banner: Banner) -> dict[str, Variant]:
    """category: the specification's own form for what it has no word for, `x-vendor.class.name`,
    so that a user's rules can tell our banners apart by state."""
    topic = banner.kind if banner.kind in ("notice", "test") else banner.state.value
    told = {
        "urgency": Variant("y", URGENCY.get(banner.urgency, 1)),
        "category": Variant("s", f"x-trayagent.agent.{topic}"),
        "desktop-entry": Variant("s", DESKTOP_ENTRY),
        "suppress-sound": Variant("b", True),
    }
    if banner.urgency == "low":
        told["transient"] = Variant("b", True)
    return told


def explain(error: BusError) -> str:
    """A failed call in words."""
    if error.name == "no-bus":
        return "there is no session bus"
    if error.name in ("timeout", _ERROR + "NoReply", _ERROR + "TimedOut"):
        return "the notification server does not answer"
    if error.name in (_ERROR + "ServiceUnknown", _ERROR + "NameHasNoOwner"):
        return "no notification server is running, and none can be started"
    if error.name.startswith(_ERROR + "Spawn"):
        return f"the notification server cannot be started: {error.text}"
    if error.name.endswith("ExcessNotificationGeneration"):
        return "the notification server takes no more banners for now"
    return f"the notification server refused: {error}"
