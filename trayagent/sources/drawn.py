"""The screen of a relayed terminal that no server draws: made of the bytes that its agent wrote.

Drawing costs some 0.6 us a byte, so that it is rationed by whoever calls `draw`, and what waits is
bounded. When an agent writes faster than that, or the relay had to drop something, the drawing goes
on at the next full repaint (a cleared screen, the other screen, a reset); until then the screen
is not known, and nobody pretends that the old one stands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trayagent.model.panes import Screen

if TYPE_CHECKING:
    from trayagent.terminal.emulator import Emulator

MAX_CELLS = 500  # columns, and rows
WAITING = 128 * 1024  # bytes
# ED 2, ED with a homed cursor, the second screen, RIS: what stood before is gone.
_REPAINT = re.compile(rb"\x1b\[2J|\x1b\[(?:1;1)?H\x1b\[0?J|\x1b\[\?(?:1049|1047|47)h|\x1bc")


class Drawn:
    """One terminal's screen. Feeding only keeps; `draw` does the work, with the class that is given."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns, self._rows = _bounded(columns), _bounded(rows)
        self._waiting = bytearray()
        self._stale = False
        self._emulator: Emulator | None = None

    @property
    def waiting(self) -> int:
        """Bytes to be drawn."""
        return len(self._waiting)

    def feed(self, data: bytes, lost: bool) -> None:
        """The next bytes. lost: some before them are missing."""
        if lost or len(self._waiting) + len(data) > WAITING:
            data = data if lost else bytes(self._waiting) + data
            self._waiting.clear()
            self._stale = True
        if self._stale:
            self._take_up(data)
        else:
            self._waiting += data

    def _take_up(self, data: bytes) -> None:
        """Go on at the last full repaint in `data`, if there is one, on an empty screen."""
        repaints = [found.start() for found in _REPAINT.finditer(data)]
        if repaints:
            self._stale = False
            self._waiting += data[repaints[-1] :]
            if self._emulator is not None:
                self._emulator.feed(b"\x18\x1bc")  # ends whatever sequence was under way, and resets

    def resize(self, columns: int, rows: int) -> None:
        """The terminal has another size; it holds for what is fed from now on, hence for what waits too."""
        self._columns, self._rows = _bounded(columns), _bounded(rows)
        if self._emulator is not None:
            self._emulator.resize(self._columns, self._rows)

    def draw(self, most: int, emulator: type[Emulator]) -> None:
        """Draw at most so many bytes of those that wait."""
        if self._emulator is None:
            self._emulator = emulator(self._columns, self._rows)
        data = bytes(memoryview(self._waiting)[:most])
        del self._waiting[: len(data)]
        self._emulator.feed(data)

    def screen(self) -> Screen | None:
        """The screen as it is now; None while it is not known."""
        drawn = self._emulator
        if drawn is None or self._stale or self._waiting:
            return None
        return Screen(drawn.text(), drawn.title, drawn.progress, drawn.cols, drawn.rows)


def _bounded(cells: int) -> int:
    return min(max(cells, 1), MAX_CELLS)
