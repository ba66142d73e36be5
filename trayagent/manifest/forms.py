"""What a rule reads and what it asks of it: regions, and gates of matchers.

The dialects disagree on what a region is when its anchor is missing, whether blank rows stay,
which line is a border, whether literals fold case or must be whole tokens. Each of
these is a field here. Everything is frozen and hashable; equal regions are computed once a look.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from trayagent.manifest.literals import Needs, both, either, needs_of_text
from trayagent.manifest.patterns import Pattern


class Missing(StrEnum):
    """What a region is when the line it hangs on is not on the screen."""

    ALL = "all"
    EMPTY = "empty"
    NO_MATCH = "no_match"  # the rule cannot match at all, not even by a `not`


class Border(StrEnum):
    """Which line counts as the edge of a prompt box."""

    RULE = "rule"  # herdr: `─` alone, or `───` and anything; a corner is no rule
    BAR = "bar"  # TUIOS: corners dropped, then `───` or `━━━`
    TEN = "ten"  # jackin: ten of `─-═=` and nothing else
    CORNERS = "corners"  # jackin: from a `╭` row to the next `╰` row


class Source(StrEnum):
    """Which text of a look a region is cut from."""

    SCREEN = "screen"
    JOINED = "joined"
    TITLE = "title"
    PROGRESS = "progress"  # as the program wrote it: `4;1;40`, `4;3;`
    PERCENT = "percent"  # TUIOS: the percentage in the states that have one, `4;1;40`, `4;3`
    CODE = "code"  # jackin: the state alone, `4;1`


@dataclass(frozen=True, slots=True)
class Region:
    """A contiguous slice of the screen, as rows. name: a slice of regions.py's table.

    count: the N of slices that take one. blanks: blank rows stay inside the slice.
    window, tail: rows above the last `window` ones, and above the last `tail` non-blank ones, are
    cut away first (0: nothing is). trimmed: markers may be indented. bare: rows lose `│` and blanks
    at their ends. parts: the regions that a rule reads beside this one, by `Within`. label: how the
    file wrote it, for explain.
    """

    name: str
    count: int = 0
    missing: Missing = Missing.ALL
    border: Border = Border.RULE
    blanks: bool = True
    source: Source = Source.SCREEN
    window: int = 0
    tail: int = 0
    trimmed: bool = False
    bare: bool = False
    parts: tuple[Region, ...] = ()
    label: str = field(default="", compare=False)

    @property
    def sources(self) -> frozenset[Source]:
        """Every text that this region and its parts are cut from."""
        return frozenset({self.source}).union(*(part.sources for part in self.parts))

    def __str__(self) -> str:
        return self.label or (f"{self.name}({self.count})" if self.count else self.name)


# -- gates: each knows the literals without which it cannot hold (literals.py) --


@dataclass(frozen=True, slots=True)
class Contains:
    """The text occurs in the region. text: already lower-cased where `fold` is set.
    ascii: only ASCII letters fold. whole_token: no token character (letter, digit, `_ - .`) touches its
    ends. wrapped: may also be found across a row's end, which then reads as one space."""

    text: str
    fold: bool = True
    whole_token: bool = False
    wrapped: bool = True
    ascii: bool = False
    needle: bytes = field(init=False, repr=False, compare=False, default=b"")
    needs: Needs = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "needle", self.text.encode())
        object.__setattr__(self, "needs", needs_of_text(self.text.lower()))


@dataclass(frozen=True, slots=True)
class Matches:
    """The pattern is found in the region's text, or (by_line, and compiled so) within one of its lines.
    lowered: the dialect runs its patterns on text whose ASCII letters are lower-cased."""

    pattern: Pattern
    by_line: bool = False
    lowered: bool = False

    @property
    def needs(self) -> Needs:
        """What lower-cased text must hold."""
        return self.pattern.needs


@dataclass(frozen=True, slots=True)
class All:
    """Every member holds; an empty list holds."""

    members: tuple[Gate, ...]
    needs: Needs = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "needs", both([member.needs for member in self.members]))


@dataclass(frozen=True, slots=True)
class Any:
    """At least one member holds; an empty list does not."""

    members: tuple[Gate, ...]
    needs: Needs = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "needs", either([member.needs for member in self.members]))


@dataclass(frozen=True, slots=True)
class Not:
    """The member does not hold."""

    member: Gate

    @property
    def needs(self) -> Needs:
        """Nothing: it holds on an empty screen."""
        return ()


@dataclass(frozen=True, slots=True)
class Within:
    """The member holds in another region of the rule: number `part` of its region's parts."""

    part: int
    member: Gate

    @property
    def needs(self) -> Needs:
        """Nothing of the rule's own region."""
        return ()


Gate = Contains | Matches | All | Any | Not | Within
