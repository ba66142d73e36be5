"""Sinks as they are written in the config: by name, each with the program that is started."""

from __future__ import annotations

from typing import Any

from trayagent.config.nodes import Mapping, Node, Sequence, resolved
from trayagent.config.problems import did_you_mean
from trayagent.config.values import Choice, Duration, Reading, States, Text, Value, ValueProblem, items, quote
from trayagent.model.settings import SinkSettings

PARTS: dict[str, Value] = {
    "states": States(),
    "when": Choice(("always", "away")),
    "after": Duration(0, 86400),
    "text": Choice(("full", "short", "none")),
    "timeout": Duration(0.1, 600),
}
NAMES = ("command", *PARTS)


class Command(Value):
    """A program and its arguments, a list: no shell splits it."""

    form = "a list such as [notify-phone, --quiet]"

    def read(self, node: Node, reading: Reading) -> tuple[str, ...]:
        if not isinstance(resolved(node), Sequence):
            raise ValueProblem(node, f"takes {self.form}")
        words = tuple(Text().read(item, reading) for item in items(node))
        if not words or not words[0]:
            raise ValueProblem(node, f"names no program; write {self.form}")
        return words

    def example(self, value: tuple[str, ...]) -> str:
        return "[" + ", ".join(quote(word) for word in value) + "]"


class Sinks(Value):
    """A mapping from names to sinks."""

    form = "a mapping such as {phone: {command: [notify-phone], when: away, after: 10 min}}"
    open = True

    def read(self, node: Node, reading: Reading) -> tuple[SinkSettings, ...]:
        target = resolved(node)
        if not isinstance(target, Mapping):
            if items(node):
                raise ValueProblem(node, f"takes {self.form}")
            return ()
        entries = reading.merger.entries(target).items()
        return tuple(self._sink(str(name), value, reading) for name, (_, value) in entries)

    def _sink(self, name: str, node: Node, reading: Reading) -> SinkSettings:
        target = resolved(node)
        if not isinstance(target, Mapping):
            raise ValueProblem(node, f"takes {self.form}")
        entries = reading.merger.entries(target)
        for part, (key, _) in entries.items():
            if part not in NAMES:
                raise ValueProblem(
                    key, f"{part!r} is not one of {', '.join(NAMES)}{did_you_mean(part, NAMES)}"
                )
        if "command" not in entries:
            raise ValueProblem(node, f"the sink {name} has no command, such as {Command.form}")
        read: dict[str, Any] = {
            part: kind.read(entries[part][1], reading) for part, kind in PARTS.items() if part in entries
        }
        return SinkSettings(name, Command().read(entries["command"][1], reading), **read)

    def example(self, value: tuple[SinkSettings, ...]) -> str:
        return "{" + ", ".join(_written(sink) for sink in value) + "}"


def _written(sink: SinkSettings) -> str:
    parts = [f"command: {Command().example(sink.command)}"]
    parts += [f"{part}: {kind.example(getattr(sink, part))}" for part, kind in PARTS.items()]
    return f"{quote(sink.name)}: {{{', '.join(parts)}}}"
