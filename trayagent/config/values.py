"""How a value is written, and what is accepted for it: one class a type.

A type reads a node into the value that model/settings.py wants, or raises ValueProblem at the
node that is wrong. `example` writes a value as a file would; `form` says in a few words what
may be written.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from trayagent.config.durations import parse_duration
from trayagent.config.nodes import Mapping, Merger, Node, Scalar, Sequence, resolved
from trayagent.config.problems import did_you_mean
from trayagent.model.settings import StateSwitches
from trayagent.model.states import State

_ON, _OFF = {"on", "yes", "true"}, {"off", "no", "false"}
_NUMBER = re.compile(r"[+-]?(\d{1,12}(\.\d{0,9})?|\.\d{1,9})")
SWITCHED = tuple(State(name) for name in ("blocked", "error", "done"))


class ValueProblem(Exception):
    """The node's value is not what the key takes."""

    def __init__(self, node: Node, text: str) -> None:
        super().__init__(text)
        self.node, self.text = node, text


@dataclass(slots=True)
class Reading:
    """What reading needs beside the node: merges, and a place for warnings."""

    merger: Merger
    warnings: list[tuple[Node, str]]


class Value(ABC):
    """One type of value. open: it is a mapping whose keys the user chooses."""

    open = False

    @property
    @abstractmethod
    def form(self) -> str:
        """What may be written, in a few words."""

    @abstractmethod
    def read(self, node: Node, reading: Reading) -> Any:
        """The node's value. Raises ValueProblem."""

    @abstractmethod
    def example(self, value: Any) -> str:
        """The value as one line of YAML."""


def scalar(node: Node, form: str) -> Scalar:
    """The node as a single value. Raises ValueProblem."""
    target = resolved(node)
    if isinstance(target, Scalar):
        return target
    what = "a list" if isinstance(target, Sequence) else "a mapping"
    raise ValueProblem(node, f"is {what}, but takes {form}")


def items(node: Node) -> tuple[Node, ...]:
    """The list's items; a single value is a list of one, nothing is an empty one."""
    target = resolved(node)
    if isinstance(target, Sequence):
        return target.items
    if isinstance(target, Scalar) and (target.empty or target.text.lower() in {"none", "[]"}):
        return ()
    return (node,)


def quote(text: str) -> str:
    """The text as a YAML scalar that reads back as itself, also inside of brackets."""
    if re.fullmatch(r"[\w./~][\w./~+@-]*( [\w./~+@-]+)*", text) and text not in {"~", "null"}:
        return text
    if any(ord(ch) < 32 or ord(ch) == 127 for ch in text):
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(ch if ord(ch) >= 32 else f"\\x{ord(ch):02x}" for ch in escaped) + '"'
    return "'" + text.replace("'", "''") + "'"


def _listed(texts: Iterable[str]) -> str:
    return f"[{', '.join(texts)}]"


class Flag(Value):
    """On or off."""

    form = "on or off"

    def read(self, node: Node, reading: Reading) -> bool:
        text = scalar(node, self.form).text.lower()
        if text in _ON | _OFF:
            return text in _ON
        raise ValueProblem(node, f"{text!r} is neither on nor off")

    def example(self, value: bool) -> str:
        return "on" if value else "off"


@dataclass(frozen=True)
class Duration(Value):
    """Seconds; with a unit anything from ms to days. `off` is 0 where that is allowed."""

    low: float = 0.0
    high: float = 7 * 86400.0
    form = "a duration such as 1.5, 2 s, 5 min, 1 h"

    def read(self, node: Node, reading: Reading) -> float:
        text = scalar(node, self.form).text.strip()
        if text.lower() in _OFF and self.low == 0:
            return 0.0
        seconds = parse_duration(text)
        if seconds is None:
            raise ValueProblem(node, f"{text!r} is no duration; write 1.5, 2 s, 5 min or 1 h")
        if not self.low <= seconds <= self.high:
            raise ValueProblem(
                node, f"{text!r} is out of range: {self.example(self.low)} to {self.example(self.high)}"
            )
        return seconds

    def example(self, value: float) -> str:
        for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
            if value >= size and value % size == 0 and not (unit == "d" and value < 2 * size):
                return f"{value / size:g} {unit}"
        return f"{value:g} s"


@dataclass(frozen=True)
class Number(Value):
    """A number; a share may be written in percent."""

    low: float
    high: float
    whole: bool = False

    @property
    def form(self) -> str:
        return f"a {'whole ' if self.whole else ''}number from {self.low:g} to {self._high}"

    @property
    def _high(self) -> str:
        return str(int(self.high)) if self.whole else f"{self.high:g}"

    def read(self, node: Node, reading: Reading) -> float | int:
        text = scalar(node, self.form).text.strip()
        percent = text.endswith("%") and self.high == 1
        plain = text.rstrip("% ").replace("_", "") if percent or self.whole else text
        if not _NUMBER.fullmatch(plain) or (self.whole and "." in plain):
            raise ValueProblem(node, f"{text!r} is not {self.form}")
        value = float(plain) / (100 if percent else 1)
        if not self.low <= value <= self.high:
            raise ValueProblem(node, f"{text} is out of range: {self.low:g} to {self._high}")
        return int(plain) if self.whole else value

    def example(self, value: float | int) -> str:
        return str(value) if self.whole else f"{value:g}"


