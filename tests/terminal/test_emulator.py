"""What the emulator draws, sequence by sequence; and that real tmux draws the same."""

from __future__ import annotations

import os
import select
import tty
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.tmux import TmuxServer
from trayagent.terminal.emulator import Emulator


def drawn(data: str | bytes, cols: int = 20, rows: int = 5, step: int = 0) -> str:
    """The screen after `data`, fed at once or in pieces of `step` bytes, without empty rows at the end."""
    emulator = Emulator(cols, rows)
    raw = data.encode() if isinstance(data, str) else data
    for at in range(0, len(raw), step or max(1, len(raw))):
        emulator.feed(raw[at : at + (step or len(raw))])
    return emulator.text().rstrip("\n")


# What is sent, and what a screen of 20x5 shows then. pyte's own parser gets the marked ones wrong.
DRAWN = {
    "plain": ("hello\r\nworld", "hello\nworld"),
    "wrap": ("0123456789abcdefghijXY", "0123456789abcdefghij\nXY"),
    "wrap waits for the next character": ("\x1b[1;20Hab\x1b[1;20Hc", " " * 19 + "c\nb"),
    "an up from behind the last column": ("\r\n\x1b[2;20Ha\x1b[Ab", " " * 19 + "b\n" + " " * 19 + "a"),
    "no wrap": ("\x1b[?7l0123456789abcdefghijXY", "0123456789abcdefghiY"),
    "wide at the border *": ("\x1b[1;20H界x", "\n界x"),
    "half of a wide one overwritten *": ("界界\x1b[1;2Hx", " x界"),
    "joined emoji *": ("👨\u200d👩\u200d👧X", "👨\u200d👩\u200d👧X"),
    "variation selector *": ("✔\ufe0fab", "✔\ufe0fab"),
    "zero width space *": ("a\u200bb", "a\u200bb"),
    "combining accent": ("e\u0301x", "e\u0301x"),
    "key modes *": ("a\x1b[>4;2mb\x1b[=1;1uc\x1b[<ud\x1b[>5ue\x1b[?uf", "abcdef"),
    "colon colours *": ("a\x1b[38:2::1:2:3mb\x1b[4:3mc\x1b[58:5:1md", "abcd"),
    "device attributes *": ("a\x1b[?1;2cb\x1b[cc\x1b[>cd\x1b[>0qe", "abcde"),
    "theme query *": ("a\x1b[?996nb\x1b[6nc", "abc"),
    "mode query *": ("a\x1b[?2026$pb", "ab"),
    "string bodies *": ("\x1b_apc\x1b\\A\x1bPdcs\x07still\x1b\\B\x1b^pm\x1b\\C\x1bXsos\x1b\\D", "ABCD"),
    "a window's name *": ("\x1bkname\x1b\\A", "A"),
    "a hyperlink": ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\.", "link."),
    "an aborted string": ("\x1b]0;title\x18A\x1b]0;other\x1b[1mB", "AB"),
    "a control inside of a sequence": ("ab\x1b[2\r5CZ", "ab" + " " * 17 + "Z"),
    "a sequence inside of a sequence": ("ab\x1b[3\x1b[2Dc", "cb"),
    "clearing the scrollback *": ("abc\x1b[3Jd", "abcd"),
    "clearing from the cursor": ("abc\r\ndef\x1b[1;2H\x1b[J", "a"),
    "clearing up to the cursor": ("abc\r\ndef\x1b[2;2H\x1b[1J", "\n  f"),
    "repeat *": ("x\x1b[5b", "xxxxxx"),
    "scroll up *": ("a\r\nb\r\nc\x1b[S", "b\nc"),
    "scroll down *": ("a\r\nb\x1b[T", "\na\nb"),
    "tab back *": ("a\tb\tc\x1b[Zd", "a       b       d"),
    "tab forward *": ("\x1b[2Ib", " " * 16 + "b"),
    "insert and delete": ("abcdef\x1b[1;2H\x1b[2@xy\x1b[2P", "axydef"),
    "insert mode": ("\x1b[4hxyz\rAB\x1b[4lC", "ABCyz"),
    "lines": ("1\r\n2\r\n3\x1b[1;1H\x1b[L\x1bM\x1b[MX", "X\n1\n2\n3"),
    "margins keep what is outside": (
        "top\x1b[5;1Hend\x1b[2;4r\x1b[4;1Ha\r\nb\r\nc\x1b[r",
        "top\na\nb\nc\nend",
    ),
    "up from above the margins *": ("\x1b[3;5r\x1b[2;1H\x1b[Ax", "x"),
    "the cursor kept twice *": ("\x1b7abc\x1b8X\x1b[5C\x1b8Y", "Ybc"),
    "kept by s and u": ("ab\x1b[sCD\x1b[uE", "abED"),
    "second screen *": ("abc\x1b[?1049hDEF\x1b[?1049lG", "abcG"),
    "line drawing": ("\x1b(0lqk\x1b(B|", "┌─┐|"),
    "soft reset *": ("abc\x1b[!pd", "abcd"),
    "full reset": ("ab\x1bcD", "D"),
    "delete and null are nothing": ("a\x7fb\x00c\x05d", "abcd"),
    "C1 characters are nothing": ("a\x9bb", "ab"),
    "no such sequence": ("a\x1b[1;2;3zb\x1b[?5;3Wc\x1b#3d\x1b%Ge", "abcde"),
    "broken UTF-8": (b"a\xffb\xe2\x82", "a\ufffdb"),
    "column 0 is the first": ("abc\x1b[0Gd\x1b[0;0He", "ebc"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_sequence_draws_what_terminals_draw(name: str) -> None:
    data, expected = DRAWN[name]
    assert drawn(data) == expected


@pytest.mark.parametrize("name", DRAWN)
def test_bytes_may_be_split_anywhere(name: str) -> None:
    data, expected = DRAWN[name]
    assert drawn(data, step=1) == expected


# Where tmux 3.3a itself differs from the terminals that it runs in.
TMUX_DIFFERS = {
    "half of a wide one overwritten *",  # leaves the wide character and shifts the row
    "tab forward *",  # unknown to it
    "line drawing",  # captured as the letters that stand for the lines
    "broken UTF-8",  # shows nothing for a broken byte
}


@contextmanager
def terminal_of(server: TmuxServer, pane: str) -> Iterator[int]:
    """The pane's terminal, raw, as its program has it: what is written there, tmux draws."""
    fd = os.open(server.ask("#{pane_tty}", pane), os.O_RDWR | os.O_NOCTTY)
    try:
        tty.setraw(fd)
        yield fd
    finally:
        os.close(fd)


def read_so_far(fd: int) -> None:
    """Return once tmux has read all that was written: it answers a status query behind it."""
    os.write(fd, b"\x1b[5n")
    answer = b""
    while not answer.endswith(b"\x1b[0n"):
        ready, _, _ = select.select([fd], [], [], 20)
        assert ready, "tmux does not answer"
        answer += os.read(fd, 4096)


@pytest.mark.tmux
def test_real_tmux_draws_the_same() -> None:
    with TmuxServer() as server:
        pane = server.new_session(columns=20, rows=5)
        server.tmux("set-option", "-g", "status", "off", ";", "resize-window", "-x", "20", "-y", "5")
        differing = set()
        with terminal_of(server, pane) as fd:
            for name, (data, expected) in DRAWN.items():
                os.write(fd, b"\x1bc" + (data.encode() if isinstance(data, str) else data))
                read_so_far(fd)
                if server.screen(pane).rstrip("\n") != expected:
                    differing.add(name)
    assert differing <= TMUX_DIFFERS


def test_the_title_is_what_osc_0_or_2_set_last() -> None:
    emulator = Emulator(20, 5)
    emulator.feed(b"\x1b]0;one\x07\x1b]1;icon\x07")
    assert emulator.title == "one"
    emulator.feed("\x1b]2;✳ two; three\x1b".encode())
    assert emulator.title == "one"
    emulator.feed(b"\\")
    assert emulator.title == "✳ two; three"
    emulator.feed(b"\x1b]0;\x07")
    assert emulator.title == ""


def test_progress_is_the_payload_until_it_is_removed() -> None:
    emulator = Emulator(20, 5)
    emulator.feed(b"\x1b]9;a notification\x07\x1b]9;4;3;\x07")
    assert emulator.progress == "4;3;"
    emulator.feed(b"\x1b]9;4;1;50\x1b\\")
    assert emulator.progress == "4;1;50"
    emulator.feed(b"\x1b]9;4;0;\x07")
    assert emulator.progress == ""


def test_the_second_screen_is_told() -> None:
    emulator = Emulator(20, 5)
    assert not emulator.alternate
    emulator.feed(b"\x1b[?1049h")
    assert emulator.alternate
    emulator.feed(b"\x1b[?1049l")
    assert not emulator.alternate


def test_a_string_without_end_is_not_kept() -> None:
    emulator = Emulator(20, 5)
    emulator.feed(b"\x1b]0;" + b"x" * 100_000)
    for _ in range(20):
        emulator.feed(b"y" * 100_000)
    emulator.feed(b"\x07ok")
    assert emulator.text().startswith("ok")
    assert len(emulator.title) <= 4096


def test_absurd_numbers_cost_nothing() -> None:
    emulator = Emulator(20, 5)
    emulator.feed(
        b"x\x1b[99999999999999999999b\x1b[999999999S\x1b[999999999I\x1b[999999999Z\x1b[9999999;9999999H"
    )
    emulator.feed(b"\x1b[" + b"1;" * 10_000 + b"H\x1b[?6h\x1b[5dend")
    assert "end" in emulator.text()


def test_a_resize_keeps_what_fits() -> None:
    emulator = Emulator(20, 5)
    emulator.feed(b"first\r\nsecond")
    emulator.resize(10, 3)
    assert (emulator.cols, emulator.rows) == (10, 3)
    emulator.resize(30, 6)
    emulator.feed(b"\x1b[6;28Hxyz")
    assert emulator.text().split("\n")[5] == " " * 27 + "xyz"
