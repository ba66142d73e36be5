"""A config text read by the schema: settings, or the problems with their places.

Any error refuses the whole text, so that no half of a file is ever in force; unknown keys and
empty values are warnings, and the defaults stand in for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trayagent.config import schema
from trayagent.config.nodes import Mapping, Merger, Node, Scalar, YamlProblem, compose, resolved
from trayagent.config.problems import Problem, did_you_mean
from trayagent.config.values import Reading, Value, ValueProblem
from trayagent.model.settings import Settings


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text says. settings: None where it has an error. problems: in the file's order."""

    settings: Settings | None
    problems: tuple[Problem, ...] = ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems for which the text cannot be used."""
        return tuple(problem for problem in self.problems if problem.error)


@dataclass(slots=True)
class _Reader:
    settings: Settings = field(default_factory=Settings)
    problems: list[Problem] = field(default_factory=list)
    merger: Merger = field(default_factory=Merger)

    def section(self, path: str, node: Node) -> None:
        """Read a section: a mapping, nothing, or its short form."""
        target = resolved(node)
        if isinstance(target, Scalar) and target.empty:
            return
        if not isinstance(target, Mapping):
            self._short(path, node)
            return
        for name, (key, value) in self.merger.entries(target).items():
            below = f"{path}.{name}" if path else name
            if below in schema.GROUP_BY_PATH:
                self.section(below, value)
            elif below in schema.BY_PATH:
                known = schema.BY_PATH[below]
                self._value(below, known.type, known.target, value)
            else:
                self._warn(key, below, f"is not known and has no effect{_nearest(path, name)}", "unknown")

    def _short(self, path: str, node: Node) -> None:
        group = schema.GROUP_BY_PATH.get(path)
        if group is not None and group.short is not None:
            self._value(path, *group.short, node)
            return
        names = ", ".join(schema.children(path))
        self._error(node, path, f"must be a mapping with {names}")

    def _value(self, path: str, type: Value, attribute: str, node: Node) -> None:
        target = resolved(node)
        if isinstance(target, Scalar) and target.empty and not isinstance(self._default(attribute), str):
            default = type.example(self._default(attribute))
            self._warn(node, path, f"has no value; the default ({default}) is used", "empty")
            return
        reading = Reading(self.merger, [])
        try:
            value = type.read(node, reading)
        except ValueProblem as problem:
            self._error(problem.node, path, problem.text)
            return
        self.settings = schema.put(self.settings, attribute, value)
        for at, text in reading.warnings:
            self._warn(at, path, text)

    def _default(self, attribute: str) -> object:
        return schema.get(Settings(), attribute)

    def _error(self, node: Node, key: str, text: str) -> None:
        self.problems.append(Problem(text, node.span.line, node.span.column, key))

    def _warn(self, node: Node, key: str, text: str, kind: str = "") -> None:
        self.problems.append(Problem(text, node.span.line, node.span.column, key, False, kind))


def _nearest(path: str, name: str) -> str:
    """The sibling that was meant, or the same word elsewhere."""
    siblings = schema.children(path)
    near = did_you_mean(name, siblings)
    if near:
        return near
    known = (*schema.BY_PATH, *schema.GROUP_BY_PATH)
    elsewhere = [other for other in known if other.rpartition(".")[2] == name]
    if not elsewhere:
        return did_you_mean(f"{path}.{name}" if path else name, known) or f"; known are {', '.join(siblings)}"
    return f" (did you mean {elsewhere[0]}?)"


def parse(text: str) -> Parsed:
    """Read a config text; never raises."""
    reader = _Reader()
    try:
        root, twice = compose(text)
        reader.problems += twice
        if root is not None:
            reader.section("", root)
    except YamlProblem as broken:
        reader.problems.append(broken.problem)
    problems = tuple(sorted(reader.problems, key=lambda problem: (problem.line, problem.column)))
    usable = not any(problem.error for problem in problems)
    return Parsed(reader.settings if usable else None, problems)
