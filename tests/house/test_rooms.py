"""Each room has its place in the import contracts, so that a new one cannot be forgotten."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONTRACTS = CONFIG["tool"]["importlinter"]["contracts"]
ROOMS = {path.parent.name for path in (ROOT / "trayagent").glob("*/__init__.py")}
FOR_ALL = {"model"}  # the vocabulary: anybody may import it


def test_every_room_says_who_may_import_it() -> None:
    protected = {module for contract in CONTRACTS for module in contract.get("protected_modules", ())}
    assert {room for room in ROOMS - FOR_ALL if f"trayagent.{room}" not in protected} == set()


def test_every_pure_room_is_held_to_it_by_linter_and_type_checker() -> None:
    forbidden = next(contract for contract in CONTRACTS if contract["type"] == "forbidden")
    pure = {"model", "manifest", "signals", "identity", "judge", "alerts", "engine"} & ROOMS
    assert {f"trayagent.{room}" for room in pure} <= set(forbidden["source_modules"])
    assert {f"trayagent.{room}" for room in pure} <= set(CONFIG["tool"]["mypy"]["packages"])


def test_the_vocabulary_imports_no_other_room() -> None:
    for path in (ROOT / "trayagent" / "model").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                assert not node.module.startswith("trayagent") or node.module.startswith("trayagent.model"), (
                    path
                )


def test_every_module_opens_with_what_it_is_for() -> None:
    silent = [
        path
        for path in (ROOT / "trayagent").glob("**/*.py")
        if not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []
