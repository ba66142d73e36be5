"""What a hook event of an agent says, by the `[hooks]` table of its manifest.

The first rule serves whose event it is, whose `where` fits, and whose `only_if` holds the state that
the pane is in. It names a state, or with `clear` ends what was said, or says nothing.

Fields have dotted names, which go into tables; of a list every entry is read, so a field has any
number of values and a `where` fits if one of them is wanted.

An event that a sub-agent fired (one of `SUB_AGENT` has a value) never ends its parent's turn: it may
say that somebody works or that a question is open, and nothing else. What runs in the
background ends with an event of the parent's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trayagent.manifest.format import HookRule, Hooks
from trayagent.model.states import Kind, Reason, State

Fields = Mapping[str, tuple[str, ...]]

SUB_AGENT = ("agent_id", "agentId", "parentID", "parent_id")
SESSION = ("session_id", "sessionID", "sessionId", "taskId", "thread_id")
GOES_ON = frozenset({State.WORKING, State.BLOCKED})


@dataclass(frozen=True, slots=True)
class Said:
    """What an event says. state None: what was said before is over."""

    state: State | None
    kind: Kind | None = None
    reason: Reason | None = None
    message: str = ""


def values(data: Any, path: str) -> tuple[str, ...]:
    """What stands at a dotted path of an event's JSON, in every entry of a list."""
    at = [data]
    for key in path.split("."):
        at = [item[key] for item in at if isinstance(item, dict) and key in item]
        at = [entry for item in at for entry in (item if isinstance(item, list) else [item])]
    return tuple(str(item) for item in at)


def fields_of(data: Any, hooks: Hooks) -> dict[str, tuple[str, ...]]:
    """The fields that a manifest asks for, out of an event's JSON; those without a value are left out."""
    found = {name: values(data, name) for name in hooks.fields}
    return {name: value for name, value in found.items() if value}


def serving(hooks: Hooks, event: str, fields: Fields, before: State) -> HookRule | None:
    """The rule that serves an event which came in this state, None if it says nothing."""
    for rule in hooks.rules:
        fits = all(set(fields.get(name, ())) & set(wanted) for name, wanted in rule.where)
        if rule.event == event and fits and (not rule.only_if or before in rule.only_if):
            return rule
    return None


def said(hooks: Hooks, event: str, fields: Fields, before: State) -> Said | None:
    """What an event says in this state, None for nothing."""
    rule = serving(hooks, event, fields, before)
    if rule is None or (rule.state is None and not rule.clear):
        return None
    state = None if rule.clear else rule.state
    if from_sub_agent(fields) and state not in GOES_ON:
        return None
    message = fields.get(rule.message_field, ()) if rule.message_field else ()
    return Said(state, rule.kind, rule.reason, message[0] if message else "")


def from_sub_agent(fields: Fields) -> bool:
    """Whether a sub-agent fired the event."""
    return any(value for name in SUB_AGENT for value in fields.get(name, ()))


def session_of(fields: Fields) -> str:
    """The session that the event belongs to, "" if it names none."""
    return next((value for name in SESSION for value in fields.get(name, ()) if value), "")
