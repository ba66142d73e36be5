"""What the person chose in the menu: mutes and pause. A JSON file, apart from the config.

The config is the person's own text and is not written for a click; this file is ours. It holds
epoch seconds, since it outlives the machine's uptime, and is replaced at once, never in parts.
It is not forced to the disk: that may take long, and a power cut costs no more than a click.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import platformdirs

_SCOPES = ("pane", "session", "project", "agent")
_LIMIT = 256 * 1024
_MUTES = 500


@dataclass(frozen=True, slots=True)
class Mute:
    """One mute, as in model.events.MuteSet. until: epoch seconds, None for always."""

    scope: str
    value: str
    until: float | None = None


@dataclass(frozen=True, slots=True)
class MenuState:
    """paused: alerts are paused, until `paused_until` (epoch seconds; None: until unpaused)."""

    mutes: tuple[Mute, ...] = ()
    paused: bool = False
    paused_until: float | None = None

    def muted(self, scope: str, value: str, until: float | None, now: float) -> MenuState:
        """With this mute instead of an earlier one of the same thing; an `until` in the past unmutes."""
        others = tuple(mute for mute in self.mutes if (mute.scope, mute.value) != (scope, value))
        added = () if until is not None and until <= now else (Mute(scope, value, until),)
        return replace(self, mutes=(*others, *added)[-_MUTES:])

    def pausing(self, until: float | None, now: float) -> MenuState:
        """Paused until then; in the past: unpaused."""
        on = until is None or until > now
        return replace(self, paused=on, paused_until=until if on else None)

    def at(self, now: float) -> MenuState:
        """Without what has ended."""
        mutes = tuple(mute for mute in self.mutes if mute.until is None or mute.until > now)
        over = self.paused and self.paused_until is not None and self.paused_until <= now
        return MenuState(mutes, self.paused and not over, None if over else self.paused_until)


def default_path() -> Path:
    """`menu.json` in the user's state folder."""
    return Path(platformdirs.user_state_dir("trayagent")) / "menu.json"


def load_state(path: Path) -> tuple[MenuState, str | None]:
    """The state, and what was wrong with the file, if anything: then it is as if it were empty."""
    try:
        with path.open("rb") as file:
            data = json.loads(file.read(_LIMIT))
        return _state(data), None
    except FileNotFoundError:
        return MenuState(), None
    except OSError as error:
        return MenuState(), f"{path}: cannot be read ({error.strerror}); mutes and pause are forgotten"
    except (ValueError, TypeError, KeyError, RecursionError):
        return MenuState(), f"{path}: is damaged; mutes and pause are forgotten"


def _state(data: Any) -> MenuState:
    mutes = []
    for item in data["mutes"][:_MUTES]:
        if item["scope"] not in _SCOPES or not isinstance(item["value"], str):
            raise ValueError("no such mute")
        mutes.append(Mute(item["scope"], item["value"], _time(item["until"])))
    if not isinstance(data["paused"], bool):
        raise ValueError("paused must be true or false")
    return MenuState(tuple(mutes), data["paused"], _time(data["paused_until"]))


def _time(value: Any) -> float | None:
    return None if value is None else float(value)


def save_state(path: Path, state: MenuState) -> str | None:
    """Replace the file; returns what went wrong, if anything."""
    data = {
        "mutes": [{"scope": mute.scope, "value": mute.value, "until": mute.until} for mute in state.mutes],
        "paused": state.paused,
        "paused_until": state.paused_until,
    }
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            json.dump(data, file, indent=1)
        temporary.replace(path)
    except OSError as error:
        if temporary.is_file():
            temporary.unlink()
        return f"{path}: mutes and pause cannot be kept ({error.strerror})"
    return None
