"""Effects to the ends: one small method an effect, found by a table."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from trayagent.host.choose import measurer
from trayagent.model import effects as e
from trayagent.model.events import UserIdle
from trayagent.model.keys import PaneKey
from trayagent.model.process import Job

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

log = logging.getLogger("trayagent")

RECORDS = (e.RecordTransition, e.RecordDelivery, e.RecordFollowUp, e.RecordRead, e.RecordGone)


class Ends:
    """Carries effects out. Whatever takes time becomes a task; its answer comes back as an event."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._tasks: set[asyncio.Task[Any]] = set()
        self._discovering = False
        self._measurer = measurer()
        self._jobs: dict[PaneKey, Job] = {}
        self.watchers: list[Callable[[e.Effect], None]] = []
        self._table: dict[type, Callable[[Any], None]] = {
            e.Look: self._look,
            e.Discover: self._discover,
            e.Examine: self._examine,
            e.Measure: self._measure,
            e.WatchTerminals: self._watch_terminals,
            e.WatchProcesses: self._watch_processes,
            e.FindRepo: self._find_repo,
            e.AskUser: self._ask_user,
            e.Banner: self._banner,
            e.CloseBanner: self._close_banner,
            e.Sound: self._sound,
            e.Send: self._send,
            e.Tray: self._tray,
            e.Note: self._note,
            **dict.fromkeys(RECORDS, self._record),
        }

    def perform(self, effect: e.Effect) -> None:
        """Carry one effect out, and let those know who follow events."""
        self._table[type(effect)](effect)
        for watcher in self.watchers:
            watcher(effect)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run something in the background; it is kept until it ends, and its failure is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a background task failed", exc_info=task.exception())

    async def close(self) -> None:
        """End what is under way."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- towards sources and host ----------------------------------------------------------

    def _look(self, look: e.Look) -> None:
        self.spawn(self._parts.tmux.look(look))

    def _discover(self, _: e.Discover) -> None:
        if not self._discovering:
            self._discovering = True
            self.spawn(self._discover_once())

    async def _discover_once(self) -> None:
        try:
            await self._parts.discover()
        finally:
            self._discovering = False

    def _examine(self, examine: e.Examine) -> None:
        for job in self._parts.processes.examine(examine.panes, fresh=examine.fresh):
            if self._jobs.get(job.pane) is not job:  # the same object says that nothing changed
                self._jobs[job.pane] = job
                self._parts.feed(job)
        if len(self._jobs) > 2 * len(self._parts.engine.core.panes) + 50:
            self._jobs = {key: job for key, job in self._jobs.items() if key in self._parts.engine.core.panes}

    def _measure(self, measure: e.Measure) -> None:
        for physics in self._measurer(measure.panes):
            self._parts.feed(physics)

    def _watch_terminals(self, watch: e.WatchTerminals) -> None:
        if self._parts.pulse is not None:
            self._parts.pulse.watch(watch)

    def _watch_processes(self, watch: e.WatchProcesses) -> None:
        if self._parts.exits is not None:
            self._parts.exits.watch(watch.processes)

    def _find_repo(self, wanted: e.FindRepo) -> None:
        self._parts.feed(self._parts.repos.find(wanted.dir))

    def _ask_user(self, _: e.AskUser) -> None:
        self.spawn(self._ask())

    async def _ask(self) -> None:
        idle, _ = await asyncio.gather(self._parts.windows.idle_seconds(), self._parts.quiet.probe())
        self._parts.feed(UserIdle(idle))

    # -- towards the person ----------------------------------------------------------------

    def _banner(self, banner: e.Banner) -> None:
        self._parts.notifier.show(banner)

    def _close_banner(self, closing: e.CloseBanner) -> None:
        self._parts.notifier.close(closing)

    def _send(self, sent: e.Send) -> None:
        self._parts.commands.send(sent)

    def _sound(self, sound: e.Sound) -> None:
        self._parts.sounds.play(sound)

    def _tray(self, tray: e.Tray) -> None:
        self._parts.faces.notice(tray)

    def _note(self, note: e.Note) -> None:
        log.warning("%s: %s", note.topic, note.text)

    def _record(self, record: Any) -> None:
        self._parts.ledger.record(record, self._parts.clock.wall_offset())
