"""From a look to what the rules may read: whose words a title is, and what really changed.

A server shows a title even where the program never set one (the host's or the
command's name, or what the last program left behind). The rules see a title only when it
is the agent's own: it changed since the agent's process was first seen, or, where the
agent was there before us, it is none of the names that a terminal shows by itself.
"""

from __future__ import annotations

from trayagent.model.panes import Screen

# What moves without meaning anything: spinner frames, elapsed times, token counts. Ranges are
# the Unicode blocks that terminal spinners draw from.
_SPINNING = (
    (0x2800, 0x28FF),  # braille
    (0x25A0, 0x25FF),  # geometric shapes: circles, squares, half circles
    (0x2580, 0x259F),  # blocks
    (0x2700, 0x27BF),  # dingbats: stars
    (0x2B00, 0x2BFF),  # squares of progress bars
    (0x1F300, 0x1F6FF),  # moons, clocks
)
_PLAIN_SPINNERS = frozenset("|/-\\*·•.…✻✽✶✳✢◐◓◑◒")


def own_title(title: str, before: str | None, names: frozenset[str]) -> bool:
    """Whether the program in front has set this title itself.

    before: the title that stood when its process was first seen, None if nobody saw it
    start. names: host name and command names, lower case.
    """
    if not title:
        return False
    if before is not None:
        return title != before
    return title.strip().lower() not in names


def spinners_only(old: Screen | None, new: Screen) -> bool:
    """Whether two screens differ in nothing but spinners, timers and blinking."""
    if old is None:
        return False
    if old.text == new.text:
        return True
    before, after = old.text.split("\n"), new.text.split("\n")
    if len(before) != len(after):
        return False
    return all(a == b or a.translate(_MASK) == b.translate(_MASK) for a, b in zip(before, after, strict=True))


class _Mask(dict[int, int | None]):
    """For str.translate: what moves is dropped. Each character is judged once, when it first appears."""

    def __missing__(self, code: int) -> int | None:
        char = chr(code)
        dropped = char.isdigit() or char.isspace() or _spins(char)
        self[code] = None if dropped else code
        return self[code]


_MASK = _Mask()


def _spins(char: str) -> bool:
    return char in _PLAIN_SPINNERS or any(low <= ord(char) <= high for low, high in _SPINNING)
