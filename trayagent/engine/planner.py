"""Which pane is due for a look, and why.

A look costs a process, so looks are shared and spaced; a missed dialog costs a person's
time, so none may wait longer than a second. The pulse says that a terminal was written
to, never what the state is. The table of reasons, each a moment at which a pane is due:

| why      | due                                                                     |
| -------- | ----------------------------------------------------------------------- |
| `wanted` | when the judge said that time alone may change its decision             |
| `silent` | some time after the last write (`rhythm`), `FLOOR` after the last look   |
| `beat`   | at the next whole second, shared by all panes that have written          |
| `poll`   | where there is no pulse: every half second, two or five                  |
| `deaf`   | every second, where the terminal cannot tell that it was written to      |
| `safety` | 30 s after the last look, in case everything else was missed             |

A pane without an agent is never captured: its foreground job is examined, which needs
no process.

The moments are asked for after every event and change with few of them, so they are kept:
whatever changes a rhythm marks it, and it is computed anew when they are next asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from trayagent.engine.rhythm import NEVER, SAFETY, Rhythm
from trayagent.model.keys import PaneKey, ServerKey

SHARE = 0.05
# A command that has not come back after this long is given up by the source itself.
STUCK = 10.0


@dataclass(slots=True)
class Server:
    """One server's list and its running look."""

    listed: float = NEVER
    list_wanted: float | None = None
    clients_wanted: float | None = None
    busy_since: float | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be read of one server now."""

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
    _due: dict[PaneKey, tuple[float, str]] = field(default_factory=dict)
    _changed: set[PaneKey] = field(default_factory=set)  # whose entry in `_due` is out of date
    _wake: float | None = None
    _stirred: bool = True  # something happened since `_wake` was found

    # -- what happened -------------------------------------------------------------------

    def add(self, key: PaneKey, tty: str) -> None:
        """A pane appeared."""
        rhythm = self.rhythms[key] = Rhythm(tty, self.pulse, tty in self.deaf)
        self._due[key] = rhythm.due()
        self._stirred = True
        self.by_tty.setdefault(tty, set()).add(key)

    def remove(self, key: PaneKey) -> None:
        """A pane is gone."""
        rhythm = self.rhythms.pop(key, None)
        if rhythm is not None:
            self._due.pop(key, None)
            self._changed.discard(key)
            self._stirred = True
            keys = self.by_tty.get(rhythm.tty, set())
            keys.discard(key)
            if not keys:
                self.by_tty.pop(rhythm.tty, None)

    def hear(self, pulse: bool, deaf: frozenset[str]) -> None:
        """Whether there is a pulse at all, and which terminals have none."""
        self.pulse, self.deaf = pulse, deaf
        for key, rhythm in self.rhythms.items():
            rhythm.pulse, rhythm.deaf = pulse, rhythm.tty in deaf
            self._changed.add(key)

    def is_now(self, key: PaneKey, *, agent: bool, working: bool, calm_from: float) -> None:
        """What kind of pane it is now. calm_from: since when it may wait, as idle or blocked."""
        rhythm = self.rhythms.get(key)
        if rhythm is not None:
            rhythm.is_now(agent, working, calm_from)
            self._changed.add(key)

    def wrote(self, ttys: Iterable[str], now: float) -> list[PaneKey]:
        """Terminals were written to within the last drain; returns their panes."""
        keys = [key for tty in ttys for key in self.by_tty.get(tty, ())]
        for key in keys:
            self.rhythms[key].writes(now)
        self._changed.update(keys)
        return keys

    def typed(self, ttys: Iterable[str], now: float) -> list[PaneKey]:
        """Somebody's input was read; lifts the floor. Returns the panes."""
        keys = [key for tty in ttys for key in self.by_tty.get(tty, ())]
        for key in keys:
            self.rhythms[key].typed = now
        self._changed.update(keys)
        return keys

    def overflow(self, now: float) -> None:
        """Events were lost: every pane may have written."""
        self.wrote(list(self.by_tty), now)

    def looked(self, key: PaneKey, at: float, same: bool) -> None:
        """A look that began at `at` came back; same: it differed from the last in spinners only."""
        rhythm = self.rhythms.get(key)
        if rhythm is not None:
            rhythm.saw(at, same)
            self._changed.add(key)

    def examined(self, key: PaneKey, now: float) -> None:
        """A pane without an agent was examined: its writes have been answered."""
        rhythm = self.rhythms.get(key)
        if rhythm is not None and not rhythm.agent:
            rhythm.wrote_first, rhythm.looked = None, now
            self._changed.add(key)

    def want(self, key: PaneKey, by: float, why: str) -> None:
        """The judge (or a newly found agent) wants a look at the latest by then."""
        rhythm = self.rhythms.get(key)
        if rhythm is not None and (rhythm.wanted is None or by < rhythm.wanted):
            rhythm.wanted, rhythm.why = by, why
            self._changed.add(key)

    def want_list(self, server: ServerKey, by: float) -> None:
        """The server's complete list is wanted."""
        entry = self._server(server)
        if entry.list_wanted is None or by < entry.list_wanted:
            entry.list_wanted = by

    def want_clients(self, server: ServerKey, by: float) -> None:
        """The server's clients are wanted."""
        entry = self._server(server)
        if entry.clients_wanted is None or by < entry.clients_wanted:
            entry.clients_wanted = by

    def look_began(self, due: Due, now: float) -> None:
        """The engine has asked for what was due."""
        server = self._server(due.server)
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
                self._changed.add(key)

    def look_ended(self, server: ServerKey) -> None:
        """The server's running look is over."""
        if server in self.servers:
            self._server(server).busy_since = None

    def forget_server(self, server: ServerKey) -> None:
        """The server has ended."""
        self.servers.pop(server, None)
        self._stirred = True

    def _server(self, key: ServerKey) -> Server:
        """The server's entry, which is about to be changed."""
        self._stirred = True
        return self.servers.setdefault(key, Server())

    # -- what is due ---------------------------------------------------------------------

    def pending(self, key: PaneKey) -> bool:
        """Whether the pane has written since it was last looked at (always, where nobody could tell)."""
        rhythm = self.rhythms.get(key)
        return rhythm is not None and rhythm.pending

    def moments(self) -> dict[PaneKey, tuple[float, str]]:
        """When each pane is next due, and why."""
        for key in self._changed:
            self._due[key] = self.rhythms[key].due()
            self._stirred = True
        self._changed.clear()
        return self._due

    def due(self, now: float) -> tuple[list[Due], list[PaneKey]]:
        """What to read now, at most one command a server, and the panes to examine only."""
        by_server: dict[ServerKey, dict[PaneKey, str]] = {}
        jobs: list[PaneKey] = []
        for key, (at, why) in self.moments().items():
            if at > now + SHARE:
                continue
            if not self.rhythms[key].agent:
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
        due = self.moments()
        if self._stirred:
            self._stirred = False
            self._wake = self._soonest(due)
        return self._wake

    def _soonest(self, due: dict[PaneKey, tuple[float, str]]) -> float | None:
        busy = {key for key, entry in self.servers.items() if entry.busy_since is not None}
        moments = [at for key, (at, why) in due.items() if not busy or why == "job" or key.server not in busy]
        for entry in self.servers.values():
            if entry.busy_since is not None:
                moments.append(entry.busy_since + STUCK)
                continue
            moments.append(entry.listed + SAFETY)
            moments += [at for at in (entry.list_wanted, entry.clients_wanted) if at is not None]
        return min(moments, default=None)
