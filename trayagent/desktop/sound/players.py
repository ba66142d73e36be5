"""The players, best first: one row each.

Roles: a sound of role `Notification` (PipeWire) or `event` (PulseAudio) mixes with music
instead of stopping it, and goes to the output that the person chose for such sounds.
"""

from __future__ import annotations

import sys
from pathlib import Path

from trayagent.desktop.sound.base import Clip, Command, Player, Unplayable
from trayagent.desktop.sound.wav import quieter

CHILD = Path(__file__).with_name("child.py")
PULSE_FULL = 65536  # PA_VOLUME_NORM
LATENCY_MS = 100


def _miniaudio(clip: Clip) -> Command:
    """Our own child (child.py). -P: its folder must not come before the standard library."""
    if getattr(sys, "frozen", False):
        raise Unplayable("a frozen program has no interpreter for it")
    return Command(
        (sys.executable, "-P", str(CHILD), str(clip.path), f"{clip.volume:.4f}", f"{clip.seconds:g}")
    )


def _pw_play(clip: Clip) -> Command:
    """PipeWire; its volume is linear (pw-cat(1))."""
    volume = f"--volume={clip.volume:.4f}"
    return Command(("pw-play", "--media-role=Notification", volume, str(clip.path)))


def _paplay(clip: Clip) -> Command:
    """PulseAudio; its volume is the cube root of the amplitude (`pa_sw_volume_from_linear`). With its
    own latency of 2 s it loses the end of clips under half a second, hence ours."""
    volume = f"--volume={round(PULSE_FULL * clip.volume ** (1 / 3))}"
    return Command(
        ("paplay", "--property=media.role=event", f"--latency-msec={LATENCY_MS}", volume, str(clip.path))
    )


def _aplay(clip: Clip) -> Command:
    """ALSA. Whatever it does not know it plays as raw samples, which is loud noise: it gets nothing but wav
    files, read and made quieter here, since it knows no volume."""
    return Command(("aplay", "-q", "-t", "wav", "-"), quieter(clip.path, clip.volume, clip.seconds))


PLAYERS = (
    Player("miniaudio", "", _miniaudio),
    Player("pw-play", "pw-play", _pw_play),
    Player("paplay", "paplay", _paplay),
    Player("aplay", "aplay", _aplay),
)
