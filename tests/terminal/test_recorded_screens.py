"""The emulator against what tmux showed: each recorded screen is found in its session's recording."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from tests.conftest import SCREENS
from trayagent.replay.cast import read_cast
from trayagent.terminal.emulator import Emulator

# The recordings begin after the shell drew its prompt, which tmux's screen therefore had and they lack.
PROMPTS = ("bash-5.2# ", "root@devbox:~/demo# ")
# Paths in this recording were replaced by shorter ones, and rows that were full no longer are.
ALTERED = frozenset({"login.cast"})
EARLY, LATE = 0.6, 0.3  # seconds by which a capture's own time may be off, on a busy machine


def _even(screen: str) -> str:
    """A screen without trailing blanks and trailing empty rows."""
    return "\n".join(row.rstrip() for row in screen.split("\n")).rstrip("\n")


def _captures() -> dict[Path, list[tuple[float, Path, str]]]:
    """Recording -> its recorded screens with their times."""
    found: dict[Path, list[tuple[float, Path, str]]] = defaultdict(list)
    for path in sorted(SCREENS.glob("*/*.json")):
        fixture = json.loads(path.read_text())
        at = fixture.get("cast_time", fixture.get("t"))
        if "cast" in fixture and at is not None and (path.parent / fixture["cast"]).exists():
            found[path.parent / fixture["cast"]].append((at, path, _even(fixture["screen"])))
    return found


def _reached(cast_path: Path, wanted: list[tuple[float, Path, str]], prompt: str) -> set[Path]:
    """Those of the recorded screens that the emulator shows at about their time."""
    cast = read_cast(cast_path)
    emulator = Emulator(cast.cols, cast.rows)
    emulator.feed(prompt.encode())
    reached: set[Path] = set()
    ends = [event.at for event in cast.events[1:]] + [float("inf")]
    for event, end in zip(cast.events, ends, strict=True):
        emulator.feed(event.raw)
        near = [(path, screen) for at, path, screen in wanted if end >= at - EARLY and event.at <= at + LATE]
        if near:
            text = _even(emulator.text())
            reached |= {path for path, screen in near if screen == text}
    return reached


CAPTURES = _captures()


@pytest.mark.parametrize("agent", sorted({path.parent.name for path in CAPTURES}))
def test_each_recorded_screen_is_drawn_as_tmux_drew_it(agent: str) -> None:
    missing: list[str] = []
    for cast_path, wanted in CAPTURES.items():
        if cast_path.parent.name == agent and not (agent == "pi" and cast_path.name in ALTERED):
            shown = "".join(screen for _, _, screen in wanted)
            left = wanted
            for prompt in [prompt for prompt in PROMPTS if prompt in shown] + [""]:
                reached = _reached(cast_path, left, prompt) if left else set()
                left = [capture for capture in left if capture[1] not in reached]
            missing += [path.name for _, path, _ in left]
    assert missing == []
