"""The system bus, kept like the session bus; a machine without one is no problem to report."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from dbus_fast import AuthError, InvalidAddressError
from dbus_fast.aio import MessageBus

from trayagent.desktop.bus import SessionBus

log = logging.getLogger(__name__)

STANDARD = "unix:path=/run/dbus/system_bus_socket"  # D-Bus Specification, "System message bus"


class SystemBus(SessionBus):
    """Used for logind alone. environ: may name the bus in DBUS_SYSTEM_BUS_ADDRESS."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__(environ=environ)
        self._address = environ.get("DBUS_SYSTEM_BUS_ADDRESS", "") or STANDARD

    async def _find(self) -> MessageBus | None:
        try:
            return await self._connect(self._address)
        except (OSError, EOFError, TimeoutError, AuthError, InvalidAddressError) as error:
            log.debug("no system bus: %s", error)
            return None
