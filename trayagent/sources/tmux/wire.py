"""How a reply is laid out, so that nothing in it can be taken for something else.

tmux prints what it is asked for without any framing, and titles, names, folders and
option values may hold tabs, newlines, quotes or `#{...}`. Control characters do not
serve as separators: from 3.4 on tmux escapes them. So each command makes up a mark of
its own, 12 random hexadecimal digits, and every part begins with that mark and one
letter. Whatever a pane shows was written before the mark was known.

| part | holds |
| --- | --- |
| `h` | the server itself: pid, version, start time; always the first |
| `p` `t`... `.` | a pane: one part of values that are never free text, one part for each that may be |
| `q` `t`... `.` | a client, likewise |
| `P` `Q` | the list of panes, of clients is complete |
| `s5` `j5` | the screen of pane %5, as rows or with wrapped rows joined |
| `z` | the command has come to its end |
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from unicodedata import combining, east_asian_width

_VERSION = re.compile(r"(\d+)\.(\d+)")
NEWEST = (99, 0)


@dataclass(frozen=True, slots=True)
class Head:
    """Who answered. pid as the server counts it; started: epoch seconds."""

    pid: int
    version: tuple[int, int]
    started: int


@dataclass(slots=True)
class Reading:
    """A reply taken apart. Each record is its values in the order in which they were asked for."""

    head: Head | None = None
    panes: list[list[str]] = field(default_factory=list)
    clients: list[list[str]] = field(default_factory=list)
    screens: dict[str, str] = field(default_factory=dict)
    joined: dict[str, str] = field(default_factory=dict)
    all_panes: bool = False
    all_clients: bool = False
    complete: bool = False


def mark() -> str:
    """A mark for one command."""
    return os.urandom(6).hex()


def say(mark: str, letter: str, text: str = "") -> list[str]:
    """The command that prints one part."""
    return ["display-message", "-p", mark + letter + text]


def head(mark: str) -> list[str]:
    """The command that prints who answers."""
    return say(mark, "h", "#{pid} #{start_time} #{version}")


def record(mark: str, letter: str, plain: Iterable[str], free: Iterable[str]) -> str:
    """The format of one record: the plain values in one part, each free one in its own."""
    parts = [letter + ",".join(f"#{{{name}}}" for name in plain)]
    parts += [f"t#{{{name}}}" for name in free]
    return "".join(mark + part for part in [*parts, "."])


def version(text: str) -> tuple[int, int]:
    """`3.3a` as (3, 3). A development tree or another system's own numbering counts as the newest."""
    found = _VERSION.search(text)
    if found is None or text.startswith("openbsd"):
        return NEWEST
    return int(found[1]), int(found[2])


def read(out: bytes, mark: str) -> Reading:
    """Take a reply apart. Raises ValueError when it is no reply to a command with this mark."""
    reading = Reading()
    record: list[str] = []
    for part in out.decode("utf-8", "replace").split(mark)[1:]:
        letter, rest = part[:1], part[1:]
        match letter:
            case "t":
                record.append(rest)
            case "p" | "q":
                record = rest.split(",")
                (reading.panes if letter == "p" else reading.clients).append(record)
            case "s" | "j":
                pane, _, text = rest.partition("\n")
                if text:  # nothing was printed for a pane that has gone
                    (reading.screens if letter == "s" else reading.joined)[f"%{pane}"] = _rows(text)
            case "h":
                pid, started, name = rest.strip().split(" ", 2)
                reading.head = Head(int(pid), version(name), int(started))
            case "P":
                reading.all_panes = True
            case "Q":
                reading.all_clients = True
            case "z":
                reading.complete = True
            case ".":
                pass
            case _:
                raise ValueError(f"unexpected part {letter!r}")
    return reading


def _rows(text: str) -> str:
    """A screen's rows without trailing blanks. From 3.6 on a row keeps the tabs it was written with."""
    if "\t" not in text and " \n" not in text:  # what tmux gives, up to 3.5
        return text.removesuffix("\n")
    rows = text.removesuffix("\n").split("\n")
    return "\n".join((_untabbed(row) if "\t" in row else row).rstrip(" ") for row in rows)


def _untabbed(row: str) -> str:
    """Tabs as the blanks that the terminal shows in their place, at stops of eight columns."""
    out: list[str] = []
    column = 0
    for char in row:
        width = 8 - column % 8 if char == "\t" else 0 if combining(char) else 1
        if east_asian_width(char) in "WF":
            width = 2
        out.append(" " * width if char == "\t" else char)
        column += width
    return "".join(out)
