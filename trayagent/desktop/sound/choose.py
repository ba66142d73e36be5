"""Which file a Sound effect means."""

from __future__ import annotations

import logging
from pathlib import Path

from trayagent.model.effects import Sound
from trayagent.model.settings import SoundSettings
from trayagent.model.states import State

SILENT = frozenset({"", "off", "none"})  # words in the configuration that stand for no file

log = logging.getLogger(__name__)


def clip_of(effect: Sound, settings: SoundSettings, bundled: Path) -> Path | None:
    """The profile's sound, else the project's, the agent's, the state's, else the bundled one of that
    state (`blocked.wav`, `done.wav`, `error.wav` in `bundled`); None for silence."""
    if effect.file:
        return None if effect.file.lower() in SILENT else Path(effect.file).expanduser()
    rows = (
        (settings.projects, effect.project),
        (settings.agents, effect.agent),
        (settings.states, effect.state.value),
    )
    for table, key in rows:
        for name, file in table:
            if key and name == key:
                return None if file.lower() in SILENT else Path(file).expanduser()
    if effect.state not in (State.BLOCKED, State.DONE, State.ERROR):
        log.debug("no bundled sound for %s", effect.state)
        return None
    return bundled / f"{effect.state.value}.wav"
