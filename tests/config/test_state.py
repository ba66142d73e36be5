"""Menu choices outlive the daemon, and a damaged file costs no more than the choices."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from trayagent.config.state import read_choices, write_choices


def test_choices_survive_a_restart_in_a_file_of_the_users_own(tmp_path: Path):
    path = tmp_path / "state" / "choices.json"
    choices = {"paused": {"until": None}, "mutes": [{"scope": "project", "value": "caf\udce9", "until": 5.5}]}
    assert write_choices(path, {"mutes": []}) is None
    assert write_choices(path, choices) is None
    assert read_choices(path) == (choices, None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["choices.json"]


@pytest.mark.parametrize("content", ["", "[", "[]", "5", '{"mutes": [', "[" * 99_999, '{"a": ' * 99_999])
def test_a_damaged_file_is_told_and_taken_for_none(tmp_path: Path, content: str):
    path = tmp_path / "choices.json"
    path.write_text(content)
    choices, problem = read_choices(path)
    assert choices is None
    assert problem is not None
    assert "damaged" in problem


def test_a_file_that_is_not_there_is_no_problem(tmp_path: Path):
    assert read_choices(tmp_path / "choices.json") == (None, None)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")
    problem = write_choices(tmp_path / "file" / "choices.json", {})
    assert problem is not None
    assert "cannot be kept" in problem
