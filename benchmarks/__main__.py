"""`python -m benchmarks`: measures, and prints one table next to the limits.

    python -m benchmarks [--quick] [--panes N] [--write] [SCENE...]

Scenes: looks quiet busy dialogs told start relay; all of them by default. --quick: shorter, for a first
impression. --write: puts the table into benchmarks/README.md. Exits with 1 if a limit is exceeded.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

from benchmarks import looks, relaying, scenes
from benchmarks.rows import Row, table
from benchmarks.stage import KNOWN

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"

SCENES: dict[str, Callable[[scenes.Plan], list[Row]]] = {
    "looks": lambda plan: looks.measure(KNOWN),
    "quiet": scenes.quiet,
    "busy": scenes.busy,
    "dialogs": scenes.dialogs,
    "told": scenes.told,
    "start": scenes.start,
    "relay": lambda plan: relaying.measure(),
}


def main() -> int:
    """Run the scenes that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=" ".join(SCENES))
    parser.add_argument("--quick", action="store_true", help="shorter measurements")
    parser.add_argument("--panes", type=int, default=50)
    parser.add_argument("--no-desktop", action="store_true", help="without tray and notifications")
    parser.add_argument("--write", action="store_true", help=f"put the table into {README.name}")
    options = parser.parse_args()
    if unknown := set(options.scenes) - set(SCENES):
        parser.error(f"no such scene: {', '.join(sorted(unknown))}")
    plan = scenes.Plan(panes=options.panes, desktop=not options.no_desktop)
    if options.quick:
        plan = scenes.Plan(20.0, options.panes, 60.0, 3, not options.no_desktop)
    rows: list[Row] = []
    for name in options.scenes or SCENES:
        print(f"-- {name}", file=sys.stderr, flush=True)
        rows += SCENES[name](plan)
    print(table(rows))
    if options.write:
        write(rows)
    return 0 if all(row.kept for row in rows) else 1


def write(rows: list[Row]) -> None:
    """Put the table between the marks of the README, with where and when it was measured."""
    text = README.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    cores, python = os.cpu_count(), platform.python_version()
    where = f"{date.today():%Y-%m-%d}, Python {python}, Linux {platform.release()}, {cores} cores."
    README.write_text(f"{before}{BEGIN}{where}\n\n{table(rows)}\n{END}{after}")


if __name__ == "__main__":
    sys.exit(main())
