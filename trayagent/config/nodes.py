"""YAML text to a tree that keeps every scalar as text and every place where it stands.

PyYAML's parser gives events with marks; composing them here rather than in PyYAML keeps what
editing needs (where an alias stands, not only what it stands for) and bounds what a file may
cost: its length, depth, number of nodes, and what merges may add up to. `off`, `22:00` and
`007` stay what was typed; whoever wants a value asks the schema.

A tree has no cycles: an alias may only name a node that is complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml
from yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from trayagent.config.problems import Problem

MAX_CHARACTERS = 64 * 1024
MAX_DEPTH = 24
MAX_NODES = 5000
MAX_MERGED = 1000
_NULL = {"", "~", "null", "Null", "NULL"}


@dataclass(frozen=True, slots=True)
class Span:
    """Where a node stands: character offsets, and line and column of its start from 1."""

    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value as it was typed (quotes and escapes undone). plain: it had no quotes."""

    text: str
    span: Span
    plain: bool = True
    block: bool = False

    @property
    def empty(self) -> bool:
        """Nothing was written, or YAML's null."""
        return self.plain and self.text in _NULL


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list. flow: written in brackets."""

    items: tuple[Node, ...]
    span: Span
    flow: bool = False


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in their order, merge keys (`<<`) among them as they stand."""

    entries: tuple[tuple[Scalar, Node], ...]
    span: Span
    flow: bool = False

    def own(self, name: str) -> tuple[Scalar, Node] | None:
        """The entry that this mapping itself writes for the key."""
        return next((entry for entry in self.entries if entry[0].text == name), None)


@dataclass(frozen=True, slots=True)
class Alias:
    """`*name`, and what it stands for."""

    name: str
    target: Scalar | Sequence | Mapping
    span: Span


Node = Scalar | Sequence | Mapping | Alias


def resolved(node: Node) -> Scalar | Sequence | Mapping:
    """What a node stands for."""
    return node.target if isinstance(node, Alias) else node


