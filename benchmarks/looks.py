"""What one look at one screen costs: each manifest on its agent's own recorded screens."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.rows import Row
from tests.support.casts import SCREENS
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.load import Library
from trayagent.model.panes import Screen

LIMIT = 50.0  # microseconds, median, 40x120
ROUNDS = 30


def screens_of(folder: Path) -> Iterator[Screen]:
    """The recorded screens of 120 columns and 40 rows of one agent."""
    for path in sorted(folder.glob("*.json")):
        fixture = json.loads(path.read_text())
        if (fixture.get("cols"), fixture.get("rows")) == (120, 40) and "screen" in fixture:
            yield Screen(fixture["screen"], fixture.get("title", ""), "", 120, 40)


def measure(agents: tuple[str, ...]) -> list[Row]:
    """The median over each agent's screens of the best of some rounds."""
    library = Library.standard()
    rows = []
    for agent in agents:
        manifest = library.get(agent)
        if manifest is None:
            continue
        costs = []
        for screen in screens_of(SCREENS / agent):
            best = float("inf")
            for _ in range(ROUNDS):
                fresh = Screen(screen.text[:-1] + screen.text[-1:], screen.title, "", 120, 40)
                began = time.perf_counter()
                evaluate(manifest, fresh)
                best = min(best, time.perf_counter() - began)
            costs.append(best * 1e6)
        note = f"median of {len(costs)} screens, worst {max(costs):.0f} us"
        rows.append(Row(f"look at a screen of {agent}", statistics.median(costs), "us", LIMIT, note))
    return rows
