"""Watches the do-not-disturb of whichever notification server runs.

Theory of operation. The server's owner tells its name, the name its probe. The probe is
asked at once and whenever one of its signals is heard; `probe()` asks it before an alert, for
servers that tell nothing. An answer counts only if no later question was put meanwhile. An
error, a slow answer, an unknown or missing server: not quiet, since an alert that nobody sees is
worse than one too many.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from trayagent.desktop.bus import BusError, SessionBus
from trayagent.desktop.quiet.probes import ANSWER, NOTIFICATIONS, PATH, Probe, Ring, probe_of
from trayagent.model.events import DesktopQuiet

log = logging.getLogger(__name__)


class QuietWatch:
    """Emits DesktopQuiet at each change, and at first only if it is quiet."""

    def __init__(self, emit: Callable[[DesktopQuiet], None], bus: SessionBus) -> None:
        self._emit = emit
        self._bus = bus
        self._owner = ""
        self._probe: Probe | None = None
        self._now = DesktopQuiet(False)
        self._turn = 0
        self._problem = ""
        self._name: Callable[[], None] | None = None
        self._rings: list[Callable[[], None]] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self) -> None:
        """Begin to watch; needs a running loop."""
        if self._name is None:
            self._name = self._bus.watch_name(NOTIFICATIONS, self._owner_changed)

    async def stop(self) -> None:
        """Stop watching."""
        if self._name is not None:
            self._name()
            self._name = None
        self._silence()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def now(self) -> DesktopQuiet:
        """The last answer."""
        return self._now

    @property
    def source(self) -> str:
        """Which desktop is understood here, "" for none."""
        return self._probe.source if self._probe else ""

    def problems(self) -> tuple[str, ...]:
        """Why the last question failed, until one succeeds."""
        return (self._problem,) if self._problem else ()

    async def probe(self) -> DesktopQuiet:
        """Ask now (2 s at most); emits a change as well. For a moment at which an alert is due."""
        if self._probe is not None:
            await self._ask(self._probe)
        return self._now

    # -- who is asked ------------------------------------------------------------------------

    def _owner_changed(self, owner: str) -> None:
        self._owner = owner
        self._probe = None
        self._silence()
        self._settle(False)
        if owner:
            self._spawn(self._adopt(owner))

    async def _adopt(self, owner: str) -> None:
        try:
            name, *_ = await self._bus.call(
                NOTIFICATIONS, PATH, NOTIFICATIONS, "GetServerInformation", autostart=False
            )
        except (BusError, ValueError) as error:
            log.debug("the notification server does not say who it is: %s", error)
            return
        if owner != self._owner:
            return
        self._probe = probe_of(str(name))
        if self._probe is None:
            log.debug("no known do-not-disturb: %s", name)
            return
        for ring in self._probe.rings:
            self._rings.append(
                self._bus.watch_signal(
                    ring.interface,
                    ring.member,
                    partial(self._rang, self._probe, ring),
                    sender=ring.sender,
                    path=ring.path,
                    arg0=ring.arg0,
                )
            )
        await self._ask(self._probe)

    def _silence(self) -> None:
        for end in self._rings:
            end()
        self._rings.clear()

    # -- asking ------------------------------------------------------------------------------

    def _rang(self, probe: Probe, ring: Ring, body: list[Any]) -> None:
        if probe is self._probe and ring.wants(body):
            self._spawn(self._ask(probe))

    async def _ask(self, probe: Probe) -> None:
        self._turn += 1
        turn = self._turn
        try:
            async with asyncio.timeout(2 * ANSWER):
                on = await probe.ask(self._bus)
            problem = ""
        except (BusError, OSError, TimeoutError, ValueError, TypeError, LookupError, AttributeError) as error:
            # the last four: an answer of another form than documented
            on, problem = False, f"{probe.source} does not say whether it may disturb: {error}"
        if turn == self._turn and probe is self._probe:
            self._problem = problem
            self._settle(on)

    def _settle(self, on: bool) -> None:
        if on != self._now.on:
            source = self._probe.source if self._probe else self._now.source
            self._now = DesktopQuiet(on, source)
            self._emit(self._now)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
