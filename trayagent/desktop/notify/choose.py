"""Which backend shows banners here."""

from __future__ import annotations

import sys

from trayagent.desktop.bus import SessionBus
from trayagent.desktop.notify.base import Emit, NoNotifier, Notifier, OnAction
from trayagent.model.settings import NotifySettings


def notifier(
    settings: NotifySettings, bus: SessionBus | None, emit: Emit, on_action: OnAction, *, icon: str = ""
) -> Notifier:
    """The backend that `notify.backend` names. `auto`: freedesktop where D-Bus is the custom, else plyer.
    bus None: there is no D-Bus on this system. icon: see FreedesktopNotifier."""
    wanted = settings.backend
    if wanted == "auto":
        wanted = "freedesktop" if bus is not None and sys.platform == "linux" else "plyer"
    if wanted == "off":
        return NoNotifier(emit, on_action)
    if wanted == "plyer" or bus is None:
        from trayagent.desktop.notify.plyer_ import PlyerNotifier

        return PlyerNotifier(emit, on_action)
    from trayagent.desktop.notify.freedesktop import FreedesktopNotifier

    return FreedesktopNotifier(bus, emit, on_action, icon=icon)
