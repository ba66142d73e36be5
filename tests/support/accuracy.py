"""How often the bundled rules are right on the recorded screens: the figures, the table, and that none falls.

    python -m tests.support.accuracy            # measure; exit code 1 where a figure is below the stored one
    python -m tests.support.accuracy --write    # take the figures as they are now

The stored figures are `tests/screens/accuracy.json`; `docs/accuracy.md` is written from them, so the two
always agree. Counted is as in scoring.py: ambiguous screens are left out, an `errored` one
may be error or idle, `exited` and `starting` are no manifest's to know and stand apart.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.support.scoring import ALSO_RIGHT, APART, SCREENS, recorded, state_of
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.format import Manifest
from trayagent.manifest.load import Library
from trayagent.model.panes import Screen

STORED = SCREENS / "accuracy.json"
PAGE = Path(__file__).parent.parent.parent / "docs" / "accuracy.md"
CLAIMS = ("blocked", "working")
ALL = "all"


@dataclass(slots=True)
class Figures:
    """What one agent's screens came to. untitled: right with the title withheld. widths: columns
    to [right, asked]. told: errored screens on which an error was seen."""

    asked: int = 0
    right: int = 0
    untitled: int = 0
    blocked: int = 0
    blocked_found: int = 0
    false_blocked: int = 0
    errored: int = 0
    errors_told: int = 0
    apart: int = 0
    widths: dict[str, list[int]] = field(default_factory=dict)


@dataclass(slots=True)
class Foreign:
    """Screens under the rules of other agents. claimed: those that such rules called blocked or working."""

    asked: int = 0
    claimed: int = 0


def measure(library: Library) -> tuple[dict[str, Figures], Foreign]:
    """The figures by agent, of all agents that have a manifest and recordings; and of foreign rules."""
    names = sorted(path.name for path in SCREENS.iterdir() if path.is_dir() and library.get(path.name))
    return {name: _figures(name, library) for name in names}, _foreign(names, library)


def _figures(agent: str, library: Library) -> Figures:
    manifest = library.get(agent)
    assert manifest is not None
    found, widths = Figures(), Counter[tuple[int, bool]]()
    for item in recorded(agent):
        screen = item.screen
        if item.state in APART:
            found.apart += 1
            continue
        state = state_of(evaluate(manifest, screen))
        right = state in ALSO_RIGHT.get(item.state, (item.state,))
        bare = Screen(screen.text, "", screen.progress, screen.width, screen.height)
        found.asked += 1
        found.right += right
        found.untitled += state_of(evaluate(manifest, bare)) in ALSO_RIGHT.get(item.state, (item.state,))
        found.blocked += item.state == "blocked"
        found.blocked_found += item.state == state == "blocked"
        found.false_blocked += state == "blocked" != item.state
        found.errored += item.state == "errored"
        found.errors_told += item.state == "errored" and state == "error"
        widths[screen.width, right] += 1
    for width in sorted({width for width, _ in widths}, reverse=True):
        found.widths[str(width)] = [widths[width, True], widths[width, True] + widths[width, False]]
    return found


def _foreign(names: list[str], library: Library) -> Foreign:
    """Every screen under every other agent's rules, forks and their families apart."""
    found = Foreign()
    for name in names:
        own = library.get(name)
        assert own is not None
        others = [manifest for manifest in library.manifests if not _related(own, manifest)]
        for item in recorded(name):
            screen = Screen(item.screen.text, "", item.screen.progress, item.screen.width, item.screen.height)
            for manifest in others:
                verdict = evaluate(manifest, screen)
                found.asked += 1
                found.claimed += not verdict.keep and state_of(verdict) in CLAIMS
    return found


def _related(one: Manifest, other: Manifest) -> bool:
    """Whether they are the same agent, or share an interface."""
    return not {one.id, one.family or one.id}.isdisjoint({other.id, other.family or other.id})


def stored() -> tuple[dict[str, Figures], Foreign]:
    """The figures as they were last taken."""
    data = json.loads(STORED.read_text("utf-8"))
    return {name: Figures(**row) for name, row in data["agents"].items()}, Foreign(**data["foreign"])


def total(figures: dict[str, Figures]) -> Figures:
    """All agents together."""
    out = Figures()
    for one in figures.values():
        for name in Figures.__slots__:
            if name != "widths":
                setattr(out, name, getattr(out, name) + getattr(one, name))
        for width, (right, asked) in one.widths.items():
            known = out.widths.setdefault(width, [0, 0])
            out.widths[width] = [known[0] + right, known[1] + asked]
    out.widths = dict(sorted(out.widths.items(), key=lambda row: -int(row[0])))
    return out


# -- comparing ---------------------------------------------------------------------------

