"""What the policy asks of its surroundings: the engine's knowledge, and the words of a banner.

The policy keeps no copy of a pane's state. It asks for the truth at the moment it
tells, so what is shown was true when it was shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from trayagent.model.keys import PaneKey
from trayagent.model.settings import Settings
from trayagent.model.states import State
from trayagent.model.view import PaneView


class World(Protocol):
    """What the engine knows at this moment."""

    @property
    def settings(self) -> Settings:
        """The settings in force."""

    def view(self, pane: PaneKey) -> PaneView | None:
        """The pane as it is now, None when it left the list."""

    def views(self) -> Iterable[PaneView]:
        """Every listed pane."""

    def steady(self, pane: PaneKey) -> bool:
        """Whether no change of the pane's state is on probation at this moment."""

    def watching(self, pane: PaneKey, state: State) -> bool:
        """Whether the person looks at the pane right now; never when away or locked."""

    @property
    def away(self) -> bool:
        """No input for `alerts.away_after` seconds."""

    @property
    def locked(self) -> bool:
        """The session is locked."""

    @property
    def dnd(self) -> bool:
        """The desktop's own do-not-disturb is on."""

    @property
    def catching_up(self) -> bool:
        """The machine has just resumed, and not every pane was looked at again: nothing is told."""

    @property
    def wall_offset(self) -> float:
        """Epoch seconds are engine seconds plus this."""

    @property
    def zone(self) -> str:
        """IANA name of the local zone, "" for the system's own."""


class Words(Protocol):
    """How banners are worded (the module `engine.wording` is one of these). text: `full short none`."""

    def single(self, view: PaneView, now: float, text: str = "full") -> tuple[str, str]:
        """Title and body about one pane."""

    def merged(self, views: Sequence[PaneView], now: float, text: str = "full") -> tuple[str, str]:
        """Title and body about several panes that came up together."""

    def digest(self, views: Sequence[PaneView], why: str, now: float, text: str = "full") -> tuple[str, str]:
        """Title and body about what is still true after a hold; why: the rule that held, "" for several."""
