"""Reports from the command line: who may speak is the broker's business, where he stands is asked of
the system here, and what he said becomes a claim.

The engine forgets the claims of a pane whose agent has left it, and takes none for a pane whose
processes it has not read yet. So each reading of a job (Job) sees to it that the engine has what is
on record: that restores a record after a restart, and when a suspended agent is back in front.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trayagent.host.base import ExitWatch
from trayagent.host.choose import exit_watch, standings
from trayagent.host.standing import Standing, ancestry, in_front
from trayagent.ipc.panes import find_pane
from trayagent.ipc.peer import Peer
from trayagent.ipc.schema import Json, VerbError
from trayagent.model.events import Event, Exited, Panes, TerminalsChanged
from trayagent.model.evidence import Claim
from trayagent.model.keys import PaneKey, ProcessKey
from trayagent.model.process import Job
from trayagent.reports import request, store
from trayagent.reports.broker import Broker, Record, Seat
from trayagent.reports.request import Refused

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts
    from trayagent.engine.panes import Pane

log = logging.getLogger("trayagent")

FILE = "reports.json"
SAVE_AFTER = 0.2  # seconds in which reports share one writing of the file
# An agent may report before its new pane has been listed; it is waited for, but not for long.
PANE_WAIT, PANE_LOOK = 0.6, 0.01

LAST_PID = 2**31 - 1  # pid_t

Handler = Callable[[Json, Peer], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class Spot:
    """A pane that is known, listed or not."""

    key: PaneKey
    pane_id: str
    server: str


class Reporting:
    """The verbs `report release set-state`, and the records behind them. folder: the runtime folder."""

    def __init__(self, parts: Parts, folder: Path) -> None:
        self._parts, self._file = parts, folder / FILE
        self._standing = standings()
        self.broker = Broker(self._group_of)
        self._exits: ExitWatch | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.verbs: dict[str, Handler] = {
            "report": self._report,
            "release": self._release,
            "set-state": self._set_state,
        }

    # -- life ------------------------------------------------------------------------------

    def start(self) -> None:
        """Take over the records of the last daemon; follow jobs and ends from now on."""
        problem = store.load(self._file, self.broker)
        if problem:
            self._parts.report("reports", problem)
        self._exits = exit_watch(self._ended)
        self._watch()
        self._parts.listeners.append(self._heard)

    def close(self) -> None:
        """Save what is on record."""
        if self._timer is not None:
            self._save()
        if self._exits is not None:
            self._exits.close()

    def _save(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        problem = store.save(self._file, self.broker)
        if problem:
            self._parts.report("reports", problem)

    def _changed(self) -> None:
        """Something is on record or off it: watch the right owners, and save soon."""
        self._watch()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SAVE_AFTER, self._save)

    def _watch(self) -> None:
        if self._exits is not None:
            self._exits.watch(frozenset(record.owner for record in self.broker.records.values()))

    # -- the world -------------------------------------------------------------------------

    def _group_of(self, process: ProcessKey) -> int | None:
        found = self._standing(process.pid)
        return found.group if found is not None and found.process == process else None

    def _heard(self, event: Event) -> None:
        if isinstance(event, Job):
            if event.pane in self.broker.records:  # after the engine has taken the job
                asyncio.get_running_loop().call_soon(self._sync, event.pane)
        elif isinstance(event, Panes) and (self.broker.records or self.broker.retired):
            gone = {key for key in self.broker.records if key.server == event.server}
            gone |= {key for key in self.broker.retired if key.server == event.server}
            gone -= {info.key for info in event.panes}
            if gone:
                self.broker.keep((self.broker.records.keys() | self.broker.retired.keys()) - gone)
                self._changed()

    def _ended(self, event: Event) -> None:
        """An owner's process ended."""
        assert isinstance(event, Exited)
        for key, record in list(self.broker.records.items()):
            if record.owner == event.process:
                self._sync(key)

    def _sync(self, key: PaneKey) -> None:
        """See to it that the engine has the claim that is on record, or none if there is none any more."""
        pane = self._parts.engine.core.panes.get(key)
        before = self.broker.records.get(key)
        record = self.broker.settle(key)
        if record is None:
            if before is not None:
                self._clear(pane, before)
                self._changed()
            return
        if pane is None or not self._in_front(self._standing(record.owner.pid), pane):
            return
        claim = self._claim(record, pane)
        if pane.claims.get((claim.source, claim.id)) != claim:
            self._parts.feed(claim)

    def _clear(self, pane: Pane | None, record: Record) -> None:
        """The record is over. Where its owner is the agent itself and has ended, the engine knows better
        what that means than that its claim is gone."""
        if pane is not None and (pane.process != record.owner or self._group_of(record.owner) is not None):
            self._parts.feed(Claim(pane.key, "report", None, self._parts.clock.now(), owner=record.owner))

    # -- verbs -----------------------------------------------------------------------------

    async def _report(self, args: Json, peer: Peer) -> Json:
        pane = await self.pane(args)
        try:
            report = request.read_report(args)
            seat = self._seat(args.get("owner_pid", 0), pane)
            record = self.broker.report(pane.key, report, seat, self._parts.clock.now())
        except Refused as error:
            raise VerbError("refused", str(error)) from None
        self._take(pane, record)
        return {"text": f"{record.agent} is {record.state}"}

    async def _release(self, args: Json, peer: Peer) -> Json:
        pane = await self.pane(args)
        try:
            instance, sequence = request.read_instance(args), request.read_sequence(args)
            seat = self._seat(args.get("owner_pid", 0), pane)
            record = self.broker.release(pane.key, instance, sequence, seat)
        except Refused as error:
            raise VerbError("refused", str(error)) from None
        self._clear(pane, record)
        self._changed()
        return {"text": f"{record.agent} is released"}

    async def _set_state(self, args: Json, peer: Peer) -> Json:
        pane = await self.pane(args)
        try:
            word = args.get("state", "")
            state = None if word == "clear" else request.read_state(word)
            message = request.read_message(args.get("message", ""))
            owner, agent = self._speaker(pane, peer.pid)
            seat = Seat(owner.process, owner.group, True)
            now = self._parts.clock.now()
            record = self.broker.set_state(pane.key, agent, state, message, seat, now)
        except Refused as error:
            raise VerbError("refused", str(error)) from None
        if record is None:
            self._parts.feed(Claim(pane.key, "report", None, self._parts.clock.now(), owner=owner.process))
            self._changed()
        else:
            self._take(pane, record)
        return {"text": f"{agent} is {word}"}

    def _take(self, pane: Pane, record: Record) -> None:
        self._parts.feed(self._claim(record, pane))
        self._changed()

    async def pane(self, args: Json) -> Pane:
        """The pane that the arguments mean; a new one is listed at once, and waited for. Raises VerbError."""
        began = self._parts.clock.now()
        asked = False
        while True:
            try:
                return self._parts.engine.core.panes[find_pane(self.spots(), args).key]
            except VerbError as error:
                if error.code != "no-pane" or self._parts.clock.now() >= began + PANE_WAIT:
                    raise
            if not asked:
                asked = True
                self._want_lists(began)
            await asyncio.sleep(PANE_LOOK)

    def _want_lists(self, now: float) -> None:
        """Have the panes of all servers listed now, whenever they were last; a new server is looked for."""
        planner = self._parts.engine.core.planner
        for server in planner.servers:
            planner.want_list(server, now)
        self._parts.feed(TerminalsChanged())

    def spots(self) -> list[Spot]:
        """Every pane that is there, with an agent or without."""
        return [
            Spot(key, key.server.place if key.server.kind == "bare" else key.id, pane.info.server_name)
            for key, pane in self._parts.engine.core.panes.items()
            if not pane.gone
        ]

    # -- who speaks ------------------------------------------------------------------------

    def _seat(self, pid: int, pane: Pane) -> Seat:
        owner = self._standing(pid) if 0 < pid <= LAST_PID else None
        if owner is None:
            raise Refused(f"--owner-pid: no process {str(pid)[:20]} is running here")
        return Seat(owner.process, owner.group, self._in_front(owner, pane))

    def _in_front(self, owner: Standing | None, pane: Pane) -> bool:
        return owner is not None and in_front(owner, self._front(pane), self._standing)

    def _front(self, pane: Pane) -> int:
        """The group in front of the pane's terminal, as of now."""
        first = self._standing(pane.info.pid)
        if first is not None and first.front:
            return first.front
        return pane.job.foreground if pane.job is not None else 0

    def _speaker(self, pane: Pane, caller: int) -> tuple[Standing, str]:
        """For whom `set-state` speaks, and under which name: the agent in front, else the leader of the
        caller's group; a command that was typed speaks for the shell in which it was."""
        chain = ancestry(caller, self._standing) if caller > 0 else []
        here = pane.here and pane.other_since is None
        if pane.identity is not None and here and pane.identity.certainty != "report":
            agent = self._standing(pane.identity.process.pid)
            if agent is not None and agent.process == pane.identity.process:
                return agent, pane.identity.agent
        below = any(one.process.pid == pane.info.pid for one in chain)
        front = self._front(pane)
        if not below or not any(one.group == front for one in chain):
            raise Refused("set-state speaks for what runs in front of its pane, and this does not")
        leader = next((one for one in chain if one.process.pid == chain[0].group), chain[0])
        if leader.process.pid == caller:  # typed: it ends at once, and nobody would be left
            leader = chain[1]
        return leader, _name(leader)

    def _claim(self, record: Record, pane: Pane) -> Claim:
        """The record as a claim. It is bound to the agent's own process where that is known and works in
        the same group: a helper that reports for it must not look like a stranger."""
        owner, agent = record.owner, pane.process
        if agent is not None and agent != owner and self._group_of(agent) == record.group:
            owner = agent
        return Claim(
            pane.key,
            "report",
            record.state,
            record.at,
            agent=record.agent,
            message=record.message,
            owner=owner,
            session_id=record.session_id,
            resume=record.resume,
        )


def _name(process: Standing) -> str:
    """What to call a program that no table knows."""
    name = (process.exe or "").rpartition("/")[2]
    return name or f"process {process.process.pid}"
