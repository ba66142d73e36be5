"""Idleness where the X server cannot tell it: GNOME on Wayland says it over the session bus."""

from __future__ import annotations

import logging

from trayagent.desktop.bus import BusError, SessionBus

log = logging.getLogger(__name__)

MUTTER, CORE = "org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core"


async def mutter_idle(bus: SessionBus) -> float | None:
    """Seconds since the last input at any of GNOME's devices (Mutter's interface IdleMonitor, GetIdletime,
    milliseconds), None without GNOME."""
    if not bus.connected:
        return None
    try:
        (milliseconds,) = await bus.call(MUTTER, CORE, MUTTER, "GetIdletime", timeout=1.0, autostart=False)
    except BusError as error:
        log.debug("Mutter does not tell the idle time: %s", error)
        return None
    return float(milliseconds) / 1000
