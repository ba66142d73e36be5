"""The title nonce against terminals of different manners, on real ptys."""

from __future__ import annotations

import os
import re
import tty
from collections.abc import Iterator

import pytest

from trayagent.desktop.window import nonce
from trayagent.desktop.window.nonce import find_by_title


class Terminal:
    """A window that understands titles. shown: how it decorates them. stack: it has a title stack."""

    def __init__(self, title: str, shown: str = "{}", stack: bool = False) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self.slave)
        self.title, self.shown, self.stack = title, shown, [] if stack else None
        self.written = b""

    def read(self) -> str:
        """Take in what was written to the tty; the title of the window now."""
        data = b""
        try:
            while True:
                data += os.read(self.master, 65536)
        except BlockingIOError:
            pass  # that was all
        self.written += data
        for match in re.finditer(r"\x1b\]2;(.*?)\x07|\x1b\[(22|23);2t", data.decode()):
            if match[1] is not None:
                self.title = match[1]
            elif self.stack is not None and match[2] == "22":
                self.stack.append(self.title)
            elif self.stack:
                self.title = self.stack.pop()
        return self.shown.format(self.title)

    def close(self) -> None:
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    made: list[Terminal] = []
    yield made
    for terminal in made:
        terminal.close()


@pytest.mark.parametrize("stack", [True, False])
@pytest.mark.parametrize("shown", ["{}", "Terminal - {}", "{} — Konsole"])
async def test_the_window_is_found_and_its_title_is_as_before(terminals, stack, shown) -> None:
    terminals += [Terminal(name, shown, stack) for name in ("vim notes", "make: all", "")]

    async def titles() -> dict[int, str]:
        return {number: terminal.read() for number, terminal in enumerate(terminals)}

    for number, terminal in enumerate(terminals):
        assert await find_by_title(terminal.path, titles) == number
    assert [terminal.read() for terminal in terminals] == [
        shown.format(name) for name in ("vim notes", "make: all", "")
    ]


async def test_two_writes_and_nothing_that_draws_or_answers(terminals) -> None:
    terminals.append(Terminal("old"))

    async def titles() -> dict[int, str]:
        return {1: terminals[0].read()}

    await find_by_title(terminals[0].path, titles)
    terminals[0].read()
    assert re.fullmatch(
        rb"\x1b\[22;2t\x1b\]2;trayagent [0-9a-f]{8}\x07\x1b\]2;old\x07\x1b\[23;2t", terminals[0].written
    )


async def test_an_old_title_cannot_smuggle_sequences(terminals) -> None:
    terminals.append(Terminal("x"))
    calls = 0

    async def titles() -> dict[int, str]:
        nonlocal calls
        calls += 1
        return {1: "evil\x1b]0;\x07\x9bm"} if calls == 1 else {1: terminals[0].read()}

    await find_by_title(terminals[0].path, titles)
    terminals[0].read()
    assert b"\x1b]2;evil]0;m\x07" in terminals[0].written


async def test_a_title_that_nobody_shows_is_given_up_and_taken_back(terminals, monkeypatch) -> None:
    monkeypatch.setattr(nonce, "SEARCH", 0.1)
    terminals.append(Terminal("old", stack=True))

    async def titles() -> dict[int, str]:
        return {1: "another"}

    assert await find_by_title(terminals[0].path, titles) is None
    assert terminals[0].read() == "old"


async def test_a_stopped_terminal_is_not_waited_for(terminals) -> None:
    terminals.append(Terminal("old"))
    os.set_blocking(terminals[0].slave, False)
    try:
        while True:
            os.write(terminals[0].slave, b"x" * 4096)
    except BlockingIOError:
        pass  # nobody reads, so it is full

    async def titles() -> dict[int, str]:
        return {1: "old"}

    assert await find_by_title(terminals[0].path, titles) is None
