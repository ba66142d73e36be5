"""What banners, menu and tooltip say.

Screen text is foreign text: it may hold escape sequences, characters that turn the
reading direction, secrets, or twenty kilobytes. `excerpt` lets through a few plain
lines of it; nothing here puts any of it anywhere else. The result is plain text:
whoever hands it to something that reads markup escapes it there.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from trayagent.manifest.mask import mask
from trayagent.model.states import GLYPH, Kind, Reason, State
from trayagent.model.view import PaneView

LINES, LENGTH = 3, 240  # of a banner's body
NAMES = 3  # named in a title before "and 27 more"
_SHORT = 80  # characters of the question where only a short text is wanted
_ROW = 78  # characters of a pane's line in a merged banner: three of them stay within LENGTH
_PLACE = 48
_READ = 8192  # characters of a question that are looked at

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)"  # strings: OSC, DCS ...
    r"|\x1b[ -/]*[0-~]"
)
_LINE_ENDS = re.compile(r"\r\n|[\r\n\x0b\x0c\x85\u2028\u2029]")
_JOINERS = "\u200c\u200d"  # needed by scripts and emoji, harmless
_DROPPED = frozenset({"Cc", "Cf", "Cs"})  # controls; invisible and direction marks; halves of surrogates

_ASKS = {
    Kind.PERMISSION: "Asks for permission",
    Kind.QUESTION: "Asks a question",
    Kind.PLAN: "Has a plan to approve",
    Kind.AUTH: "Asks to log in",
    Kind.TRUST: "Asks whether to trust this folder",
    Kind.OTHER: "Waits for an answer",
}
_BREAKS = {
    Reason.LIMIT: ("hit a limit", "The usage limit is reached"),
    Reason.API: ("has an API error", "The model's service answered with an error"),
    Reason.AUTH: ("must log in again", "The credentials were refused"),
    Reason.CRASH: ("crashed", "The agent ended in the middle of its work"),
    Reason.OTHER: ("stopped with an error", "The turn ended with an error"),
}
_AFTER = {
    "watching": "While you were away",
    "paused": "After the pause",
    "muted": "After the mute",
    "quiet-hours": "After quiet hours",
    "desktop-dnd": "After do not disturb",
    "locked": "While the screen was locked",
}


# -- banners -----------------------------------------------------------------------------


def single(view: PaneView, now: float, text: str = "full") -> tuple[str, str]:
    """Title and body about one pane. text: `full`, `short` (one line), `none` (nothing off the screen)."""
    agent = agent_of(view)
    title = f"{place(view)} {_does(view)}" + (f" · {agent}" if agent else "")
    waited = now - view.since
    if waited < 60:
        return title, said(view, text)
    tail = f"{duration(waited)} ago" if view.state is State.DONE else f"waiting for {duration(waited)}"
    return title, said(view, text, LINES - 1, LENGTH - len(tail) - 1) + "\n" + tail


def merged(views: Sequence[PaneView], now: float, text: str = "full") -> tuple[str, str]:
    """Title and body about several panes, the most urgent first: "api, web, infra need you"."""
    need = [view for view in views if view.needs_you]
    rest = [view for view in views if not view.needs_you]
    parts = [f"{_names(need)} {'needs' if len(need) == 1 else 'need'} you"] if need else []
    parts += [f"{_names(rest)} {'is' if len(rest) == 1 else 'are'} done"] if rest else []
    return " · ".join(parts), _rows(views, text)


def digest(views: Sequence[PaneView], why: str, now: float, text: str = "full") -> tuple[str, str]:
    """Title and body about what is still true after a hold. why: the rule that held, "" for several."""
    after = _AFTER.get(why, "Meanwhile")
    if len(views) == 1:
        title, body = single(views[0], now, text)
        return f"{after}: {title}", body
    return f"{after}: {summary(views)}", _rows(views, text)


def said(view: PaneView, text: str = "full", lines: int = LINES, length: int = LENGTH) -> str:
    """What the pane asks or says, within so many lines and characters; or what it waits for, our words."""
    if text == "short":
        lines, length = 1, min(length, _SHORT)
    return (excerpt(view.message, lines, length) if text != "none" else "") or _in_our_words(view)


# -- lists -------------------------------------------------------------------------------


def tooltip(views: Iterable[PaneView], now: float) -> str:
    """All panes in one line: "2 need you, 3 working, 1 done · longest wait 12 min"."""
    views = list(views)
    waits = [now - view.since for view in views if view.needs_you]
    return summary(views) + (f" · longest wait {duration(max(waits))}" if waits else "")


def summary(views: Sequence[PaneView]) -> str:
    """How many panes need you, work and are done; how many are idle where that is all there is."""
    count = Counter("need" if view.needs_you else view.state.value for view in views)
    need = count["need"]
    parts = [f"{need} {'needs' if need == 1 else 'need'} you"] if need else []
    parts += [f"{count[state]} {state.value}" for state in (State.WORKING, State.DONE) if count[state]]
    if not parts:
        parts = [f"{count[state]} {state.value}" for state in (State.IDLE, State.UNKNOWN) if count[state]]
    return ", ".join(parts) or "No agents"


def place(view: PaneView) -> str:
    """Where a pane is, in a word or two: project, and the branch when it is not the main one."""
    labels = view.labels
    name = one_line(labels.project or view.session or view.pane_id, _PLACE) or "A pane"
    branch = one_line(labels.branch, _PLACE)
    return f"{name} ({branch})" if branch else name


def agent_of(view: PaneView) -> str:
    """The agent's name for people."""
    return one_line(view.name or view.labels.agent_name or view.agent, _PLACE)


