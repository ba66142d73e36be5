"""One screen of an X server, in the words of the Extended Window Manager Hints (EWMH 1.5) and ICCCM.

Everything here waits for the X server and belongs into the thread of `xthread`. Xlib is
imported at the first connection only, and of its twenty extension modules just the screen saver, which
saves 0.7 MB and 20 ms.
"""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Mapping
from typing import Any

log = logging.getLogger(__name__)

PAGER = 2  # EWMH source indication of a request that the user made through another program
EVERYWHERE = 0xFFFFFFFF  # _NET_WM_DESKTOP of a window on all desktops
ICONIC = 3  # ICCCM 4.1.3.1, WM_STATE
_TOKEN_TIME = re.compile(r"_TIME(\d+)$")  # Startup Notification Protocol: the id ends with its timestamp
_ROOT_PROPERTIES = ("_NET_ACTIVE_WINDOW", "_NET_CLIENT_LIST", "_NET_SUPPORTING_WM_CHECK", "_NET_SUPPORTED")


def x_errors() -> tuple[type[Exception], ...]:
    """What python-xlib raises for servers that are missing, vanish, or refuse."""
    from Xlib import error

    return (
        error.DisplayError,
        error.ConnectionClosedError,
        error.XError,
        error.XauthError,
        error.ResourceIDError,
        OSError,
    )


def open_screen(environ: Mapping[str, str]) -> Screen:
    """Connect to the display that `environ` names; raises one of x_errors()."""
    import Xlib.ext
    from Xlib import display

    name = environ.get("DISPLAY", "")
    if not name:
        raise OSError("DISPLAY is not set")
    everything = Xlib.ext.__extensions__
    Xlib.ext.__extensions__ = [("MIT-SCREEN-SAVER", "screensaver")]
    try:
        connection = display.Display(name)
    finally:
        Xlib.ext.__extensions__ = everything
    return Screen(connection, bool(environ.get("WAYLAND_DISPLAY")))


def _note(error: Any, request: Any) -> None:
    """Requests without an answer fail later, when nobody waits for them; mostly their window is gone."""
    log.debug("X refused %s: %s", request, error)


