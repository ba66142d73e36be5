"""What `demo` writes: a heading, the story line by line, the live list below it, and the end.

On a terminal the list is drawn anew in its place, below the lines of the story. Into a pipe only
the lines go.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from trayagent.cli.doctor import wrapped
from trayagent.cli.show import cells, clean, cut, duration, is_terminal, state_text, style
from trayagent.model.states import State

if TYPE_CHECKING:
    from trayagent.daemon.check import Check
    from trayagent.demo.telling import Ending, Row

_SHOWN = ("session bus", "tray", "notifications", "sound", "do not disturb", "lock")
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"


class Screen:
    """The teller of the demo (demo.telling.Teller). Only one at a time, and nobody else writes meanwhile."""

    def __init__(self) -> None:
        self._live = is_terminal()
        self._rows: list[str] = []
        self._drawn = 0
        if self._live:
            click.echo(_HIDE, nl=False)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._live:
            click.echo(_SHOW, nl=False)

    # -- the story (Teller) --------------------------------------------------------------------

    def surroundings(self, found: Sequence[Check]) -> None:
        """What is missing of a desktop, in a line each; nothing if all is there."""
        wrong = [check for check in found if check.name in _SHOWN and check.ok is False]
        if any(check.name == "session bus" for check in wrong):
            wrong = [check for check in wrong if check.name == "session bus"]
        for check in wrong:
            text = check.text.partition(";")[0]
            self._paragraph(f"{style('!', fg='yellow')} {clean(text)}" + _hint(check.hint), 2)
        if wrong:
            self._paragraph(
                "So you see here what would be told, and not how. (trayagent doctor: all of it)", 0
            )
            click.echo()

    def say(self, at: float, state: State | None, text: str) -> None:
        """A line above the list."""
        self.clear()
        time = style(f"{at:4.0f} s", dim=True)
        if state is None:
            room = self._room - cells(time) - 6
            click.echo(f"{time}    -> {style(cut(clean(text), room), bold=True)}")
        else:
            glyph = state_text(state.value).partition(" ")[0]
            click.echo(self._fitted(f"{time}  {glyph}{_reset()} ", clean(text)))
        self._draw()

    def rows(self, rows: Sequence[Row]) -> None:
        """The list; the loudest first, as it comes."""
        names = max((cells(row.name) for row in rows), default=0)
        projects = max((cells(row.project) for row in rows), default=0)
        lines = []
        for row in rows:
            head = f"  {_padded(state_text(row.state.value), 10)} {duration(row.since):>6}  "
            head += f"{_padded(row.project, projects)}  {_padded(row.name, names)}  "
            lines.append(self._fitted(head, clean(row.message)))
        if lines != self._rows:
            self.clear()
            self._rows = lines
            self._draw()

    def clear(self) -> None:
        """Take the list away."""
        if self._live and self._drawn:
            click.echo(f"\x1b[{self._drawn}F\x1b[0J", nl=False)
            self._drawn = 0

    def _draw(self) -> None:
        if self._live and self._rows:
            click.echo("\n" + "\n".join(self._rows))
            self._drawn = len(self._rows) + 1

    def _fitted(self, head: str, text: str) -> str:
        return head + cut(text, self._room - cells(head))

    @property
    def _room(self) -> int:
        """Columns of a line; the last one stays free, where some terminals wrap."""
        return shutil.get_terminal_size().columns - 1 if self._live else 10_000

    def _paragraph(self, text: str, indent: int) -> None:
        for line in wrapped(text, indent):
            click.echo(line)

    # -- beginning and end ---------------------------------------------------------------------

    def head(self, *, running: bool) -> None:
        """What is about to be seen."""
        click.echo(style("Three coding agents at work, and you are elsewhere.", bold=True))
        text = "They are recordings in a private tmux; your own tmux, agents and settings are not touched."
        self._paragraph(text, 0)
        if running:
            self._paragraph("Your own trayagent runs on; for the demo there is a second icon.", 0)
        click.echo()

    def head_without_tmux(self, remedy: str) -> None:
        """The same, where nothing can be watched."""
        click.echo(style("tmux is not installed, and agents are watched in tmux.", bold=True))
        self._paragraph(f"{remedy[:1].upper()}{remedy[1:]}", 0)
        click.echo()
        text = "Meanwhile, this is how it would look: three recorded agents, simulated in this terminal."
        self._paragraph(text, 0)
        click.echo()

    def end(self, ending: Ending) -> None:
        """What happened, and how to go on."""
        self.clear()
        self._draw()
        self._drawn = 0
        click.echo()
        for line in _summary(ending):
            self._paragraph(line, 0)
        _go_on(any(ending.told.values()))

    def end_without_tmux(self, remedy: str) -> None:
        """The same, where it was simulated."""
        self.clear()
        self._draw()
        self._drawn = 0
        click.echo()
        self._paragraph(
            "That is the point: you are told once, by a banner and an icon, when one needs you.", 0
        )
        click.echo(f"\nTo go on, {remedy}")
        click.echo("and then see the real thing: trayagent demo")

    def invite(self, ending: Ending, seconds: float) -> None:
        """What a person may try before it is over."""
        click.echo()
        if any(ending.told.values()):
            self._paragraph("Click on a banner or on the icon, and you are with the agent that asks.", 0)
        self._paragraph(f"Enter ends the demo (by itself it ends in {duration(seconds)}).", 0)
        sys.stdout.flush()


def _summary(ending: Ending) -> list[str]:
    shown = sum(ending.told.values())
    if shown and shown == len(ending.told):
        sound = " and a sound" if ending.heard else ""
        lines = [
            f"That is the point: you were told of each one once, by a banner{sound}, when it needed you."
        ]
    elif ending.told:
        lines = [
            f"That is the point: you are told of each one once, when it needs you. "
            f"Here no banner came up: {clean(ending.why).partition(';')[0]}."
        ]
    else:
        lines = ["The agents did not get so far that anything was told."]
    if ending.silent:
        lines.append("No sound was heard; trayagent doctor tells why.")
    return lines


def _go_on(told: bool) -> None:
    """told: banners come up here; else the ways that need none."""
    ways = [("trayagent", "watches your own agents in tmux")]
    if told:
        ways.append(("trayagent list", "lists them, as you saw it here"))
    else:
        ways.append(("trayagent list --watch", "lists them, as you saw it here"))
        ways.append(("trayagent status --tmux", "the same in short, for a status line"))
    ways.append(("trayagent doctor", "says what works here, and how to mend the rest"))
    room = max(len(command) for command, _ in ways) + 2
    click.echo("\nTo go on:")
    for command, what in ways:
        click.echo(f"  {style(command.ljust(room), bold=True)}{what}")


def _hint(hint: str) -> str:
    return f" ({clean(hint)})" if hint else ""


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


def _reset() -> str:
    """Ends the colour of a glyph that was cut off its word."""
    return "\x1b[0m" if style("x", bold=True) != "x" else ""
