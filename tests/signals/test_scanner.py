"""Sequences are found however the stream is split, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trayagent.signals import RIS, Scanner
from trayagent.signals.scanner import LIMIT, WRAPPED

PARTS = st.sampled_from(
    [b"\x1b", b"]", b"\x9d", b"\x9c", b"\x07", b"\\", b"\x1b\\", b"\x1bPtmux;", b"\x1b\x1b]",
     b"7501;state=idle", b"\x18", b"\x1a", b"text", "✳”é".encode(), b"\xe2", b"\xf0\x9f", b"\x90", b"c",
     b"\x1b]2;t\x07", b"\x1b[0m"]
)  # fmt: skip
STREAMS = st.lists(st.one_of(PARTS, st.binary(max_size=4)), max_size=30).map(b"".join)


@given(STREAMS, st.lists(st.integers(0, 200), max_size=8))
def test_any_split_finds_the_same(stream: bytes, cuts: list[int]) -> None:
    scanner, found, begin = Scanner(), [], 0
    for cut in [*sorted(min(cut, len(stream)) for cut in cuts), len(stream)]:
        found += scanner.feed(stream[begin:cut])
        begin = cut
    single = Scanner()
    assert found == Scanner().feed(stream)
    assert found == [body for byte in stream for body in single.feed(bytes([byte]))]


@pytest.mark.parametrize(
    ("stream", "found"),
    [
        (b"a\x1b]2;t\x07b", [b"2;t"]),
        (b"\x1b]2;t\x1b\\", [b"2;t"]),
        (b"\x9d2;t\x9c", [b"2;t"]),
        ("\x1b]2;✳ t\x07".encode(), ["2;✳ t".encode()]),
        ("“quoted”2;t\x07".encode(), []),
        (b"\x1b]2;t\x18\x07", []),
        (b"\x1b]2;t\x1a\x07", []),
        (b"\x1b]2;t\x1b]2;u\x07", [b"2;u"]),
        (b"\x1b]2;t\x1bc", [RIS]),
        (b"\x1bc", [RIS]),
        (b"\x1bPtmux;\x1b\x1b]2;t\x07\x1b\\", [b"2;t"]),
        (b"\x1bPtmux;\x1b\x1b]2;t\x1b\x1b\\\x1b\\x", [b"2;t"]),
        (b"\x1bPq#0;2;t\x07\x1b\\", []),
    ],
)
def test_sequences(stream: bytes, found: list[bytes]) -> None:
    assert Scanner().feed(stream) == found


def test_what_is_too_long_is_dropped_and_the_next_is_found() -> None:
    scanner = Scanner()
    assert scanner.feed(b"\x1b]" + b"x" * (LIMIT + 1) + b"\x07\x1b]2;t\x07") == [b"2;t"]
    assert scanner.feed(b"\x1bPtmux;" + b"x" * WRAPPED + b"\x1b\\\x1b]2;t\x07") == [b"2;t"]
    assert scanner.feed(b"\x1b]" + b"x" * LIMIT + b"\x07") == [b"x" * LIMIT]