class Screen:
    """The default screen. wayland: it belongs to an Xwayland, which sees its own windows only."""

    def __init__(self, display: Any, wayland: bool = False) -> None:
        from Xlib import X

        self._display = display
        self._any = X.AnyPropertyType
        self._root = display.screen().root
        self._host = socket.gethostname().partition(".")[0]
        self._stale = False
        display.set_error_handler(_note)
        self._root.change_attributes(event_mask=X.PropertyChangeMask)
        self._watched = {self._atom(name) for name in _ROOT_PROPERTIES}
        self.wayland = wayland or bool(display.query_extension("XWAYLAND"))
        self.has_idle = display.has_extension("MIT-SCREEN-SAVER") and not self.wayland

    # -- the connection ----------------------------------------------------------------------

    def fileno(self) -> int:
        """The connection's descriptor."""
        return int(self._display.fileno())

    def alive(self) -> bool:
        """The server still answers."""
        try:
            self._display.sync()
        except x_errors():
            return False
        return True

    def close(self) -> None:
        """Leave the server."""
        try:
            self._display.close()
        except x_errors():  # it left first
            return

    def root_changed(self) -> bool:
        """Read the events that wait; whether one of them is about the active window or the window manager."""
        from Xlib import X

        while self._display.pending_events():
            event = self._display.next_event()
            self._stale |= event.type == X.PropertyNotify and event.atom in self._watched
        changed, self._stale = self._stale, False
        return changed

    # -- properties --------------------------------------------------------------------------

    def _atom(self, name: str) -> int:
        return int(self._display.get_atom(name))

    def _property(self, window: Any, name: str) -> Any:
        """A property's value, None if it is not there or its window is gone."""
        from Xlib import error

        try:
            found = window.get_full_property(self._atom(name), self._any)
        except (error.BadWindow, error.BadDrawable):
            return None
        return found.value if found else None

    def _window(self, window: int) -> Any:
        return self._display.create_resource_object("window", window)

    def _numbers(self, window: int, name: str) -> list[int]:
        value = self._property(self._window(window) if window else self._root, name)
        return [int(number) for number in value] if value is not None and not isinstance(value, bytes) else []

    def _number(self, window: int, name: str, default: int = 0) -> int:
        return next(iter(self._numbers(window, name)), default)

    def _text(self, window: int, name: str) -> str:
        value = self._property(self._window(window), name)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")

    def supports(self, hint: str) -> bool:
        """A window manager runs and honours the hint."""
        return bool(self._number(0, "_NET_SUPPORTING_WM_CHECK")) and self._atom(hint) in self._numbers(
            0, "_NET_SUPPORTED"
        )

    def manager(self) -> str:
        """The window manager's name, "" if none runs."""
        check = self._number(0, "_NET_SUPPORTING_WM_CHECK")
        return self._text(check, "_NET_WM_NAME") if check else ""

    def active(self) -> int | None:
        """The window with the keyboard, 0 for none, None if nobody says so. An Xwayland's 0
        may as well be a Wayland window. openbox goes on naming the last window after it has
        closed, so a window that is not managed is none."""
        if not self.supports("_NET_ACTIVE_WINDOW"):
            return None
        window = self._number(0, "_NET_ACTIVE_WINDOW")
        if window not in self.windows():
            window = 0
        return window if window or not self.wayland else None

    def windows(self) -> tuple[int, ...]:
        """All managed windows, oldest first."""
        return tuple(self._numbers(0, "_NET_CLIENT_LIST"))

    def pid(self, window: int) -> int:
        """The window's process, 0 if unknown or on another machine (ssh -X)."""
        machine = self._text(window, "WM_CLIENT_MACHINE").partition(".")[0]
        return self._number(window, "_NET_WM_PID") if machine in ("", self._host, "localhost") else 0

    def title(self, window: int) -> str:
        """The window's title."""
        return self._text(window, "_NET_WM_NAME") or self._text(window, "WM_NAME")

    def managed(self, window: int) -> int | None:
        """The managed window that is or holds this one (WINDOWID may name an inner one)."""
        from Xlib import error

        known = set(self.windows())
        while window:
            if window in known:
                return window
            try:
                parent = self._window(window).query_tree().parent
            except (error.BadWindow, error.BadDrawable):
                return None
            window = parent.id if parent else 0
        return None

    def candidates(self, hint: int | None, pids: tuple[int, ...]) -> tuple[int, ...]:
        """Windows that may hold a client: one where its WINDOWID can be trusted, else all of its processes'.

        A WINDOWID is inherited by whatever is started from a terminal, other terminals included, so a
        window with an owner must belong to the client's own ancestors."""
        owners = {window: self.pid(window) for window in self.windows()}
        top = self.managed(hint) if hint else None
        if top is not None and (not pids or owners.get(top, 0) in (0, *pids)):
            return (top,)
        return tuple(window for window, pid in owners.items() if pid and pid in pids)

    def idle(self) -> float | None:
        """Seconds since the last input (MIT Screen Saver Extension, QueryInfo)."""
        return self._root.screensaver_query_info().idle / 1000 if self.has_idle else None

    # -- requests ----------------------------------------------------------------------------

    def activate(self, window: int, token: str | None) -> None:
        """Ask the window manager to switch to the window's desktop and give it the keyboard (EWMH,
        _NET_CURRENT_DESKTOP and _NET_ACTIVE_WINDOW; both come as from a pager)."""
        time = self._time(token)
        desktop = self._number(window, "_NET_WM_DESKTOP", EVERYWHERE)
        if desktop not in (EVERYWHERE, self._number(0, "_NET_CURRENT_DESKTOP", EVERYWHERE)):
            self._ask_manager(self._root, "_NET_CURRENT_DESKTOP", [desktop, time])
        self._ask_manager(
            self._window(window), "_NET_ACTIVE_WINDOW", [PAGER, time, self._number(0, "_NET_ACTIVE_WINDOW")]
        )

    def ring(self) -> None:
        """Ring the bell at the volume that the person has set."""
        self._display.bell(0)
        self._display.flush()

    def restore(self, window: int) -> None:
        """Map a minimised window (ICCCM 4.1.4), for window managers that do not when they activate one."""
        if self._number(window, "WM_STATE") == ICONIC:
            self._window(window).map()
            self._display.flush()

    def _time(self, token: str | None) -> int:
        """The click's server time: from the token, else the server's present one."""
        if token and (match := _TOKEN_TIME.search(token)):
            return int(match[1]) & 0xFFFFFFFF
        return self._server_time()

    def _server_time(self) -> int:
        """ICCCM 2.1: appending nothing to a property brings an event with the time."""
        from Xlib import X, Xatom

        own = self._root.create_window(0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask)
        try:
            own.change_property(Xatom.WM_NAME, Xatom.STRING, 8, b"", X.PropModeAppend)
            self._display.sync()
            while self._display.pending_events():
                event = self._display.next_event()
                if event.type == X.PropertyNotify and event.window.id == own.id:
                    return int(event.time)
                self._stale = True  # perhaps; `root_changed` will say so
        finally:
            own.destroy()
        return int(X.CurrentTime)

    def _ask_manager(self, window: Any, message: str, data: list[int]) -> None:
        from Xlib import X
        from Xlib.protocol import event

        words = (data + [0] * 5)[:5]
        note = event.ClientMessage(window=window, client_type=self._atom(message), data=(32, words))
        self._root.send_event(note, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        self._display.flush()
