"""Plays one file with miniaudio, as a program of its own: child.py FILE VOLUME SECONDS

It is a process rather than a thread of the daemon for four measured reasons: it costs 8 MB of
memory for good once a device was opened; miniaudio 1.71 leaves a connection (four descriptors) to
PulseAudio behind after every device; a hung driver can be ended; and a crash of an
audio library ends nobody else. It imports nothing of this package, so that it starts quickly; and half of
what importing miniaudio costs (84 ms of CPU) is a module for web radio, which it is told to do without.

Exit status: 0 played, 3 no device, 4 not decodable; one line on stderr says why.
"""

from __future__ import annotations

import array
import sys
import threading
import time
import types
from collections.abc import Generator

RATE, CHANNELS = 44100, 2
BUFFER_MS = 100
DRAIN = 0.25  # seconds: what has been handed over but not been heard
NO_DEVICE, NOT_DECODABLE = 3, 4


sys.modules.setdefault("urllib.request", types.ModuleType("urllib.request"))


def _decoded(path: str, volume: float, seconds: float) -> array.array[int]:
    """The first `seconds` of a file as interleaved samples, made quieter; raises MiniaudioError."""
    import miniaudio

    samples: array.array[int] = array.array("h")
    for chunk in miniaudio.stream_file(path, miniaudio.SampleFormat.SIGNED16, CHANNELS, RATE):
        samples.extend(chunk)
        if len(samples) >= seconds * RATE * CHANNELS:
            break
    return array.array("h", (int(sample * volume) for sample in samples)) if volume < 1 else samples


def _served(
    samples: array.array[int], done: threading.Event
) -> Generator[array.array[int] | bytes, int, None]:
    """The device asks for so many frames and gets at most these; silence from the end on."""
    asked = yield b""
    at = 0
    while at < len(samples):
        end = at + asked * CHANNELS
        asked, at = (yield samples[at:end]), end
    done.set()
    while True:
        yield b""


def main(path: str, volume: float, seconds: float) -> int:
    """Play at most `seconds` of the file; volume: factor of the amplitude, 0 to 1."""
    import miniaudio

    try:
        samples = _decoded(path, volume, seconds)
    except (miniaudio.MiniaudioError, OSError) as error:
        print(f"cannot be decoded: {error}", file=sys.stderr)
        return NOT_DECODABLE
    try:
        device = miniaudio.PlaybackDevice(
            miniaudio.SampleFormat.SIGNED16, CHANNELS, RATE, BUFFER_MS, app_name="trayagent"
        )
    except miniaudio.MiniaudioError as error:
        print(f"no audio device: {error}", file=sys.stderr)
        return NO_DEVICE
    with device:
        if device.backend == "Null":
            print("no audio device", file=sys.stderr)
            return NO_DEVICE
        done = threading.Event()
        served = _served(samples, done)
        next(served)
        device.start(served)
        done.wait(seconds + 2)
        time.sleep(DRAIN)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3])))