@dataclass(frozen=True)
class Choice(Value):
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def form(self) -> str:
        return f"one of {', '.join(self.words)}"

    def read(self, node: Node, reading: Reading) -> str:
        text = scalar(node, self.form).text.lower()
        if text in self.words:
            return text
        if text in _OFF and "off" in self.words:
            return "off"
        raise ValueProblem(node, f"{text!r} is not {self.form}{did_you_mean(text, self.words)}")

    def example(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class Text(Value):
    """Any text."""

    form: str = "a text"

    def read(self, node: Node, reading: Reading) -> str:
        found = scalar(node, self.form)
        return "" if found.empty else found.text

    def example(self, value: str) -> str:
        return quote(value)


class Zone(Value):
    """A time zone by its IANA name; empty for the system's own."""

    form = "a time zone such as Europe/Berlin, or '' for the system's own"

    def read(self, node: Node, reading: Reading) -> str:
        import zoneinfo

        found = scalar(node, self.form)
        if found.empty or not found.text:
            return ""
        try:
            return zoneinfo.ZoneInfo(found.text).key
        except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:
            near = did_you_mean(found.text, zoneinfo.available_timezones())
            raise ValueProblem(node, f"{found.text!r} is no time zone{near}") from error

    def example(self, value: str) -> str:
        return quote(value)


@dataclass(frozen=True)
class Texts(Value):
    """A list of texts, or one; with `words`, of these words only."""

    words: tuple[str, ...] = ()

    @property
    def form(self) -> str:
        return f"a list of {', '.join(self.words)}" if self.words else "a list of texts"

    def read(self, node: Node, reading: Reading) -> tuple[str, ...]:
        one: Value = Choice(self.words) if self.words else Text()
        return tuple(dict.fromkeys(one.read(item, reading) for item in items(node)))

    def example(self, value: tuple[str, ...]) -> str:
        return _listed(quote(text) for text in value)


class States(Value):
    """A list of states, or one, `all` or `none`."""

    form = f"a list of {', '.join(SWITCHED)}"

    def read(self, node: Node, reading: Reading) -> frozenset[State]:
        target = resolved(node)
        if isinstance(target, Scalar) and target.text.lower() == "all":
            return frozenset(SWITCHED)
        return frozenset(State(Choice(SWITCHED).read(item, reading)) for item in items(node))

    def example(self, value: frozenset[State]) -> str:
        return _listed(state.value for state in SWITCHED if state in value)


class Switches(Value):
    """Which states are told: a list of them, on or off for all, or a mapping of on and off."""

    form = f"on, off, a list of {', '.join(SWITCHED)}, or a mapping such as {{done: off}}"

    def read(self, node: Node, reading: Reading) -> StateSwitches:
        target = resolved(node)
        if isinstance(target, Mapping):
            return StateSwitches(**named(node, Flag(), reading, SWITCHED))
        if isinstance(target, Scalar) and target.text.lower() in _ON | _OFF:
            on = frozenset(SWITCHED if target.text.lower() in _ON else ())
        else:
            on = States().read(node, reading)
        return StateSwitches(**{state.value: state in on for state in SWITCHED})

    def example(self, value: StateSwitches) -> str:
        return States().example(frozenset(state for state in SWITCHED if value.on(state)))


@dataclass(frozen=True)
class Named(Value):
    """A mapping from names of the user's choice (or of `names`) to values of one type."""

    of: Value
    what: str
    names: tuple[str, ...] = ()
    open = True

    @property
    def form(self) -> str:
        return f"a mapping: {self.what} to {self.of.form}"

    def read(self, node: Node, reading: Reading) -> tuple[tuple[str, Any], ...]:
        return tuple(named(node, self.of, reading, self.names, self.form).items())

    def example(self, value: tuple[tuple[str, Any], ...]) -> str:
        return "{" + ", ".join(f"{quote(name)}: {self.of.example(part)}" for name, part in value) + "}"


def named(
    node: Node, of: Value, reading: Reading, names: Iterable[str] = (), form: str = "a mapping"
) -> dict[str, Any]:
    """The values of a mapping by name; with `names`, other names are wrong. Raises ValueProblem."""
    target, known = resolved(node), tuple(names)
    if isinstance(target, Scalar) and target.empty:
        return {}
    if not isinstance(target, Mapping):
        raise ValueProblem(node, f"takes {form}")
    found = {}
    for name, (key, value) in reading.merger.entries(target).items():
        if known and name not in known:
            raise ValueProblem(key, f"{name!r} is not one of {', '.join(known)}{did_you_mean(name, known)}")
        found[str(name)] = of.read(value, reading)
    return found
