"""How often the tray is drawn: at once when it matters, seldom when it does not.

Drawing the whole tray costs some milliseconds, here and in the panel, which fetches
the menu again. So a change of what needs the person is drawn at once for as long as such
changes are rare (`BURST` of them, one more every `REFILL` seconds); beyond that only icon
and tooltip follow, `ICON_GAP` apart. Changes among working and idle panes wait for
`LAZY` seconds. An opening menu is always drawn afresh, so nobody sees what is stale.
"""

from __future__ import annotations

from dataclasses import dataclass

BURST = 3
REFILL = 10.0
LAZY = 10.0
ICON_GAP = 1.0


@dataclass(slots=True)
class Pace:
    """Times are engine seconds. dirty: something changed; urgent: what needs the person did;
    asked: the person opens the menu or has just done something."""

    dirty: bool = True
    urgent: bool = True
    asked: bool = False
    drawn: float = float("-inf")
    iconed: float = float("-inf")
    tokens: float = BURST
    filled: float = 0.0

    def due(self, now: float) -> str:
        """What to draw now: `menu` (all of it), `icon` (icon and tooltip alone) or ``."""
        if self.asked:
            return "menu"
        if not self.dirty:
            return ""
        if now - self.drawn >= LAZY or (self.urgent and self._tokens(now) >= 1):
            return "menu"
        return "icon" if self.urgent and now - self.iconed >= ICON_GAP else ""

    def wake_at(self) -> float | None:
        """When something that waits may be drawn."""
        if not self.dirty:
            return None
        lazy = self.drawn + LAZY
        return min(lazy, self.iconed + ICON_GAP) if self.urgent else lazy

    def done(self, what: str, now: float) -> None:
        """It was drawn. After an icon alone the menu stays dirty."""
        self.iconed = now
        if what == "menu":
            if self.urgent and not self.asked:
                self.tokens, self.filled = max(self._tokens(now) - 1, 0.0), now
            self.drawn, self.dirty = now, False
        self.urgent = self.asked = False

    def _tokens(self, now: float) -> float:
        return min(BURST, self.tokens + (now - self.filled) / REFILL)
