"""What one effect changes in the tables. SQL only; the writer opens, commits and retries."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from trayagent.model.effects import RecordDelivery, RecordFollowUp, RecordGone, RecordRead, RecordTransition
from trayagent.model.evidence import Labels
from trayagent.model.keys import PaneKey
from trayagent.model.settings import LedgerSettings
from trayagent.model.states import State

Record = RecordTransition | RecordDelivery | RecordFollowUp | RecordRead | RecordGone
# A record, and how far the wall clock was from engine seconds when it was made.
Entry = tuple[Record, float]

# After these outcomes the state has been told (or held for a reason) and is not told again at
# the next start; `delayed` and `failed` have not, `cancelled` has no state left to tell.
_TOLD = ("delivered", "merged", "held")
# What was held for one of these is told when the hold ends, also when that is after a restart.
LETS_GO = frozenset({"paused", "muted", "quiet-hours", "desktop-dnd", "locked"})
_ALERTABLE = (State.BLOCKED, State.ERROR, State.DONE)
_TEXT_CHARACTERS = 1000
_DAY = 86_400.0


def write(connection: sqlite3.Connection, entries: Iterable[Entry]) -> list[str]:
    """Apply the entries in one transaction; returns what could not be stored, and why.

    An entry that SQLite refuses for its values is left out, so that it cannot hold up the
    rest. Raises sqlite3.Error for faults of file and disk; then nothing was written."""
    refused = []
    connection.execute("BEGIN IMMEDIATE")
    try:
        for record, offset in entries:
            try:
                _apply(connection, record, offset)
            except (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError) as error:
                refused.append(f"{type(record).__name__}: {error}")
            except (TypeError, ValueError, OverflowError, AttributeError) as error:
                refused.append(f"{type(record).__name__}: {error}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return refused


def _apply(connection: sqlite3.Connection, record: Record, offset: float) -> None:
    if isinstance(record, RecordTransition):
        _transition(connection, record, offset)
    elif isinstance(record, RecordDelivery):
        _delivery(connection, record, offset)
    elif isinstance(record, RecordFollowUp):
        _follow_up(connection, record, offset)
    elif isinstance(record, RecordRead):
        _read(connection, record, offset)
    else:
        _gone(connection, record, offset)


def _transition(connection: sqlite3.Connection, record: RecordTransition, offset: float) -> None:
    change, decision = record.transition, record.transition.decision
    token, at = change.pane.token, change.at + offset
    _resolve(connection, token, at, "changed")  # the pane has moved on from what was open
    values = {
        "id": record.id,
        "at": at,
        "token": token,
        **_labels(change.labels, change.pane),
        "agent": change.agent,
        "before": change.before.value,
        "after": change.after.value,
        "kind": decision.kind.value if decision.kind else None,
        "reason": decision.reason.value if decision.reason else None,
        "source": decision.source,
        "rule": decision.rule,
        "why": decision.why,
        "fingerprint": decision.fingerprint,
        "worked": change.worked,
        "first_sight": change.first_sight,
        "own_interrupt": decision.own_interrupt,
        "text": decision.message[:_TEXT_CHARACTERS] or None,
    }
    try:
        _insert(connection, "transitions", values)
    except sqlite3.IntegrityError:  # the number is taken: keep the row all the same, and say so
        _insert(connection, "transitions", {**values, "id": None})
        raise
    _raise_id(connection, "transition", record.id)
    _remember(connection, record, at)


def _remember(connection: sqlite3.Connection, record: RecordTransition, at: float) -> None:
    """Keep the pane's last state. Its generation rises when it leaves blocked; a new process starts at 0."""
    change, process = record.transition, record.transition.process
    pid, started = (process.pid, process.started) if process else (None, None)
    left = int(change.before is State.BLOCKED and change.after is not State.BLOCKED)
    connection.execute(
        """INSERT INTO panes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (token) DO UPDATE SET transition_id = excluded.transition_id, agent = excluded.agent,
          generation = CASE WHEN pid IS excluded.pid AND started IS excluded.started
            THEN generation ELSE 0 END + excluded.generation,
          pid = excluded.pid, started = excluded.started, state = excluded.state,
          fingerprint = excluded.fingerprint, since = excluded.since, alerted = excluded.alerted""",
        (
            change.pane.token,
            record.id,
            _clean(change.agent),
            pid,
            started,
            change.after.value,
            change.decision.fingerprint,
            at,
            left,
            change.after not in _ALERTABLE,
        ),
    )


