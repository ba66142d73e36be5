"""What a player is: a command for one file, or a reason why it cannot play it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


class Unplayable(Exception):
    """This player is not for this file; str() says why."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A file to play. path: absolute. volume: factor of the amplitude, 0 to 1. seconds: how much
    of it at most. length: its length in seconds, None where that is not known."""

    path: Path
    volume: float
    seconds: float
    length: float | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run. stdin: what it reads, b"" for nothing."""

    argv: tuple[str, ...]
    stdin: bytes = b""


@dataclass(frozen=True, slots=True)
class Player:
    """program: what must be on PATH, "" for none. command: may raise Unplayable or OSError."""

    name: str
    program: str
    command: Callable[[Clip], Command]
