"""The config file as the daemon lives with it: read at start, read again on change.

A file that is missing is an empty one. A file that is broken leaves the last good settings in
force and says so once; the same problem is not said again, and its end is said once too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import platformdirs

from trayagent.config.nodes import MAX_CHARACTERS
from trayagent.config.parse import Parsed, parse
from trayagent.config.problems import Problem
from trayagent.model.settings import Settings


def default_path() -> Path:
    """`~/.config/trayagent/config.yaml`, or where $XDG_CONFIG_HOME says."""
    return Path(platformdirs.user_config_dir("trayagent")) / "config.yaml"


def read_text(path: Path) -> str | Problem:
    """The file's text with its line ends and byte order mark as they are, "" if there is no file."""
    try:
        with path.open("rb") as file:
            data = file.read(4 * MAX_CHARACTERS + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return Problem(f"cannot be read ({error.strerror})")
    if len(data) > 4 * MAX_CHARACTERS:
        return Problem(f"longer than {MAX_CHARACTERS // 1024} KiB, which no config needs")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        return Problem("is not UTF-8 from here on; save it as UTF-8", line, column)


def read(path: Path) -> Parsed:
    """The file's settings and problems; never raises."""
    text = read_text(path)
    return Parsed(None, (text,)) if isinstance(text, Problem) else parse(text)


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What a (re)load brought. changed: the settings in force are others than before.
    said: what to tell the person now, each line once."""

    changed: bool
    said: tuple[str, ...] = ()


class Config:
    """The file at `path`, and the settings in force: the defaults until a good file was read."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()
        self.settings = Settings()
        self.problems: tuple[Problem, ...] = ()

    @property
    def broken(self) -> bool:
        """The file has errors; settings are those of before."""
        return any(problem.error for problem in self.problems)

    @property
    def messages(self) -> tuple[str, ...]:
        """What is wrong with the file now, a line each."""
        return tuple(problem.render(str(self.path)) for problem in self.problems)

    def reload(self) -> Reloaded:
        """Read the file again; some milliseconds. Never raises."""
        was_broken, told = self.broken, set(self.messages)
        parsed = read(self.path)
        self.problems = parsed.problems
        said = [message for message in self.messages if message not in told]
        if parsed.settings is None:
            if said and not was_broken:
                said.append(f"{self.path}: the settings from before stay in force until this is mended")
            return Reloaded(False, tuple(said))
        if was_broken:
            said.insert(0, f"{self.path}: is in order again, and in force")
        changed, self.settings = parsed.settings != self.settings, parsed.settings
        return Reloaded(changed, tuple(said))
