"""The bundled sounds: short, clean, told apart, and made by their own script."""

from __future__ import annotations

import array
import importlib.util
import math
import sys
import wave
from pathlib import Path
from types import ModuleType

import pytest

from trayagent.desktop.sound.choose import clip_of
from trayagent.model.effects import Sound
from trayagent.model.settings import SoundSettings
from trayagent.model.states import State
from trayagent.resources import folder

SOUNDS = folder("sounds")
NAMES = ("blocked", "done", "error")
RATE = 44100


def samples(name: str) -> list[int]:
    with wave.open(str(SOUNDS / f"{name}.wav"), "rb") as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, RATE)
        return array.array("h", file.readframes(file.getnframes())).tolist()


def level(values: list[int], pitch: float) -> float:
    """How much of a pitch there is, 0 to 1 (a correlation with both phases of its wave)."""
    step = 2 * math.pi * pitch / RATE
    sine = sum(value * math.sin(step * i) for i, value in enumerate(values))
    cosine = sum(value * math.cos(step * i) for i, value in enumerate(values))
    return 2 * math.hypot(sine, cosine) / (len(values) * 32767)


@pytest.fixture(scope="module")
def make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sounds_make", SOUNDS / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sounds_make"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_a_clip_is_short_starts_and_ends_in_silence_and_never_clips(name: str) -> None:
    values = samples(name)
    assert 0.3 <= len(values) / RATE <= 0.9
    assert max(map(abs, values[:2] + values[-2:])) <= 1
    assert 0.45 < max(map(abs, values)) / 32767 <= 0.51
    assert abs(sum(values) / len(values)) < 10, "no offset"
    assert max(map(abs, values[-441:])) < max(map(abs, values)) / 50, "it fades"


def test_the_clips_differ_in_contour_and_register() -> None:
    first, last = slice(0, RATE // 10), slice(RATE // 5, RATE // 2)
    blocked, done, error = (samples(name) for name in NAMES)
    assert level(blocked[first], 987.77) > 5 * level(blocked[first], 1318.51)
    assert level(blocked[last], 1318.51) > 3 * level(blocked[last], 987.77), "it rises"
    notes = [level(done[last], pitch) for pitch in (523.25, 659.26, 783.99)]
    assert min(notes) > 5 * level(done[last], 587.33), "a chord, without the notes between its own"
    assert level(error[first], 440) > 3 * level(error[first], 369.99)
    assert level(error[last], 369.99) > 3 * level(error[last], 440), "it falls"


@pytest.mark.parametrize("name", NAMES)
def test_a_clip_is_what_the_script_makes(make: ModuleType, tmp_path: Path, name: str) -> None:
    (sound,) = (sound for sound in make.SOUNDS if sound.name == name)
    made = make.write(sound, tmp_path)
    with wave.open(str(made), "rb") as file:
        again = array.array("h", file.readframes(file.getnframes())).tolist()
    assert len(again) == len(samples(name))
    assert max(abs(a - b) for a, b in zip(again, samples(name), strict=True)) <= 1


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        (Sound(State.BLOCKED), "/b/blocked.wav"),
        (Sound(State.DONE), "/own/done.ogg"),
        (Sound(State.DONE, agent="codex"), "/own/codex.wav"),
        (Sound(State.DONE, agent="codex", project="shop"), None),
        (Sound(State.WORKING), None),
    ],
)
def test_the_narrowest_setting_names_the_file(effect: Sound, expected: str | None) -> None:
    settings = SoundSettings(
        states=(("done", "/own/done.ogg"),),
        agents=(("codex", "/own/codex.wav"),),
        projects=(("shop", "off"),),
    )
    found = clip_of(effect, settings, Path("/b"))
    assert found == (Path(expected) if expected else None)