def duration(seconds: float) -> str:
    """A time for people: `under 1 min`, `12 min`, `1 h 5 min`, `8 h`, `3 days`."""
    minutes = int(seconds // 60)
    hours = minutes // 60
    if minutes < 1:
        return "under 1 min"
    if hours < 1:
        return f"{minutes} min"
    if hours < 10:
        return f"{hours} h {minutes % 60} min" if minutes % 60 else f"{hours} h"
    return f"{hours} h" if hours < 48 else f"{hours // 24} days"


# -- foreign text ------------------------------------------------------------------------


def excerpt(text: str, lines: int = LINES, length: int = LENGTH) -> str:
    """The first lines of a foreign text: plain, secrets masked, cut at a word within `length` characters."""
    rows = [" ".join(row.split()) for row in mask(plain(text[:_READ])).split("\n")]
    rows = [row for row in rows if row]
    kept = "\n".join(rows[:lines])
    return cut(kept, length, more=len(rows) > lines)


def one_line(text: str, length: int) -> str:
    """A foreign name on one line, plain, cut at a word."""
    return cut(" ".join(plain(text[:_READ]).split()), length)


def plain(text: str) -> str:
    """Text without escape sequences, controls (newlines stay), direction marks, invisible characters."""
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text)).replace("\t", " ")
    if text.isascii() and text.replace("\n", " ").isprintable():
        return text
    return "".join(
        char
        for char in text
        if char == "\n" or char in _JOINERS or unicodedata.category(char) not in _DROPPED
    )


def cut(text: str, length: int, *, more: bool = False) -> str:
    """At most `length` characters, ended by an ellipsis after a whole word where something is missing.

    more: something is missing already. A word longer than half of the room is cut inside."""
    if len(text) <= length - 2 * more:
        return f"{text} …" if more else text
    head = text[: length - 2]
    word = max(head.rfind(" "), head.rfind("\n"))
    if not text[len(head)].isspace() and word > length // 2:
        head = head[:word]
    return f"{head.rstrip().rstrip(_JOINERS)} …"


# -- parts -------------------------------------------------------------------------------


def _does(view: PaneView) -> str:
    if view.state is State.ERROR:
        return _BREAKS[view.reason or Reason.OTHER][0]
    return {State.BLOCKED: "needs you", State.DONE: "is done"}.get(view.state, f"is {view.state.value}")


def _in_our_words(view: PaneView) -> str:
    if view.state is State.ERROR:
        return _BREAKS[view.reason or Reason.OTHER][1]
    return _ASKS[view.kind or Kind.OTHER] if view.state is State.BLOCKED else "The turn has ended"


def _names(views: Sequence[PaneView]) -> str:
    """ "api, web, infra and 27 more"; a place with several panes is named once: "api ×2"."""
    count = Counter(place(view) for view in views)
    named = [name if times == 1 else f"{name} ×{times}" for name, times in list(count.items())[:NAMES]]
    left = len(views) - sum(list(count.values())[:NAMES])
    return ", ".join(named) + (f" and {left} more" if left else "")


def _rows(views: Sequence[PaneView], text: str) -> str:
    """A line a pane, for as many as fit."""
    shown = views if len(views) <= LINES else views[: LINES - 1]
    rows = [cut(f"{GLYPH[view.state]} {place(view)}: {said(view, text, 1)}", _ROW) for view in shown]
    left = len(views) - len(shown)
    return "\n".join([*rows, f"and {left} more"] if left else rows)
