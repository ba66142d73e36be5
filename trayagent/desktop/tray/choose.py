"""Which backend shows the icon here."""

from __future__ import annotations

import sys
from collections.abc import Callable

from trayagent.desktop.bus import SessionBus
from trayagent.desktop.tray.base import Action, Tray


def tray(
    backend: str,
    bus: SessionBus,
    on_action: Callable[[Action], None],
    *,
    on_about_to_show: Callable[[], None] | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> Tray | None:
    """The backend that `tray.backend` names, None for `off`. `auto`: StatusNotifierItem where D-Bus is the
    custom, else pystray."""
    wanted = backend
    if wanted == "auto":
        wanted = "sni" if sys.platform == "linux" else "pystray"
    if wanted == "off":
        return None
    if wanted == "pystray":
        from trayagent.desktop.tray.pystray_ import PystrayTray

        return PystrayTray(on_action, on_about_to_show=on_about_to_show, on_problem=on_problem)
    from trayagent.desktop.tray.sni import SniTray

    return SniTray(bus, on_action, on_about_to_show=on_about_to_show, on_problem=on_problem)
