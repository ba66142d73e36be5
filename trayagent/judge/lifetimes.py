"""How long each source is believed, and why a claim does not count.

| source       | lifetime                  | because                                            |
| ------------ | ------------------------- | -------------------------------------------------- |
| 7501         | none                      | its program ends it: a mark, its exit, a reset     |
| report       | none                      | its program ends it: a release, its exit           |
| hook         | none                      | the screen corrects the sets that are partial      |
| option       | 600 s, idle and done none | a script that died leaves its option behind        |
| transcript   | none                      | bound to a process; the log goes on or it ends     |
| contract     | 6 h, idle none            | as THINKTERM_AGENT says it                         |
| progress     | none                      | the program ends it; silence ends "working"        |
| mark         | none                      | the shell's next mark follows it                   |
| notification | until the next write      | it is an event and no state                        |

A claim's own `expires` may shorten its lifetime, never lengthen it. The engine asks here which
claims count, and `explain` why the others do not: the same code for both.
"""

from __future__ import annotations

from collections.abc import Iterable

from trayagent.model.evidence import Claim
from trayagent.model.keys import ProcessKey
from trayagent.model.states import State

# Seconds; a source that is not named here has no end of its own.
LIFETIME = {"option": 600.0, "contract": 6 * 3600.0}
# What never goes stale: nobody repeats that nothing is happening.
AT_PEACE = {
    "option": frozenset({State.IDLE, State.DONE}),
    "contract": frozenset({State.IDLE}),
}


def ends_at(claim: Claim) -> float | None:
    """Engine seconds at which the claim is believed no more, None for never by time alone."""
    lifetime = LIFETIME.get(claim.source)
    if lifetime is None or claim.state in AT_PEACE.get(claim.source, ()):
        return claim.expires
    end = claim.at + lifetime
    return end if claim.expires is None else min(end, claim.expires)


def why_not(claim: Claim, process: ProcessKey | None, born: float, wrote_at: float, now: float) -> str:
    """Why the claim does not count, `` if it does.

    process: the agent that is in the pane. born: engine seconds before which no claim can be
    its own. wrote_at: the pane's last write.
    """
    end = ends_at(claim)
    if claim.owner is not None and claim.owner != process:
        return "it is another process's"
    if claim.at < born:
        return "it is older than the process"
    if end is not None and end <= now:
        return f"it ended {now - end:.0f} s ago"
    if claim.source == "notification" and wrote_at > claim.at:
        return "the pane has written since"
    return ""


def next_end(claims: Iterable[Claim], now: float) -> float | None:
    """When the first of these claims ends, None if time alone ends none of them."""
    ends = (ends_at(claim) for claim in claims)
    return min((end for end in ends if end is not None and end > now), default=None)
