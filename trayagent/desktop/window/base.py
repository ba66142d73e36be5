"""What a backend for windows is.

It tells which window has the keyboard, finds the window that holds a terminal client,
and raises it. Raising happens only in `raise_window`, which the program calls for a
person's click or command and for nothing else: nobody's focus is ever taken by an alert.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trayagent.model.events import ActiveWindow
from trayagent.model.panes import Client

Emit = Callable[[ActiveWindow], None]


@dataclass(frozen=True, slots=True)
class RaiseResult:
    """Whether the window has the keyboard now; why says what went wrong."""

    ok: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What this desktop can do at this moment. about: the server in one line, for `doctor`."""

    active: bool = False
    raises: bool = False
    idle: bool = False
    about: str = ""


class Windows(ABC):
    """One way to see and raise windows."""

    name = ""

    @abstractmethod
    def start(self, emit: Emit) -> None:
        """Watch the active window: ActiveWindow is emitted at once and at each change."""

    @abstractmethod
    async def window_of(self, client: Client) -> int | None:
        """The managed window that shows the client, None when it is not known for sure. Its
        WINDOWID counts only where it names a living window that no other process owns."""

    @abstractmethod
    async def raise_window(
        self, window: int | None, pids: tuple[int, ...], token: str | None = None, tty: str = ""
    ) -> RaiseResult:
        """Give the keyboard to a client's window: un-minimise it, switch to its desktop.

        window: the client's own hint (Client.window_hint). pids: Client.pids. token: the activation token of
        the click. tty: the client's terminal; if several windows share one process, a title is
        written to it for some milliseconds to find the right one. Takes a few seconds at most."""

    @abstractmethod
    async def idle_seconds(self) -> float | None:
        """Seconds since the last input at this desktop, None if it does not say."""

    @property
    def display(self) -> Mapping[str, str]:
        """The variables that name the display as it is now, for programs that open windows on it; empty
        where our own environment is right."""
        return {}

    async def ring(self) -> bool:
        """Ring the desktop's bell (`sounds.mode: bell`); False where there is none."""
        return False

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What is known at this moment."""

    def problems(self) -> tuple[str, ...]:
        """What is wrong now, as sentences for `doctor`."""
        return ()

    async def stop(self) -> None:  # noqa: B027 (a backend without anything to stop is fine)
        """End; at most a second."""


class NoWindows(Windows):
    """A desktop that says nothing of its windows: nobody is known to watch, a jump ends at the pane."""

    name = "none"

    def __init__(self, why: str = "this desktop does not say which window is active") -> None:
        self._why = why

    def start(self, emit: Emit) -> None:
        """Say once that nothing is known."""
        emit(ActiveWindow(known=False))

    async def window_of(self, client: Client) -> int | None:
        """Never known."""
        return None

    async def raise_window(
        self, window: int | None, pids: tuple[int, ...], token: str | None = None, tty: str = ""
    ) -> RaiseResult:
        """Not possible."""
        return RaiseResult(False, "windows cannot be raised on this desktop")

    async def idle_seconds(self) -> float | None:
        """Not known."""
        return None

    @property
    def capabilities(self) -> Capabilities:
        """None at all."""
        return Capabilities(about=self._why)