def _delivery(connection: sqlite3.Connection, record: RecordDelivery, offset: float) -> None:
    outcome = (record.outcome, record.reason, record.alert)
    connection.execute(
        "INSERT INTO deliveries VALUES (?, ?, ?, ?, ?)",
        (record.transition, record.at + offset, record.outcome, record.reason, record.alert),
    )
    connection.execute(
        "UPDATE transitions SET outcome = ?, held_by = ?, alert = coalesce(?, alert) WHERE id = ?",
        (*outcome, record.transition),
    )
    still_to_tell = record.outcome == "held" and record.reason in LETS_GO
    if record.outcome in _TOLD and not still_to_tell:
        connection.execute("UPDATE panes SET alerted = 1 WHERE transition_id = ?", (record.transition,))
    if record.alert is not None:
        _raise_id(connection, "alert", record.alert)


def _follow_up(connection: sqlite3.Connection, record: RecordFollowUp, offset: float) -> None:
    connection.execute(
        "INSERT INTO deliveries VALUES (?, ?, ?, ?, ?)",
        (record.transition, record.at + offset, record.what, record.to, record.alert),
    )
    if record.alert is not None:
        _raise_id(connection, "alert", record.alert)


def _read(connection: sqlite3.Connection, record: RecordRead, offset: float) -> None:
    at = record.at + offset
    connection.execute("INSERT INTO reads VALUES (?, ?, ?)", (at, record.pane.token, record.how))
    _resolve(connection, record.pane.token, at, record.how)
    connection.execute("UPDATE panes SET alerted = 1 WHERE token = ?", (record.pane.token,))


def _gone(connection: sqlite3.Connection, record: RecordGone, offset: float) -> None:
    token, at = record.pane.token, record.at + offset
    values = {"at": at, "token": token, "ended": record.ended, **_labels(record.labels, record.pane)}
    _insert(connection, "gone", values)
    _resolve(connection, token, at, "gone")
    connection.execute("DELETE FROM panes WHERE token = ?", (token,))


def _resolve(connection: sqlite3.Connection, token: str, at: float, how: str) -> None:
    """The pane's open items are over, and their texts go."""
    connection.execute(
        "UPDATE transitions SET read_at = ?, read_how = ?, text = NULL WHERE token = ? AND read_at IS NULL",
        (at, how, token),
    )


def _labels(labels: Labels, pane: PaneKey) -> dict[str, str]:
    return {
        "pane": labels.target or pane.id,
        "agent": labels.agent,
        "agent_name": labels.agent_name,
        "project": labels.project,
        "path": labels.path,
        "branch": labels.branch,
        "session": labels.session,
        "window": labels.window,
    }


def _insert(connection: sqlite3.Connection, table: str, values: dict[str, Any]) -> None:
    names = ", ".join(values)
    marks = ", ".join("?" * len(values))
    row = [_clean(value) if isinstance(value, str) else value for value in values.values()]
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row)


def _clean(text: str) -> str:
    """Folder names need not be Unicode; SQLite's text must be."""
    return text.encode("utf-8", "replace").decode()


def _raise_id(connection: sqlite3.Connection, name: str, used: int) -> None:
    connection.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
        (name, used + 1),
    )


def expire_texts(connection: sqlite3.Connection, settings: LedgerSettings, now: float) -> float | None:
    """Empty the texts that are too old; returns when the next one will be, None if there is none."""
    limit = settings.text_hours * 3600.0
    connection.execute(
        "UPDATE transitions SET text = NULL WHERE text IS NOT NULL AND at <= ?", (now - limit,)
    )
    (oldest,) = connection.execute("SELECT min(at) FROM transitions WHERE text IS NOT NULL").fetchone()
    return None if oldest is None else float(oldest) + limit


def prune(connection: sqlite3.Connection, settings: LedgerSettings, now: float) -> None:
    """Drop rows older than keep_days, and the oldest beyond keep_rows."""
    oldest = too_old = now - settings.keep_days * _DAY
    over = connection.execute(
        "SELECT at FROM transitions ORDER BY at DESC, id DESC LIMIT 1 OFFSET ?", (settings.keep_rows,)
    ).fetchone()
    if over is not None:
        oldest = max(oldest, over[0])
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("DELETE FROM transitions WHERE at <= ?", (oldest,))
        connection.execute("DELETE FROM deliveries WHERE transition_id NOT IN (SELECT id FROM transitions)")
        connection.execute("DELETE FROM reads WHERE at <= ?", (oldest,))
        connection.execute("DELETE FROM gone WHERE at <= ?", (oldest,))
        connection.execute("DELETE FROM panes WHERE since <= ?", (too_old,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
