"""The grid of cells: pyte's screen, put right where it is not what terminals do.

pyte 0.8.2 keeps cells, cursor, margins, tabs and modes well. Measured against tmux it differs in
these points, which are overridden here: it drops the rest of a text at a joiner or variation
selector; it leaves halves of wide characters behind and puts one into the last column; it has no
second screen (1049) and no SU, SD, REP, CBT; a saved cursor can be restored once only; moves from
outside the margins jump into them; `CSI 3 J`, which clears the scrollback, clears the screen.
Colours and attributes are not kept: no rule reads them.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from functools import lru_cache

from pyte import modes
from pyte.screens import Char, Cursor, Margins, Screen, StaticDefaultDict
from wcwidth import wcwidth

JOINER = "\u200d"
MAX_CELL = 16  # code points in one cell: enough for every emoji sequence in use
ALTERNATE = frozenset({47, 1047, 1049})
BLANK = Char(" ")
STUB = Char("")  # the right half of a wide character


@lru_cache(maxsize=4096)
def width_of(char: str) -> int:
    """Columns that `char` takes; 0 for what joins the character before it."""
    return max(0, wcwidth(char))


@lru_cache(maxsize=4096)
def cell_of(text: str) -> Char:
    """The cell that shows `text`; shared, because cells are never changed in place."""
    return Char(text)


class Grid(Screen):
    """The cells of one terminal; `alternate` tells whether its second screen is shown."""

    def __init__(self, columns: int, lines: int) -> None:
        self.alternate = False
        self._first: tuple[dict[int, StaticDefaultDict[int, Char]], Cursor]
        self._last = ""
        super().__init__(columns, lines)

    def reset(self) -> None:
        """RIS: everything is as at the start."""
        super().reset()
        self.alternate, self._last = False, ""
        self._first = self._blank(), Cursor(0, 0)

    @staticmethod
    def _blank() -> dict[int, StaticDefaultDict[int, Char]]:
        """An empty screen's rows."""
        return defaultdict(lambda: StaticDefaultDict(BLANK))

    def text(self) -> str:
        """The rows joined by newlines, trailing blanks of each removed."""
        columns = range(self.columns)
        rows = [self.buffer[y] for y in range(self.lines)]
        return "\n".join(["".join([row[x].data for x in columns]).rstrip() for row in rows])

    # -- printing --------------------------------------------------------------------------

    def draw(self, data: str) -> None:
        """Print `data` at the cursor, through the character set in use."""
        for char in data.translate(self.g1_charset if self.charset else self.g0_charset):
            width = 1 if " " <= char <= "~" else width_of(char)
            if width == 0 or self._last == JOINER:
                self._join(char)
            elif width <= self.columns:
                self._put(char, width)
            self._last = char

    def repeat(self, count: int = 1) -> None:
        """REP: print the last character again, at most a screenful of times."""
        if self._last and width_of(self._last):
            self.draw(self._last * min(max(1, count), self.columns * self.lines))

    def _put(self, char: str, width: int) -> None:
        """Print one character of one or two columns."""
        cursor = self.cursor
        if cursor.x + width > self.columns:
            if modes.DECAWM in self.mode:
                self.carriage_return()
                self.index()
            else:
                cursor.x = self.columns - width
        if modes.IRM in self.mode:
            self.insert_characters(width)
        line, x = self.buffer[cursor.y], cursor.x
        if x and line[x].data == "":
            line[x - 1] = BLANK
        line[x] = cell_of(char)
        if width == 2:
            line[x + 1] = STUB
        if line[x + width].data == "" and x + width < self.columns:
            line[x + width] = BLANK
        cursor.x = x + width

    def _join(self, char: str) -> None:
        """Add a character without a column of its own to the one before the cursor."""
        line, x = self.buffer[self.cursor.y], self.cursor.x - 1
        if x > 0 and line[x].data == "":
            x -= 1
        if x >= 0 and len(line[x].data) < MAX_CELL:
            line[x] = Char(line[x].data + char)

    # -- erasing and moving ----------------------------------------------------------------

    def erase_in_display(self, how: int = 0, *args: object, **kwargs: object) -> None:
        """ED: from the cursor on (0), up to it (1), all (2); 3 is about the scrollback only."""
        if how == 2:
            self.buffer.clear()
        elif how in (0, 1):
            rows = range(self.cursor.y + 1, self.lines) if how == 0 else range(self.cursor.y)
            for y in rows:
                self.buffer.pop(y, None)
            self.erase_in_line(how)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        """EL: from the cursor on (0), up to it (1), all (2)."""
        line, x = self.buffer[self.cursor.y], self.cursor.x
        if how == 2:
            line.clear()
        elif how == 0:
            self._halve(x)
            for column in [column for column in line if column >= x]:
                del line[column]
        elif how == 1:
            self._halve(x + 1)
            for column in [column for column in line if column <= x]:
                del line[column]

    def _halve(self, x: int) -> None:
        """Blank a wide character that the border left of column x would cut in two."""
        line = self.buffer[self.cursor.y]
        if 0 < x < self.columns and line[x].data == "":
            line[x - 1] = line[x] = BLANK

    def cursor_up(self, count: int | None = None) -> None:
        """CUU: up, not across the top margin."""
        top = self.margins.top if self.margins and self.cursor.y >= self.margins.top else 0
        self.cursor.y = max(self.cursor.y - (count or 1), top)
        self.ensure_hbounds()

    def cursor_down(self, count: int | None = None) -> None:
        """CUD: down, not across the bottom margin."""
        inside = self.margins and self.cursor.y <= self.margins.bottom
        bottom = self.margins.bottom if self.margins and inside else self.lines - 1
        self.cursor.y = min(self.cursor.y + (count or 1), bottom)
        self.ensure_hbounds()

    def scroll_up(self, count: int = 1) -> None:
        """SU: the rows between the margins move up; the cursor does not move."""
        here, self.cursor = self.cursor, Cursor(0, self.margins.top if self.margins else 0)
        self.delete_lines(min(max(1, count), self.lines))
        self.cursor = here

    def scroll_down(self, count: int = 1) -> None:
        """SD: the rows between the margins move down; the cursor does not move."""
        here, self.cursor = self.cursor, Cursor(0, self.margins.top if self.margins else 0)
        self.insert_lines(min(max(1, count), self.lines))
        self.cursor = here

    def set_margins(self, top: int | None = None, bottom: int | None = None) -> None:
        """DECSTBM: rows counted from 1, 0 or None for the screen's own; homes the cursor."""
        top, bottom = max(top or 1, 1), min(bottom or self.lines, self.lines)
        if top < bottom:
            whole = (top, bottom) == (1, self.lines)
            self.margins = None if whole else Margins(top - 1, bottom - 1)
            self.cursor_position()

    def cursor_to_line(self, line: int | None = None) -> None:
        """VPA: to a row, in the same column."""
        self.cursor_position(line, self.cursor.x + 1)

    def next_line(self) -> None:
        """NEL: to the start of the next row."""
        self.carriage_return()
        self.index()

    def soft_reset(self) -> None:
        """DECSTR: margins, modes and character sets as at the start; the screen stays."""
        self.margins = None
        self.mode.difference_update({modes.IRM, modes.DECOM, modes.LNM})
        self.mode.add(modes.DECAWM)
        self.savepoints.clear()
        self.shift_in()
        self.define_charset("B", "(")

    def tab_forward(self, count: int = 1) -> None:
        """CHT: to the next tab stop, `count` times."""
        for _ in range(min(max(1, count), self.columns)):
            self.tab()

    def tab_back(self, count: int = 1) -> None:
        """CBT: to the tab stop before the cursor, `count` times."""
        count = max(1, count)
        stops = sorted(stop for stop in self.tabstops if stop < self.cursor.x)
        self.cursor.x = stops[-count] if count <= len(stops) else 0

    # -- saved state -----------------------------------------------------------------------

    def save_cursor(self) -> None:
        """DECSC: keep position and character sets; there is one place for them."""
        super().save_cursor()
        del self.savepoints[:-1]

    def restore_cursor(self) -> None:
        """DECRC: back to what was kept, as often as asked."""
        kept = copy.deepcopy(self.savepoints)
        super().restore_cursor()
        self.savepoints = kept

    def set_mode(self, *args: int, **kwargs: object) -> None:
        """SM and DECSET; columns are never changed by the program (DECCOLM)."""
        if kwargs.get("private"):
            args = self._screens(True, args)
        super().set_mode(*args, **kwargs)

    def reset_mode(self, *args: int, **kwargs: object) -> None:
        """RM and DECRST."""
        if kwargs.get("private"):
            args = self._screens(False, args)
        super().reset_mode(*args, **kwargs)

    def _screens(self, alternate: bool, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """Change screens where `wanted` asks for it; the modes that are left for pyte."""
        if alternate != self.alternate and ALTERNATE.intersection(wanted):
            self.alternate = alternate
            if alternate:
                self._first = self.buffer, copy.copy(self.cursor)
                self.buffer = self._blank()
            else:
                self.buffer, cursor = self._first
                if 1049 in wanted:
                    self.cursor = cursor
        return tuple(mode for mode in wanted if mode not in ALTERNATE and mode << 5 != modes.DECCOLM)
