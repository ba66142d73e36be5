"""Reading recordings: both versions, and each limit with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import SCREENS
from trayagent.replay import cast as reader
from trayagent.replay.cast import CastError, parse_cast, read_cast, resized

HEADER = b'{"version": 2, "width": 80, "height": 24}\n'


def test_version_2_counts_from_the_start() -> None:
    cast = parse_cast(HEADER + b'[0.5, "o", "a"]\n[1, "i", "k"]\n[1.25, "r", "100x30"]\n')
    assert (cast.cols, cast.rows, cast.duration, cast.truncated) == (80, 24, 1.25, False)
    assert [(event.at, event.code, event.data) for event in cast.events[:2]] == [
        (0.5, "o", "a"),
        (1.0, "i", "k"),
    ]
    assert resized(cast.events[2]) == (100, 30)


def test_version_3_counts_from_the_event_before_and_has_comments() -> None:
    head = b'{"version": 3, "term": {"cols": 90, "rows": 20}, "command": "claude"}\n'
    cast = parse_cast(head + b'# note\n[0.5, "o", "a"]\n[0.5, "x", "0"]\n')
    assert (cast.cols, cast.rows, cast.command, cast.duration) == (90, 20, "claude", 1.0)


def test_times_never_fall() -> None:
    cast = parse_cast(HEADER + b'[2, "o", "a"]\n[1, "o", "b"]\n')
    assert [event.at for event in cast.events] == [2.0, 2.0]


def test_a_last_line_cut_short_ends_the_recording() -> None:
    cast = parse_cast(HEADER + b'[0, "o", "a"]\n[1, "o", "b')
    assert cast.truncated
    assert [event.data for event in cast.events] == ["a"]


def test_what_went_through_the_terminal_is_bytes() -> None:
    cast = parse_cast(HEADER + '[0, "o", "é\\ud83d\\ude00\\udc80"]\n'.encode())
    assert cast.events[0].raw == "é😀?".encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "x.cast:1: "),
        (b"hello\n", "x.cast:1: "),
        (b"[]\n", "x.cast:1: the header is no JSON object"),
        (b'{"version": 1, "width": 80, "height": 24}\n', "version 1; versions 2 and 3"),
        (b'{"version": 2, "width": 0, "height": 24}\n', "x.cast:1: a terminal of 0 columns and 24 rows"),
        (b'{"version": 2, "width": 80, "height": 1000000}\n', "x.cast:1: a terminal of 80 columns"),
        (b'{"version": 2, "width": true, "height": 24}\n', "x.cast:1: a terminal of True columns"),
        (b'{"version": 3, "width": 80, "height": 24}\n[0, "o", 5]\n', "x.cast:2: no event"),
        (HEADER + b'{"a": 1}\n', "x.cast:2: no event"),
        (HEADER + b'[0, "o", "a"]\n\n[1, "o"\n[2, "o", "b"]\n', "x.cast:4: "),
        (HEADER + b'[-1, "o", "a"]\n', "x.cast:2: no event"),
        (HEADER + b'[NaN, "o", "a"]\n', "x.cast:2: no event"),
        (HEADER + b"[1" + b"0" * 400 + b', "o", "a"]\n', "x.cast:2: no event"),
        (HEADER + b'[true, "o", "a"]\n', "x.cast:2: no event"),
        (HEADER + b'[1, "o", "\xff"]\n', "x.cast:2: "),
        (HEADER + b"[" * 100_000 + b"\n", "x.cast:2: "),
    ],
)
def test_what_is_no_recording_is_refused_with_its_line(text: bytes, message: str) -> None:
    with pytest.raises(CastError) as refusal:
        parse_cast(text, "x.cast")
    assert message in str(refusal.value)
    assert str(refusal.value).startswith("x.cast:")


def test_each_limit_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "x.cast"
    path.write_bytes(HEADER + b'[0, "o", "a"]\n' * 10)
    monkeypatch.setattr(reader, "MAX_EVENTS", 9)
    with pytest.raises(CastError, match=r"x\.cast:11: more than 9 events"):
        read_cast(path)
    monkeypatch.setattr(reader, "MAX_LINE", 10)
    with pytest.raises(CastError, match=r"x\.cast:1: a line of more than"):
        read_cast(path)
    monkeypatch.setattr(reader, "MAX_BYTES", 100)
    with pytest.raises(CastError, match="larger than"):
        read_cast(path)


def test_a_bad_resize_is_refused() -> None:
    cast = parse_cast(HEADER + b'[0, "r", "0x9"]\n[0, "r", "big"]\n')
    for event in cast.events:
        with pytest.raises(CastError):
            resized(event)


def test_every_recording_of_the_tests_can_be_read() -> None:
    for path in SCREENS.glob("*/*.cast"):
        cast = read_cast(path)
        head = json.loads(path.read_text().split("\n", 1)[0])
        assert (cast.cols, cast.rows) == (head["width"], head["height"])
        assert not cast.truncated
        assert len(cast.events) > 1, path
