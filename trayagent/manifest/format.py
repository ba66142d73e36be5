"""The internal form of a manifest, whatever dialect its file was written in.

A dialect (native.py, and those in dialects/) is only a translator into these
classes; the evaluator never asks where a rule came from. What the dialects disagree
about is therefore a field here: what a region is when its anchor is missing, whether
blank rows stay, which line is a border, whether literals fold case, whether they must
be whole tokens. `Region`, `Contains` and `Matches` carry those fields.

Everything is frozen and hashable; equal regions are computed once a look.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from trayagent.manifest.literals import Needs, both, either, needs_of_text
from trayagent.manifest.patterns import Pattern
from trayagent.manifest.prefilter import Prefilter
from trayagent.model.states import Kind, Reason, State

ENGINE_VERSION = 3  # the herdr/ThinkTerm format version that this engine implements wholly


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may hold. Beyond any of these the whole file is refused."""

    file_bytes: int = 256 * 1024
    rules: int = 128
    depth: int = 8
    gates: int = 512
    matchers_per_gate: int = 32
    matchers: int = 1024
    matcher_chars: int = 512
    list_entries: int = 256


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Detect:
    """How a process is recognised as this agent; identity/ owns the meaning.

    names: base names of processes (lower case). packages: `@scope/name` or `name` on npm,
    distribution or module names of Python; matched as path windows, never as loose words.
    exe_globs: shell-like patterns over the resolved executable, or the script that an
    interpreter runs; matched at its end unless they begin with `/`. require_exe: base names
    or globs of executables that corroborate a short or common name; empty means that the
    name is proof enough. entry_points: path windows below a package that are the agent
    (`dist/cli`); other scripts of the package are nobody. versioned: the binary may be named
    like its version, below a folder named like the agent (`claude/versions/2.1.235`).
    headless: argv patterns of one-shot runs; each is a run of arguments that must occur in
    this order, side by side; one that does not begin with `-` must begin with the subcommand.
    """

    names: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    exe_globs: tuple[str, ...] = ()
    require_exe: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    versioned: bool = False
    headless: tuple[tuple[str, ...], ...] = ()


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


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. state None: keep whatever state the pane has.

    firm_idle, blocker: see model.evidence.Verdict. strong: where it is not (jackin's weak rules), the
    rule names a state that may not change the pane's. turn_ended: the dialect said `done`, which is
    idle and the end of a turn.
    """

    id: str
    state: State | None
    region: Region
    gate: Gate
    priority: int = 0
    firm_idle: bool = False
    blocker: bool = False
    visible_working: bool = False
    strong: bool = True
    turn_ended: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """Where named groups are taken from: the first match of the pattern in the region."""

    region: Region
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is read off the screen once a rule has won.

    kind: of a blocked state. reason: turns idle into error. interrupted: the user ended
    the turn himself. message: template lines with `{group}` names; a line none of whose
    groups was found is dropped. options: a line pattern with the groups `label` and, if
    the answer has a key of its own, `key`; read in `options_region`.
    """

    rule: str
    kind: Kind | None = None
    reason: Reason | None = None
    interrupted: bool = False
    message: tuple[str, ...] = ()
    extractions: tuple[Extraction, ...] = ()
    options: Pattern | None = None
    options_region: Region | None = None


@dataclass(frozen=True, slots=True)
class HookRule:
    """What one hook event of the agent says. event: its name; where: fields of the event
    that must have one of these values. state None: it says nothing, or with `clear` it
    ends what was said. only_if: the claim counts only while the pane is in one of these states."""

    event: str
    state: State | None = None
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    kind: Kind | None = None
    reason: Reason | None = None
    only_if: tuple[State, ...] = ()
    clear: bool = False
    message_field: str = ""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The `[hooks]` table. complete: the events cover every change, so the screen may not lower them."""

    complete: bool = False
    fields: tuple[str, ...] = ()
    rules: tuple[HookRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """One agent. rules: in the file's order; ranked: in the order in which they are asked.
    prefilter: which of these a screen may match. fallback: the state when no rule matches, None for
    no opinion.

    dialect: `native` or the foreign format's name. origin: path of the file.
    family: the id of the agent whose interface this one shares. answers: option label
    or role to the key that gives it. rank: of two that claim one process the higher has it.
    """

    id: str
    rules: tuple[Rule, ...]
    name: str = ""
    version: str = ""
    aliases: tuple[str, ...] = ()
    family: str = ""
    detect: Detect | None = None
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: MappingProxyType({}))
    hooks: Hooks | None = None
    answers: tuple[tuple[str, str], ...] = ()
    fallback: State | None = None
    dialect: str = "native"
    origin: str = ""
    rank: int = 0
    ranked: tuple[Rule, ...] = field(init=False, repr=False, compare=False)
    prefilter: Prefilter = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Highest priority first; among equals the earlier in the file.
        ranked = tuple(sorted(self.rules, key=lambda rule: -rule.priority))
        needs = [rule.gate.needs if rule.region.source is Source.SCREEN else () for rule in ranked]
        object.__setattr__(self, "ranked", ranked)
        object.__setattr__(self, "prefilter", Prefilter(needs))

    @property
    def needs_joined(self) -> bool:
        """Whether its rules read wrapped rows joined, which a look must ask for."""
        return any(Source.JOINED in rule.region.sources for rule in self.rules)


@dataclass(frozen=True, slots=True)
class Problem:
    """One oddity of one file. line: 1-based, None where it cannot be told. fatal: the file was refused."""

    file: str
    text: str
    rule: str = ""
    key: str = ""
    line: int | None = None
    fatal: bool = True

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        within = " ".join(part for part in (f"rule {self.rule!r}" if self.rule else "", self.key) if part)
        return f"{place}: {within}: {self.text}" if within else f"{place}: {self.text}"
