"""Menu choices outlive the daemon, and a damaged file costs no more than the choices."""

# ruff: noqa: E501

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from trayagent.config.state import MenuState, Mute, load_state, save_state


def test_choices_survive_a_restart_and_what_has_ended_does_not(tmp_path: Path):
    path = tmp_path / "state" / "menu.json"
    state = MenuState().muted("project", "shop", 200.0, 100.0).muted("agent", "aider", None, 100.0)
    state = state.pausing(300.0, 100.0)
    assert save_state(path, state) is None
    assert load_state(path) == (state, None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["menu.json"]
    later = state.at(250.0)
    assert later == MenuState((Mute("agent", "aider"),), True, 300.0)
    assert later.at(300.0) == MenuState((Mute("agent", "aider"),))


def test_a_second_mute_of_the_same_thing_takes_the_firsts_place():
    state = MenuState().muted("pane", "%1", 200.0, 100.0).muted("pane", "%1", None, 100.0)
    assert state.mutes == (Mute("pane", "%1"),)
    assert state.muted("pane", "%1", 50.0, 100.0).mutes == ()
    assert state.pausing(None, 1.0).paused
    assert not state.pausing(None, 1.0).pausing(0.0, 1.0).paused


@pytest.mark.parametrize(
    "content",
    ["", "[", "[]", "{}", '{"mutes": [{"scope": "x", "value": "y", "until": 1}], "paused": false, "paused_until": null}',
     '{"mutes": [], "paused": 1, "paused_until": null}', '{"mutes": [5], "paused": true, "paused_until": null}', "[" * 99_999],
)  # fmt: skip
def test_a_damaged_file_is_told_and_taken_for_empty(tmp_path: Path, content: str):
    path = tmp_path / "menu.json"
    path.write_text(content)
    state, problem = load_state(path)
    assert state == MenuState()
    assert problem is not None
    assert "damaged" in problem
    assert load_state(tmp_path / "missing.json") == (MenuState(), None)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")
    problem = save_state(tmp_path / "file" / "menu.json", MenuState())
    assert problem is not None
    assert "cannot be kept" in problem
