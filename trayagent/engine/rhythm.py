"""How one pane writes, and when it is next due for a look.

Idle and blocked panes blink and redraw, so once they are settled they have beats only, a
second apart, or two after three looks in a row that differed in spinners only; a key that
is read there makes them lively again. Many working agents pause all the time; what counts
as silence is therefore a bit longer than the pauses that this pane has lately made and
ended by writing on, and grows with each silence of the same turn that meant nothing: the
longer a turn has run, the less a quarter of a second matters. A second is the most, for
then the beat sees it.
"""

from __future__ import annotations

from dataclasses import dataclass

NEVER = float("-inf")

# Writes are told 100 ms after the first of them. A pane that draws ten times a second is
# therefore heard of every 100 to 200 ms; to be missed for longer is to be silent.
SETTLE = 0.2
FLOOR = 0.3
FLOOR_CALM = 1.0
FLOOR_SAME = 2.0
SAME_LOOKS = 3
# A silence must be this much longer than the longest recent pause; a pause is forgotten by
# half every so many seconds, and a silence longer than `PAUSE_MOST` is no pause.
PAUSE_FACTOR = 1.3
PAUSE_HALF_LIFE = 5.0
PAUSE_MOST = 1.0
MISS_FACTOR = 1.3
BEAT = 1.0
SAFETY = 30.0
POLL_WORKING, POLL_AGENTS, POLL_NONE = 0.5, 2.0, 5.0


@dataclass(slots=True)
class Rhythm:
    """Times are engine seconds. pulse: whether any pane's writes are noticed; deaf: whether this
    one's are not all the same."""

    tty: str
    pulse: bool = True
    deaf: bool = False
    agent: bool = False
    calm_from: float = float("inf")  # idle or blocked, and for some time: from then on it may wait
    working: bool = False
    wrote_first: float | None = None  # first write that no look has seen
    wrote: float = NEVER
    typed: float = NEVER
    looked: float = NEVER
    same: int = 0
    pause: float = 0.0  # the longest recent pause, as of the last write
    misses: int = 0  # silences of this turn that were looked at in vain
    patience: float = SETTLE  # how long this pane must be silent before that means anything
    wanted: float | None = None
    why: str = ""

    # -- what happened -------------------------------------------------------------------

    def is_now(self, agent: bool, working: bool, calm_from: float) -> None:
        """What kind of pane it is; another turn knows nothing of the last one's silences."""
        self.agent, self.calm_from = agent, calm_from
        if self.working is not working:
            self.working = working
            self.missed(0)

    def missed(self, count: int) -> None:
        """So many silences of this turn have meant nothing."""
        self.misses = count
        grown = SETTLE * MISS_FACTOR ** min(count, 8)
        self.patience = min(max(grown, self.pause * PAUSE_FACTOR), PAUSE_MOST)

    def writes(self, at: float) -> None:
        """It wrote. What it did before was a pause, if it was not too long for one."""
        gap = at - self.wrote
        if not self.still and SETTLE < gap < PAUSE_MOST:
            self.pause = max(self.pause, gap)
        if self.pause > 0.01:
            self.pause *= 0.5 ** (min(gap, 60.0) / PAUSE_HALF_LIFE)
            self.missed(self.misses)
        if self.wrote_first is None:
            self.wrote_first = at
        self.wrote = at

    def saw(self, at: float, same: bool) -> None:
        """A look that began at `at` came back; same: it differed from the last in spinners only."""
        self.looked = at
        if self.wrote_first is not None:
            self.wrote_first = None if self.wrote <= at else max(self.wrote_first, at)
        self.same = self.same + 1 if same else 0

    # -- what it is ----------------------------------------------------------------------

    @property
    def still(self) -> bool:
        """It is idle or blocked: what comes between two writes is a person's time."""
        return self.calm_from < float("inf")

    @property
    def calm(self) -> bool:
        """It is idle or blocked, and has been looked at for long enough in that state."""
        return self.looked >= self.calm_from

    @property
    def heard(self) -> bool:
        """Whether this pane's writes are noticed."""
        return self.pulse and not self.deaf

    @property
    def pending(self) -> bool:
        """Whether it has written since it was last looked at (always, where nobody could tell)."""
        return self.wrote_first is not None or not self.heard

    # -- when it is due ------------------------------------------------------------------

    def due(self) -> tuple[float, str]:
        """The moment at which this pane is next due, and why (the table in `planner`)."""
        if not self.agent:
            return self._job(), "job"
        best, why = self.looked + SAFETY, "safety"
        if self.wanted is not None and self.wanted < best:
            best, why = self.wanted, "wanted"
        if not self.pulse:
            every = POLL_WORKING if self.working else POLL_AGENTS
            return min((best, why), (self.looked + every, "poll"))
        if self.deaf:
            return min((best, why), (self.looked + BEAT, "deaf"))
        if self.wrote_first is not None:
            best, why = min((best, why), (self._beat(self.wrote_first), "beat"))
            if not self.calm or self.typed > self.looked:
                best, why = min((best, why), (self._silent(), "silent"))
        return best, why

    def _silent(self) -> float:
        due = self.wrote + self.patience
        return due if self.typed > self.looked else max(due, self.looked + self._floor)

    def _beat(self, first: float) -> float:
        earliest = max(first, self.looked + BEAT / 10)
        if self.calm and self.typed <= self.looked:
            earliest = max(earliest, self.looked + self._floor - BEAT / 2)
        return (earliest // BEAT + 1) * BEAT

    @property
    def _floor(self) -> float:
        if not self.calm:
            return FLOOR
        return FLOOR_SAME if self.same >= SAME_LOOKS else FLOOR_CALM

    def _job(self) -> float:
        if not self.heard:
            return self.looked + POLL_NONE
        if self.wrote_first is None:
            return self.looked + SAFETY
        return max(min(self.wrote + SETTLE, self.wrote_first + BEAT), self.looked + FLOOR)
