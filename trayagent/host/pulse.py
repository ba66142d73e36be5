"""The tty pulse: which terminals are written to or typed in, without asking anybody (Linux).

inotify on a terminal's device file gives IN_MODIFY when a program writes to it and IN_ACCESS
when one reads what was typed. Writes and reads have an instance each, for an inode has
one watch an instance. A wake-up is followed by a drain 100 ms later, and by further ones
every 100 ms while there is something to drain; then the loop sleeps again. A terminal's watch
is set anew when one of its number comes or goes; all are every 5 s while there is activity, and
every 30 s.

Deaf terminals: what a program writes through /dev/tty (password prompts) gives no event on
the terminal's own file, but moves its modification time, in steps of 8 s, and rings
/dev/tty, which is watched as a doorbell for all. A terminal is deaf when its time is newer than
its last event, twice in a row, until it has an event again. A ring that no terminal's time
explains, because it already moved in these 8 s, makes every pane due (Pulse.overflow),
at most once in that time.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

from trayagent.host.base import Emit
from trayagent.host.inotify import ACCESS, CREATE, DELETE, MODIFY
from trayagent.host.watches import Watches
from trayagent.model.effects import WatchTerminals
from trayagent.model.events import Pulse, PulseState, TerminalsChanged

DRAIN = 0.1
RENEW_ACTIVE = 5.0
RENEW_QUIET = 30.0
CONFIRM = 0.3
STEP = 8.0  # seconds; the kernel moves a terminal's times no finer (tty_update_time)


class TtyPulse:
    """The TerminalWatch of Linux. emit gets Pulse, PulseState and TerminalsChanged on the loop.

    folder, doorbell: where terminals lie and the device that stands for each one's own;
    clock and wall in seconds, for tests.
    """

    def __init__(
        self,
        emit: Emit,
        loop: asyncio.AbstractEventLoop | None = None,
        *,
        folder: str = "/dev/pts",
        doorbell: str = "/dev/tty",
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._emit = emit
        self._loop = loop or asyncio.get_running_loop()
        self._folder, self._doorbell = folder, doorbell
        self._clock, self._wall = clock, wall
        self._wanted = WatchTerminals(frozenset())
        self._instances: tuple[Watches, Watches] | None = None
        self._folder_number = -1
        self._listening = False
        self._said: PulseState | None = None
        self._renewed_at = clock()
        self._rung_at = clock() - STEP
        self._heard: dict[str, float] = {}
        self._suspects: set[str] = set()
        self._deaf: set[str] = set()
        self._drain_timer: asyncio.TimerHandle | None = None
        self._rest_timer: asyncio.TimerHandle | None = None
        self._confirm_timer: asyncio.TimerHandle | None = None

    def watch(self, terminals: WatchTerminals) -> None:
        """Watch exactly these from now on: panes for writes and reads, clients for writes."""
        self._wanted = terminals
        if self._instances is None:
            self._open()
        if self._instances is not None:
            writes, reads = self._instances
            new = writes.want(terminals.panes | terminals.clients | {self._doorbell})
            reads.want(terminals.panes)
            now = self._wall()
            self._heard = {path: self._heard.get(path, now) for path in terminals.panes}
            self._heard.update(dict.fromkeys(new & terminals.panes, now))
            self._suspects &= terminals.panes
            self._deaf &= terminals.panes
        self._say()
        self._rest()

    def close(self) -> None:
        """Watch nothing any more."""
        for timer in (self._drain_timer, self._rest_timer, self._confirm_timer):
            if timer is not None:
                timer.cancel()
        self._drain_timer = self._rest_timer = self._confirm_timer = None
        self._shut()

    # -- instances and the loop ----------------------------------------------------------

    def _open(self) -> None:
        """Get both instances, if the system has them to give."""
        opened: list[Watches] = []
        try:
            opened.extend((Watches(MODIFY),))
            opened.extend((Watches(ACCESS),))
        except OSError:  # said as PulseState(available=False), tried again while resting
            for watches in opened:
                watches.close()
            return
        self._instances = (opened[0], opened[1])
        self._watch_folder()
        self._listen()

    def _shut(self) -> None:
        """Give both instances back."""
        if self._instances is not None:
            self._deafen()
            for watches in self._instances:
                watches.close()
            self._instances = None

    def _watch_folder(self) -> None:
        """Watch the folder of terminals; without one, lists are read every 30 s anyway."""
        if self._instances is not None:
            try:
                number = self._instances[1].instance.add(os.fsencode(self._folder), CREATE | DELETE)
            except OSError:
                number = -1
            self._folder_number = number

    def _listen(self) -> None:
        """Let the next event wake us."""
        if self._instances is not None and not self._listening:
            self._listening = True
            for watches in self._instances:
                self._loop.add_reader(watches.instance.descriptor, self._wake)

    def _deafen(self) -> None:
        """Let no event wake us."""
        if self._instances is not None and self._listening:
            self._listening = False
            for watches in self._instances:
                self._loop.remove_reader(watches.instance.descriptor)

    def _wake(self) -> None:
        """The first event after a silence: gather what follows it before reading."""
        self._deafen()
        if self._drain_timer is None:
            self._drain_timer = self._loop.call_later(DRAIN, self._drain)

    def _drain(self) -> None:
        """Read once, tell, set the watches again; sleep if there was nothing."""
        self._drain_timer = None
        if self._instances is None:
            return
        writes, reads = self._instances
        wrote, lost_writes, _ = writes.drain()
        typed, lost_reads, other = reads.drain()
        lost = lost_writes or lost_reads
        moved = {name for number, name in other if number == self._folder_number}
        if not (wrote or typed or lost or other):
            writes.rearm()
            reads.rearm()
            self._listen()
            return
        self._drain_timer = self._loop.call_later(DRAIN, self._drain)
        rang = self._doorbell in wrote
        wrote.discard(self._doorbell)
        self._hear(wrote)
        if moved:
            self._emit(TerminalsChanged())
        if lost or self._clock() - self._renewed_at >= RENEW_ACTIVE:
            self._renew()
        else:
            self._reused(moved)
        writes.rearm()
        reads.rearm()
        lost = self._ring(wrote) or lost if rang else lost
        if wrote or typed or lost:
            self._emit(Pulse(frozenset(wrote), frozenset(typed), lost))

    def _renew(self) -> None:
        """Set every watch anew: a terminal's number may belong to another one by now."""
        if self._instances is None:
            return
        self._renewed_at = self._clock()
        self._watch_folder()
        changed = self._instances[0].renew()
        self._instances[1].renew()
        now = self._wall()
        self._heard.update((path, now) for path in changed if path in self._heard)
        self._check_deaf()
        self._say()

    def _reused(self, names: set[bytes]) -> None:
        """Set the watches of terminals anew that came or went under the number of a watched one."""
        if self._instances is None or not names:
            return
        paths = {f"{self._folder}/{os.fsdecode(name)}" for name in names}
        changed = self._instances[0].renew(paths)
        self._instances[1].renew(paths)
        now = self._wall()
        self._heard.update((path, now) for path in changed if path in self._heard)

    def _rest(self) -> None:
        """Renew after 30 s without a reason to do so earlier; look for an instance if there is none."""
        if self._rest_timer is not None:
            self._rest_timer.cancel()
        due = max(self._renewed_at + RENEW_QUIET - self._clock(), 0.01)
        self._rest_timer = self._loop.call_later(due, self._rested)

    def _rested(self) -> None:
        """The quiet renewal is due, unless an active one came before it."""
        self._rest_timer = None
        if self._clock() - self._renewed_at >= RENEW_QUIET - 0.05:
            if self._instances is None:
                self._renewed_at = self._clock()
                self.watch(self._wanted)
                return
            self._renew()
        self._rest()

    # -- deaf terminals ------------------------------------------------------------------

    def _hear(self, wrote: set[str]) -> None:
        """Remember when each terminal last had an event: it is not deaf."""
        now = self._wall()
        self._heard.update((path, now) for path in wrote if path in self._heard)
        if self._suspects or self._deaf:
            self._suspects -= wrote
            if self._deaf & wrote:
                self._deaf -= wrote
                self._say()

    def _ring(self, wrote: set[str]) -> bool:
        """Somebody wrote through /dev/tty. Adds the deaf terminals to `wrote`; returns whether every
        pane is due because nothing tells whose terminal it was."""
        wrote |= self._deaf
        self._check_deaf()
        if self._suspects or self._deaf or self._clock() - self._rung_at < STEP:
            return False
        now = int(self._wall() // STEP)
        if any(int(_modified(path) // STEP) == now for path in self._heard):
            self._rung_at = self._clock()
            return True
        return False

    def _check_deaf(self) -> None:
        """Suspect each terminal that was written to after its last event, and look again in a moment:
        an event may be under way."""
        late = {path for path, heard in self._heard.items() if _modified(path) > heard}
        self._suspects = late - self._deaf
        if self._suspects and self._confirm_timer is None:
            self._confirm_timer = self._loop.call_later(CONFIRM, self._confirm, frozenset(self._suspects))

    def _confirm(self, before: frozenset[str]) -> None:
        """A suspect that is still late is deaf."""
        self._confirm_timer = None
        proven = {path for path in before & self._suspects if _modified(path) > self._heard.get(path, 0.0)}
        self._suspects -= before
        if proven:
            self._deaf |= proven
            self._say()
            self._emit(Pulse(wrote=frozenset(proven)))

    # -- what we can and cannot watch ----------------------------------------------------

    def _say(self) -> None:
        """Tell what has no pulse, when that changed."""
        refused: set[str] = set()
        if self._instances is not None:
            refused = self._instances[0].refused - {self._doorbell}
        state = PulseState(self._instances is not None, frozenset(self._deaf | refused))
        if state != self._said:
            self._said = state
            self._emit(state)


def _modified(path: str) -> float:
    """A terminal's modification time in epoch seconds, 0 if it is gone."""
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return 0.0
