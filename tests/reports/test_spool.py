"""The spool's files: what is believed, what is refused, and that nothing stays behind."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trayagent.reports.spool import MOST_BYTES, MOST_FILES, OLD, Garbage, Note, collect, parse

GOOD = (
    b"v=1\nagent=claude\nevent=Stop\npid=12\npid=11\ntmux=/tmp/t,x/s,412,0\npane=%5\n"
    b"field.a.b=x=1\nfield.a.b=2\n"
)


class Spool:
    """A folder with files that a test writes, and what came of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        self.refused: list[str] = []

    def write(self, name: str, data: bytes = GOOD, age: float = 0.0) -> Path:
        file = self.path / name
        file.write_bytes(data)
        at = time.time() - age
        os.utime(file, (at, at))
        return file

    def read(self) -> list[Note]:
        return collect(self.descriptor, time.time(), self.refused.append)

    def left(self) -> list[str]:
        return sorted(entry.name for entry in self.path.iterdir())


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    made = Spool(tmp_path)
    yield made
    os.close(made.descriptor)


def test_a_note_is_read_as_it_was_written_and_removed(spool: Spool) -> None:
    spool.write("one")
    (note,) = spool.read()
    assert (note.agent, note.event, note.pids, note.pane) == ("claude", "Stop", (12, 11), "%5")
    assert (note.socket, note.server_pid) == ("/tmp/t,x/s", 412)
    assert note.fields == {"a.b": ("x=1", "2")}
    assert abs(note.at - time.time()) < 10
    assert (spool.left(), spool.refused) == ([], [])


def test_notes_come_in_the_order_in_which_they_were_written(spool: Spool) -> None:
    for number, name in enumerate(("c", "a", "b")):
        spool.write(name, GOOD.replace(b"Stop", name.encode()), age=10 - number)
    assert [note.event for note in spool.read()] == ["c", "a", "b"]


def test_what_is_being_written_is_left_alone_until_it_is_old(spool: Spool) -> None:
    spool.write(".half", b"v=1\nag")
    spool.write(".forgotten", b"v=1\nag", age=OLD + 5)
    assert spool.read() == []
    assert (spool.left(), spool.refused) == ([".half"], [])


def test_what_nobody_read_in_time_says_nothing_any_more(spool: Spool) -> None:
    spool.write("old", age=OLD + 5)
    assert (spool.read(), spool.left(), spool.refused) == ([], [], [])


def test_links_pipes_folders_and_foreign_files_are_refused(
    spool: Spool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "file"
    elsewhere.write_bytes(GOOD)
    (spool.path / "link").symlink_to(elsewhere)
    os.link(elsewhere, spool.path / "hard")
    os.mkfifo(spool.path / "pipe")
    (spool.path / "folder").mkdir()
    count = 4
    if os.geteuid() == 0:
        os.chown(spool.write("foreign"), 65534, 65534)
        count += 1
    spool.write("good")
    assert [note.agent for note in spool.read()] == ["claude"]
    assert len(spool.refused) >= count
    assert spool.left() == ["folder"], "what cannot be removed is said"
    assert elsewhere.read_bytes() == GOOD


def test_of_too_many_files_the_oldest_go_unread(spool: Spool) -> None:
    for number in range(MOST_FILES + 3):
        spool.write(f"f{number:04}", GOOD.replace(b"Stop", b"e%d" % number), age=50 - number / 100)
    notes = spool.read()
    assert len(notes) == MOST_FILES
    assert notes[0].event == "e3"
    assert len(spool.refused) == 1 and spool.left() == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not version 1"),
        (GOOD.replace(b"v=1", b"v=2"), "not version 1"),
        (GOOD.replace(b"event=Stop", b"event="), "is missing"),
        (GOOD + b"agent=codex\n", "agent is there twice"),
        (GOOD + b"what\n", "without a key"),
        (b'{"agent": "claude"}', "without a key"),
        (GOOD + b"field.x=" + b"y" * 3000, "lines"),
        (GOOD + b"field.x=y\n" * 100, "lines"),
        (GOOD * (MOST_BYTES // len(GOOD) + 1), "longer than"),
    ],
)
def test_what_is_no_note_is_refused_without_being_repeated(spool: Spool, data: bytes, why: str) -> None:
    spool.write("bad", data)
    assert spool.read() == []
    assert why in spool.refused[0] and "claude" not in spool.refused[0]
    assert spool.left() == []


@given(st.binary(max_size=600))
def test_any_bytes_are_a_note_or_garbage(data: bytes) -> None:
    for lines in (data, GOOD + data):
        try:
            note = parse(lines, 1.0)
        except Garbage:
            continue
        assert note.agent and note.event
        assert all(0 < pid < 2**31 for pid in note.pids)


def test_numbers_that_are_no_process_are_passed_over() -> None:
    note = parse(GOOD + b"pid=-1\npid=0\npid=x\npid=99999999999999999999\npid=\xd9\xa3\n", 1.0)
    assert note.pids == (12, 11)
    assert parse(b"v=1\nagent=a\nevent=b\ntmux=/tmp/s\n", 1.0).server_pid == 0
