"""The recordings that the tests have, and what is known about each moment of them.

`<name>.cast` is a session's bytes, `<name>.states.json` the truth (state from when on, what was
typed), `<name>.marks.json` the moments at which its dialogs became readable (derive_marks.py).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from trayagent.replay.cast import Cast, read_cast
from trayagent.terminal.emulator import Emulator

SCREENS = Path(__file__).parent.parent / "screens"


@dataclass(frozen=True, slots=True)
class Truth:
    """From `certain` seconds on the agent is in `state`; it may have been since `earliest`."""

    certain: float
    state: str
    earliest: float


@dataclass(frozen=True, slots=True)
class Dialog:
    """One dialog of a recording. settled: the first frame that equals the dialog as it then
    stood. until: it stood at least until then, and was changed or answered at once after."""

    settled: float
    until: float


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded session."""

    path: Path

    @property
    def agent(self) -> str:
        """The agent's id."""
        return self.path.parent.name

    @property
    def name(self) -> str:
        """`agent/name`."""
        return f"{self.agent}/{self.path.stem}"

    @property
    def cast(self) -> Cast:
        """Its bytes."""
        return _cast(self.path)

    @property
    def truths(self) -> tuple[Truth, ...]:
        """What state the agent was in, in order; nothing for the few recordings without it."""
        rows = self._states().get("transitions", [])
        return tuple(Truth(certain, state, earliest) for certain, state, earliest in rows)

    @property
    def keys(self) -> tuple[float, ...] | None:
        """When something was typed, None where that was not written down."""
        events = self._states().get("events")
        return None if events is None else tuple(at for at, what, *_ in events if what in ("key", "type"))

    @property
    def dialogs(self) -> tuple[Dialog, ...]:
        """Its dialogs, as derive_marks.py found them."""
        path = self.path.with_suffix(".marks.json")
        rows = json.loads(path.read_text())["dialogs"] if path.exists() else []
        return tuple(Dialog(**row) for row in rows)

    @property
    def starts(self) -> float:
        """When the shell handed its terminal to the agent (readline ends bracketed paste)."""
        return next((event.at for event in self.cast.events if "\x1b[?2004l\r" in event.data), 0.0)

    def _states(self) -> dict[str, Any]:
        path = self.path.with_suffix(".states.json")
        return json.loads(path.read_text()) if path.exists() else {}


@lru_cache(maxsize=64)
def _cast(path: Path) -> Cast:
    return read_cast(path)


def recording(name: str) -> Recording:
    """The recording `agent/name`."""
    return Recording(SCREENS / f"{name}.cast")


def recordings(*agents: str) -> list[Recording]:
    """All recordings of these agents, or of all."""
    found = sorted(SCREENS.glob("*/*.cast"))
    return [Recording(path) for path in found if not agents or path.parent.name in agents]


def frames(cast: Cast, start: float, stop: float) -> list[tuple[float, str]]:
    """(seconds, screen) for `start`, and after each output up to `stop`."""
    emulator = Emulator(cast.cols, cast.rows)
    found: list[tuple[float, str]] = []
    before = True
    for event in cast.events:
        if event.at > stop:
            break
        if before and event.at > start:
            found.append((start, emulator.text()))
            before = False
        if event.code == "o":
            emulator.feed(event.raw)
            if event.at > start:
                found.append((event.at, emulator.text()))
    return found or [(start, emulator.text())]


# Glyphs that agents blink or turn, and numbers that count: no part of what a dialog says.
_MOVING = re.compile(r"[\u2800-\u28ff●○◐◑◒◓◉◎⏺•·∙✢✳✶✻✽*∗⠁█▌▐▏▎▍▋▊▉■□▪▫⬝◆◇|/\\-]|\d")


def still(screen: str) -> str:
    """A screen without what moves while nothing happens: spinners, blinking marks, counters."""
    rows = (" ".join(_MOVING.sub(" ", row).split()) for row in screen.split("\n"))
    return "\n".join(rows).strip("\n")
