"""The pump between the world and the engine: one event at a time, on the loop's own thread.

Whatever a source or an end has to say comes through `feed`. Effects are carried out in
order as they come; an effect that answers at once feeds while it is carried out, and
its event waits its turn. An event that the engine chokes on is logged once a kind and
lost alone: the daemon goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable

from trayagent.engine import Engine
from trayagent.model.effects import Effect
from trayagent.model.events import Event, Tick

log = logging.getLogger("trayagent")


class Pump:
    """Feeds the engine and wakes it. now: engine seconds; perform: carries out one effect;
    changes: what happened to time, asked before each tick, so that a sleep is known before
    anything that fell due in it is told."""

    def __init__(
        self,
        engine: Engine,
        now: Callable[[], float],
        perform: Callable[[Effect], None],
        changes: Callable[[], Iterable[Event]],
    ) -> None:
        self._engine, self._now, self._perform, self._changes = engine, now, perform, changes
        self._queue: deque[Event] = deque()
        self._feeding = self._arming = False
        self._timer: asyncio.TimerHandle | None = None
        self._armed: float | None = None
        self._stopped = False
        self._told: set[str] = set()
        self.fed = 0

    def feed(self, event: Event) -> None:
        """Hand an event over; call it on the loop's thread."""
        self._queue.append(event)
        if self._feeding or self._stopped:
            return
        self._feeding = True
        try:
            while self._queue:
                self._one(self._queue.popleft())
        finally:
            self._feeding = False
        if not self._arming:  # an answer comes as many events at once: the timer is set after the last
            self._arming = True
            asyncio.get_running_loop().call_soon(self._arm)

    def stop(self) -> None:
        """Nothing is fed any more."""
        self._stopped = True
        self._queue.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _one(self, event: Event) -> None:
        self.fed += 1
        try:
            effects = self._engine.feed(event, self._now())
        except Exception:
            self._tell_once(type(event).__name__, "the engine could not take this event")
            return
        for effect in effects:
            try:
                self._perform(effect)
            except Exception:
                self._tell_once(type(effect).__name__, "this effect could not be carried out")

    def _tell_once(self, kind: str, text: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            log.exception("%s: %s; going on (said once)", kind, text)

    def _arm(self) -> None:
        self._arming = False
        if self._stopped:
            return
        wake = self._engine.wake_at()
        if wake == self._armed and self._timer is not None:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._armed, self._timer = wake, None
        if wake is not None:
            delay = max(wake - self._now(), 0.001)
            self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def _tick(self) -> None:
        self._timer = None
        for change in self._changes():
            self.feed(change)
        self.feed(Tick())
