"""The table of known pitfalls names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TABLE = (ROOT / "docs" / "pitfalls.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?P<symptom>[^|]+) \| `(?P<path>tests/[\w/]+\.py)(?:::(?P<test>test_\w+))?` \|$", re.M)


def names_in(path: Path) -> set[str]:
    """The names of a module's test functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def test_each_pitfall_names_a_test_that_exists() -> None:
    missing = []
    for row in ROW.finditer(TABLE):
        path = ROOT / row["path"]
        found = names_in(path) if path.is_file() else set()
        if not found or (row["test"] and row["test"] not in found):
            missing.append(f"{row['path']}::{row['test']}")
    assert missing == []


def test_every_row_of_the_table_is_one_that_is_checked() -> None:
    rows = [line for line in TABLE.splitlines() if line.startswith("| ")]
    heads = [line for line in rows if line in ("| symptom | test |", "| --- | --- |")]
    assert len(rows) - len(heads) == len(ROW.findall(TABLE)) > 50
