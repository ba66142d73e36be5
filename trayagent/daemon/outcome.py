"""What came of something that a person asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """ok, and a sentence for the person. told: he has been told already, by a banner."""

    ok: bool
    text: str
    told: bool = False
