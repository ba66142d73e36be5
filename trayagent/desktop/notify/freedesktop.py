"""Banners over D-Bus: the Desktop Notifications Specification 1.2, with 1.3's activation token.

Theory of operation. Every banner is a record. It is *sent* (Notify is under way, the id
unknown), then *open* (the server gave it an id), then gone. A record that is not
wanted any more while it is sent is closed as soon as its id is known. A new event of a
pane never replaces a banner in place, for replaced banners do not come up again:
the old one is closed, a new one is opened.

What the server can do is asked once per owner of the name. When the owner changes
(it crashed, another one took over), its ids mean nothing any more: our records are
forgotten and reported as closed by `other`. A name without an owner is still called,
since the bus may start a server for it.

A server that does not answer fails the banner after ANSWER seconds. Its answer is awaited
further, up to LATE seconds: a banner that comes up after all is shown, and its clicks work.

Signals may overtake our own reading of Notify's reply, which arrives in the same packet; those with
ids that nobody knows yet are kept while a Notify is under way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

from trayagent.desktop.bus import BusError, SessionBus
from trayagent.desktop.notify import message
from trayagent.desktop.notify.base import Capabilities, Emit, Notifier, OnAction
from trayagent.model.effects import Banner, CloseBanner
from trayagent.model.events import BannerClosed, BannerFailed, BannerShown

log = logging.getLogger(__name__)

NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
ANSWER = 5.0  # seconds after which a banner counts as failed
LATE = 60.0  # seconds for which the answer is still awaited
FAREWELL = 1.0
EARLY_SIGNALS = 64

CLOSED_BY = {1: "time", 2: "user"}  # 3, CloseNotification, is "us" only if we called it


@dataclass(eq=False, slots=True)
class _Record:
    """A banner on its way or on the screen. id 0: not answered. failed: reported as failed, though
    the answer may still come. unwanted: to be closed as soon as it can be."""

    banner: Banner
    id: int = 0
    failed: bool = False
    unwanted: bool = False


class FreedesktopNotifier(Notifier):
    """The notification server of the session bus, whichever that is."""

    name = "freedesktop"

    def __init__(self, bus: SessionBus, emit: Emit, on_action: OnAction, *, icon: str = "") -> None:
        """icon: a name in the icon theme or an absolute path; "": the desktop entry's, if it is installed."""
        super().__init__(emit, on_action)
        self._bus = bus
        self._icon = icon
        self._owner: str | None = None  # None: not known yet, "": nobody
        self._known: Capabilities | None = None
        self._asking: asyncio.Task[Capabilities | BusError] | None = None
        self._records: set[_Record] = set()
        self._by_id: dict[int, _Record] = {}
        self._early: list[tuple[str, list[Any]]] = []
        self._tokens: dict[int, str] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._watches: list[Callable[[], None]] = []
        self._problem = ""

    # -- the interface -----------------------------------------------------------------------

    def start(self) -> None:
        """Watch the server's name and its signals."""
        if self._watches:
            return
        for member in ("NotificationClosed", "ActionInvoked", "ActivationToken"):
            hear = partial(self._signal, member)
            self._watches.append(self._bus.watch_signal(NAME, member, hear, sender=NAME, path=PATH))
        self._watches.append(self._bus.watch_name(NAME, self._owner_changed))

    def show(self, banner: Banner) -> None:
        """Close what this banner makes obsolete, and send it."""
        panes = frozenset(banner.panes)
        for old in [r for r in self._records if r.banner.panes and panes.issuperset(r.banner.panes)]:
            self._withdraw(old)
        record = _Record(banner)
        self._records.add(record)
        self._spawn(self._send(record))

    def close(self, effect: CloseBanner) -> None:
        """Take the banner of this alert back."""
        for record in [r for r in self._records if r.banner.alert == effect.alert]:
            self._withdraw(record)

    @property
    def capabilities(self) -> Capabilities:
        """What the present server said; nothing until it was asked."""
        return self._known or Capabilities()

    def problems(self) -> tuple[str, ...]:
        """Why the last banner failed, until one succeeds."""
        return (self._problem,) if self._problem else ()

    async def stop(self) -> None:
        """Close what is open, and stop listening."""
        for end in self._watches:
            end()
        self._watches.clear()
        closing = [self._spawn(self._take_back(record.id)) for record in self._by_id.values()]
        if closing:
            await asyncio.wait(closing, timeout=FAREWELL)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._records.clear()
        self._by_id.clear()

    # -- sending -----------------------------------------------------------------------------

    async def _send(self, record: _Record) -> None:
        notify = self._spawn(self._notify(record.banner))
        await asyncio.wait({notify}, timeout=ANSWER)
        if not notify.done():
            self._failed(record, message.explain(BusError("timeout", "")))
        answer = await notify
        if isinstance(answer, BusError):
            self._records.discard(record)
            self._failed(record, message.explain(answer))
        elif answer == 0 or self._owner == "":
            self._records.discard(record)
            self._failed(record, "the notification server went away" if answer else "the server gave no id")
        else:
            self._arrived(record, answer)
        if not any(r.id == 0 for r in self._records):
            self._early.clear()

    async def _notify(self, banner: Banner) -> int | BusError:
        """The server's id for the banner, or why there is none."""
        can = await self._ask()
        if isinstance(can, BusError):
            return can
        arguments = message.arguments(banner, can, self._icon)
        try:
            (id_,) = await self._bus.call(
                NAME, PATH, NAME, "Notify", "susssasa{sv}i", arguments, timeout=LATE
            )
        except BusError as error:
            return error
        return int(id_)

    def _failed(self, record: _Record, why: str) -> None:
        """Report a failure, once a record."""
        self._problem = why
        if not record.failed:
            record.failed = True
            self._emit(BannerFailed(record.banner.alert, why))

    def _arrived(self, record: _Record, id_: int) -> None:
        self._problem = ""
        alert = record.banner.alert
        if record.unwanted:
            self._records.discard(record)
            self._spawn(self._take_back(id_))
            if not record.failed:
                self._emit(BannerShown(alert, id_))
                self._emit(BannerClosed(alert, "us"))
            return
        record.id = id_
        self._by_id[id_] = record
        self._emit(BannerShown(alert, id_))
        for member, body in [signal for signal in self._early if signal[1][0] == id_]:
            self._signal(member, body)

    # -- taking back -------------------------------------------------------------------------

    def _withdraw(self, record: _Record) -> None:
        if record.id == 0:
            record.unwanted = True
            return
        id_ = record.id
        self._drop(record, "us")
        self._spawn(self._take_back(id_))

    async def _take_back(self, id_: int) -> None:
        try:
            await self._bus.call(NAME, PATH, NAME, "CloseNotification", "u", [id_], autostart=False)
        except BusError as error:  # it was closed already, or its server is gone: both are what is wanted
            log.debug("CloseNotification: %s", error)

    def _drop(self, record: _Record, by: str) -> None:
        """The record is over: forgotten, and reported."""
        self._records.discard(record)
        self._by_id.pop(record.id, None)
        self._tokens.pop(record.id, None)
        self._emit(BannerClosed(record.banner.alert, by))

    # -- what the server says ----------------------------------------------------------------

    def _signal(self, member: str, body: list[Any]) -> None:
        """ActivationToken (id, token) comes before its ActionInvoked (id, key);
        NotificationClosed (id, reason) after. Ids of other programs' banners are not ours."""
        if len(body) != 2 or not isinstance(body[0], int):
            log.debug("%s with a body that the specification does not know", member)
            return
        record = self._by_id.get(body[0])
        if record is None:
            if len(self._early) < EARLY_SIGNALS and any(r.id == 0 for r in self._records):
                self._early.append((member, body))
        elif member == "ActivationToken":
            self._tokens[record.id] = str(body[1])
        elif member == "ActionInvoked":
            self._on_action(record.banner.alert, str(body[1]), self._tokens.pop(record.id, None))
        else:
            self._drop(record, CLOSED_BY.get(body[1], "other"))

    def _owner_changed(self, owner: str) -> None:
        self._owner = owner
        self._known = None
        self._asking = None
        for record in list(self._by_id.values()):
            self._drop(record, "other")
        if owner:
            self._spawn(self._ask())

    async def _ask(self) -> Capabilities | BusError:
        """The server's capabilities; concurrent banners share one question."""
        if self._known is not None:
            return self._known
        if self._asking is None or self._asking.done():
            self._asking = self._spawn(self._inquire())
        asking = self._asking
        answer = await asyncio.shield(asking)
        if isinstance(answer, Capabilities) and asking is self._asking:
            self._known = answer
        return answer

    async def _inquire(self) -> Capabilities | BusError:
        said, about = await asyncio.gather(
            self._question("GetCapabilities"), self._question("GetServerInformation")
        )
        if isinstance(said, BusError):
            return said
        words = set(said[0]) if said else set()
        server = (
            " ".join(str(about[i]) for i in (0, 2)) if isinstance(about, list) and len(about) == 4 else ""
        )
        return Capabilities(
            server=server,
            actions="actions" in words,
            markup="body-markup" in words,
            close=True,
            persistence="persistence" in words,
        )

    async def _question(self, member: str) -> list[Any] | BusError:
        """A method without arguments; [] where the server does not know it."""
        try:
            return await self._bus.call(NAME, PATH, NAME, member, timeout=ANSWER)
        except BusError as error:
            return [] if error.name in message.INCAPABLE else error

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
