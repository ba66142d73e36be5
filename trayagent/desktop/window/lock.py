"""Whether the session is locked, as far as anybody on the buses says so.

Theory of operation. Each witness has a word of its own, and the session is locked while one of
them says so: a screen saver of the session bus (its property is "active", which hides the screen
as a lock does), and logind's LockedHint. A witness that leaves the bus takes its word with
it. Everything is told by signals; nothing is asked twice. On X11 and Wayland alike.

Sources: the Idle Inhibition Service draft (org.freedesktop.ScreenSaver); the screen savers of GNOME,
Cinnamon, MATE and Xfce, which have the same two members; org.freedesktop.login1(5).
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from trayagent.desktop.bus import BusError, SessionBus
from trayagent.model.events import Locked

log = logging.getLogger(__name__)

SAVERS = (
    ("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
    ("org.freedesktop.ScreenSaver", "/ScreenSaver"),
    ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
    ("org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"),
    ("org.mate.ScreenSaver", "/"),
    ("org.xfce.ScreenSaver", "/"),
)
LOGIND, LOGIND_PATH = "org.freedesktop.login1", "/org/freedesktop/login1"
SESSION, USER = f"{LOGIND}.Session", f"{LOGIND}.User"
PROPERTIES = "org.freedesktop.DBus.Properties"


class LockWatch:
    """Emits Locked at each change, and at first only if the session is locked.

    session, system: buses to listen on, None where there is none."""

    def __init__(
        self, emit: Callable[[Locked], None], session: SessionBus | None, system: SessionBus | None
    ) -> None:
        self._emit = emit
        self._session, self._system = session, system
        self._words: dict[str, bool] = {}
        self._locked = False
        self._watches: list[Callable[[], None]] = []
        self._hint: Callable[[], None] | None = None  # ends the watch of the present logind session
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def locked(self) -> bool:
        """Locked as far as is known."""
        return self._locked

    @property
    def witnesses(self) -> tuple[str, ...]:
        """Who has said anything, for `doctor`."""
        return tuple(self._words)

    def start(self) -> None:
        """Begin to listen; needs a running loop."""
        if self._session is not None:
            for name, path in SAVERS:
                self._watch_saver(self._session, name, path)
        if self._system is not None:
            system = self._system
            system.start()
            self._watches.append(system.watch_name(LOGIND, self._logind_changed))
            for member in ("SessionNew", "SessionRemoved"):
                self._watches.append(
                    system.watch_signal(
                        f"{LOGIND}.Manager",
                        member,
                        lambda body: self._spawn(self._find_session(system)),
                        sender=LOGIND,
                    )
                )

    async def stop(self) -> None:
        """Stop listening."""
        for end in (*self._watches, *([self._hint] if self._hint else [])):
            end()
        self._watches.clear()
        self._hint = None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- screen savers -----------------------------------------------------------------------

    def _watch_saver(self, bus: SessionBus, name: str, path: str) -> None:
        witness = f"{name} {path}"

        def told(body: list[Any]) -> None:
            if body and isinstance(body[0], bool):
                self._says(witness, body[0])

        def owned(owner: str) -> None:
            if owner:
                self._spawn(self._ask_saver(bus, name, path, witness))
            else:
                self._says(witness, None)

        self._watches.append(bus.watch_signal(name, "ActiveChanged", told, sender=name, path=path))
        self._watches.append(bus.watch_name(name, owned))

    async def _ask_saver(self, bus: SessionBus, name: str, path: str, witness: str) -> None:
        try:
            answer = await bus.call(name, path, name, "GetActive", autostart=False)
        except BusError as error:  # some only keep requests of others and have no state of their own
            log.debug("%s does not say whether it is active: %s", name, error)
            return
        if answer and isinstance(answer[0], bool):
            self._says(witness, answer[0])

    # -- logind ------------------------------------------------------------------------------

    def _logind_changed(self, owner: str) -> None:
        if owner and self._system is not None:
            self._spawn(self._find_session(self._system))
        else:
            self._says("logind", None)

    async def _find_session(self, bus: SessionBus) -> None:
        """Watch the person's graphical session, else the one that we belong to."""
        path = await self._session_path(bus)
        if self._hint is not None:
            self._hint()
            self._hint = None
        if not path:
            self._says("logind", None)
            return
        self._hint = bus.watch_signal(
            PROPERTIES, "PropertiesChanged", self._hint_changed, sender=LOGIND, path=path, arg0=SESSION
        )
        self._says("logind", await self._hint_now(bus, path))

    async def _session_path(self, bus: SessionBus) -> str:
        manager = partial(bus.call, LOGIND, LOGIND_PATH, f"{LOGIND}.Manager")
        try:
            (user,) = await manager("GetUser", "u", [os.getuid()])
            (display,) = await bus.call(LOGIND, user, PROPERTIES, "Get", "ss", [USER, "Display"])
            session, path = display.value
            if session:
                return str(path)
        except BusError as error:
            log.debug("logind knows no graphical session of this user: %s", error)
        try:
            (path,) = await manager("GetSessionByPID", "u", [os.getpid()])
        except BusError as error:
            log.debug("logind knows no session of this process: %s", error)
            return ""
        return str(path)

    async def _hint_now(self, bus: SessionBus, path: str) -> bool | None:
        try:
            (value,) = await bus.call(LOGIND, path, PROPERTIES, "Get", "ss", [SESSION, "LockedHint"])
        except BusError as error:
            log.debug("logind does not tell LockedHint: %s", error)
            return None
        return bool(value.value)

    def _hint_changed(self, body: list[Any]) -> None:
        """PropertiesChanged (interface, changed, invalidated)."""
        if len(body) == 3 and "LockedHint" in body[1]:
            self._says("logind", bool(body[1]["LockedHint"].value))

    # -- the sum -----------------------------------------------------------------------------

    def _says(self, witness: str, locked: bool | None) -> None:
        """A witness's word; None: it has left."""
        if locked is None:
            self._words.pop(witness, None)
        else:
            self._words[witness] = locked
        now = any(self._words.values())
        if now != self._locked:
            self._locked = now
            self._emit(Locked(now))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
