"""Matching paths without ever trusting a loose component: globs anchored at a path's end, and
package names only where a package manager puts them.

A folder named like an agent is no agent: `~/dev/opencode/main.go`, `node_modules/.bin` of some
other program, or `/home/claude/bin/run` must not match.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from trayagent.identity.tables import BUILD_FOLDERS, BUILD_SCRIPTS, EXTENSIONS, PACKAGE_FOLDERS

# Platform packages hold the native binary of the package that they are named after.
_PLATFORM = re.compile(
    r"-(?:linux|darwin|win32|windows|freebsd)(?:-(?:x64|x86_64|x86|ia32|arm64|aarch64|armv7|musl|gnu|msvc|baseline))*$"
)
_VERSION_NAME = re.compile(r"[0-9][A-Za-z0-9.-]*")


def components(path: str) -> list[str]:
    """The path's components in lower case, without empty ones and `.`."""
    return [part for part in re.split(r"[/\\]", path.lower()) if part not in ("", ".")]


class Glob:
    """A compiled glob over paths. `*` and `?` stay within one component, `**` is any number of them; a
    leading `/` anchors, otherwise the pattern is held against the end of the path. Case is ignored."""

    __slots__ = ("_anchored", "_last", "_parts")

    def __init__(self, pattern: str) -> None:
        self._parts = components(pattern)
        self._anchored = pattern.startswith("/")
        last = self._parts[-1] if self._parts else ""
        self._last = "" if any(letter in last for letter in "*?[") else last

    def matches(self, have: Sequence[str]) -> bool:
        """Whether the glob holds for a path's components."""
        want = self._parts
        if not want or not have or (self._last and self._last != have[-1]):
            return False
        if self._anchored:
            return _parts_match(want, have)
        if "**" not in want:
            return len(have) >= len(want) and _parts_match(want, have[len(have) - len(want) :])
        return any(_parts_match(want, have[start:]) for start in range(len(have)))


def _parts_match(want: Sequence[str], have: Sequence[str]) -> bool:
    """Whether all components match, pairwise but for `**`. One row of a table, so that cost is bounded."""
    if "**" not in want:
        return len(want) == len(have) and all(map(_part_matches, have, want))
    row = [True] + [False] * len(have)
    for part in want:
        if part == "**":
            reached = False
            row = [reached := reached or here for here in row]
        else:
            row = [False] + [row[at] and _part_matches(have[at], part) for at in range(len(have))]
    return row[-1]


def _part_matches(have: str, want: str) -> bool:
    """Whether one component matches; most are plain words."""
    return have == want or (any(letter in want for letter in "*?[") and fnmatchcase(have, want))


def package_windows(path: str) -> list[tuple[str, list[str]]]:
    """(package, components below it) for each place where the path may name the package that a
    script belongs to: directly below the innermost package folder, or a scoped name after it.
    Outside any package folder a scoped name counts alone (a bundle, a checkout)."""
    parts = components(path)
    inner = max((at for at, part in enumerate(parts) if part in PACKAGE_FOLDERS), default=-1)
    below = parts[inner + 1 :]
    windows: list[tuple[str, list[str]]] = []
    for at, part in enumerate(below):
        if part.startswith("@") and len(part) > 1 and at + 1 < len(below):
            windows.append((f"{part}/{bare(below[at + 1])}", below[at + 2 :]))
    if inner >= 0 and below and not below[0].startswith("@"):
        windows.append((bare(below[0]), below[1:]))
    return windows


def bare(package: str) -> str:
    """A package without version, extras, registry prefix or platform suffix: `npm:@a/b@1` -> `@a/b`."""
    name = re.sub(r"^(?:npm|jsr):", "", package.lower())
    name = re.split(r"(?:==|>=|<=|~=|!=|[\[<>;])", name)[0].strip()
    head, at, _ = name[1:].partition("@")
    name = name[:1] + head if at else name
    return _PLATFORM.sub("", name)


def is_entry(below: Sequence[str], entry_points: Sequence[str]) -> bool:
    """Whether the script at `below` (components under its package) is the agent and not one of
    the package's build scripts. entry_points: the only scripts that are, without extension; empty:
    all that do not build or install something."""
    plain = [*below[:-1], _stem(below[-1])] if below else []
    if entry_points:
        return any(Glob(f"/{entry}").matches(plain) for entry in entry_points)
    return not plain or (plain[-1] not in BUILD_SCRIPTS and not BUILD_FOLDERS.intersection(plain[:-1]))


def _stem(name: str) -> str:
    """A file name without one known extension."""
    return next((name[: -len(ending)] for ending in EXTENSIONS if name.endswith(ending)), name)


def version_owner(path: str) -> str:
    """For a binary named like its version, `NAME/versions/2.1.235`: NAME; "" for any other path."""
    parts = components(path)
    if len(parts) >= 3 and parts[-2] == "versions" and _VERSION_NAME.fullmatch(parts[-1]):
        return parts[-3]
    return ""
