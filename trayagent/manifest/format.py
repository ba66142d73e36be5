"""The internal form of a manifest, whatever dialect its file was written in.

A dialect (native.py, and those in dialects/) is only a translator into these
classes, and those of forms.py, which stand here too; the evaluator never asks where a
rule came from. What the dialects disagree about is therefore a field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from trayagent.manifest.forms import All as All
from trayagent.manifest.forms import Any as Any
from trayagent.manifest.forms import Border as Border
from trayagent.manifest.forms import Contains as Contains
from trayagent.manifest.forms import Gate as Gate
from trayagent.manifest.forms import Matches as Matches
from trayagent.manifest.forms import Missing as Missing
from trayagent.manifest.forms import Not as Not
from trayagent.manifest.forms import Region as Region
from trayagent.manifest.forms import Source as Source
from trayagent.manifest.forms import Within as Within
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
    prefilter: which of these a screen may match. needs_joined: they read wrapped rows joined, which a
    look must ask for. fallback: the state when no rule matches, None for
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
    needs_joined: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Highest priority first; among equals the earlier in the file.
        ranked = tuple(sorted(self.rules, key=lambda rule: -rule.priority))
        needs = [rule.gate.needs if rule.region.source is Source.SCREEN else () for rule in ranked]
        object.__setattr__(self, "ranked", ranked)
        object.__setattr__(self, "prefilter", Prefilter(needs))
        joined = any(Source.JOINED in rule.region.sources for rule in ranked)
        object.__setattr__(self, "needs_joined", joined)


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
