"""The last alerts, for the menu: what was told or held, what became of it, and whether it was seen.

It is fed with the engine's own Record effects and so goes by the ledger's rules: an item is over,
and its text is forgotten, when the person has seen it, when its pane moves on, or when its pane
leaves. A change enters when it is recorded and is shown once its alert has an outcome that a person
would call an alert: what settled away, or was never to be told, is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from trayagent.alerts.cases import TOLD
from trayagent.model.effects import Effect, RecordDelivery, RecordGone, RecordRead, RecordTransition
from trayagent.model.events import Recalled
from trayagent.model.evidence import Labels
from trayagent.model.keys import PaneKey
from trayagent.model.states import Kind, Reason, State

KEPT = 200  # more than are ever shown, since some are not to be seen yet
HOLDS = frozenset({"paused", "muted", "quiet-hours", "desktop-dnd", "locked"})
"""Rules whose hold a person would call an alert that was kept back; `watching` is not among them."""

_RECORDS = (RecordTransition, RecordDelivery, RecordRead, RecordGone)
_SHOWN = frozenset({"delivered", "merged", "failed"})
_WAITS = frozenset({"", "delayed"})
_LATER = HOLDS | {"watching"}  # held for now


@dataclass(frozen=True, slots=True)
class Entry:
    """One alert. id: of its transition. at: engine seconds, below zero before the machine was booted.
    message: what the agent asked, "" once the item is over."""

    id: int
    at: float
    pane: PaneKey
    state: State
    labels: Labels
    kind: Kind | None = None
    reason: Reason | None = None
    message: str = ""
    outcome: str = ""
    held_by: str = ""
    read: bool = False

    @property
    def shown(self) -> bool:
        """Whether it is an alert that a person had, or would have had."""
        return self.outcome in _SHOWN or (self.outcome == "held" and self.held_by in HOLDS)


class Recent:
    """The last alerts, by the id of their transition, oldest first."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}

    def note(self, effects: Iterable[Effect]) -> bool:
        """Take from effects what concerns alerts; whether there was any."""
        records = [effect for effect in effects if isinstance(effect, _RECORDS)]
        for record in records:
            if isinstance(record, RecordTransition):
                self._over(record.transition.pane)
                self._enter(record)
            elif isinstance(record, RecordDelivery):
                self._delivered(record)
            else:
                self._over(record.pane)
        return bool(records)

    def recall(self, event: Recalled, wall_offset: float) -> None:
        """An alert from before this start."""
        self._put(
            Entry(
                event.id,
                event.at_wall - wall_offset,
                event.pane,
                event.state,
                event.labels,
                event.kind,
                event.reason,
                "" if event.read else event.message,
                event.outcome,
                event.held_by,
                event.read,
            )
        )

    def last(self, limit: int) -> tuple[Entry, ...]:
        """The last alerts, newest first."""
        found = [entry for entry in reversed(self._entries.values()) if entry.shown]
        return tuple(found[:limit])

    def unread(self) -> frozenset[PaneKey]:
        """The panes with an item that is not over."""
        return frozenset(entry.pane for entry in self._entries.values() if not entry.read)

    def _enter(self, record: RecordTransition) -> None:
        change = record.transition
        if change.after not in TOLD:
            return
        decision = change.decision
        about = (decision.kind, decision.reason, decision.message)
        self._put(Entry(record.id, change.at, change.pane, change.after, change.labels, *about))

    def _put(self, entry: Entry) -> None:
        self._entries[entry.id] = entry
        if len(self._entries) > KEPT:
            del self._entries[next(iter(self._entries))]

    def _delivered(self, record: RecordDelivery) -> None:
        entry = self._entries.get(record.transition)
        if entry is None:
            return
        told = replace(entry, outcome=record.outcome, held_by=record.reason)
        if told.shown or told.outcome in _WAITS or (told.outcome == "held" and told.held_by in _LATER):
            self._entries[entry.id] = told
        else:
            del self._entries[entry.id]

    def _over(self, pane: PaneKey) -> None:
        for entry in self._entries.values():
            if entry.pane == pane and not entry.read:
                self._entries[entry.id] = replace(entry, read=True, message="")
