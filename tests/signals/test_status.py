"""What OSC 7501 means, and what of it is refused."""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trayagent.model.states import Kind, State
from trayagent.signals import Report, mark, read


def coded(text: str) -> bytes:
    return b64encode(text.encode())


def test_a_report_is_read_whole() -> None:
    body = (
        b"7501;state=blocked:kind=question:progress=40:app=pi:id=a/b:msg="
        + coded("Which?")
        + b":title="
        + coded("T")
    )
    assert read(body) == Report(State.BLOCKED, "a/b", "pi", Kind.QUESTION, 40, "T", "Which?")


@pytest.mark.parametrize(
    ("body", "report"),
    [
        (b"7501;state=clear", Report(None)),
        (b"7501;state=clear:id=a", Report(None, "a")),
        (b"7501;state=idle:state=done", Report(State.DONE)),
        (b"7501;=:UPPER=1:state=idle:kind=auth:progress=5", Report(State.IDLE)),
        (b"7501;state=working:progress=101", Report(State.WORKING)),
        (b"7501;state=idle:msg=" + coded("a\u202eb\u200bc"), Report(State.IDLE, message="abc")),
        (b"7501;state=idle:msg=" + coded("x" * 2048), Report(State.IDLE, message="x" * 2048)),
    ],
)  # fmt: skip
def test_reports(body: bytes, report: Report) -> None:
    assert read(body) == report


@pytest.mark.parametrize(
    "body",
    [
        b"7501;?",
        b"7501;state=asleep",
        b"7501;kind=auth",
        b"750;state=idle",
        b"7501;state=idle:id=/a",
        b"7501;state=idle:id=" + b"/".join([b"a"] * 9),
        b"7501;state=idle:id=" + b"a" * 33,
        b"7501;state=idle:app=" + b"a" * 33,
        b"7501;state=idle:msg=abc",
        b"7501;state=idle:msg=" + b64encode(b"\xff"),
        b"7501;state=idle:msg=" + coded("a\nb"),
        b"7501;state=idle:msg=" + coded("x" * 2049),
        b"7501;state=idle:title=" + coded("x" * 193),
        b"7501;state=idle:" + b"x" * 4096,
    ],
)
def test_refused(body: bytes) -> None:
    assert read(body) is None


@given(st.binary(max_size=200))
def test_garbage_never_raises(garbage: bytes) -> None:
    for body in (garbage, b"7501;" + garbage, b"7501;state=idle:msg=" + garbage):
        read(body)
        mark(body)


def test_marks() -> None:
    assert [mark(body) for body in (b"133;A", b"133;D;0", b"133;Ax", b"133;", b"2;A")] == [
        "A",
        "D",
        "",
        "",
        "",
    ]
