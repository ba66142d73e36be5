"""Typed access to a parsed file, which notes every oddity with its place and goes on.

A translator reads a file to its end, so that `manifests check` can show all that is
wrong at once; whether the file is refused is asked of the Report when it is done.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from trayagent.manifest.format import LIMITS, Problem

MOST_PROBLEMS = 100  # of one file that are told; nobody reads more, and each looks for its line


class Report:
    """The problems of one file. text: the file as it stands, to find lines in."""

    def __init__(self, file: str, text: str = "") -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._lines = text.split("\n")
        self._begins: dict[str, int] = {}

    @property
    def refused(self) -> bool:
        """Whether any problem is fatal."""
        return any(problem.fatal for problem in self.problems)

    @property
    def full(self) -> bool:
        """Whether no more problems are told."""
        return len(self.problems) >= MOST_PROBLEMS

    def begins(self, rule: str, sign: str, nth: int = 0) -> None:
        """Tell where a rule without an id begins: at the nth line (from 0) that starts with `sign`."""
        found = [at for at, line in enumerate(self._lines) if line.lstrip().startswith(sign)]
        if nth < len(found):
            self._begins[rule] = found[nth]

    def add(
        self, text: str, *, rule: str = "", key: str = "", line: int | None = None, fatal: bool = True
    ) -> None:
        """Note a problem; its line is looked for where it is not given."""
        if self.full:
            if fatal and not self.refused:
                self.problems[-1] = Problem(self.file, text, rule, key, line)
            return
        place = self._find(rule, key) if line is None else line
        problem = Problem(self.file, text, rule, key, place, fatal)
        if problem not in self.problems:  # a key may be asked for twice
            self.problems.append(problem)

    def _find(self, rule: str, key: str) -> int | None:
        """The line of a key within a rule (or prompt), of the rule, or of the key alone."""
        start = 0
        if rule:
            found = self._begins.get(rule)
            if found is None:
                found = next((at for at, line in enumerate(self._lines) if _is_rule(line, rule)), None)
            if found is None:
                return None
            start = found
        name = key.split(".")[-1].split("[")[0]
        if not name:
            return start + 1 if rule else None
        first = _rule_begins(self._lines, start) if rule else 0
        for at in range(first, len(self._lines)):
            if rule and at > start and self._lines[at].lstrip().startswith("[["):
                break
            if _has_key(self._lines[at], name):
                return at + 1
        return start + 1 if rule else None


def _is_rule(line: str, rule: str) -> bool:
    kept = line.strip().lstrip("-{").strip()
    if kept == f"[prompts.{rule}]":
        return True
    name, sign, value = kept.partition("=" if "=" in kept else ":")
    return (
        bool(sign) and name.strip().strip("\"'") == "id" and value.strip().rstrip(",").strip("\"' ") == rule
    )


def _rule_begins(lines: list[str], at: int) -> int:
    while at > 0 and not lines[at].lstrip().startswith(("[[", "[prompts", "- ", "{")):
        at -= 1
    return at


def _has_key(line: str, name: str) -> bool:
    for sign in ("=", ":"):
        if any(
            piece.strip().lstrip("-{[,").strip().strip("\"'").split(" ")[-1] == name
            for piece in line.split(sign)[:-1]
        ):
            return True
    return line.strip().strip("[]") == name


class Table:
    """One table of the file. rule: the rule it belongs to, prefix: its own key, for messages."""

    def __init__(self, data: Mapping[str, Any], report: Report, rule: str = "", prefix: str = "") -> None:
        self.data = data
        self.report = report
        self.rule = rule
        self.prefix = prefix

    def wrong(self, key: str, text: str, *, fatal: bool = True) -> None:
        """Note a problem of one key."""
        self.report.add(text, rule=self.rule, key=self.prefix + key, fatal=fatal)

    def string(self, key: str, default: str = "") -> str:
        """A string; anything else is wrong."""
        value = self.data.get(key, default)
        if isinstance(value, str):
            return value
        self.wrong(key, f"must be a string, not {_kind(value)}")
        return default

    def integer(self, key: str, default: int = 0) -> int:
        """A whole number; a boolean is none."""
        value = self.data.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        self.wrong(key, f"must be a whole number, not {_kind(value)}")
        return default

    def boolean(self, key: str) -> bool:
        """true or false, false where absent."""
        value = self.data.get(key, False)
        if isinstance(value, bool):
            return value
        self.wrong(key, f"must be true or false, not {_kind(value)}")
        return False

    def strings(self, key: str, limit: int = LIMITS.list_entries) -> tuple[str, ...]:
        """A list of strings, at most `limit` of them."""
        return tuple(value for value in self.entries(key, str, "strings", limit) if isinstance(value, str))

    def tables(self, key: str, limit: int = LIMITS.list_entries) -> list[Table]:
        """A list of tables."""
        found = self.entries(key, Mapping, "tables", limit)
        return [
            Table(value, self.report, self.rule, f"{self.prefix}{key}[{at}].")
            for at, value in enumerate(found)
        ]

    def table(self, key: str) -> Table | None:
        """A table, None where absent."""
        value = self.data.get(key)
        if value is None:
            return None
        if isinstance(value, Mapping):
            return Table(value, self.report, self.rule, f"{self.prefix}{key}.")
        self.wrong(key, f"must be a table, not {_kind(value)}")
        return None

    def entries(self, key: str, wanted: type, what: str, limit: int) -> list[Any]:
        """A list whose members are all of one type; what: their name in messages."""
        value = self.data.get(key, [])
        if not isinstance(value, list):
            self.wrong(key, f"must be a list of {what}, not {_kind(value)}")
            return []
        if len(value) > limit:
            self.wrong(key, f"{len(value)} entries; at most {limit} are allowed")
            return []
        kept = [entry for entry in value if isinstance(entry, wanted)]
        if len(kept) != len(value):
            odd = next(entry for entry in value if not isinstance(entry, wanted))
            self.wrong(key, f"must hold {what} only, not {_kind(odd)}")
        return kept

    def only(self, known: Iterable[str], *, fatal: bool) -> None:
        """Note every key that is not known, with the nearest known one."""
        names = list(known)
        for key in self.data:
            if self.report.full and (self.report.refused or not fatal):
                return
            if key not in names:
                near = difflib.get_close_matches(str(key), names, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                self.wrong(str(key), f"unknown key{hint}", fatal=fatal)


def _kind(value: object) -> str:
    if isinstance(value, Mapping):
        return "a table"
    if value is None:
        return "nothing"
    names = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), type(value).__name__)
