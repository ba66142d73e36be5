"""Screens drawn by hand (`drawn_screens/<agent>.txt`): dialogs that no recording holds, and the known traps.

Each is drawn after the interface's own structure, in as few rows as decide. A section
begins with `## name`, then come what the verdict must be (`state`, where `keep` means
no change; `rule`, `kind`, `reason`, `message`) and the title, then `--` and the screen.
`␣` stands for the no-break space that agents draw behind their prompts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trayagent.model.panes import Screen

FOLDER = Path(__file__).parent / "drawn_screens"
NO_BREAK = ("␣", "\u00a0")


@dataclass(frozen=True, slots=True)
class Drawn:
    """One drawn screen and what its verdict must be; an empty field may be anything."""

    agent: str
    name: str
    state: str
    screen: Screen
    rule: str = ""
    kind: str = ""
    reason: str = ""
    message: str = ""


def drawn_screens() -> list[Drawn]:
    """All drawn screens, in the order of the files."""
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        sections = ("\n" + path.read_text("utf-8")).split("\n## ")[1:]
        found += [_section(path.stem, section) for section in sections]
    return found


def _section(agent: str, section: str) -> Drawn:
    head, _, text = section.partition("\n--\n")
    name, *lines = head.split("\n")
    fields = dict(line.split(": ", 1) for line in lines)
    title = fields.pop("title", "")
    return Drawn(agent, name, fields.pop("state"), Screen(text.replace(*NO_BREAK), title), **fields)


DRAWN = drawn_screens()
