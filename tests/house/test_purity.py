"""The pure rooms: nothing in them can reach the world, and the same input gives the same output for ever."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent / "trayagent"
PURE = ("model", "manifest", "signals", "identity", "judge", "alerts", "engine")
READERS = {ROOT / "manifest" / "load.py"}
FILES = [path for room in PURE for path in sorted((ROOT / room).glob("**/*.py")) if path not in READERS]

# Everything that a pure room may import from outside of trayagent.
ALLOWED = frozenset(
    {"__future__", "base64", "bisect", "collections", "dataclasses", "datetime", "difflib", "enum", "fnmatch"}
    | {"functools", "hashlib", "heapq", "itertools", "json", "math", "operator", "re", "re2", "string"}
    | {"tomllib", "types", "typing", "unicodedata", "yaml", "zoneinfo"}
)
# What reads a clock, a file, the environment or chance although its module may be imported.
READING = frozenset({"open", "input", "print", "breakpoint", "exec", "eval", "__import__"})
READING_ATTRIBUTES = frozenset(
    {"now", "utcnow", "today", "getenv", "environ", "available_timezones", "reset_tzpath"}
)


def imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(top module, line) of each import from outside of trayagent."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.module.startswith("trayagent"):
            yield node.module.split(".")[0], node.lineno


def readings(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(what, line) of each call that would read the world."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in READING - own:
            yield called.id, node.lineno
        elif (
            isinstance(called, ast.Attribute)
            and called.attr in READING_ATTRIBUTES
            and isinstance(called.value, ast.Name)
            and called.value.id in ("datetime", "date", "os", "time", "zoneinfo")
        ):
            yield f"{called.value.id}.{called.attr}", node.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_pure_module_imports_nothing_that_reads(path: Path) -> None:
    assert [found for found in imports(ast.parse(path.read_text())) if found[0] not in ALLOWED] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_pure_module_reads_no_clock_and_no_file(path: Path) -> None:
    assert list(readings(ast.parse(path.read_text()))) == []


def test_the_check_sees_what_it_must_see() -> None:
    tree = ast.parse("import os\nfrom time import time\nopen('x')\ndatetime.now()\ndate.today()\n")
    assert [name for name, _ in imports(tree)] == ["os", "time"]
    assert [name for name, _ in readings(tree)] == ["open", "datetime.now", "date.today"]
