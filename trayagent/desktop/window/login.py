"""The display of the login session, for a process whose environment is older than it.

A shell in an old tmux server names the display of a session that ended. The user's systemd manager knows
the present one: desktops import their environment into it (systemd, `org.freedesktop.systemd1`,
property Environment of the manager).
"""

from __future__ import annotations

import logging
import os

from trayagent.desktop.bus import BusError, SessionBus

log = logging.getLogger(__name__)

SYSTEMD, MANAGER = "org.freedesktop.systemd1", "/org/freedesktop/systemd1"
WANTED = ("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY")


async def find_display(bus: SessionBus, environ: dict[str, str]) -> bool:
    """Bring `environ` up to date; True if it changed. XAUTHORITY goes into this process's own
    environment too, since Xlib reads it only there."""
    if not bus.connected:
        return False
    try:
        (value,) = await bus.call(
            SYSTEMD,
            MANAGER,
            "org.freedesktop.DBus.Properties",
            "Get",
            "ss",
            [f"{SYSTEMD}.Manager", "Environment"],
            autostart=False,
        )
    except BusError as error:
        log.debug("the user's systemd does not tell its environment: %s", error)
        return False
    said = dict(entry.split("=", 1) for entry in value.value if "=" in entry)
    news = {name: said[name] for name in WANTED if name in said and said[name] != environ.get(name)}
    if "DISPLAY" not in said or not news:
        return False
    log.info("the login session is on display %s", said["DISPLAY"])
    environ.update(news)
    if "XAUTHORITY" in news:
        os.environ["XAUTHORITY"] = news["XAUTHORITY"]
    return True
