"""`trayagent sounds`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.conftest import FakeDaemon, Result
from trayagent.ipc.schema import Json, VerbError

Run = Callable[..., Result]

SOUNDS: Json = {
    "mode": "off", "config_mode": "audio", "volume": 0.6, "while_locked": False, "players": ["paplay"],
    "sounds": [
        {"scope": "state", "name": "blocked", "file": "/usr/share/blocked.wav", "found": True},
        {"scope": "state", "name": "done", "file": None, "found": False},
        {"scope": "project", "name": "sh\x1bop", "file": "/gone.ogg", "found": False},
    ],
}  # fmt: skip


def test_the_list_says_what_is_heard_by_whom_and_what_is_missing(daemon: FakeDaemon, run: Run) -> None:
    daemon.answers["sounds"] = SOUNDS
    lines = run("sounds", "list").out.splitlines()
    assert lines[0] == "Mode off (the config says audio), volume 0.6."
    assert lines[1] == "Players: paplay."
    assert lines[3].split() == ["state", "blocked", "/usr/share/blocked.wav"]
    assert lines[4].split() == ["state", "done", "none"]
    assert "shop" in lines[5] and lines[5].endswith("/gone.ogg (there is no such file)")
    assert json.loads(run("sounds", "list", "--json").out) == SOUNDS


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        (("mode", "both"), ("sounds-mode", {"mode": "both"})),
        (("test",), ("sounds-test", {"state": "blocked"})),
        (("test", "error", "--volume", "40%"), ("sounds-test", {"state": "error", "volume": 0.4})),
        (("test", "--volume", "0.5"), ("sounds-test", {"state": "blocked", "volume": 0.5})),
    ],
)
def test_what_is_asked(daemon: FakeDaemon, run: Run, line: tuple[str, ...], asked: tuple[str, Json]) -> None:
    assert run("sounds", *line).code == 0
    assert daemon.asked[-1] == asked


@pytest.mark.parametrize(
    "line",
    [("mode", "loud"), ("mode",), ("test", "idle"), ("test", "--volume", "2"), ("test", "--volume", "nan")],
)
def test_what_makes_no_sense_is_refused(daemon: FakeDaemon, run: Run, line: tuple[str, ...]) -> None:
    assert run("sounds", *line).code == 2
    assert daemon.asked == []


def test_a_sound_that_was_not_heard_is_a_failure(daemon: FakeDaemon, run: Run) -> None:
    daemon.answers["sounds-test"] = VerbError("failed", "no sound could be played")
    result = run("sounds", "test")
    assert (result.code, result.err) == (1, "trayagent: no sound could be played\n")
    daemon.stop()
    assert run("sounds", "test").code == 3


def test_status_says_what_else_keeps_alerts_back(daemon: FakeDaemon, run: Run) -> None:
    status = {
        "version": "1", "pid": 5, "config": "/c", "counts": {}, "problems": [], "longest_wait": None,
        "paused": {"on": False, "until": None}, "sounds": "off",
        "quiet": {"on": True, "until": 1_800_000_000.0, "next": None, "dnd": True},
    }  # fmt: skip
    daemon.answers["status"] = status
    out = run("status").out
    assert "Quiet hours until " in out
    assert "The desktop's do not disturb is on." in out and "Sounds are off." in out
    daemon.answers["status"] = {
        **status, "sounds": "audio",
        "quiet": {"on": False, "until": None, "next": 1_800_000_000.0, "dnd": False},
    }  # fmt: skip
    out = run("status").out
    assert "The next quiet hours begin " in out
    assert "disturb" not in out and "Sounds" not in out
