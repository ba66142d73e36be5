"""The session bus: one connection for the whole process, looked for anew whenever it vanishes.

Theory of operation. One task, the keeper, is in one of two moods. *Looking*: it tries each
address that may lead to the user's bus (`addresses`), then sleeps with a growing delay, or
until a socket named `bus` appears in the runtime folder. *Connected*: it sleeps until
the connection is lost. Nothing else polls; a process without a bus wakes twice a minute.

Users (tray, notifications, ...) never hold a connection. They `subscribe` and register what they need
whenever they hear True; they watch names and signals with `watch_name` and
`watch_signal`, whose match rules the keeper puts back after each reconnection; and they
`call`, which has a timeout and raises only BusError. A callback that raises is
logged and harms neither the loop nor the others.

Protocol: D-Bus Specification, "Message Bus Messages" (Hello, AddMatch, GetNameOwner,
NameOwnerChanged). Everything happens on the loop's own thread.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from dbus_fast import AuthError, InvalidAddressError, Message, MessageFlag, MessageType, NameFlag
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface

from trayagent.desktop.busplace import Doorbell, addresses, runtime_folder
from trayagent.desktop.bussocket import make_patient
from trayagent.desktop.buswatch import BUS_NAME, BUS_PATH, NameWatch, SignalWatch, guarded

log = logging.getLogger(__name__)

CONNECT_TIMEOUT = 3.0
CALL_TIMEOUT = 5.0
FIRST_DELAY = 0.25  # before the second attempt
LONGEST_DELAY = 30.0  # between attempts while there is no bus
REMEDY = "log in to a desktop, or set DBUS_SESSION_BUS_ADDRESS; it is looked for all the time"
STEADY = 10.0  # a connection that lived so long starts the delays from the beginning


class BusError(Exception):
    """A call that got no good answer. name: the D-Bus error name, or `no-bus`, `timeout`, `lost`."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{name}: {text}" if text else name)
        self.name = name
        self.text = text