# figure -> of how many; the first may not fall.
_SHARES = {"right": "asked", "untitled": "asked", "blocked_found": "blocked", "errors_told": "errored"}


def fallen(now: dict[str, Figures], before: dict[str, Figures]) -> list[str]:
    """Each figure that is worse than it was, as a share where there are more or fewer screens now."""
    lines: list[str] = []
    for agent, old in before.items():
        new = now.get(agent)
        if new is None:
            lines.append(f"{agent}: has no figures any more")
            continue
        for part, of in _SHARES.items():
            lines += _worse(
                agent, part, getattr(new, part), getattr(new, of), getattr(old, part), getattr(old, of)
            )
        lines += _worse(agent, "not falsely blocked", new.asked - new.false_blocked, new.asked,
                        old.asked - old.false_blocked, old.asked)  # fmt: skip
        for width, (right, asked) in old.widths.items():
            lines += _worse(agent, f"right at {width} columns", *new.widths.get(width, [0, 0]), right, asked)
    return lines


def _worse(agent: str, name: str, new: int, of: int, old: int, of_old: int) -> list[str]:
    if new * of_old >= old * of and (of > 0 or of_old == 0):
        return []
    return [f"{agent}: {name.replace('_', ' ')}: {new} of {of}, was {old} of {of_old}"]


def foreign_fallen(now: Foreign, before: Foreign) -> list[str]:
    """Whether rules claim more of other agents' screens than they did."""
    if now.claimed * before.asked <= before.claimed * now.asked:
        return []
    return [f"foreign rules: {now.claimed} of {now.asked}, was {before.claimed} of {before.asked}"]


# -- the page ----------------------------------------------------------------------------


def page(figures: dict[str, Figures], foreign: Foreign) -> str:
    """docs/accuracy.md."""
    widths = list(total(figures).widths)
    shown = [width for width in widths if sum(width in one.widths for one in figures.values()) > 1]
    titles = ["agent", "screens", "right", "blocked found", "falsely blocked", "errors told", "without title"]
    titles += [f"{width} col." for width in shown] + ["other widths"]
    lines = [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]
    rows = {**dict(sorted(figures.items(), key=lambda row: (-row[1].asked, row[0]))), ALL: total(figures)}
    for agent, one in rows.items():
        name = f"**{agent}**" if agent == ALL else agent
        cells = [
            name, str(one.asked), _share(one.right, one.asked), _of(one.blocked_found, one.blocked),
            str(one.false_blocked), _of(one.errors_told, one.errored), _share(one.untitled, one.asked),
        ]  # fmt: skip
        cells += [_of(*one.widths[width]) if width in one.widths else "" for width in shown]
        rest = [pair for width, pair in one.widths.items() if width not in shown]
        cells.append(_of(sum(pair[0] for pair in rest), sum(pair[1] for pair in rest)) if rest else "")
        lines.append(f"| {' | '.join(cells)} |")
    apart = total(figures).apart
    return _PAGE.format(
        table="\n".join(lines), apart=apart, claimed=foreign.claimed, asked=foreign.asked,
        share=f"{100 * foreign.claimed / foreign.asked:.2f}" if foreign.asked else "0",
    )  # fmt: skip


def _share(part: int, of: int) -> str:
    return f"{100 * part / of:.1f} %" if of else "-"


def _of(part: int, of: int) -> str:
    return f"{part} of {of}" if of else "-"


_PAGE = """# How often the rules are right

Measured on the recorded screens of `tests/screens`: real agents, driven against a mock model, each
screen labelled by what was done and not by what it shows. This page is written by
`python -m tests.support.accuracy --write`; the test run fails when a figure falls below it.

A screen is right when the rules alone, without any earlier state, say its label. `errored` (the turn broke,
the prompt is free) may be error or idle, and *errors told* counts those that are error. Left out are
{apart} screens of a starting agent or a shell that is back, which no rule is asked to know, and those
whose state is a matter of taste (`tests/screens/AMBIGUOUS.txt`).

{table}

Rules of other agents, asked about the same screens with the title withheld, called {claimed} of {asked}
blocked or working ({share} %); forks and their families are left out.
"""


def main(args: list[str]) -> int:
    """Measure; with `--write` store the figures and write the page."""
    figures, foreign = measure(Library.standard())
    if "--write" in args:
        data: dict[str, Any] = {
            "agents": {name: asdict(one) for name, one in figures.items()},
            "foreign": asdict(foreign),
        }
        STORED.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
        PAGE.write_text(page(figures, foreign), "utf-8")
    print(page(figures, foreign))
    before, foreign_before = stored()
    worse = fallen(figures, before) + foreign_fallen(foreign, foreign_before)
    for line in worse:
        print(f"worse: {line}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
