"""What the judge is given about one pane at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from trayagent.model.evidence import Claim, Verdict
from trayagent.model.keys import ProcessKey

NEVER = float("-inf")

# Signals and exit statuses by which a person ends a program; they are no crash.
# 128 + n is how shells and many programs report the signal n (POSIX sh, exit status).
USER_SIGNALS = frozenset({1, 2, 15})
USER_STATUSES = frozenset({0, 129, 130, 143})


class Front(StrEnum):
    """Who has the pane's terminal."""

    AGENT = "agent"
    OTHER = "other"  # some other program; the agent may come back
    SHELL = "shell"  # the pane's own shell is back
    GONE = "gone"  # the pane's process has ended


@dataclass(frozen=True, slots=True)
class Ending:
    """How the agent's process ended, as far as it is known."""

    status: int | None = None
    signal: int | None = None

    @property
    def crashed(self) -> bool:
        """It ended badly, and not by the user's own hand."""
        if self.signal is not None:
            return self.signal not in USER_SIGNALS
        return self.status is not None and self.status not in USER_STATUSES


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of one pane. Times are engine seconds.

    verdict: what its manifest makes of the last look, None before the first. looked_at:
    when that look began. wrote_at, typed_at: the last pulse of each kind. claims: those
    that are bound to the living process or to none. at_rest: its job uses no more CPU
    than when idle and has started no child since the turn began, None where unknown.
    hold and cap: see holds; stall: the
    silence after which working is not believed any more, 0 for never.
    """

    front: Front
    process: ProcessKey | None = None
    headless: bool = False
    ending: Ending | None = None
    verdict: Verdict | None = None
    looked_at: float = NEVER
    wrote_at: float = NEVER
    typed_at: float = NEVER
    claims: tuple[Claim, ...] = ()
    at_rest: bool | None = None
    hold: float = 0.45
    cap: float = 0.7
    stall: float = 30.0
