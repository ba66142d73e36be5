"""Broken files, full disks, sudden ends: the daemon goes on, and nothing is lost that need not be."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.ledger.conftest import OFFSET, transition
from trayagent.ledger import Ledger, schema, writer

Begin = Callable[..., Ledger]


def wait_for(true: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_PAUSE_FIRST", 0.05)


@pytest.mark.parametrize(
    "damage", ["garbage", "header", "other-database", "later-version", "empty-table-page"]
)
def test_a_broken_file_is_set_aside_once_and_a_new_one_begun(
    begin: Begin, path: Path, reports: list[str], damage: str
):
    first = begin()
    for id in range(1, 200):
        first.record(transition(id, text="x" * 200), OFFSET)
    first.close()
    content = bytearray(path.read_bytes())
    if damage == "garbage":
        path.write_bytes(b"this is no database at all, but it is long enough" * 100)
    elif damage == "header":
        path.write_bytes(b"\x00" * 100 + content[100:])
    elif damage == "empty-table-page":
        path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    else:
        path.unlink()
        with closing(sqlite3.connect(path)) as other:
            other.execute(
                "CREATE TABLE recipes (name)" if damage == "other-database" else "PRAGMA user_version=99"
            )
            other.commit()
    second = begin()
    second.record(transition(500), OFFSET)
    wait_for(lambda: second.flush(1))
    wait_for(lambda: [entry["id"] for entry in second.history()] == [500])
    asides = list(path.parent.glob("ledger.db.broken-*"))
    assert len([aside for aside in asides if not aside.name.endswith(("-wal", "-shm"))]) == 1
    assert len([text for text in reports if "is broken" in text]) == 1


def test_a_file_broken_while_in_use_costs_no_record(begin: Begin, path: Path, reports: list[str]):
    ledger = begin()
    ledger.record(transition(1), OFFSET)
    assert ledger.flush(5)
    with closing(sqlite3.connect(path)) as other:
        other.execute("DROP TABLE transitions")
    ledger.record(transition(2), OFFSET)
    wait_for(lambda: [entry["id"] for entry in ledger.history()] == [2])
    assert len([text for text in reports if "is broken" in text]) == 1


def test_a_file_removed_while_in_use_is_begun_anew(begin: Begin, path: Path):
    ledger = begin()
    ledger.record(transition(1), OFFSET)
    assert ledger.flush(5)
    shutil.rmtree(path.parent)
    ledger.record(transition(2), OFFSET)
    assert [entry["id"] for entry in ledger.history()] == [2]


def test_a_full_disk_is_told_once_tried_again_and_told_when_over(
    begin: Begin, path: Path, reports: list[str], monkeypatch: pytest.MonkeyPatch
):
    full = threading.Event()
    full.set()
    real = schema.open_ledger

    def limited(where: Path) -> sqlite3.Connection:
        connection = real(where)
        if full.is_set():
            connection.execute("PRAGMA max_page_count=1")  # the current size: SQLITE_FULL at the next page
        return connection

    monkeypatch.setattr(schema, "open_ledger", limited)
    ledger = begin()
    for id in range(1, 301):
        ledger.record(transition(id, pane=id, text="x" * 300), OFFSET)
    wait_for(lambda: ledger.problem)
    assert "full" in str(ledger.problem)
    assert not ledger.flush(0.3)
    assert len(reports) == 1
    full.clear()
    assert ledger.flush(10)
    assert [entry["id"] for entry in ledger.history(1000)] == list(range(300, 0, -1))
    wait_for(lambda: len(reports) == 2)
    assert "again" in reports[1]
    assert ledger.problem is None


def test_a_folder_that_cannot_be_made_never_reaches_the_daemon(begin: Begin, path: Path, reports: list[str]):
    path.parent.write_text("a file is in the way")
    ledger = begin(bound=50)
    for id in range(1, 101):
        ledger.record(transition(id), OFFSET)
    assert ledger.history() == []
    assert ledger.remembered() == []
    assert ledger.last_ids() == (1, 1)
    path.parent.unlink()
    wait_for(lambda: ledger.flush(1))
    kept = [entry["id"] for entry in ledger.history(1000)]
    assert kept[0] == 100
    assert 50 <= len(kept) < 100
    wait_for(lambda: any("lost" in text for text in reports))


def test_handing_over_never_waits_for_the_disk(begin: Begin, path: Path):
    ledger = begin()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        slowest = 0.0
        for id in range(1, 200):
            began = time.perf_counter()
            ledger.record(transition(id), OFFSET)
            slowest = max(slowest, time.perf_counter() - began)
        assert slowest < 0.5  # the writer's own wait for the lock is 1 s
        other.execute("ROLLBACK")
    wait_for(lambda: ledger.flush(5))
    assert len(ledger.history(1000)) == 199


WRITER = """
import sys, time
from pathlib import Path
from tests.ledger.conftest import OFFSET, transition
from trayagent.ledger import Ledger

ledger = Ledger(Path(sys.argv[1]), report=lambda topic, text: sys.stderr.write(text + "\\n"))
ledger.start()
id = ledger.last_ids().transition
while True:
    for id in range(id, id + 7):
        ledger.record(transition(id, pane=id % 5, at=time.time(), text="question %d" % id), 0.0)
    id += 1
    assert ledger.flush(10)
    print(id - 1, flush=True)
"""


def test_a_kill_at_any_moment_loses_nothing_that_was_flushed(tmp_path: Path):
    path, flushed = tmp_path / "ledger.db", 0
    for round in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        assert child.stderr is not None
        for _ in range(3 + round * 4):
            flushed = int(child.stdout.readline())
        time.sleep(round * 0.0013)
        child.send_signal(signal.SIGKILL)
        rest, complaints = child.communicate(timeout=10)
        flushed = max([flushed, *map(int, rest.split())])
        assert complaints == ""
        with closing(sqlite3.connect(path)) as check:
            assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            ids = [id for (id,) in check.execute("SELECT id FROM transitions ORDER BY id")]
        assert ids == list(range(1, len(ids) + 1))
        assert len(ids) >= flushed
