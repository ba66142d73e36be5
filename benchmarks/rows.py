"""The table: what was measured, next to the limit that holds for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. limit: what must not be exceeded, None where there is none. note: how it was got."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    note: str = ""

    @property
    def kept(self) -> bool:
        """Whether the limit holds."""
        return self.limit is None or self.value <= self.limit


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table that also reads well as text."""
    cells = [("what", "measured", "limit", "", "how")]
    for row in rows:
        limit = "" if row.limit is None else f"{row.limit:g} {row.unit}"
        mark = "" if row.limit is None else ("ok" if row.kept else "OVER")
        cells.append((row.name, f"{_number(row.value)} {row.unit}", limit, mark, row.note))
    widths = [max(len(line[column]) for line in cells) for column in range(5)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 1 else f"{value:.1f}"
