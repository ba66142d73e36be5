"""Synthesises the bundled sounds: python sounds/make.py [FOLDER]

Three short clips that are told apart with the eyes closed, by contour and by register:
*blocked* asks (two notes that rise by a fourth), *done* rests (a chord, rolled upwards and left to
ring), *error* sinks (two low notes that fall by a minor third, duller in timbre). Each note is a
struck bar: a few partials, of which the high ones die first. All is arithmetic without chance, so that the
files can be made again. 16-bit PCM wav, 44.1 kHz, mono; the peak is at -6 dB.
"""

from __future__ import annotations

import array
import math
import sys
import wave
from dataclasses import dataclass
from pathlib import Path

RATE = 44100
PEAK = 0.5
ATTACK = 0.006  # seconds; shorter clicks, longer loses the strike
RELEASE = 0.06  # seconds of the fade at the very end

C5, E5, G5, B5, E6 = 523.25, 659.26, 783.99, 987.77, 1318.51
A4, FS4 = 440.00, 369.99

# (multiple of the fundamental, level, how much faster it dies than the fundamental)
BAR = ((1.0, 1.0, 1.0), (2.0, 0.22, 1.6), (3.93, 0.16, 3.5), (9.2, 0.03, 9.0))
DULL = ((1.0, 1.0, 1.0), (2.0, 0.45, 1.2), (3.0, 0.22, 1.8), (4.0, 0.06, 3.0))


@dataclass(frozen=True, slots=True)
class Note:
    """start: seconds. pitch: Hz. level: of its strike. decay: seconds until it is down to 1/e."""

    start: float
    pitch: float
    level: float
    decay: float


@dataclass(frozen=True, slots=True)
class Sound:
    """length: seconds in all."""

    name: str
    length: float
    timbre: tuple[tuple[float, float, float], ...]
    notes: tuple[Note, ...]


SOUNDS = (
    Sound("blocked", 0.62, BAR, (Note(0.0, B5, 0.85, 0.11), Note(0.13, E6, 1.0, 0.16))),
    Sound(
        "done",
        0.85,
        BAR,
        (Note(0.0, C5, 0.8, 0.22), Note(0.07, E5, 0.75, 0.22), Note(0.14, G5, 0.8, 0.24)),
    ),
    Sound("error", 0.6, DULL, (Note(0.0, A4, 0.9, 0.10), Note(0.16, FS4, 1.0, 0.15))),
)


def samples_of(sound: Sound) -> list[float]:
    """The sound between -PEAK and PEAK."""
    total = round(sound.length * RATE)
    mix = [0.0] * total
    for note in sound.notes:
        first = round(note.start * RATE)
        for multiple, level, haste in sound.timbre:
            step = 2 * math.pi * note.pitch * multiple / RATE
            fall = -haste / (note.decay * RATE)
            for i in range(total - first):
                mix[first + i] += note.level * level * math.exp(fall * i) * math.sin(step * i) * _attack(i)
    fade = round(RELEASE * RATE)
    for i in range(fade):
        mix[total - 1 - i] *= 0.5 - 0.5 * math.cos(math.pi * i / fade)
    loudest = max(map(abs, mix))
    return [value * PEAK / loudest for value in mix]


def _attack(i: int) -> float:
    """A raised cosine over the first moments of a note."""
    length = ATTACK * RATE
    return 1.0 if i >= length else 0.5 - 0.5 * math.cos(math.pi * i / length)


def write(sound: Sound, folder: Path) -> Path:
    """Write one sound and return its path."""
    pcm = array.array("h", (round(value * 32767) for value in samples_of(sound)))
    if sys.byteorder == "big":
        pcm.byteswap()
    path = folder / f"{sound.name}.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(pcm.tobytes())
    return path


def main(folder: Path) -> None:
    """Write all sounds into a folder."""
    for sound in SOUNDS:
        print(write(sound, folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
