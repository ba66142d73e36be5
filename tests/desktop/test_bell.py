"""The bell of a real terminal."""

from __future__ import annotations

import os
import termios
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from trayagent.desktop.bell import ring


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    """The reading end of a terminal, and its path."""
    master, slave = os.openpty()
    tty.setraw(slave)
    yield master, os.ttyname(slave)
    os.close(master)
    os.close(slave)


def test_one_byte_reaches_the_terminal(terminal: tuple[int, str]) -> None:
    master, path = terminal
    assert ring(path) == ""
    assert os.read(master, 100) == b"\a"


def test_a_terminal_that_is_stopped_keeps_nobody_waiting(terminal: tuple[int, str]) -> None:
    _, path = terminal
    descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY)
    termios.tcflow(descriptor, termios.TCOOFF)
    assert "unavailable" in ring(path)
    termios.tcflow(descriptor, termios.TCOON)
    os.close(descriptor)


def test_what_is_no_terminal_of_ours_is_left_alone(tmp_path: Path, terminal: tuple[int, str]) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert "no terminal" in ring(str(file))
    assert file.read_text() == ""
    (tmp_path / "link").symlink_to(terminal[1])
    assert ring(str(tmp_path / "link")) != ""
    assert "No such file" in ring("/dev/pts/99999")
