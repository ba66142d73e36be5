"""The ledger's file: its tables, how it is opened, and what to do with one that is broken.

transitions: one row a published change, with the final outcome of its alert beside it.
deliveries: every outcome, also those that were followed by another (`delayed`, then `delivered`).
read_at and read_how there: when the item was over, and how: by the person (`watched typed
clicked ...`), by the pane's next change (`changed`), or with the pane (`gone`).
reads: when and how the person saw a pane's items. gone: panes that left the list.
panes: what was last known of each pane that has not left; memory for the next start.
meta: the next ids, which must not fall when old rows are pruned.

Times are epoch seconds. `text` is the agent's question: the one private column, emptied when
the item is resolved; secure_delete makes SQLite overwrite it, and `housekeeping` empties the
write-ahead log, so that it is gone from the disk as well.
"""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

VERSION = 1

_TABLES = """
CREATE TABLE transitions (
  id INTEGER PRIMARY KEY, at REAL NOT NULL, token TEXT NOT NULL, pane TEXT NOT NULL,
  agent TEXT NOT NULL, agent_name TEXT NOT NULL, project TEXT NOT NULL, path TEXT NOT NULL,
  branch TEXT NOT NULL, session TEXT NOT NULL, window TEXT NOT NULL,
  before TEXT NOT NULL, after TEXT NOT NULL, kind TEXT, reason TEXT,
  source TEXT NOT NULL, rule TEXT NOT NULL, why TEXT NOT NULL, fingerprint TEXT NOT NULL,
  worked REAL NOT NULL, first_sight INTEGER NOT NULL, own_interrupt INTEGER NOT NULL,
  outcome TEXT NOT NULL DEFAULT '', held_by TEXT NOT NULL DEFAULT '', alert INTEGER,
  read_at REAL, read_how TEXT, text TEXT
);
CREATE INDEX transitions_at ON transitions (at);
CREATE INDEX transitions_unread ON transitions (token) WHERE read_at IS NULL;
CREATE INDEX transitions_text ON transitions (at) WHERE text IS NOT NULL;
CREATE TABLE deliveries (
  transition_id INTEGER NOT NULL, at REAL NOT NULL, outcome TEXT NOT NULL, held_by TEXT NOT NULL,
  alert INTEGER
);
CREATE INDEX deliveries_transition ON deliveries (transition_id);
CREATE TABLE reads (at REAL NOT NULL, token TEXT NOT NULL, how TEXT NOT NULL);
CREATE INDEX reads_at ON reads (at);
CREATE TABLE gone (
  at REAL NOT NULL, token TEXT NOT NULL, pane TEXT NOT NULL, agent TEXT NOT NULL, agent_name TEXT NOT NULL,
  project TEXT NOT NULL, path TEXT NOT NULL, branch TEXT NOT NULL, session TEXT NOT NULL,
  window TEXT NOT NULL, ended INTEGER NOT NULL
);
CREATE INDEX gone_at ON gone (at);
CREATE TABLE panes (
  token TEXT PRIMARY KEY, transition_id INTEGER NOT NULL, agent TEXT NOT NULL, pid INTEGER, started INTEGER,
  state TEXT NOT NULL, fingerprint TEXT NOT NULL, since REAL NOT NULL, generation INTEGER NOT NULL,
  alerted INTEGER NOT NULL
);
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
"""

# Primary result codes (sqlite.org/rescode.html) after which the file itself is at fault. Plain
# SQLITE_ERROR is among them: our statements are known to be right, so a table must be missing.
_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR}


class ForeignVersion(sqlite3.DatabaseError):
    """The file was written by a later version, or is no ledger."""


def file_is_broken(error: sqlite3.Error) -> bool:
    """Whether the file is at fault (set it aside) rather than the disk or a lock (try again)."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, ForeignVersion) or (code is not None and code & 0xFF in _BROKEN)


def open_ledger(path: Path) -> sqlite3.Connection:
    """The writer's connection; makes folder (0700), file (0600) and tables where they are missing.

    Raises OSError, or sqlite3.Error (see `file_is_broken`)."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(descriptor, 0o600)  # SQLite gives its -wal and -shm files the same mode
    finally:
        os.close(descriptor)
    connection = _connect(path)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA journal_size_limit=1048576")
        _make_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """A connection of its own for a question; any thread. Raises sqlite3.Error."""
    if not path.exists():
        raise sqlite3.OperationalError(f"{path}: there is no ledger")
    connection = _connect(path)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA query_only=ON")
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=1.0, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA cache_size=-256")
    return connection


def _make_tables(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if version or tables:
        raise ForeignVersion(f"it has version {version}, this program knows {VERSION}")
    connection.executescript(f"BEGIN;{_TABLES}PRAGMA user_version={VERSION};COMMIT;")


def set_aside(path: Path, now: float) -> Path:
    """Rename the file and its companions with a time stamp, and return where it went. Raises OSError."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    aside, number = path.with_name(f"{path.name}.broken-{stamp}"), 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.broken-{stamp}-{number}")
    for companion in ("-wal", "-shm", ""):
        old = path.with_name(path.name + companion)
        if old.exists():
            old.rename(aside.with_name(aside.name + companion))
    return aside


def remove_old_asides(path: Path, before: float) -> None:
    """Remove what was set aside before `before` (epoch seconds): it holds texts too. Raises OSError."""
    for aside in path.parent.glob(f"{path.name}.broken-*"):
        if aside.lstat().st_ctime < before:
            aside.unlink()
