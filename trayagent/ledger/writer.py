"""The one thread that writes the ledger, so that no disk can hold up the daemon's loop.

Records wait in a bounded queue and are written in batches, one transaction each: the first of them
waits half a second for others, unless somebody asks for what was written or the daemon ends. A
kill at any moment leaves whole transactions only, and loses that half second at most. (A record a
transaction cost 0.4 % of a core where fifty agents changed eight times a second.)

Faults: a broken file is set aside and a new one begun; a full disk, a read-only folder, a lock
that is held: said once, tried again with growing pauses, said again when it is over. Meanwhile
records are kept, the oldest giving way beyond the bound.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from trayagent.ledger import schema, store
from trayagent.ledger.store import Entry
from trayagent.model.settings import LedgerSettings

Report = Callable[[str, str], None]

_BATCH = 500
_GATHER = 0.5
_PAUSE_FIRST, _PAUSE_LAST = 0.5, 60.0
_TIDY_EVERY = 600.0
_PRUNE_EVERY = 3600.0
# An emptied text is overwritten on the disk once the write-ahead log is; soon, but not at each record.
_WIPE_AFTER = 5.0


class Writer:
    """Queue, thread and connection. report(topic, text) is called from the thread."""

    def __init__(
        self, path: Path, settings: LedgerSettings, report: Report, clock: Callable[[], float], bound: int
    ) -> None:
        self.path, self.settings = path, settings
        self._report, self._clock, self._bound = report, clock, bound
        self._changed = threading.Condition()
        self._queue: deque[Entry] = deque()
        self._pending: list[Entry] = []
        self._lost = 0
        self._stopping = self._woken = False
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self.problem: str | None = None
        self._refused_once = False
        self._pause = _PAUSE_FIRST
        self._tidy_at = self._prune_at = self._aside_at = 0.0
        self._thread = threading.Thread(target=self._run, name="ledger", daemon=True)

    # -- from the loop ----------------------------------------------------------------------

    def start(self) -> None:
        """Open the file now (so that it can be read), then write in the background."""
        try:
            self._open()
        except (OSError, sqlite3.Error) as error:
            self._failed(error)
        self._thread.start()

    def put(self, entry: Entry) -> None:
        """Hand a record over; never waits for the disk."""
        with self._changed:
            if len(self._queue) >= self._bound:
                self._queue.popleft()
                self._lost += 1
            self._queue.append(entry)
            if len(self._queue) in (1, _BATCH):  # those between need not wake the thread
                self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        """Have all written now; False if it was not within `timeout` seconds."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not (self._queue or self._pending), timeout)

    def stop(self, timeout: float) -> bool:
        """Write what is left and close; False if that took longer than `timeout` seconds."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def wake(self) -> None:
        """Look after the file now: settings have changed."""
        with self._changed:
            self._tidy_at = self._prune_at = 0.0
            self._woken = True
            self._changed.notify_all()

    # -- the thread -------------------------------------------------------------------------

    def _run(self) -> None:
        while self._next_batch():
            try:
                self._work()
            except (OSError, sqlite3.Error) as error:
                self._failed(error)
                if self._stopping:
                    break
                with self._changed:
                    self._changed.wait_for(lambda: self._stopping, self._pause)
                self._pause = min(self._pause * 2, _PAUSE_LAST)
        self._finish()

    def _next_batch(self) -> bool:
        """Wait for records or for the time to tidy; False once all is written and we are to end."""
        with self._changed:
            if not self._pending:
                wait = max(0.0, min(self._tidy_at - self._clock(), _TIDY_EVERY))
                self._changed.wait_for(lambda: self._queue or self._hurried(), wait)
                self._changed.wait_for(lambda: not 0 < len(self._queue) < _BATCH or self._hurried(), _GATHER)
                while self._queue and len(self._pending) < _BATCH:
                    self._pending.append(self._queue.popleft())
                self._woken &= bool(self._queue)
            return bool(self._pending) or not self._stopping

    def _hurried(self) -> bool:
        return self._stopping or self._woken

    def _work(self) -> None:
        connection = self._connection if self._still_there() else self._open()
        assert connection is not None
        refused = store.write(connection, self._pending) if self._pending else []
        if self._pending:
            self._tidy_at = min(self._tidy_at, self._clock() + _WIPE_AFTER)
        with self._changed:
            self._pending = []
            lost, self._lost = self._lost, 0
            self._changed.notify_all()
        self._mended(lost)
        if refused and not self._refused_once:
            self._refused_once = True
            self._report("ledger", f"{self.path}: a record could not be stored ({refused[0]})")
        if self._clock() >= self._tidy_at:
            self._tidy(connection)

    def _finish(self) -> None:
        """Leave the file as it should lie: old texts gone, the log folded in."""
        try:
            if self._connection is not None:
                self._tidy(self._connection)
        except (OSError, sqlite3.Error) as error:
            self._failed(error)
        self._close()

    def _tidy(self, connection: sqlite3.Connection) -> None:
        now = self._clock()
        if now >= self._prune_at:
            store.prune(connection, self.settings, now)
            schema.remove_old_asides(self.path, now - self.settings.text_hours * 3600.0)
            self._prune_at = now + _PRUNE_EVERY
        next_text = store.expire_texts(connection, self.settings, now)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._tidy_at = min(now + _TIDY_EVERY, next_text if next_text is not None else now + _TIDY_EVERY)

    # -- the file ---------------------------------------------------------------------------

    def _still_there(self) -> bool:
        """Somebody may have moved or removed the file, which SQLite would not notice."""
        try:
            return self._connection is not None and self.path.stat().st_ino == self._inode
        except OSError:
            return False

    def _open(self) -> sqlite3.Connection:
        self._close()
        try:
            connection = schema.open_ledger(self.path)
        except sqlite3.Error as error:
            if not schema.file_is_broken(error):
                raise
            self._set_aside(error)
            connection = schema.open_ledger(self.path)
        self._connection, self._inode = connection, self.path.stat().st_ino
        return connection

    def _set_aside(self, error: sqlite3.Error) -> None:
        aside = schema.set_aside(self.path, self._clock())
        self._aside_at = self._clock()
        hours = f"{self.settings.text_hours:g} h"
        self._report(
            "ledger",
            f"{self.path} is broken ({error}); kept for {hours} as {aside.name}, a new one was begun",
        )

    def _failed(self, error: OSError | sqlite3.Error) -> None:
        self._close()
        again = (
            self._clock() - self._aside_at < _PAUSE_LAST
        )  # a new file, broken already: not the file's fault
        if isinstance(error, sqlite3.Error) and schema.file_is_broken(error) and not again:
            try:
                self._set_aside(error)
                return
            except OSError as second:
                error = second
        if self.problem is None:
            self.problem = f"{self.path}: history is not being written ({error}); it is tried again"
            self._report("ledger", self.problem)

    def _mended(self, lost: int) -> None:
        self._pause = _PAUSE_FIRST
        if self.problem is not None:
            self.problem = None
            self._report("ledger", f"{self.path}: history is being written again")
        if lost:
            self._report("ledger", f"{self.path}: {lost} records were lost meanwhile")

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.close()
        except sqlite3.Error as error:
            self._report("ledger", f"{self.path}: closing failed ({error})")
