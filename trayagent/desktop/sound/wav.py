"""Reads PCM wav files, as far as the players need it."""

from __future__ import annotations

import array
import io
import sys
import wave
from pathlib import Path

from trayagent.desktop.sound.base import Unplayable

# wave.Error for what is no PCM wav, EOFError for a file that is cut off.
_BAD = (wave.Error, EOFError)


def length(path: Path) -> float | None:
    """Seconds that a wav file lasts; None for other formats; raises OSError."""
    try:
        with wave.open(str(path), "rb") as file:
            return file.getnframes() / file.getframerate()
    except (*_BAD, ZeroDivisionError):
        return None


def quieter(path: Path, volume: float, seconds: float) -> bytes:
    """The first `seconds` of a 16-bit wav file as a whole new one, its amplitude multiplied by
    `volume`; raises Unplayable for other formats, and OSError."""
    try:
        with wave.open(str(path), "rb") as file:
            if file.getsampwidth() != 2:
                raise Unplayable("aplay gets 16-bit wav files only")
            wanted = min(file.getnframes(), int(seconds * file.getframerate()))
            channels, rate = file.getnchannels(), file.getframerate()
            samples = array.array("h", file.readframes(wanted))
    except _BAD as error:
        raise Unplayable(f"aplay gets wav files only: {error}") from None
    if volume < 1:
        if sys.byteorder == "big":
            samples.byteswap()  # wav is little-endian
        samples = array.array("h", (int(sample * volume) for sample in samples))
        if sys.byteorder == "big":
            samples.byteswap()
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return out.getvalue()
