"""The person's own programs: a terminal for a command, what opens a file, what keeps a copied text.

They are started for a click or a command and outlive us. Of our environment they get all but what says
where we run: inside tmux (a second tmux would refuse to nest) and in which window (a terminal that
sets no WINDOWID would hand on ours, and its tmux client would be looked for there).
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from trayagent.model.events import Programs

# What a person calls "a terminal", in the order in which it is asked for after $TERMINAL.
TERMINALS = (
    "x-terminal-emulator", "kitty", "alacritty", "foot", "ghostty", "wezterm", "konsole", "gnome-terminal",
    "kgx", "xfce4-terminal", "mate-terminal", "xterm",
)  # fmt: skip
# How a command follows where it is not `-e COMMAND ARGUMENT...`.
_BEFORE_COMMAND = {
    "gnome-terminal": ("--",),
    "kgx": ("--",),
    "wezterm": ("start", "--"),
    "xfce4-terminal": ("-x",),
    "mate-terminal": ("-x",),
}
# The variable that says that it can work here, and the command, which reads the text from its input.
CLIPBOARDS = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
)
COPY_SECONDS = 3.0
OPENER = "xdg-open"
OPENER_SECONDS = 2.0  # an opener that fails does so by then; one that goes on has opened it
_RECHECK = 0.05
_NOT_OURS = ("TMUX", "TMUX_PANE", "WINDOWID")

# Shell scripts around a command, $@: always, or only after a failure, the terminal stays until Enter.
_HOLD = '"$@"; printf "\\nPress Enter to close this window. "; read -r _'
_HOLD_FAILED = '"$@" || { printf "\\nPress Enter to close this window. "; read -r _; }'


class NotStarted(Exception):
    """There is no such program, or it does not work; str() says what to do."""


def our_command(*args: str) -> tuple[str, ...]:
    """`trayagent ARGS` as the program that runs now, wherever it is installed."""
    if getattr(sys, "frozen", False):
        return (sys.executable, *args)
    return (sys.executable, "-m", "trayagent.cli.main", *args)


class Launcher:
    """Starts the person's programs. display: asked each time for variables that name the display as it
    is now, where our own environment is older."""

    def __init__(
        self, environ: Mapping[str, str] = os.environ, display: Callable[[], Mapping[str, str]] = dict
    ) -> None:
        self._environ, self._display = environ, display
        self._running: list[subprocess.Popen[bytes]] = []

    def found(self) -> Programs:
        """What is there."""
        env = self._env()
        if not _graphical(env):
            return Programs()
        terminal = _terminal(env) is not None
        opener = _which(OPENER, env) is not None
        return Programs(terminal, terminal or opener, _clipboard(env) is not None)

    def in_terminal(self, command: Sequence[str], *, hold: str = "") -> str:
        """Run a command in the person's terminal; returns the terminal's name. hold: `always` or `failed`:
        when the window stays after the command's end. Raises NotStarted."""
        env = self._env()
        program = _terminal(env) if _graphical(env) else None
        if program is None:
            raise NotStarted("no terminal program was found; set TERMINAL to yours")
        scripts = {"always": _HOLD, "failed": _HOLD_FAILED}
        argv = ["sh", "-c", scripts[hold], "trayagent", *command] if hold else list(command)
        name = Path(program[0]).name
        self._start([*program, *_BEFORE_COMMAND.get(name, ("-e",)), *argv], env)
        return name

    async def open_file(self, path: Path, in_editor: Sequence[str]) -> str:
        """Open a text file for the person: by `in_editor` in a terminal where VISUAL or EDITOR says which
        editor it is, else by the desktop's own program for such files, else by `in_editor` all the
        same. Returns what opened it. Raises NotStarted."""
        env = self._env()
        named = any(env.get(name, "").strip() for name in ("VISUAL", "EDITOR"))
        opener = _which(OPENER, env) if _graphical(env) else None
        if opener and not (named and _terminal(env)):
            process = self._start([opener, str(path)], env)
            if await _lasts(process, OPENER_SECONDS):
                return OPENER
        try:
            return self.in_terminal(in_editor, hold="failed")
        except NotStarted as error:
            raise NotStarted(f"{error}; or open {path} yourself") from error

    async def copy(self, text: str) -> None:
        """Put a text into the clipboard. Raises NotStarted."""
        env = self._env()
        command = _clipboard(env)
        if command is None:
            raise NotStarted("no clipboard program was found; install wl-clipboard, xclip or xsel")
        try:
            # The program leaves a child behind that serves the text; it must hold no pipe of ours.
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env=env,
                start_new_session=True,
            )
        except OSError as error:
            raise NotStarted(f"{command[0]} could not be started: {error.strerror}") from error
        try:
            async with asyncio.timeout(COPY_SECONDS):
                await process.communicate(text.encode())
        except TimeoutError as error:
            process.kill()
            await process.wait()
            raise NotStarted(f"{command[0]} did not take the text") from error
        if process.returncode:
            raise NotStarted(f"{command[0]} could not copy (status {process.returncode})")

    def _env(self) -> dict[str, str]:
        env = {**self._environ, **self._display()}
        return {name: value for name, value in env.items() if name not in _NOT_OURS}

    def _start(self, argv: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start a program that goes on without us; those that ended are reaped at the next start."""
        self._running = [process for process in self._running if process.poll() is None]
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(env),
                cwd=env.get("HOME") or None,
                start_new_session=True,
            )
        except OSError as error:
            raise NotStarted(f"{argv[0]} could not be started: {error.strerror}") from error
        self._running.append(process)
        return process


async def _lasts(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether a program ends well, or goes on for so long."""
    for _ in range(round(seconds / _RECHECK)):
        if process.poll() is not None:
            break
        await asyncio.sleep(_RECHECK)
    return not process.returncode


def _graphical(env: Mapping[str, str]) -> bool:
    return bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY"))


def _which(program: str, env: Mapping[str, str]) -> str | None:
    return shutil.which(program, path=env.get("PATH"))


def _terminal(env: Mapping[str, str]) -> list[str] | None:
    """The person's terminal and the options that $TERMINAL may give it."""
    try:
        named = shlex.split(env.get("TERMINAL", ""))
    except ValueError:  # an unfinished quote
        named = []
    for words in (named, *([name] for name in TERMINALS)):
        if words and (program := _which(words[0], env)):
            return [program, *words[1:]]
    return None


def _clipboard(env: Mapping[str, str]) -> tuple[str, ...] | None:
    return next(
        (command for variable, command in CLIPBOARDS if env.get(variable) and _which(command[0], env)), None
    )
