"""What every source of panes offers, and the words it answers with.

A source turns the engine's effects into readings of one kind of terminal server and
hands the result back as events through `emit`. It decides nothing: when to look is the
planner's business, what a screen means is the judge's. Its methods are coroutines that
never raise for anything the outside world did: a server that is gone, hung or foreign
becomes an event, a reason or a Problem.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from trayagent.model.effects import Look
from trayagent.model.events import Event
from trayagent.model.keys import PaneKey
from trayagent.model.panes import Client

Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that keeps a source from watching all it should. place: socket, folder or program."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Spot:
    """What a client showed at one moment, so that it can be shown there again.

    client: the client's name; session_id: the session in which it showed the pane."""

    pane: PaneKey
    session_id: str
    client: str


@dataclass(frozen=True, slots=True)
class JumpResult:
    """The outcome of a jump.

    ok: `client` now shows the pane. before: what that client showed until then.
    Without any client ok is False and `attach` holds the command that would show the
    pane in a new terminal. reason: why not, as a sentence for the person.
    """

    ok: bool
    reason: str = ""
    client: Client | None = None
    before: Spot | None = None
    attach: tuple[str, ...] = ()

    @property
    def attach_command(self) -> str:
        """`attach` as one line for a POSIX shell, "" if there is nothing to attach to."""
        return shlex.join(self.attach)


class Source(Protocol):
    """One kind of terminal server. Events go to the `emit` that it was made with."""

    async def discover(self) -> None:
        """Look for servers: emits ServerFound for each new one and ServerGone for each lost one."""

    async def look(self, look: Look) -> None:
        """Read a server once. Emits Panes, Frame, Clients as asked, and always one LookEnded at the end."""

    async def jump(self, target: PaneKey | Spot) -> JumpResult:
        """Show a pane in the client that was used last; a Spot prefers its own client and session."""

    async def close(self) -> None:
        """Give up everything that is under way; nothing is emitted afterwards."""

    def problems(self) -> tuple[Problem, ...]:
        """What the last discovery refused or could not do, for `doctor`."""
