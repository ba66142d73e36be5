"""What the person chose in the menu (mutes, pause, sounds): one JSON object in the state folder.

The config is the person's own text and is not written for a click; this file is ours. What it
holds is the business of those who chose, who also judge it when it is read back. It is replaced at
once, never in parts, but not forced to the disk: that may take long, and a power cut costs no
more than a click.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_LIMIT = 1024 * 1024


def read_choices(path: Path) -> tuple[dict[str, Any] | None, str | None]:
    """The object, and what was wrong with the file; (None, None) where there is no file."""
    try:
        with path.open("rb") as file:
            data = json.loads(file.read(_LIMIT))
    except FileNotFoundError:
        return None, None
    except OSError as error:
        return None, f"{path}: cannot be read ({error.strerror}); the menu's choices are forgotten"
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        return None, f"{path}: is damaged; the menu's choices are forgotten"
    return data, None


def write_choices(path: Path, choices: dict[str, Any]) -> str | None:
    """Replace the file (0600, its folder 0700); returns what went wrong, if anything."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(choices, file, indent=1)
        temporary.replace(path)
    except OSError as error:
        if temporary.is_file():
            temporary.unlink()
        return f"{path}: the menu's choices cannot be kept ({error.strerror})"
    return None
