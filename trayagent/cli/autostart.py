"""`autostart install|uninstall|status`: trayagent begins with the desktop session.

One file, `autostart/trayagent.desktop` in the user's configuration folder, as the Desktop Application
Autostart Specification has it; quoting by the Desktop Entry Specification, "The Exec key". Desktops have
switches of their own for such files (`Hidden`, `X-GNOME-Autostart-enabled`); `status` sees
them, and `install` switches on again.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from trayagent import resources
from trayagent.cli.ask import json_option
from trayagent.cli.show import json_line
from trayagent.config.place import EditRefused
from trayagent.config.write import write_text

NAME = "trayagent.desktop"
# Sessions that read no such file by themselves, and how they start programs.
_NOT_STARTING = {
    "sway": "exec {command}  (in ~/.config/sway/config)",
    "hyprland": "exec-once = {command}  (in ~/.config/hypr/hyprland.conf)",
    "i3": "exec --no-startup-id {command}  (in ~/.config/i3/config)",
    "river": "{command} &  (in ~/.config/river/init)",
}


@click.group()
def autostart() -> None:
    """Start with the desktop session, or not."""


@autostart.command()
def install() -> None:
    """Begin with each desktop session from now on."""
    place = entry_path()
    _write(place, entry())
    click.echo(f"trayagent starts with your desktop session ({place}).")
    for desktop in os.environ.get("XDG_CURRENT_DESKTOP", "").lower().split(":"):
        if desktop in _NOT_STARTING:
            line = _NOT_STARTING[desktop].format(command=exec_line())
            click.echo(f"{desktop} reads no such files by itself; there it is: {line}")


@autostart.command()
def uninstall() -> None:
    """Do not begin by itself any more."""
    place = entry_path()
    try:
        place.unlink()
    except FileNotFoundError:
        click.echo("trayagent does not start by itself; nothing was changed.")
        return
    except OSError as error:
        raise click.ClickException(f"{place}: cannot be removed ({error.strerror})") from error
    click.echo(f"trayagent does not start by itself any more ({place} is removed).")


@autostart.command()
@json_option
def status(as_json: bool) -> None:
    """Whether it begins with the desktop session; exit code 1 if not."""
    place = entry_path()
    text = _read(place)
    state = state_of(text)
    if as_json:
        json_line({"on": state == "on", "state": state, "path": str(place)})
    else:
        click.echo(_STATES[state].format(place=place))
    click.get_current_context().exit(0 if state == "on" else 1)


_STATES = {
    "on": "trayagent starts with your desktop session ({place}).",
    "off": "trayagent does not start by itself. To change that: trayagent autostart install",
    "switched-off": "{place} is there, but switched off. To change that: trayagent autostart install",
    "other": "{place} starts another program than this one. To change that: trayagent autostart install",
}


def state_of(text: str | None) -> str:
    """`on off switched-off other` for the file's text, None where there is none."""
    if text is None:
        return "off"
    keys = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] not in "#[")
    keys = {key.strip(): value.strip() for key, value in keys.items()}
    hidden = keys.get("Hidden", "").lower() == "true"
    if hidden or keys.get("X-GNOME-Autostart-enabled", "true").lower() == "false":
        return "switched-off"
    return "on" if keys.get("Exec") == exec_line() else "other"


def entry_path() -> Path:
    """`~/.config/autostart/trayagent.desktop`, or where $XDG_CONFIG_HOME says."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if base.startswith("/") else Path.home() / ".config"
    return folder / "autostart" / NAME


def entry() -> str:
    """The file's text."""
    icon = resources.folder("icons") / "hicolor" / "48x48" / "apps" / "trayagent.png"
    return f"""\
[Desktop Entry]
Type=Application
Version=1.5
Name=trayagent
Comment=Which of your coding agents needs you
Exec={exec_line()}
Icon={icon}
Terminal=false
StartupNotify=false
X-GNOME-Autostart-enabled=true
"""


def exec_line() -> str:
    """The command that runs now, by its full path, quoted for the key Exec."""
    return " ".join(_quoted(word) for word in _command())


def _command() -> list[str]:
    """The script that we were started by, where it is one; else this Python with our module."""
    started = shutil.which(sys.argv[0]) or ""
    if Path(started).name == "trayagent":
        return [str(Path(started).absolute())]
    return [sys.executable, "-m", "trayagent"]


def _quoted(word: str) -> str:
    """A word of the key Exec: in double quotes where it holds anything reserved; a backslash is doubled
    once more, for it is a string value; a percent sign would begin a field code."""
    word = word.replace("%", "%%")
    if word and not any(char in " \t\n\"'\\><~|&;$*?#()`" for char in word):
        return word
    for char in '\\"`$':
        word = word.replace(char, f"\\{char}")
    return '"' + word.replace("\\", "\\\\") + '"'


def _read(place: Path) -> str | None:
    try:
        return place.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise click.ClickException(f"{place}: cannot be read ({error.strerror})") from error


def _write(place: Path, text: str) -> None:
    try:
        write_text(place, text)
    except EditRefused as error:
        raise click.ClickException(str(error)) from error
