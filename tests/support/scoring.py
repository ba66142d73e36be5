"""How often a manifest is right on recorded screens: the figures that tests assert.

`score(folder, library)` judges every labelled screen of `tests/screens/<agent>/` that
is not a matter of taste (AMBIGUOUS.txt). A screen is right when the verdict's state is
its label's; `errored` may be error or idle. `exited` and `starting` screens show a
shell or a splash: no manifest is asked to know them, so they are listed apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.format import Manifest
from trayagent.manifest.load import Library
from trayagent.model.evidence import Verdict
from trayagent.model.panes import Screen

SCREENS = Path(__file__).parent.parent / "screens"
HOST = "devbox"  # the recordings' host name: the title of a pane whose program set none
APART = ("exited", "starting")
ALSO_RIGHT = {"errored": ("error", "idle")}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One labelled screen. name: file name without its ending."""

    agent: str
    name: str
    state: str
    screen: Screen


@dataclass(slots=True)
class Score:
    """The figures of one agent. wrong: (name, label, verdict's state, rule)."""

    agent: str
    asked: int = 0
    right: int = 0
    wrong: list[tuple[str, str, str, str]] = field(default_factory=list)
    false_blocked: list[str] = field(default_factory=list)
    apart: list[tuple[str, str, str]] = field(default_factory=list)
    deciders: dict[str, list[str]] = field(default_factory=dict)

    @property
    def percent(self) -> float:
        """Right ones in a hundred."""
        return 100 * self.right / self.asked if self.asked else 0.0


def ambiguous(root: Path = SCREENS) -> frozenset[str]:
    """`agent/name` of the screens whose state is a matter of taste."""
    lines = (root / "AMBIGUOUS.txt").read_text("utf-8").splitlines()
    return frozenset(line.split()[0] for line in lines if line.strip() and not line.startswith("#"))


def recorded(agent: str, root: Path = SCREENS) -> Iterator[Recorded]:
    """The labelled screens of one agent, in the order of their names; ambiguous ones left out."""
    skipped = ambiguous(root)
    for path in sorted((root / agent).glob("*.json")):
        data = json.loads(path.read_text("utf-8"))
        if not isinstance(data, dict) or "screen" not in data or f"{agent}/{path.stem}" in skipped:
            continue
        yield Recorded(agent, path.stem, data["state"], screen_of(data))


def screen_of(data: dict[str, object]) -> Screen:
    """A recording's screen as a look would give it; a host name is nobody's title."""
    title = str(data.get("title") or "")
    return Screen(
        text=str(data["screen"]),
        title="" if title == HOST else title,
        width=int(str(data.get("cols", 80))),
        height=int(str(data.get("rows", 24))),
    )


def state_of(verdict: Verdict) -> str:
    """The verdict's state; no opinion is unknown, since no earlier state is known."""
    return "unknown" if verdict.state is None else verdict.state.value


def score(
    agent: str,
    library: Library,
    *,
    title: str | None = None,
    root: Path = SCREENS,
    manifest: Manifest | None = None,
) -> Score:
    """Judge an agent's recordings. title: what every screen's title is instead of its own
    ("" withholds it, another word stands for a fixed one). manifest: another agent's, on purpose."""
    used = manifest or library.get(agent)
    if used is None:
        raise LookupError(f"no manifest for {agent!r}")
    result = Score(agent)
    for item in recorded(agent, root):
        screen = item.screen
        if title is not None:
            screen = Screen(screen.text, title, screen.progress, screen.width, screen.height)
        verdict = evaluate(used, screen)
        state = state_of(verdict)
        if item.state in APART:
            result.apart.append((item.name, item.state, state))
            continue
        result.asked += 1
        result.deciders.setdefault(verdict.rule, []).append(item.name)
        if state in ALSO_RIGHT.get(item.state, (item.state,)):
            result.right += 1
        else:
            result.wrong.append((item.name, item.state, state, verdict.rule))
        if state == "blocked" and item.state != "blocked":
            result.false_blocked.append(item.name)
    return result