class SessionBus:
    """The session bus as the rest of the program uses it. Made before the loop runs or after.

    on_change: called with True at each connection and False at each loss."""

    def __init__(
        self, on_change: Callable[[bool], None] | None = None, *, environ: Mapping[str, str] | None = None
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._users: list[Callable[[bool], None]] = [on_change] if on_change else []
        self._signals: list[SignalWatch] = []
        self._names: list[NameWatch] = []
        self._connection: MessageBus | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._ended: asyncio.Future[None] | None = None  # done when the connection is lost
        self._looked = asyncio.Event()  # the first attempt is over
        self._tasks: set[asyncio.Task[Any]] = set()
        self._problem = ""

    # -- state -----------------------------------------------------------------------------

    @property
    def connected(self) -> bool:
        """There is a usable connection now."""
        return self._connection is not None and self._connection.connected

    @property
    def unique_name(self) -> str:
        """Our own name on the bus (`:1.42`), "" without a connection."""
        return (self._connection.unique_name or "") if self._connection else ""

    def problems(self) -> tuple[str, ...]:
        """What is wrong now, as sentences for `doctor`; empty when connected or not started."""
        return (self._problem,) if self._problem else ()

    def start(self) -> None:
        """Begin to look for the bus; needs a running loop. Further calls do nothing."""
        if self._keeper is None:
            self._keeper = asyncio.get_running_loop().create_task(self._keep(), name="session-bus")

    async def wait(self, timeout: float) -> bool:
        """Start, and wait until the first attempt is over, at most `timeout` seconds; True if connected."""
        self.start()
        try:
            async with asyncio.timeout(timeout):
                await self._looked.wait()
        except TimeoutError:
            return False
        return self.connected

    async def close(self) -> None:
        """Leave the bus for good. Users are not told."""
        self._users.clear()
        for task in (self._keeper, *self._tasks):
            if task is not None:
                task.cancel()
        await asyncio.gather(*(t for t in (self._keeper, *self._tasks) if t), return_exceptions=True)
        self._keeper = None
        if self._connection is not None and self._ended is not None:
            if self._connection.connected:
                self._connection.disconnect()
            await asyncio.wait({self._ended}, timeout=CONNECT_TIMEOUT)
        self._connection = None

    # -- for users ---------------------------------------------------------------------------

    def subscribe(self, on_change: Callable[[bool], None]) -> Callable[[], None]:
        """Hear True at each connection (also soon, if there is one already) and False at each loss.
        Returns the function that ends it."""
        self._users.append(on_change)
        if self.connected:
            asyncio.get_running_loop().call_soon(
                lambda: guarded(on_change, True) if on_change in self._users and self.connected else None
            )
        return lambda: self._users.remove(on_change) if on_change in self._users else None

    async def call(
        self,
        destination: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        body: Sequence[Any] = (),
        *,
        timeout: float = CALL_TIMEOUT,
        autostart: bool = True,
    ) -> list[Any]:
        """Call a method and return its reply's body; raises BusError only.

        timeout: seconds for the whole. autostart False: do not launch the service for it."""
        flags = MessageFlag.NONE if autostart else MessageFlag.NO_AUTOSTART
        message = Message(
            destination=destination,
            path=path,
            interface=interface,
            member=member,
            signature=signature,
            body=list(body),
            flags=flags,
        )
        try:
            async with asyncio.timeout(timeout):
                if not self._looked.is_set():
                    await self.wait(timeout)
                if self._connection is None or not self._connection.connected:
                    raise BusError("no-bus", self._problem or "not connected")
                reply = await self._connection.call(message)
        except TimeoutError:
            raise BusError("timeout", f"{destination} {member}: no answer within {timeout:g} s") from None
        except (OSError, EOFError) as error:
            raise BusError("lost", f"{destination} {member}: {error}") from None
        if reply is None:
            raise BusError("lost", f"{destination} {member}: the connection was closed")
        if reply.message_type is MessageType.ERROR:
            raise BusError(reply.error_name or "unnamed", str(reply.body[0]) if reply.body else "")
        return list(reply.body)

    def export(self, path: str, interface: ServiceInterface) -> None:
        """Offer an object on the present connection; raises BusError without one. To be done
        again after a reconnection, with a new interface object."""
        if self._connection is None:
            raise BusError("no-bus", self._problem or "not connected")
        self._connection.export(path, interface)

    def unexport(self, path: str) -> None:
        """Take an object back; nothing happens without a connection (its objects ended with it)."""
        if self._connection is not None:
            self._connection.unexport(path)

    async def request_name(self, name: str) -> None:
        """Own a well-known name, which must be free; raises BusError."""
        (answer,) = await self.call(
            BUS_NAME, BUS_PATH, BUS_NAME, "RequestName", "su", [name, NameFlag.DO_NOT_QUEUE.value]
        )
        if answer not in (1, 4):  # primary owner, already owner
            raise BusError("name-taken", name)

    async def release_name(self, name: str) -> None:
        """Give a well-known name back; raises BusError."""
        await self.call(BUS_NAME, BUS_PATH, BUS_NAME, "ReleaseName", "s", [name])

    def watch_name(self, name: str, callback: Callable[[str], None]) -> Callable[[], None]:
        """Hear the unique name of a name's owner, "" for nobody: as soon as it is known, and at each change.
        A lost connection is heard as "". Returns the function that ends it."""
        watch = NameWatch(name, callback)
        self._names.append(watch)
        self._signals.append(watch.signal)
        if self.connected:
            self._spawn(self._begin(watch.signal, watch))
        return lambda: self._end(watch.signal, watch)

    def watch_signal(
        self,
        interface: str,
        member: str,
        callback: Callable[[list[Any]], None],
        *,
        sender: str = "",
        path: str = "",
        arg0: str = "",
    ) -> Callable[[], None]:
        """Hear the body of each such signal. Returns the function that ends it."""
        watch = SignalWatch(interface, member, callback, sender, path, arg0)
        self._signals.append(watch)
        if self.connected:
            self._spawn(self._begin(watch))
        return lambda: self._end(watch)

    # -- watches ---------------------------------------------------------------------------

    async def _begin(self, signal: SignalWatch, name: NameWatch | None = None) -> None:
        """Ask the bus for the signal, and for the owner that the name has now.

        The bus answers in order, so a NameOwnerChanged that arrives before the answer is
        handled is at least as new as the answer."""
        try:
            await self.call(BUS_NAME, BUS_PATH, BUS_NAME, "AddMatch", "s", [signal.rule])
            if name is None:
                return
            news = name.news
            owner = await self._owner(name.name)
        except BusError as error:
            if self.connected:
                log.warning("cannot watch %s on the session bus: %s", signal.rule, error)
            return
        if name.news == news and name in self._names:
            name.tell(owner)

    async def _owner(self, name: str) -> str:
        try:
            (owner,) = await self.call(BUS_NAME, BUS_PATH, BUS_NAME, "GetNameOwner", "s", [name])
        except BusError as error:
            if error.name == "org.freedesktop.DBus.Error.NameHasNoOwner":
                return ""
            raise
        return str(owner)

    def _end(self, signal: SignalWatch, name: NameWatch | None = None) -> None:
        if signal not in self._signals:
            return
        self._signals.remove(signal)
        if name is not None:
            self._names.remove(name)
        if self.connected:
            self._spawn(self._forget(signal.rule))

    async def _forget(self, rule: str) -> None:
        try:
            await self.call(BUS_NAME, BUS_PATH, BUS_NAME, "RemoveMatch", "s", [rule])
        except BusError as error:
            log.debug("a match rule remains until the connection ends: %s", error)

    def _dispatch(self, message: Message) -> None:
        if message.message_type is MessageType.SIGNAL:
            for watch in [watch for watch in self._signals if watch.wants(message)]:
                guarded(watch.callback, message.body)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- the keeper ------------------------------------------------------------------------

    async def _keep(self) -> None:
        clock = asyncio.get_running_loop().time
        delay = FIRST_DELAY
        while True:
            connection = await self._look()
            since = clock()
            self._connection, self._problem = connection, ""
            self._looked.set()
            self._announce()
            self._ended = asyncio.ensure_future(_until_lost(connection))
            await asyncio.shield(self._ended)  # cancelled with us, it would break the library's own future
            self._lost()
            delay = FIRST_DELAY if clock() - since > STEADY else min(delay * 2, LONGEST_DELAY)
            await asyncio.sleep(delay)

    async def _look(self) -> MessageBus:
        """Return with a connection, however long that takes."""
        bell = Doorbell(
            runtime_folder(self._environ)
        )  # before the first attempt, so that no arrival is missed
        try:
            delay = FIRST_DELAY
            while (connection := await self._find()) is None:
                self._looked.set()
                rung = await bell.wait(delay)
                delay = FIRST_DELAY if rung else min(delay * 2, LONGEST_DELAY)
            return connection
        finally:
            bell.close()

    async def _find(self) -> MessageBus | None:
        """A connection to the first address that answers; else the problem is noted, and told once."""
        reasons = []
        for address in addresses(self._environ):
            try:
                return await self._connect(address)
            except (OSError, EOFError, TimeoutError, AuthError, InvalidAddressError) as error:
                reasons.append(f"{address}: {str(error) or type(error).__name__}")
        problem = "no session bus, hence no tray icon and no banners; tried " + "; ".join(reasons)
        if not self._problem:
            log.warning("%s; %s", problem, REMEDY)
        self._problem = problem
        return None

    async def _connect(self, address: str) -> MessageBus:
        connection = MessageBus(bus_address=address)
        async with asyncio.timeout(CONNECT_TIMEOUT):
            await connection.connect()
        make_patient(connection)
        connection.add_message_handler(self._dispatch)
        return connection

    def _announce(self) -> None:
        names = {watch.signal: watch for watch in self._names}
        for signal in self._signals:
            self._spawn(self._begin(signal, names.get(signal)))
        for user in tuple(self._users):
            guarded(user, True)

    def _lost(self) -> None:
        self._connection = None
        log.info("the session bus is gone; looking for it")
        for name in tuple(self._names):
            name.tell("")
        for user in tuple(self._users):
            guarded(user, False)


async def _until_lost(connection: MessageBus) -> None:
    try:
        await connection.wait_for_disconnect()  # type: ignore[no-untyped-call]
    except (OSError, EOFError) as error:
        log.debug("the session bus ended the connection: %s", error)
