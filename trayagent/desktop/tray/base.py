"""What a tray is to the rest of the program: it is shown a TrayView, and says what was clicked.

A backend must cost nothing when nothing changed, must never raise out of `show`, and
lives on one thread, the event loop's: toolkits and buses misbehave when called from others.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable

from trayagent.model.view import TrayView

log = logging.getLogger(__name__)

Action = tuple[str, ...]

# What a backend can do; a capability that is missing is not offered.
MENU = "menu"
LIVE_MENU = "live-menu"  # rows of an open menu change in place
CLICK = "click"
MIDDLE_CLICK = "middle-click"
TOOLTIP = "tooltip"
TOKEN = "activation-token"  # the host may hand over an activation token with a click


class Tray(ABC):
    """One tray icon.

    on_action: called with the action of what was clicked (view.click, view.middle, or a
    menu item's). on_about_to_show: called when the menu is about to open, so that the
    owner may `show` a fresh view at once. on_problem: called once with a sentence when the icon
    cannot be seen by anybody (see `problems`)."""

    def __init__(
        self,
        on_action: Callable[[Action], None],
        *,
        on_about_to_show: Callable[[], None] | None = None,
        on_problem: Callable[[str], None] | None = None,
    ) -> None:
        self._on_action = on_action
        self._on_about_to_show = on_about_to_show
        self._on_problem = on_problem
        self._thread = threading.get_ident()

    @property
    @abstractmethod
    def capabilities(self) -> frozenset[str]:
        """Which of the constants of this module the backend has."""

    @abstractmethod
    def start(self) -> None:
        """Begin to show the icon; needs a running loop. Never waits, never raises."""

    @abstractmethod
    def show(self, view: TrayView) -> None:
        """Make the icon, tooltip and menu be this; nothing is sent for what did not change."""

    @abstractmethod
    def problems(self) -> tuple[str, ...]:
        """What keeps the icon from being seen now, as sentences for `doctor`."""

    @abstractmethod
    async def close(self) -> None:
        """Take the icon away for good."""

    def take_token(self) -> str:
        """The activation token that came with the last click, once; "" if the host gave none."""
        return ""

    @property
    def drawn(self) -> bool:
        """Somebody draws the icon now, as far as the backend can tell."""
        return not self.problems()

    async def settled(self, timeout: float) -> bool:
        """Wait until the icon is handed to whoever draws it, or it is known that nobody takes it, at most
        `timeout` seconds; whether it is drawn."""
        return self.drawn

    # -- for backends ----------------------------------------------------------------------

    def _act(self, action: Action) -> None:
        """Hand an action over; an empty one is a row that only tells."""
        if action:
            self._guarded(self._on_action, action)

    def _about_to_show(self) -> None:
        if self._on_about_to_show is not None:
            self._guarded(self._on_about_to_show)

    def _report(self, problem: str) -> None:
        log.warning("%s", problem)
        if self._on_problem is not None:
            self._guarded(self._on_problem, problem)

    def _guarded(self, callback: Callable[..., None], *args: object) -> None:
        try:
            callback(*args)
        except Exception:
            log.exception("a callback of the tray failed")

    def _check_thread(self) -> None:
        """Raise RuntimeError when called from a thread other than the tray's own."""
        if threading.get_ident() != self._thread:
            raise RuntimeError("the tray was called from another thread than the one it was made on")
