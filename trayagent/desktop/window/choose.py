"""Which backend sees the windows here."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from trayagent.desktop.bus import SessionBus
from trayagent.desktop.window.base import NoWindows, Windows


def windows(bus: SessionBus | None, environ: Mapping[str, str] | None = None) -> Windows:
    """X11 on Linux, also without DISPLAY (the login session may name one later); elsewhere nothing yet.
    environ: where DISPLAY and WAYLAND_DISPLAY are read, by default the process's own."""
    if sys.platform != "linux":
        return NoWindows()
    from trayagent.desktop.window.x11 import X11Windows

    return X11Windows(os.environ if environ is None else environ, bus)
