"""What is read off the screen once a rule has won: message and options.

Patterns are tried in order, each in its own region; a group that was found stays as
the first pattern found it, so that later patterns are fallbacks. The text of a group
is cleaned: borders and indentation go, and its rows become one line. A group named
`ask_lines` fills `{ask}` too, and keeps its rows (a command of several lines).
"""

from __future__ import annotations

from trayagent.manifest.format import Prompt
from trayagent.manifest.regions import View
from trayagent.model.evidence import Option

KEEP_ROWS = "_lines"
MAX_LINES = 3
MAX_CHARS = 600  # of a whole message; what is shown is shorter still
MAX_OPTIONS = 12
MAX_LABEL = 120
_EDGES = " \t\u00a0│┃║▌█"  # borders, and the thumb of a scroll bar


def message_of(prompt: Prompt, view: View) -> str:
    """The message, at most three lines; "" where the screen does not show it."""
    if not prompt.message:
        return ""
    found: dict[str, str] = {}
    for extraction in prompt.extractions:
        if all(name.removesuffix(KEEP_ROWS) in found for name in extraction.pattern.names):
            continue
        groups = extraction.pattern.groups(view.slice(extraction.region).data)
        for name, text in (groups or {}).items():
            cleaned = _cleaned(text, keep_rows=name.endswith(KEEP_ROWS))
            if cleaned:
                found.setdefault(name.removesuffix(KEEP_ROWS), cleaned)
    filled = [_filled(line, found) for line in prompt.message]
    rows = [row for line in filled for row in line.split("\n") if row.strip()]
    return "\n".join(rows[:MAX_LINES])[:MAX_CHARS]


def options_of(prompt: Prompt, view: View) -> tuple[Option, ...]:
    """The answers that the prompt offers, in the screen's order, each label once."""
    if prompt.options is None or prompt.options_region is None:
        return ()
    options: dict[str, Option] = {}
    for groups in prompt.options.each(view.slice(prompt.options_region).data):
        label = _cleaned(groups.get("label", ""), keep_rows=False)[:MAX_LABEL]
        if label and len(options) < MAX_OPTIONS:
            options.setdefault(label, Option(label, groups.get("key") or None))
    return tuple(options.values())


def _cleaned(text: str, *, keep_rows: bool) -> str:
    rows = [row.strip(_EDGES) for row in text.split("\n")]
    return ("\n" if keep_rows else " ").join(row for row in rows if row)


def _filled(line: str, found: dict[str, str]) -> str:
    """A template line with its groups put in; "" when it names groups and none was found."""
    out, named, filled = line, False, False
    for name in template_names(line):
        named = True
        filled = filled or name in found
        out = out.replace("{" + name + "}", found.get(name, ""))
    return out.strip() if filled or not named else ""


def template_names(line: str) -> list[str]:
    """The group names that a template line asks for."""
    pieces = line.split("{")[1:]
    return [piece.split("}", 1)[0] for piece in pieces if "}" in piece]
