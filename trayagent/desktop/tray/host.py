"""Who would draw a tray icon here, for `doctor`: asked, without registering anything.

Source: StatusNotifierWatcher of the StatusNotifierItem specification.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from trayagent.desktop.bus import BusError, SessionBus
from trayagent.desktop.buswatch import BUS_NAME, BUS_PATH
from trayagent.desktop.tray.sni import WATCHER, WATCHER_PATH

log = logging.getLogger(__name__)

ANSWER = 2.0  # seconds


@dataclass(frozen=True, slots=True)
class TrayHost:
    """program: of the watcher, "" where there is none or it cannot be told. watched: there is a watcher.
    draws: it says that somebody draws what it lists."""

    program: str = ""
    watched: bool = False
    draws: bool = False


async def tray_host(bus: SessionBus) -> TrayHost:
    """The host as it is now; nobody where the bus does not answer."""
    try:
        (owner,) = await bus.call(
            BUS_NAME, BUS_PATH, BUS_NAME, "GetNameOwner", "s", [WATCHER], timeout=ANSWER
        )
    except BusError as error:
        log.debug("no tray watcher: %s", error)
        return TrayHost()
    return TrayHost(await program_of(bus, owner), True, await _draws(bus, owner))


async def _draws(bus: SessionBus, owner: str) -> bool:
    """A watcher that does not say is believed to."""
    asked = [WATCHER, "IsStatusNotifierHostRegistered"]
    properties = "org.freedesktop.DBus.Properties"
    try:
        (answer,) = await bus.call(
            owner, WATCHER_PATH, properties, "Get", "ss", asked, timeout=ANSWER, autostart=False
        )
    except BusError as error:
        log.debug("the tray's watcher does not say whether it has a host: %s", error)
        return True
    return bool(answer.value)


async def program_of(bus: SessionBus, owner: str) -> str:
    """The kernel's name of the process that has this name on the bus, "" where nobody tells."""
    try:
        (pid,) = await bus.call(
            BUS_NAME, BUS_PATH, BUS_NAME, "GetConnectionUnixProcessID", "s", [owner], timeout=ANSWER
        )
        return _comm(pid)
    except (BusError, OSError) as error:
        log.debug("who owns %s is not known: %s", owner, error)
        return ""


def _comm(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()
