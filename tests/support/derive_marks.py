"""Finds when each recorded dialog became readable, and writes it beside the recording.

    python -m tests.support.derive_marks [AGENT...]

A dialog stands at a `blocked` transition, and until the first key or the next transition where the
keys were written down (elsewhere the transition was written down once the dialog stood still). What
it says is the last frame of that time; it was readable from the first frame that says the same, once
spinners, blinking marks and counters are masked. Run again only when recordings change.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from tests.support.casts import Dialog, Recording, frames, recordings, still

# The command ran without asking; the truth's `blocked` was expected when it was written down.
NO_DIALOG = frozenset({"claude/bg"})
MARGIN = 0.02  # seconds before the key: its own echo is not the dialog


def dialogs_of(recording: Recording) -> list[Dialog]:
    """The dialogs of one recording."""
    truths = recording.truths
    keys = recording.keys
    found = []
    for number, truth in enumerate(truths):
        if truth.state != "blocked":
            continue
        after = truths[number + 1].earliest if number + 1 < len(truths) else recording.cast.duration + MARGIN
        until = truth.certain
        if keys is not None:
            until = min([key for key in keys if key > truth.certain] + [after]) - MARGIN
        shown = frames(recording.cast, truths[number - 1].certain if number else 0.0, until)
        last = still(shown[-1][1])
        settled = next(moment for moment, screen in shown if still(screen) == last)
        found.append(Dialog(round(settled, 4), round(until, 4)))
    return found


def main() -> None:
    """Derive the marks of all recordings, or of some agents'."""
    for recording in recordings(*sys.argv[1:]):
        if recording.name not in NO_DIALOG and (dialogs := dialogs_of(recording)):
            text = json.dumps({"dialogs": [asdict(dialog) for dialog in dialogs]}, indent=1)
            recording.path.with_suffix(".marks.json").write_text(text + "\n")
            print(recording.name, *(f"{dialog.settled:.2f}-{dialog.until:.2f}" for dialog in dialogs))


if __name__ == "__main__":
    main()
