"""Which pane is due for a look, and why.

A look costs a process, so looks are shared and spaced; a missed dialog costs a person's
time, so none may wait longer than a second. The pulse says that a terminal was written
to, never what the state is. The table of reasons, each a moment at which a pane is due:

| why      | due                                                                     |
| -------- | ----------------------------------------------------------------------- |
| `wanted` | when the judge said that time alone may change its decision             |
| `silent` | `SETTLE` after the last write, `FLOOR` after the last look               |
| `beat`   | at the next whole second, shared by all panes that have written          |
| `poll`   | where there is no pulse: every half second, two or five                  |
| `deaf`   | every second, where the terminal cannot tell that it was written to      |
| `safety` | 30 s after the last look, in case everything else was missed             |

A pane without an agent is never captured: its foreground job is examined, which needs
no process. Idle and blocked panes blink and redraw, so once they are settled they have
beats only, a second apart, or two after three looks in a row that differed in spinners
only; a key that is read there makes them lively again. Many working agents pause all the
time; what counts as silence is therefore a bit longer than the pauses that this pane has
lately made and ended by writing on, and grows with each silence of the same turn that
meant nothing: the longer a turn has run, the less a quarter of a second matters. A second
is the most, for then the beat sees it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from trayagent.model.keys import PaneKey, ServerKey

NEVER = float("-inf")

# Writes are told 100 ms after the first of them. A pane that draws ten times a second is
# therefore heard of every 100 to 200 ms; to be missed for longer is to be silent.
SETTLE = 0.2
FLOOR = 0.3
FLOOR_CALM = 1.0
CALM_AFTER = 2.0  # a dialog that is withdrawn at once must be seen to be
FLOOR_SAME = 2.0
SAME_LOOKS = 3
# A silence must be this much longer than the longest recent pause; a pause is forgotten by
# half every so many seconds, and a silence longer than `PAUSE_MOST` is no pause.
PAUSE_FACTOR = 1.3
PAUSE_HALF_LIFE = 5.0
PAUSE_MOST = 1.0
MISS_FACTOR = 1.3
BEAT = 1.0
SAFETY = 30.0
SHARE = 0.05
POLL_WORKING, POLL_AGENTS, POLL_NONE = 0.5, 2.0, 5.0
# A command that has not come back after this long is given up by the source itself.
STUCK = 10.0


@dataclass(slots=True)
class Rhythm:
    """How one pane writes, and how it is looked at. Times are engine seconds."""

    tty: str
    agent: bool = False
    calm_from: float = float("inf")  # idle or blocked, and for some time: from then on it may wait
    working: bool = False
    wrote_first: float | None = None  # first write that no look has seen
    wrote: float = NEVER
    typed: float = NEVER
    looked: float = NEVER
    same: int = 0
    pause: float = 0.0  # the longest recent pause, as of the last write
    misses: int = 0  # silences of this turn that were looked at in vain
    patience: float = SETTLE  # how long this pane must be silent before that means anything
    wanted: float | None = None
    why: str = ""

    @property
    def still(self) -> bool:
        """It is idle or blocked: what comes between two writes is a person's time."""
        return self.calm_from < float("inf")

    def missed(self, count: int) -> None:
        """So many silences of this turn have meant nothing."""
        self.misses = count
        grown = SETTLE * MISS_FACTOR ** min(count, 8)
        self.patience = min(max(grown, self.pause * PAUSE_FACTOR), PAUSE_MOST)

    def writes(self, at: float) -> None:
        """It wrote. What it did before was a pause, if it was not too long for one."""
        gap = at - self.wrote
        if not self.still and SETTLE < gap < PAUSE_MOST:
            self.pause = max(self.pause, gap)
        if self.pause > 0.01:
            self.pause *= 0.5 ** (min(gap, 60.0) / PAUSE_HALF_LIFE)
            self.missed(self.misses)
        if self.wrote_first is None:
            self.wrote_first = at
        self.wrote = at

    @property
    def calm(self) -> bool:
        """It is idle or blocked, and has been looked at for long enough in that state."""
        return self.looked >= self.calm_from


