"""Profiles as they are written in the config: what is different for projects in some folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trayagent.config.nodes import Mapping, Node, Scalar, resolved
from trayagent.config.problems import did_you_mean
from trayagent.config.quiet import QuietSpans, span_text
from trayagent.config.values import Named, Reading, Switches, Text, Value, ValueProblem, items, named, quote
from trayagent.model.settings import Profile

_SILENT = {"off", "no", "false"}
SOUNDED = ("blocked", "done", "error")


class StateSounds(Value):
    """A sound file by state, or `off` for silence."""

    form = "a mapping such as {blocked: ~/knock.ogg, done: off}, or off"

    def read(self, node: Node, reading: Reading) -> tuple[tuple[str, str], ...]:
        target = resolved(node)
        if isinstance(target, Scalar) and target.text.lower() in _SILENT:
            return tuple((state, "off") for state in SOUNDED)
        return tuple(named(node, Text("a sound file"), reading, SOUNDED, self.form).items())

    def example(self, value: tuple[tuple[str, str], ...]) -> str:
        return Named(Text(), "state").example(value)


PARTS: dict[str, Value] = {"states": Switches(), "quiet_hours": QuietSpans(), "sounds": StateSounds()}
NAMES = ("path", *PARTS)


class Profiles(Value):
    """A list of profiles: `{path: ~/play/*, states: off}`."""

    form = "a list of {path: GLOB, states: ..., quiet_hours: ..., sounds: ...}"

    def read(self, node: Node, reading: Reading) -> tuple[Profile, ...]:
        return tuple(self._profile(item, reading) for item in items(node))

    def _profile(self, node: Node, reading: Reading) -> Profile:
        target = resolved(node)
        if not isinstance(target, Mapping):
            raise ValueProblem(node, f"takes {self.form}")
        entries = reading.merger.entries(target)
        for name, (key, _) in entries.items():
            if name not in NAMES:
                near = did_you_mean(name, NAMES)
                raise ValueProblem(key, f"{name!r} is not one of {', '.join(NAMES)}{near}")
        if "path" not in entries:
            raise ValueProblem(node, "a profile needs a path, such as path: ~/work/*")
        read: dict[str, Any] = {
            name: part.read(entries[name][1], reading) for name, part in PARTS.items() if name in entries
        }
        paths = tuple(_absolute(one, reading) for one in items(entries["path"][1]))
        return Profile(paths, read.get("states"), read.get("quiet_hours"), read.get("sounds", ()))

    def example(self, value: tuple[Profile, ...]) -> str:
        return "[" + ", ".join(_written(profile) for profile in value) + "]"


def _absolute(node: Node, reading: Reading) -> str:
    """The glob with `~` as the home folder; a path ends without a slash."""
    text = Text().read(node, reading)
    path = str(Path(text).expanduser()) if text else ""
    if not path.startswith(("/", "*")):
        raise ValueProblem(node, f"{text!r} is no path; write ~/work/* or /srv/app")
    return path


def _written(profile: Profile) -> str:
    parts = [f"path: [{', '.join(quote(path) for path in profile.paths)}]"]
    if profile.states is not None:
        parts.append(f"states: {Switches().example(profile.states)}")
    if profile.quiet is not None:
        parts.append("quiet_hours: [" + ", ".join(quote(span_text(span)) for span in profile.quiet) + "]")
    if profile.sounds:
        parts.append(f"sounds: {StateSounds().example(profile.sounds)}")
    return "{" + ", ".join(parts) + "}"
