"""The one place that knows a regular-expression engine (built out in a moment)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern and its source."""

    source: str
