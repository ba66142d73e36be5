"""Who reports for which pane, and which of his words still count.

Pure bookkeeping: where processes stand, it is told.

An *instance* is one launch of an agent: an id that the agent made up, bound to its process (pid and
start time) and to that process's group. A pane has at most one, and these rules keep it honest:

- the owner is in the pane's foreground process group when it speaks;
- sequence numbers of an instance only rise, over reports and the release;
- another reporter cannot take the group of one that is alive in it;
- an instance ends when it is released, when its owner ends or moves to another group, or when a
  program in another group that is in front now reports (it is replaced). One that has ended never
  speaks again: 4096 of them are remembered for each pane.

`set-state` makes a record without an instance or numbers: it never stands against an instance,
and gives way to one without a word.

The rules are those of Thurm's agent reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from trayagent.model.keys import PaneKey, ProcessKey
from trayagent.model.states import State
from trayagent.reports.request import Refused, Report

REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class Seat:
    """Where an owner stands as it speaks. group: its process group; in_front: of the pane's terminal."""

    owner: ProcessKey
    group: int
    in_front: bool


@dataclass(frozen=True, slots=True)
class Record:
    """What is on record for a pane. instance "": it was made by set-state, and has no numbers.

    at: engine seconds of the last report."""

    agent: str
    owner: ProcessKey
    group: int
    state: State
    at: float
    instance: str = ""
    sequence: int = 0
    message: str = ""
    session_id: str = ""
    resume: tuple[str, ...] = ()


class Broker:
    """The records of all panes. group_of: the process group of a living process, None once it has ended."""

    def __init__(self, group_of: Callable[[ProcessKey], int | None]) -> None:
        self._group_of = group_of
        self.records: dict[PaneKey, Record] = {}
        self.retired: dict[PaneKey, dict[str, None]] = {}  # instances, the oldest first

    # -- speaking --------------------------------------------------------------------------

    def report(self, pane: PaneKey, report: Report, seat: Seat, at: float) -> Record:
        """Take a report, made at engine seconds `at`. Raises Refused, and changes nothing."""
        active = self.settle(pane)
        _in_front(seat)
        self._not_retired(pane, report.instance)
        self._nowhere_else(pane, report.instance)
        if active is not None and active.instance and active.instance != report.instance:
            if active.group == seat.group:
                raise Refused(
                    f"process {active.owner.pid} reports for this process group as instance "
                    f"{active.instance!r:.80}; it must be released first"
                )
            self._retire(pane)
            active = None
        same = active if active is not None and active.instance == report.instance else None
        if same is not None:
            _continues(same, seat, report.sequence)
            if same.agent != report.agent:
                raise Refused(f"instance {report.instance!r:.80} is {same.agent}, not {report.agent}")
        record = self.records[pane] = _next(same, report, seat, at)
        return record

    def release(self, pane: PaneKey, instance: str, sequence: int, seat: Seat) -> Record:
        """End an instance; returns what it was. Raises Refused."""
        active = self.settle(pane)
        _in_front(seat)
        self._not_retired(pane, instance)
        if active is None or active.instance != instance:
            raise Refused(f"no instance {instance!r:.80} reports for this pane")
        _continues(active, seat, sequence)
        self._retire(pane)
        return active

    def set_state(
        self, pane: PaneKey, agent: str, state: State | None, message: str, seat: Seat, at: float
    ) -> Record | None:
        """Put a state on record without instance and numbers; None takes it back. Raises Refused."""
        active = self.settle(pane)
        if active is not None and active.instance:
            raise Refused(
                f"instance {active.instance!r:.80} of process {active.owner.pid} reports for this pane"
            )
        if state is None:
            self.records.pop(pane, None)
            return None
        record = self.records[pane] = Record(agent, seat.owner, seat.group, state, at, message=message)
        return record

    # -- ending ----------------------------------------------------------------------------

    def settle(self, pane: PaneKey) -> Record | None:
        """The pane's record, unless its owner has ended or left its group: then that is the end of it."""
        record = self.records.get(pane)
        if record is not None and self._group_of(record.owner) != record.group:
            self._retire(pane)
            return None
        return record

    def keep(self, present: Iterable[PaneKey]) -> None:
        """Forget panes that are gone."""
        present = frozenset(present)
        self.records = {key: record for key, record in self.records.items() if key in present}
        self.retired = {key: ids for key, ids in self.retired.items() if key in present}

    def restore(self, pane: PaneKey, record: Record | None, retired: Iterable[str]) -> None:
        """Take over what an earlier daemon had on record; what has ended meanwhile is settled."""
        if record is not None:
            self.records[pane] = record
            self.settle(pane)
        known = self.retired.setdefault(pane, {})
        known.update(dict.fromkeys(retired))

    def _retire(self, pane: PaneKey) -> None:
        record = self.records.pop(pane)
        if not record.instance:
            return
        known = self.retired.setdefault(pane, {})
        known[record.instance] = None
        while len(known) > REMEMBERED:
            del known[next(iter(known))]

    # -- refusing --------------------------------------------------------------------------

    def _not_retired(self, pane: PaneKey, instance: str) -> None:
        if instance in self.retired.get(pane, ()):
            raise Refused(f"instance {instance!r:.80} was released or replaced, and cannot report again")

    def _nowhere_else(self, pane: PaneKey, instance: str) -> None:
        for other, record in self.records.items():
            if other != pane and record.instance == instance and self._group_of(record.owner) is not None:
                raise Refused(f"instance {instance!r:.80} reports for another pane ({other.id})")


def _in_front(seat: Seat) -> None:
    if not seat.in_front:
        raise Refused(
            f"process {seat.owner.pid} is not in the pane's foreground process group; "
            "--owner-pid must be the agent's own"
        )


def _continues(active: Record, seat: Seat, sequence: int) -> None:
    if active.owner != seat.owner:
        raise Refused(f"instance {active.instance!r:.80} belongs to process {active.owner.pid}")
    if sequence <= active.sequence:
        raise Refused(f"sequence {sequence} is not above {active.sequence}, the last one taken")


def _next(same: Record | None, report: Report, seat: Seat, at: float) -> Record:
    """The record after a report; `same`: what this instance had said before."""
    before = same or Record(report.agent, seat.owner, seat.group, report.state, at, report.instance)
    session = before.session_id if report.session_id is None else report.session_id
    kept = before.resume if session == before.session_id else ()
    return replace(
        before,
        sequence=report.sequence,
        state=report.state,
        message=report.message,
        session_id=session,
        resume=kept if report.resume is None else report.resume,
        at=at,
    )
