"""Cuts the recordings of `trayagent demo` out of recorded sessions: `python -m tests.support.cut_demo`.

Each begins at the agent's idle prompt, drawn at once. A marker event `key` (asciinema's `m`) stands where
the recorded person pressed a key: to send the prompt, and to answer a dialog. What comes
between may be hurried, so that a story fits into a quarter of a minute.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tests.support.casts import recording

TARGET = Path(__file__).parent.parent.parent / "trayagent" / "demo" / "recordings"
SENT = 0.001  # seconds before the truth's "working" at which the prompt had not been sent yet
PAUSE = 0.2  # seconds between a key and what follows it, as people see it


@dataclass(frozen=True, slots=True)
class Cut:
    """name: of the recording, `agent/name`. sent: at which second of it the prompt was sent. answered:
    when its dialog was answered, None where there is none. end: where the cut ends.
    hurry: by what factor everything after the prompt is faster than it was. renamed: a project that it was
    recorded in, and what it is called here (as long: screens are drawn by columns)."""

    name: str
    sent: float
    end: float
    answered: float | None = None
    hurry: float = 1.0
    renamed: tuple[str, str] = ("", "")


CUTS = (
    Cut("claude/edit", sent=4.516 - SENT, answered=7.207, end=9.3),
    Cut("codex/sleep", sent=2.771 - SENT, end=23.4, hurry=2.5, renamed=("shop-api", "mail-app")),
    Cut("opencode/error_bad_request", sent=6.731 - SENT, end=8.6, renamed=("demo", "blog")),
)


def cut(what: Cut) -> str:
    """The text of the cast file."""
    shown = recording(what.name)
    cast, starts = shown.cast, shown.starts
    output = [event for event in cast.events if event.code == "o" and starts < event.at <= what.end]
    rows: list[tuple[float, str, str]] = []
    rows.append((0.0, "o", "".join(event.data for event in output if event.at <= what.sent)))
    rows.append((PAUSE, "m", "key"))
    late = 2 * PAUSE
    answered = what.answered
    for event in output:
        if event.at <= what.sent:
            continue
        if answered is not None and event.at > answered:
            rows.append((late + (answered - what.sent) / what.hurry, "m", "key"))
            late, answered = late + PAUSE, None
        rows.append((late + (event.at - what.sent) / what.hurry, "o", event.data))
    header = {"version": 2, "width": cast.cols, "height": cast.rows, "title": shown.agent}
    lines = [header, *([round(at, 3), code, data] for at, code, data in rows)]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return text.replace(*what.renamed) if what.renamed[0] else text


def target(what: Cut) -> Path:
    """Where a cut is kept."""
    return TARGET / f"{what.name.partition('/')[0]}.cast"


if __name__ == "__main__":
    for each in CUTS:
        target(each).write_text(cut(each), encoding="utf-8")
        print(target(each).name, target(each).stat().st_size)
