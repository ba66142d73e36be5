"""How alerts are heard: the file of a state, agent or project, the terminal's bell, both, or nothing.

A state, agent or project whose sound is switched off (`sounds.projects: {notes: off}`) is silent in
every mode. The bell rings the terminal that the person used last; where no terminal shows tmux,
the desktop's own.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trayagent import resources
from trayagent.desktop import bell
from trayagent.desktop.sound.choose import clip_of
from trayagent.model.effects import Sound
from trayagent.model.states import State

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts

log = logging.getLogger("trayagent")

AUDIO, BELL = ("audio", "both"), ("bell", "both")
STATES = (State.BLOCKED, State.DONE, State.ERROR)


class Sounds:
    """Plays Sound effects by the settings in force, and says what they are."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def play(self, sound: Sound) -> None:
        """Make an alert heard. Never waits."""
        settings = self._parts.settings.sounds
        clip = self._clip(sound)
        if clip is None:
            return
        if settings.mode in AUDIO:
            self._parts.sound.play(clip, settings.volume)
        if settings.mode in BELL:
            self._parts.ends.spawn(self._ring())

    async def test(self, state: State, volume: float | None = None) -> tuple[bool, str]:
        """Make a state's sound heard by the mode in force (also where that is off: as audio); whether
        it was heard, and a sentence. volume: 0 to 1 in place of the settings' own."""
        settings = self._parts.settings.sounds
        clip = self._clip(Sound(state))
        if clip is None:
            return False, f"{state.value} has no sound: it is off in sounds.states"
        said = []
        if settings.mode in BELL:
            said.append(await self._ring())
        if settings.mode != "bell":
            heard, text = await self._heard(clip, settings.volume if volume is None else volume)
            if not heard:
                return False, text
            said.append(text)
        off = "; sounds are off: alerts are silent" if settings.mode == "off" else ""
        return True, ", ".join(said) + off

    async def _heard(self, clip: Path, volume: float) -> tuple[bool, str]:
        player = self._parts.sound
        await player.wait()
        if not player.play(clip, volume, asked=True):
            return False, "another sound was played just now; try again"
        await player.wait()
        problems = player.problems()
        return (False, problems[0]) if problems else (True, f"played {clip.name} at volume {volume:g}")

    async def _ring(self) -> str:
        """Ring; returns what was rung."""
        client = self._parts.engine.core.attention.last_used()
        if client is not None:
            why = bell.ring(client.tty)
            if not why:
                return f"rang {client.tty}"
            log.info("the bell of a terminal was not rung: %s", why)
        if await self._parts.windows.ring():
            return "rang the desktop's bell, for no terminal shows tmux"
        return "no terminal shows tmux, so there is none to ring"

    def describe(self) -> dict[str, Any]:
        """The settings in force as JSON: mode, volume, players, and each sound with its file."""
        settings = self._parts.settings.sounds
        rows = [("state", state.value, Sound(state)) for state in STATES]
        rows += [("agent", name, Sound(State.BLOCKED, agent=name)) for name, _ in settings.agents]
        rows += [("project", name, Sound(State.BLOCKED, project=name)) for name, _ in settings.projects]
        return {
            "mode": settings.mode,
            "config_mode": self._parts.config.settings.sounds.mode,
            "volume": settings.volume,
            "while_locked": settings.while_locked,
            "players": list(self._parts.sound.available),
            "sounds": [self._row(scope, name, sound) for scope, name, sound in rows],
        }

    def _row(self, scope: str, name: str, sound: Sound) -> dict[str, Any]:
        clip = self._clip(sound)
        there = clip is not None and clip.is_file()
        return {"scope": scope, "name": name, "file": None if clip is None else str(clip), "found": there}

    def _clip(self, sound: Sound) -> Path | None:
        return clip_of(sound, self._parts.settings.sounds, resources.folder("sounds"))