@dataclass(slots=True)
class Server:
    """One server's list and its running look."""

    listed: float = NEVER
    list_wanted: float | None = None
    clients_wanted: float | None = None
    busy_since: float | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be read of one server now. `judge`: panes to be judged again without a look."""

    server: ServerKey
    panes: tuple[PaneKey, ...]
    listing: bool
    clients: bool
    why: str


@dataclass(slots=True)
class Planner:
    """The table of rhythms; the engine tells it what happened and asks what is due."""

    pulse: bool = True
    deaf: frozenset[str] = frozenset()
    rhythms: dict[PaneKey, Rhythm] = field(default_factory=dict)
    servers: dict[ServerKey, Server] = field(default_factory=dict)
    by_tty: dict[str, set[PaneKey]] = field(default_factory=dict)

    # -- what happened -------------------------------------------------------------------

    def add(self, key: PaneKey, tty: str) -> None:
        """A pane appeared."""
        self.rhythms[key] = Rhythm(tty)
        self.by_tty.setdefault(tty, set()).add(key)

    def remove(self, key: PaneKey) -> None:
        """A pane is gone."""
        rhythm = self.rhythms.pop(key, None)
        if rhythm is not None:
            keys = self.by_tty.get(rhythm.tty, set())
            keys.discard(key)
            if not keys:
                self.by_tty.pop(rhythm.tty, None)

    def wrote(self, ttys: Iterable[str], now: float) -> list[PaneKey]:
        """Terminals were written to within the last drain; returns their panes."""
        keys: list[PaneKey] = []
        for tty in ttys:
            for key in self.by_tty.get(tty, ()):
                rhythm = self.rhythms[key]
                rhythm.writes(now)
                keys.append(key)
        return keys

    def typed(self, ttys: Iterable[str], now: float) -> list[PaneKey]:
        """Somebody's input was read; lifts the floor. Returns the panes."""
        keys = [key for tty in ttys for key in self.by_tty.get(tty, ())]
        for key in keys:
            self.rhythms[key].typed = now
        return keys

    def overflow(self, now: float) -> None:
        """Events were lost: every pane may have written."""
        self.wrote(list(self.by_tty), now)

    def looked(self, key: PaneKey, at: float, same: bool) -> None:
        """A look that began at `at` came back; same: it differed from the last in spinners only."""
        rhythm = self.rhythms.get(key)
        if rhythm is None:
            return
        rhythm.looked = at
        if rhythm.wrote_first is not None and rhythm.wrote <= at:
            rhythm.wrote_first = None
        elif rhythm.wrote_first is not None:
            rhythm.wrote_first = max(rhythm.wrote_first, at)
        rhythm.same = rhythm.same + 1 if same else 0

    def examined(self, key: PaneKey, now: float) -> None:
        """A pane without an agent was examined: its writes have been answered."""
        rhythm = self.rhythms.get(key)
        if rhythm is not None and not rhythm.agent:
            rhythm.wrote_first, rhythm.looked = None, now

    def want(self, key: PaneKey, by: float, why: str) -> None:
        """The judge (or a newly found agent) wants a look at the latest by then."""
        rhythm = self.rhythms.get(key)
        if rhythm is not None and (rhythm.wanted is None or by < rhythm.wanted):
            rhythm.wanted, rhythm.why = by, why

    def unwant(self, key: PaneKey) -> None:
        """No look is wanted any more."""
        rhythm = self.rhythms.get(key)
        if rhythm is not None:
            rhythm.wanted = None

    def want_list(self, server: ServerKey, by: float) -> None:
        """The server's complete list is wanted."""
        entry = self.servers.setdefault(server, Server())
        if entry.list_wanted is None or by < entry.list_wanted:
            entry.list_wanted = by

    def want_clients(self, server: ServerKey, by: float) -> None:
        """The server's clients are wanted."""
        entry = self.servers.setdefault(server, Server())
        if entry.clients_wanted is None or by < entry.clients_wanted:
            entry.clients_wanted = by

    def look_began(self, due: Due, now: float) -> None:
        """The engine has asked for what was due."""
        server = self.servers.setdefault(due.server, Server())
        server.busy_since = now
        if due.listing:
            server.listed, server.list_wanted = now, None
        if due.clients or due.listing:
            server.clients_wanted = None
        for key in due.panes:
            rhythm = self.rhythms.get(key)
            if rhythm is not None:
                rhythm.wanted = None
                rhythm.looked = now
                if due.why == "silent":
                    rhythm.missed(rhythm.misses + 1)

    def look_ended(self, server: ServerKey) -> None:
        """The server's running look is over."""
        if server in self.servers:
            self.servers[server].busy_since = None

    # -- what is due ---------------------------------------------------------------------

    def pending(self, key: PaneKey) -> bool:
        """Whether the pane has written since it was last looked at (always, where nobody could tell)."""
        rhythm = self.rhythms.get(key)
        return rhythm is not None and (rhythm.wrote_first is not None or not self.hears(rhythm))

    def hears(self, rhythm: Rhythm) -> bool:
        """Whether this pane's writes are noticed."""
        return self.pulse and rhythm.tty not in self.deaf

    def due_at(self, rhythm: Rhythm) -> tuple[float, str]:
        """The moment at which this pane is next due, and why."""
        if not rhythm.agent:
            return self._job_due(rhythm), "job"
        best, why = rhythm.looked + SAFETY, "safety"
        if rhythm.wrote_first is None and rhythm.wanted is None and self.pulse and not self.deaf:
            return best, why
        if rhythm.wanted is not None and rhythm.wanted < best:
            best, why = rhythm.wanted, "wanted"
        if not self.pulse:
            every = POLL_WORKING if rhythm.working else POLL_AGENTS
            return min((best, why), (rhythm.looked + every, "poll"))
        if rhythm.tty in self.deaf:
            return min((best, why), (rhythm.looked + BEAT, "deaf"))
        if rhythm.wrote_first is not None:
            best, why = min((best, why), self._beat(rhythm))
            if not rhythm.calm or rhythm.typed > rhythm.looked:
                best, why = min((best, why), self._silent(rhythm))
        return best, why

    def _silent(self, rhythm: Rhythm) -> tuple[float, str]:
        due = rhythm.wrote + rhythm.patience
        if rhythm.typed <= rhythm.looked:
            due = max(due, rhythm.looked + self._floor(rhythm))
        return due, "silent"

    def _beat(self, rhythm: Rhythm) -> tuple[float, str]:
        assert rhythm.wrote_first is not None
        earliest = max(rhythm.wrote_first, rhythm.looked + BEAT / 10)
        if rhythm.calm and rhythm.typed <= rhythm.looked:
            earliest = max(earliest, rhythm.looked + self._floor(rhythm) - BEAT / 2)
        return (earliest // BEAT + 1) * BEAT, "beat"

    def _floor(self, rhythm: Rhythm) -> float:
        if not rhythm.calm:
            return FLOOR
        return FLOOR_SAME if rhythm.same >= SAME_LOOKS else FLOOR_CALM

    def _job_due(self, rhythm: Rhythm) -> float:
        if not self.hears(rhythm):
            return rhythm.looked + POLL_NONE
        if rhythm.wrote_first is None:
            return rhythm.looked + SAFETY
        return max(min(rhythm.wrote + SETTLE, rhythm.wrote_first + BEAT), rhythm.looked + FLOOR)

    def due(self, now: float) -> tuple[list[Due], list[PaneKey]]:
        """What to read now, at most one command a server, and the panes to examine only."""
        by_server: dict[ServerKey, dict[PaneKey, str]] = {}
        jobs: list[PaneKey] = []
        for key, rhythm in self.rhythms.items():
            at, why = self.due_at(rhythm)
            if at > now + SHARE:
                continue
            if not rhythm.agent:
                jobs.append(key)
            else:
                by_server.setdefault(key.server, {})[key] = why if at <= now else f"share:{why}"
        looks: list[Due] = []
        for server, entry in self.servers.items():
            if entry.busy_since is not None and now - entry.busy_since < STUCK:
                continue
            due = self._due_of(server, entry, by_server.get(server, {}), now)
            if due is not None:
                looks.append(due)
        return looks, jobs

    def _due_of(self, key: ServerKey, entry: Server, panes: dict[PaneKey, str], now: float) -> Due | None:
        listing = entry.listed + SAFETY <= now or (entry.list_wanted is not None and entry.list_wanted <= now)
        clients = entry.clients_wanted is not None and entry.clients_wanted <= now
        really = [why for why in panes.values() if not why.startswith("share:")]
        if not (listing or clients or really):
            return None
        why = really[0] if really else ("list" if listing else "clients")
        return Due(key, tuple(panes), listing, clients, why)

    def wake_at(self) -> float | None:
        """When something is due next."""
        moments = []
        busy = {key for key, entry in self.servers.items() if entry.busy_since is not None}
        for key, rhythm in self.rhythms.items():
            if key.server not in busy or not rhythm.agent:
                moments.append(self.due_at(rhythm)[0])
        for entry in self.servers.values():
            if entry.busy_since is not None:
                moments.append(entry.busy_since + STUCK)
                continue
            moments.append(entry.listed + SAFETY)
            moments += [at for at in (entry.list_wanted, entry.clients_wanted) if at is not None]
        return min(moments, default=None)
