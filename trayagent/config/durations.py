"""How long, as people write it: `1.5`, `2 s`, `450 ms`, `5 min`, `1 h`, `2 d`. Needs no YAML."""

from __future__ import annotations

import re

_UNITS = {
    "": 1.0, "ms": 0.001, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "m": 60.0, "min": 60.0,
    "minute": 60.0, "minutes": 60.0, "h": 3600.0, "hour": 3600.0, "hours": 3600.0, "d": 86400.0,
    "day": 86400.0, "days": 86400.0,
}  # fmt: skip
_DURATION = re.compile(r"(\d{1,12}(?:\.\d{0,9})?|\.\d{1,9})\s*([a-z]*)", re.I)


def parse_duration(text: str) -> float | None:
    """The seconds that the text means (without a unit they are seconds), None if it means none."""
    match = _DURATION.fullmatch(text.strip())
    size = _UNITS.get(match[2].lower()) if match else None
    return None if match is None or size is None else round(float(match[1]) * size, 6)
