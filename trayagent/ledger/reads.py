"""What the ledger is asked: memory for the next start, the next ids, and history."""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from trayagent.ledger.store import LETS_GO
from trayagent.model.events import Recalled, Remembered
from trayagent.model.evidence import Labels
from trayagent.model.keys import PaneKey, ProcessKey
from trayagent.model.states import Kind, Reason, State

HISTORY_LIMIT = 100


class NextIds(NamedTuple):
    """The first numbers that were never used, for alerts and for transitions."""

    alert: int = 1
    transition: int = 1


def next_ids(connection: sqlite3.Connection) -> NextIds:
    """The next ids; they never fall, also when old rows were pruned."""
    rows = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    return NextIds(rows.get("alert", 1), rows.get("transition", 1))


def remembered(connection: sqlite3.Connection) -> list[Remembered]:
    """What is known of each pane that has not left; rows that cannot be understood are left out."""
    found = []
    for row in connection.execute("SELECT * FROM panes ORDER BY since"):
        try:
            key, state = PaneKey.from_token(row["token"]), State(row["state"])
        except ValueError:
            continue  # written by another version; the pane is then new to us, which is safe
        process = None if row["pid"] is None else ProcessKey(row["pid"], row["started"])
        found.append(
            Remembered(
                pane=key,
                process=process,
                agent=row["agent"],
                state=state,
                fingerprint=row["fingerprint"],
                since_wall=row["since"],
                generation=row["generation"],
                alerted=bool(row["alerted"]),
            )
        )
    return found


_ALERTS = """
SELECT id, at, token, agent, agent_name, project, path, branch, session, window, pane, after, kind, reason,
  outcome, held_by, read_at, text
FROM transitions
WHERE outcome IN ('delivered', 'merged', 'failed') OR (outcome = 'held' AND held_by IN ({holds}))
ORDER BY id DESC LIMIT ?"""


def recalled(connection: sqlite3.Connection, limit: int) -> list[Recalled]:
    """The last alerts, oldest first; rows that cannot be understood are left out."""
    found = []
    holds = ", ".join("?" * len(LETS_GO))
    for row in connection.execute(_ALERTS.format(holds=holds), (*sorted(LETS_GO), limit)):
        try:
            found.append(_recalled(row))
        except ValueError:
            continue  # written by another version
    return found[::-1]


def _recalled(row: sqlite3.Row) -> Recalled:
    pane = PaneKey.from_token(row["token"])
    server = row["pane"].removesuffix(f":{pane.id}") if row["pane"].endswith(f":{pane.id}") else ""
    labels = Labels(
        row["project"], row["path"], row["branch"], row["agent"], row["agent_name"], server, row["session"],
        row["window"], row["pane"],
    )  # fmt: skip
    return Recalled(
        id=row["id"],
        at_wall=row["at"],
        pane=pane,
        state=State(row["after"]),
        labels=labels,
        outcome=row["outcome"],
        held_by=row["held_by"],
        kind=Kind(row["kind"]) if row["kind"] else None,
        reason=Reason(row["reason"]) if row["reason"] else None,
        message=row["text"] or "",
        read=row["read_at"] is not None,
    )


_TRANSITIONS = """
SELECT 'transition' AS type, id, at, pane, agent, agent_name, project, branch, session, window, before, after,
  kind, reason, source, rule, why, worked, first_sight, own_interrupt, outcome, held_by, alert, read_at,
  read_how, text
FROM transitions WHERE {where} ORDER BY at DESC, id DESC LIMIT :limit"""

_GONE = """
SELECT 'ended' AS type, at, pane, agent, agent_name, project, branch, session, window
FROM gone WHERE ended AND {where} ORDER BY at DESC LIMIT :limit"""

_FILTERS = {
    "pane": "(pane = :pane OR token = :pane OR token LIKE :token_end ESCAPE '\\')",
    "since": "at >= :since",
    "agent": "agent = :agent",
    "project": "project = :project",
    "reason": "held_by = :reason",
    "state": "after = :state",
    "unread": "(read_at IS NULL AND after IN ('blocked', 'error', 'done'))",
}
_ONLY_TRANSITIONS = {"reason", "state", "unread"}
_FLAGS = ("first_sight", "own_interrupt")


def history(connection: sqlite3.Connection, limit: int, filters: dict[str, Any]) -> list[dict[str, Any]]:
    """Entries, newest first: `transition`, and `ended` for a pane whose agent ended mid-turn.

    filters: of `pane since agent project reason state unread`; what is None or False is none."""
    chosen = {name: value for name, value in filters.items() if value is not None and value is not False}
    unknown = chosen.keys() - _FILTERS.keys()
    if unknown:
        raise ValueError(f"unknown filter: {', '.join(sorted(unknown))}")
    where = " AND ".join(_FILTERS[name] for name in chosen) or "1"
    values = {**chosen, "limit": max(0, min(limit, 100_000))}
    if "pane" in chosen:  # `%5` alone: the token's last part, whose own % is no wildcard
        values["token_end"] = "%|" + str(chosen["pane"]).replace("\\", "\\\\").replace("%", "\\%").replace(
            "_", "\\_"
        )
    entries = [_entry(row) for row in connection.execute(_TRANSITIONS.format(where=where), values)]
    if not chosen.keys() & _ONLY_TRANSITIONS:
        entries += [dict(row) for row in connection.execute(_GONE.format(where=where), values)]
        entries.sort(key=lambda entry: entry["at"], reverse=True)
    return entries[: values["limit"]]


def _entry(row: sqlite3.Row) -> dict[str, Any]:
    return {name: bool(row[name]) if name in _FLAGS else row[name] for name in row.keys()}  # noqa: SIM118
