"""Which program had the terminal when, as far as a recording tells.

A recording holds no processes, but most shells announce them: a shell with bracketed paste
switches it on where it prompts and off as it starts a command (`CSI ? 2004 h` and `l`; readline,
zle and fish alike). So the text before the `l` is the command, and a prompt behind an `h` means
that it has ended. A recording without these marks shows one program from beginning to end.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from trayagent.replay.cast import Cast

_STARTS = "\x1b[?2004l\r"
_ESCAPE = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])"
_PROMPTS = re.compile(rf"\x1b\[\?2004h(?:{_ESCAPE})*[^\x1b\r\n]{{0,100}}?([#$%>❯➜]) ?(?:{_ESCAPE})*")
_SEQUENCES = re.compile(_ESCAPE)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
# Agents have prompts and bracketed paste too: only these endings, and the one that stood before the
# first command, are a shell's.
_SHELLS = frozenset("#$%")
MAX_LINE = 4096


@dataclass(frozen=True, slots=True)
class InFront:
    """From `at` seconds on this command has the terminal; argv empty: the shell."""

    at: float
    argv: tuple[str, ...]


def programs(cast: Cast) -> tuple[InFront, ...]:
    """Every change of program, in order; empty if the recording does not tell."""
    found: list[InFront] = []
    endings = set(_SHELLS)
    line, in_shell = "", True
    for event in cast.events:
        if event.code != "o":
            continue
        line = (line + event.data)[-MAX_LINE:]
        if in_shell and _STARTS in event.data:
            found.append(InFront(event.at, command_of(line.rpartition(_STARTS)[0])))
            in_shell, line = False, ""
        elif prompt := _last_prompt(event.data):
            if in_shell and not found:
                endings.add(prompt)
            elif not in_shell and prompt in endings:
                found.append(InFront(event.at, ()))
                in_shell, line = True, ""
    return tuple(found)


def _last_prompt(drawn: str) -> str:
    """The last character of the prompt that `drawn` ends in, "" if it ends otherwise."""
    start = drawn.rfind("\x1b[?2004h")
    prompt = _PROMPTS.fullmatch(drawn, start) if start >= 0 else None
    return prompt[1] if prompt else ""


def command_of(drawn: str) -> tuple[str, ...]:
    """The words of the command that a shell's line editor drew last, without assignments before it."""
    if prompt := _PROMPTS.search(drawn):
        drawn = drawn[prompt.end() :]
    text = ""
    for char in _SEQUENCES.sub("", drawn).strip():
        text = text[:-1] if char == "\b" else text + char
    text = text.rpartition("\n")[2].rpartition("\r")[2]
    try:
        words = shlex.split(text)
    except ValueError:  # an open quote: the line is not all that was typed
        words = text.split()
    if len(words) > 1 and words[0][-1] in "#$%❯➜":  # a prompt without its mark
        del words[0]
    while words and _ASSIGNMENT.match(words[0]):
        del words[0]
    return tuple(words)
