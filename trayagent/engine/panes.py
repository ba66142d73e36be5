"""The table: what is known of each pane, kept for as long as its key lives."""

from __future__ import annotations

from dataclasses import dataclass, field

from trayagent.judge import Ending, Front, Memory, fresh
from trayagent.judge.evidence import NEVER
from trayagent.manifest.format import Manifest
from trayagent.model.events import Relayed
from trayagent.model.evidence import Claim, Identity, Labels, Verdict
from trayagent.model.keys import PaneKey, ProcessKey
from trayagent.model.panes import PaneInfo, Screen
from trayagent.model.process import Job
from trayagent.model.states import State
from trayagent.signals import Scanner

UNSEEN = frozenset({State.DONE, State.ERROR})


@dataclass(slots=True)
class Rest:
    """Whether a silent job really does nothing; see `rest`. cpu: seconds used as of at."""

    cpu: float | None = None
    at: float = NEVER
    idle_rate: float | None = None
    quiet: bool | None = None
    probing: bool = False


@dataclass(slots=True)
class Pane:
    """One pane. Times are engine seconds.

    front: who has its terminal. other_since: some other program has had it since then.
    left_at: when the agent left it; left_busy: in the middle of a turn. gone: the server
    does not list it any more; it is kept only until its end has been seen. bare_before: it
    was seen before any agent was in it. title_before: the title that stood when the
    agent's process was first seen, which therefore is not its own word until it changes.
    """

    info: PaneInfo
    memory: Memory
    relay: Relayed | None = None  # what stands between its terminal and its agent
    job: Job | None = None
    identity: Identity | None = None
    manifest: Manifest | None = None
    front: Front = Front.SHELL
    ending: Ending | None = None
    other_since: float | None = None
    left_at: float | None = None
    left_busy: bool = False
    gone: bool = False
    first_sight: bool = False
    bare_before: bool = False
    title_before: str | None = None
    screen: Screen | None = None
    verdict: Verdict | None = None
    looked_at: float = NEVER
    wrote_at: float = NEVER
    typed_at: float = NEVER
    claims: dict[tuple[str, str], Claim] = field(default_factory=dict)
    scanner: Scanner = field(default_factory=Scanner)  # of what its program writes
    rest: Rest = field(default_factory=Rest)
    labels: Labels = field(default_factory=Labels)
    forgotten: str | None = None
    masked: tuple[str, str] = ("", "")

    @property
    def key(self) -> PaneKey:
        """The pane's key."""
        return self.info.key

    @property
    def terminal(self) -> tuple[PaneKey, int, str]:
        """Where its job is to be read, as Examine has it: on its relay's own terminal, if it has a relay."""
        if self.relay is not None:
            return self.key, self.relay.pid, self.relay.tty
        return self.key, self.info.pid, self.info.tty

    @property
    def state(self) -> State:
        """The published state."""
        return self.memory.decision.state

    @property
    def process(self) -> ProcessKey | None:
        """The agent's process."""
        return self.identity.process if self.identity else None

    @property
    def here(self) -> bool:
        """The agent is in front, or will be believed to be for a while yet."""
        return self.identity is not None and self.front in (Front.AGENT, Front.OTHER)

    def listed(self) -> bool:
        """Whether the pane is shown: an agent is there, has just left, or left something unseen;
        or a program that is no agent reports about itself."""
        if self.forgotten is not None and self.forgotten == self.moment:
            return False
        return self.identity is not None or bool(self.own_claims())

    @property
    def moment(self) -> str:
        """Names the state as it is now; `forget` lasts until it changes."""
        return f"{self.state}|{self.memory.decision.fingerprint}|{self.memory.turn}"

    def own_claims(self) -> tuple[Claim, ...]:
        """Claims that say a state, strongest or not."""
        return tuple(claim for claim in self.claims.values() if claim.state is not None)

    def start_clean(self, now: float) -> None:
        """Another process, or none: nothing that was learned about the last one counts."""
        self.memory = fresh(self.process, now)
        self.ending = None
        self.other_since = self.left_at = None
        self.screen = self.verdict = None
        self.looked_at = NEVER
        kept = (None, self.process)  # what the new process has said already, counts
        self.claims = {key: claim for key, claim in self.claims.items() if claim.owner in kept}
        self.rest = Rest()
        self.forgotten = None


def pane(info: PaneInfo, now: float) -> Pane:
    """A pane of which only its server has told."""
    return Pane(info, fresh(None, now))
