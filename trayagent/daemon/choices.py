"""What the person chose by click or command, kept over a restart in one file beside the ledger.

    {"mutes": [...], "paused": {...}, "sounds": {"mode": "off", "instead": "audio"}}

Mutes and pause belong to the alerts, which judge them themselves. The sounds' mode goes before the
config's until the person chooses again, or writes another mode into the config: the later
word counts. `instead` is the config's mode at the moment of the choice, by which that is noticed.
Parts of the file that this version does not know stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from trayagent.config.state import read_choices, write_choices
from trayagent.model.settings import Settings

MODES = ("audio", "bell", "both", "off")


class Choices:
    """The file at `path`, read at once. problem: what was wrong with it, "" for nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        found, problem = read_choices(path)
        self.problem = problem or ""
        self._data: dict[str, Any] = found or {}

    @property
    def alerts(self) -> dict[str, Any] | None:
        """Mutes and pause as they were saved, None where nothing was."""
        return self._data or None

    def applied(self, settings: Settings) -> Settings:
        """The config's settings with the choices in their place; a choice that is overtaken is dropped."""
        sounds = self._data.get("sounds")
        if sounds is None:
            return settings
        mode = sounds.get("mode") if isinstance(sounds, Mapping) else None
        if mode not in MODES or sounds.get("instead") != settings.sounds.mode:
            del self._data["sounds"]
            return settings
        return replace(settings, sounds=replace(settings.sounds, mode=mode))

    def choose_sounds(self, mode: str, settings: Settings) -> None:
        """Choose the sounds' mode. settings: the config's own; its mode needs no choice to be in force."""
        if mode == settings.sounds.mode:
            self._data.pop("sounds", None)
        else:
            self._data["sounds"] = {"mode": mode, "instead": settings.sounds.mode}

    def save(self, alerts: Mapping[str, Any]) -> str | None:
        """Write everything; alerts: mutes and pause as they are now. Returns what went wrong, if anything."""
        self._data.update(alerts)
        return write_choices(self.path, self._data)
