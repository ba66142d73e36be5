"""tmux pane options as claims, in the words of tmux-ide's self-report contract.

    tmux set-option -p @agent_state "working:$(date +%s)"

`@agent_state` is `STATE:EPOCH`, split at the last colon; working and blocked are stale
after ten minutes, done and idle never. `@agent_display_name` and `@agent_status_text`
count only while the state is fresh; both are cut to 32 characters. `@agent_session_id`
names the session, `@agent_hint` the agent, whatever its process looks like.
"""

from __future__ import annotations

from trayagent.model.evidence import Claim
from trayagent.model.keys import PaneKey
from trayagent.model.panes import PaneInfo
from trayagent.model.states import State
from trayagent.reports.words import clean, state_of

FRESH = 600.0
FUTURE = 300.0  # a clock that is ahead by more than this stamps nothing we can trust
TEXT = 32
STALE_AFTER = frozenset({State.WORKING, State.BLOCKED, State.ERROR})


class Options:
    """Turns pane options into claims, each time they change."""

    def __init__(self) -> None:
        self._read: dict[PaneKey, dict[str, str]] = {}

    def claims(self, info: PaneInfo, now: float, wall_offset: float) -> list[Claim]:
        """The claims that this reading of a pane's options makes or ends, none if nothing changed.

        now: engine seconds; wall_offset: epoch seconds minus engine seconds."""
        options = dict(info.options)
        before = self._read.get(info.key, {})
        if options == before:
            return []
        if options:
            self._read[info.key] = options
        else:
            del self._read[info.key]
        out = []
        if any(options.get(name) != before.get(name) for name in options.keys() | before.keys()):
            out.append(_state_claim(info.key, options, now, wall_offset))
        if options.get("@agent_hint") != before.get("@agent_hint"):
            out.append(Claim(info.key, "hint", None, now, agent=clean(options.get("@agent_hint", ""), TEXT)))
        return out

    def forget(self, present: frozenset[PaneKey]) -> None:
        """Drop what is known of panes that are gone."""
        self._read = {key: options for key, options in self._read.items() if key in present}


def _state_claim(key: PaneKey, options: dict[str, str], now: float, wall_offset: float) -> Claim:
    word, colon, stamp = options.get("@agent_state", "").rpartition(":")
    state = state_of(word) if colon else None
    nothing = Claim(key, "option", None, now)
    if state is None:
        return nothing
    try:
        at = float(stamp) - wall_offset
    except ValueError:
        return nothing
    if not abs(at) < 1e12 or at > now + FUTURE:
        return nothing
    expires = at + FRESH if state in STALE_AFTER else None
    if expires is not None and expires <= now:
        return nothing
    return Claim(
        key,
        "option",
        state,
        min(at, now),
        message=clean(options.get("@agent_status_text", ""), TEXT),
        name=clean(options.get("@agent_display_name", ""), TEXT),
        session_id=clean(options.get("@agent_session_id", ""), 200),
        expires=expires,
    )
