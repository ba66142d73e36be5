"""What a report may hold: the fields of `report` and `release`, checked before anything believes them.

| field      | limit                                                                             |
| ---------- | --------------------------------------------------------------------------------- |
| agent      | 1 to 64 bytes on one line; the same for as long as the instance lives             |
| instance   | 1 to 256 bytes on one line, made anew for each launch of the agent                |
| sequence   | whole number from 1                                                               |
| status     | `idle working needs-input done error`, or the same in the words of other tools    |
| message    | 8192 bytes; left out: the last one is cleared                                     |
| session id | 1 to 1024 bytes on one line; left out: the last one is kept                       |
| resume     | 1 to 128 arguments, 32768 bytes in all, no control characters; with a session id  |

The rules are those of Thurm's agent reports, which this command line speaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trayagent.model.states import State
from trayagent.reports.words import clean, state_of

AGENT_BYTES = 64
INSTANCE_BYTES = 256
SESSION_BYTES = 1024
MESSAGE_BYTES = 8192
RESUME_ARGUMENTS = 128
RESUME_BYTES = 32768
MESSAGE_LINES = 40
LAST_SEQUENCE = 2**63 - 1

STATES = frozenset({State.IDLE, State.WORKING, State.BLOCKED, State.DONE, State.ERROR})


class Refused(Exception):
    """A report that changes nothing; the text says why, in words for who sent it."""


@dataclass(frozen=True, slots=True)
class Report:
    """One checked report. session_id None: keep the last. resume None: keep the last."""

    agent: str
    instance: str
    sequence: int
    state: State
    message: str = ""
    session_id: str | None = None
    resume: tuple[str, ...] | None = None


def read_report(args: Mapping[str, Any]) -> Report:
    """The report in a request's arguments (types are the schema's). Raises Refused."""
    session = args.get("session_id")
    resume = args.get("resume")
    if resume is not None and session is None:
        raise Refused("resume arguments need the session id that they open")
    return Report(
        agent=_line("agent", args.get("agent", ""), AGENT_BYTES),
        instance=read_instance(args),
        sequence=read_sequence(args),
        state=read_state(args.get("status", "")),
        message=read_message(args.get("message", "")),
        session_id=None if session is None else _line("session id", session, SESSION_BYTES),
        resume=None if resume is None else _resume(resume),
    )


def read_instance(args: Mapping[str, Any]) -> str:
    """The instance id. Raises Refused."""
    return _line("instance", args.get("instance", ""), INSTANCE_BYTES)


def read_sequence(args: Mapping[str, Any]) -> int:
    """The sequence number. Raises Refused."""
    sequence: int = args.get("sequence", 0)
    if not 1 <= sequence <= LAST_SEQUENCE:
        raise Refused(f"sequence numbers start at 1 and end at {LAST_SEQUENCE}")
    return sequence


def read_state(word: str) -> State:
    """The state that a status word means. Raises Refused."""
    state = state_of(word)
    if state not in STATES:
        raise Refused(f"no such status: {word!r:.40}; known are idle, working, needs-input, done and error")
    return state


def read_message(text: str) -> str:
    """The message without controls, its lines kept. Raises Refused."""
    if len(text.encode("utf-8", "replace")) > MESSAGE_BYTES:
        raise Refused(f"the message is longer than {MESSAGE_BYTES} bytes")
    lines = (clean(line, MESSAGE_BYTES) for line in text.splitlines()[:MESSAGE_LINES])
    return "\n".join(line for line in lines if line)


def _line(name: str, text: str, limit: int) -> str:
    size = len(text.encode("utf-8", "replace"))
    if not text.strip():
        raise Refused(f"the {name} is missing or blank")
    if size > limit:
        raise Refused(f"the {name} has {size} bytes, {limit} are allowed")
    if not text.isprintable():
        raise Refused(f"the {name} holds control characters")
    return text


def _resume(arguments: list[Any]) -> tuple[str, ...]:
    if not arguments or not all(isinstance(argument, str) for argument in arguments):
        raise Refused("resume must be a list of texts: a program and its arguments")
    if len(arguments) > RESUME_ARGUMENTS:
        raise Refused(f"resume has {len(arguments)} arguments, {RESUME_ARGUMENTS} are allowed")
    size = sum(len(argument.encode("utf-8", "replace")) for argument in arguments)
    if size > RESUME_BYTES:
        raise Refused(f"resume has {size} bytes, {RESUME_BYTES} are allowed")
    if not arguments[0].strip():
        raise Refused("resume names no program")
    if any(_controls(argument) for argument in arguments):
        raise Refused("resume holds control characters")
    return tuple(arguments)


def _controls(text: str) -> bool:
    """C0, DEL, C1, and what is no Unicode at all (a lone surrogate)."""
    return any(ch < " " or "\x7f" <= ch <= "\x9f" or "\ud800" <= ch <= "\udfff" for ch in text)