class YamlProblem(Exception):
    """The text is no YAML, or more of it than allowed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.text)
        self.problem = problem


@dataclass(slots=True)
class _Composer:
    events: Iterator[Event]
    anchors: dict[str, Scalar | Sequence | Mapping] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    nodes: int = 0

    def node(self, event: Event, depth: int) -> Node:
        self.nodes += 1
        span = _span(event)
        if depth > MAX_DEPTH:
            raise YamlProblem(_at(span, f"more than {MAX_DEPTH} levels deep"))
        if self.nodes > MAX_NODES:
            raise YamlProblem(_at(span, f"more than {MAX_NODES} values"))
        if isinstance(event, AliasEvent):
            return self._alias(event, span)
        anchor = getattr(event, "anchor", None)
        if anchor:
            self.opened.add(anchor)
        made = self._made(event, span, depth)
        if anchor:
            self.opened.discard(anchor)
            self.anchors[anchor] = made
        return made

    def _alias(self, event: AliasEvent, span: Span) -> Alias:
        name = str(event.anchor)
        if name in self.opened:
            raise YamlProblem(_at(span, f"*{name} stands inside of what it names"))
        if name not in self.anchors:
            known = ", ".join(f"&{anchor}" for anchor in self.anchors) or "none"
            raise YamlProblem(_at(span, f"*{name} names nothing; anchors before it: {known}"))
        return Alias(name, self.anchors[name], span)

    def _made(self, event: Event, span: Span, depth: int) -> Scalar | Sequence | Mapping:
        if isinstance(event, ScalarEvent):
            return Scalar(str(event.value), span, event.style is None, event.style in ("|", ">"))
        if isinstance(event, SequenceStartEvent):
            items = []
            while not isinstance(child := next(self.events), SequenceEndEvent):
                items.append(self.node(child, depth + 1))
            return Sequence(tuple(items), _until(span, child), bool(event.flow_style))
        assert isinstance(event, MappingStartEvent)
        return self._mapping(event, span, depth)

    def _mapping(self, event: MappingStartEvent, span: Span, depth: int) -> Mapping:
        entries: list[tuple[Scalar, Node]] = []
        lines: dict[str, int] = {}
        while not isinstance(child := next(self.events), MappingEndEvent):
            key, value = self.node(child, depth + 1), self.node(next(self.events), depth + 1)
            name = resolved(key)
            if not isinstance(name, Scalar):
                raise YamlProblem(_at(key.span, "a key must be a single word, not a list or a mapping"))
            if name.text in lines:
                text = f"is there twice: in line {lines[name.text]} and in line {key.span.line}; remove one"
                self.problems.append(_at(key.span, text, name.text))
                continue
            lines[name.text] = key.span.line
            entries.append((Scalar(name.text, key.span, name.plain), value))
        return Mapping(tuple(entries), _until(span, child), bool(event.flow_style))


def compose(text: str) -> tuple[Node | None, list[Problem]]:
    """The tree of the text (None where it says nothing), and keys that are there twice.

    Raises YamlProblem where there is no tree."""
    if len(text) > MAX_CHARACTERS:
        raise YamlProblem(Problem(f"longer than {MAX_CHARACTERS // 1024} KiB, which no config needs"))
    try:
        events = yaml.parse(text, Loader=yaml.SafeLoader)
        composer = _Composer(events)
        next(events), (event := next(events))  # the stream's start; then a document, or the end
        if not isinstance(event, yaml.DocumentStartEvent):
            return None, []
        root = composer.node(next(events), 0)
        next(events)
        more = next(events)
        if isinstance(more, yaml.DocumentStartEvent):
            raise YamlProblem(_at(_span(more), "a second document begins here (---); there can be only one"))
        return root, composer.problems
    except yaml.MarkedYAMLError as error:
        raise YamlProblem(_syntax(error)) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - (text.rfind("\n", 0, error.position) + 1) + 1
        raise YamlProblem(
            Problem(f"the character U+{ord(text[error.position]):04X} is not allowed", line, column)
        ) from error


def _syntax(error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    text = str(error.problem or error.context or "cannot be read")
    if "'\\t'" in text:
        text = "a tab: YAML is indented with spaces"
    if error.context and error.context_mark and error.context_mark is not mark:
        text += f" ({error.context}, from line {error.context_mark.line + 1} on)"
    return Problem(text, mark.line + 1, mark.column + 1) if mark else Problem(text)


def _span(event: Event) -> Span:
    start, end = event.start_mark, event.end_mark
    assert start is not None
    assert end is not None
    return Span(start.index, end.index, start.line + 1, start.column + 1)


def _until(span: Span, end: Event) -> Span:
    return Span(span.start, _span(end).end, span.line, span.column)


def _at(span: Span, text: str, key: str = "") -> Problem:
    return Problem(text, span.line, span.column, key)


class Merger:
    """Mappings with merge keys (yaml.org/type/merge) carried out: own keys win, then the first merged."""

    def __init__(self) -> None:
        self._known: dict[int, dict[str, tuple[Scalar, Node]]] = {}

    def entries(self, mapping: Mapping) -> dict[str, tuple[Scalar, Node]]:
        """Key to (key as it stands, value). Raises YamlProblem for a merge of something else."""
        known = self._known.get(id(mapping))
        if known is not None:
            return known
        found = {key.text: (key, value) for key, value in mapping.entries if not _is_merge(key)}
        for key, value in mapping.entries:
            if _is_merge(key):
                for source in self._sources(key, value):
                    for name, entry in self.entries(source).items():
                        found.setdefault(name, entry)
        if len(found) > MAX_MERGED:
            raise YamlProblem(_at(mapping.span, f"more than {MAX_MERGED} keys"))
        self._known[id(mapping)] = found
        return found

    def _sources(self, key: Scalar, value: Node) -> list[Mapping]:
        target = resolved(value)
        wanted = target.items if isinstance(target, Sequence) else (target,)
        sources = []
        for item in wanted:
            source = resolved(item)
            if not isinstance(source, Mapping):
                raise YamlProblem(_at(key.span, "can only merge mappings (*name, or a list of them)", "<<"))
            sources.append(source)
        return sources


def _is_merge(key: Scalar) -> bool:
    return key.plain and key.text == "<<"
