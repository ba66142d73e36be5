"""One line of `doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Check:
    """ok: True fine, None works but less well than it could, False missing or broken. hint: what to do."""

    name: str
    ok: bool | None
    text: str
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        """As the socket sends it."""
        return {"name": self.name, "ok": self.ok, "text": self.text, "hint": self.hint}


def count(number: int, word: str) -> str:
    """`1 pane`, `2 panes`."""
    return f"{number} {word}{'s' * (number != 1)}"
