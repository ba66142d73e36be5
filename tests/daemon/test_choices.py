"""The menu's choices: mutes, pause and the sounds' mode in one file, and which word is the later one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from trayagent.daemon.choices import Choices
from trayagent.model.settings import Settings, SoundSettings

AUDIO = Settings()
ALERTS = {"paused": None, "mutes": [{"scope": "agent", "value": "codex", "until": None}]}


def config(mode: str) -> Settings:
    return replace(AUDIO, sounds=SoundSettings(mode=mode))


def test_a_chosen_mode_goes_before_the_configs_also_after_a_restart(tmp_path: Path) -> None:
    choices = Choices(tmp_path / "choices.json")
    choices.choose_sounds("off", AUDIO)
    assert choices.applied(AUDIO) == config("off")
    assert choices.save(ALERTS) is None
    again = Choices(tmp_path / "choices.json")
    assert again.applied(AUDIO) == config("off")
    assert again.alerts is not None
    assert {name: again.alerts[name] for name in ALERTS} == ALERTS


def test_another_mode_written_into_the_config_is_the_later_word(tmp_path: Path) -> None:
    choices = Choices(tmp_path / "choices.json")
    choices.choose_sounds("off", AUDIO)
    assert choices.applied(config("both")) == config("both")
    assert choices.applied(AUDIO) == AUDIO, "the choice is over, not asleep"


def test_choosing_what_the_config_says_is_no_choice(tmp_path: Path) -> None:
    choices = Choices(tmp_path / "choices.json")
    choices.choose_sounds("off", AUDIO)
    choices.choose_sounds("audio", AUDIO)
    choices.save(ALERTS)
    assert json.loads(choices.path.read_text()) == ALERTS


@pytest.mark.parametrize("sounds", ["off", 5, [], {"mode": "loud", "instead": "audio"}, {"mode": ["off"]}])
def test_a_choice_that_makes_no_sense_is_none(tmp_path: Path, sounds: object) -> None:
    path = tmp_path / "choices.json"
    path.write_text(json.dumps({**ALERTS, "sounds": sounds}))
    assert Choices(path).applied(AUDIO) == AUDIO


def test_what_another_version_keeps_in_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "choices.json"
    path.write_text(json.dumps({"shape": "round"}))
    Choices(path).save(ALERTS)
    assert json.loads(path.read_text()) == {"shape": "round", **ALERTS}


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "choices.json"
    path.write_text("{")
    choices = Choices(path)
    assert "damaged" in choices.problem
    assert choices.applied(AUDIO) == AUDIO and choices.alerts is None
