"""The languages in which manifests are written: TOML, YAML and JSON, all to the same mapping.

A text that cannot be read is one Problem, with its line where the parser tells one. Keys
that occur twice are refused in every language, since one of the two would go unheard.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from trayagent.manifest.format import LIMITS, Problem
from trayagent.manifest.reading import Report


def parse(raw: bytes, name: str, suffix: str) -> tuple[Mapping[str, Any], Report] | Problem:
    """The table that a file's bytes hold, with an empty report; or why there is none. suffix says the
    language (`.toml .yaml .yml .json`)."""
    if len(raw) > LIMITS.file_bytes:
        return Problem(name, f"larger than {LIMITS.file_bytes // 1024} KiB")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return Problem(name, "is not UTF-8", line=raw[: error.start].count(b"\n") + 1)
    if suffix not in _PARSERS:
        return Problem(name, f"is no manifest: its name must end in {', '.join(_PARSERS)}")
    try:
        data = _PARSERS[suffix](text)
    except _Broken as broken:
        return Problem(name, broken.text, line=broken.line)
    except RecursionError:
        return Problem(name, "is nested too deeply")
    if not isinstance(data, Mapping):
        return Problem(name, "must hold a table at its top")
    return data, Report(name, text)


_DEEPEST_FLOW = 100


class _Broken(Exception):
    """The text is no TOML, YAML or JSON. line: 1-based, None where the parser does not say."""

    def __init__(self, text: str, line: int | None) -> None:
        super().__init__(text)
        self.text = text
        self.line = line


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        before, sign, after = said.partition("(at line ")
        line = after.split(",")[0] if sign else ""
        raise _Broken(before.strip() or said, int(line) if line.isdigit() else None) from None


def _json(text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise _Broken(f"the key {twice!r} occurs twice", None)
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise _Broken(error.msg, error.lineno) from None


def _yaml(text: str) -> Any:
    import yaml  # 20 ms that only a YAML file should cost

    class Loader(yaml.SafeLoader):
        """Safe YAML that refuses a key which occurs twice, and what is nested absurdly deep, which
        would take it seconds to find out by itself."""

        def fetch_flow_collection_start(self, token: Any) -> None:
            if self.flow_level >= _DEEPEST_FLOW:
                raise _Broken("is nested too deeply", self.get_mark().line + 1)
            super().fetch_flow_collection_start(token)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            seen: dict[str, int] = {}
            for key, _ in node.value:
                line = key.start_mark.line + 1
                if not isinstance(key, yaml.ScalarNode):
                    raise _Broken("a key is a list or a table, not a text", line)
                if key.value in seen:
                    first = seen[key.value]
                    raise _Broken(f"the key {key.value!r} occurs twice, first in line {first}", line)
                seen[key.value] = line
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader)  # a subclass of SafeLoader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = str(getattr(error, "problem", None) or error)
        raise _Broken(said, None if mark is None else mark.line + 1) from None


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    ".toml": _toml,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".json": _json,
}
