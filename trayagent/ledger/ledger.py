"""The ledger as the daemon sees it: hand records over, ask for memory and history.

`record` never waits and never raises. The questions read over a connection of their own and
may take a while: ask them before the loop runs, or in a thread. None of them raises either;
a file that cannot be read answers with nothing, once said why. `last_ids`, `remembered` and
`recalled` may be asked before `start`.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

from trayagent.ledger import reads, schema
from trayagent.ledger.reads import HISTORY_LIMIT, NextIds
from trayagent.ledger.store import Record
from trayagent.ledger.writer import Report, Writer
from trayagent.model.events import Recalled, Remembered
from trayagent.model.settings import LedgerSettings

_BOUND = 10_000
_FLUSH_SECONDS = 1.0

Answer = TypeVar("Answer")


def default_path() -> Path:
    """`ledger.db` in the user's state folder."""
    return Path(platformdirs.user_state_dir("trayagent")) / "ledger.db"


class Ledger:
    """One ledger file. report(topic, text): what the person should know, from any thread.

    clock: epoch seconds. bound: records kept in memory while they cannot be written."""

    def __init__(
        self,
        path: Path | None = None,
        settings: LedgerSettings | None = None,
        *,
        report: Report,
        clock: Callable[[], float] = time.time,
        bound: int = _BOUND,
    ) -> None:
        self.path = path or default_path()
        self._report, self._clock = report, clock
        self._writer = Writer(self.path, settings or LedgerSettings(), report, clock, bound)
        self._started = self._reported_read = False

    @property
    def problem(self) -> str | None:
        """Why history is not being written at the moment, None if it is (for doctor)."""
        return self._writer.problem

    def start(self) -> None:
        """Open or make the file (some 10 ms), and begin to write in the background."""
        self._started = True
        self._writer.start()

    def close(self, timeout: float = 2.0) -> None:
        """Write what is left and close, in `timeout` seconds at most."""
        if not self._writer.stop(timeout):
            self._report("ledger", f"{self.path}: did not finish writing within {timeout:g} s")

    def configure(self, settings: LedgerSettings) -> None:
        """New limits, in force at once."""
        self._writer.settings = settings
        self._writer.wake()

    def record(self, record: Record, wall_offset: float) -> None:
        """Keep one of the engine's Record effects; wall clock = engine seconds + wall_offset."""
        self._writer.put((record, wall_offset))

    def flush(self, timeout: float = _FLUSH_SECONDS) -> bool:
        """Wait until all that was recorded is in the file; False if it is not within `timeout` seconds."""
        return self._writer.flush(timeout)

    def remembered(self) -> list[Remembered]:
        """What is known of each pane that had not left when the last daemon ended."""
        return self._ask(reads.remembered, [])

    def recalled(self, limit: int) -> list[Recalled]:
        """The last `limit` alerts that were told, or held until something ends, oldest first."""
        return self._ask(lambda connection: reads.recalled(connection, limit), [])

    def last_ids(self) -> NextIds:
        """The next alert and transition ids: higher than any that was ever recorded."""
        return self._ask(reads.next_ids, NextIds())

    def history(
        self,
        limit: int = HISTORY_LIMIT,
        *,
        pane: str | None = None,
        since: float | None = None,
        reason: str | None = None,
        state: str | None = None,
        agent: str | None = None,
        project: str | None = None,
        unread: bool = False,
    ) -> list[dict[str, Any]]:
        """Entries, newest first, as JSON objects.

        pane: `SERVER:%5`, `%5`, or a key's token. since: epoch seconds. reason: the rule that
        held the alert back (`watching`, `muted` ...). state: the state that was entered."""
        filters = {
            "pane": pane,
            "since": since,
            "reason": reason,
            "state": state,
            "agent": agent,
            "project": project,
            "unread": unread,
        }
        self.flush()
        return self._ask(lambda connection: reads.history(connection, limit, filters), [])

    def _ask(self, question: Callable[[sqlite3.Connection], Answer], nothing: Answer) -> Answer:
        try:
            with closing(schema.open_for_reading(self.path)) as connection:
                return question(connection)
        except (OSError, sqlite3.Error) as error:
            if self._started and not self._reported_read:  # before, start will say what is wrong
                self._reported_read = True
                self._report("ledger", f"{self.path}: cannot be read ({error})")
            return nothing
