"""Evidence for a pane's state, and the decision drawn from it."""

from __future__ import annotations

from dataclasses import dataclass

from trayagent.model.keys import PaneKey, ProcessKey
from trayagent.model.states import Kind, Reason, State


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that a prompt on the screen offers. key: what a press would send, None if unknown."""

    label: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one manifest makes of one screen. state None: no rule matched, no opinion.

    keep: the winning rule says "do not change the state". firm_idle: the rule is proof
    enough to skip the hold out of working. blocker: may beat a claim that says otherwise.
    message: what the agent asks or says, extracted, at most a few lines, unmasked.
    interrupted: the screen says that the user ended the turn himself.
    """

    state: State | None
    manifest: str
    rule: str = ""
    keep: bool = False
    kind: Kind | None = None
    reason: Reason | None = None
    message: str = ""
    options: tuple[Option, ...] = ()
    firm_idle: bool = False
    blocker: bool = False
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """What a program or somebody on its behalf says about a pane, from outside its screen (event).

    source: `7501 report hook option transcript contract progress mark notification`.
    owner: the process that it is bound to, None for any. at: engine seconds at which it
    was made (not received). id: record id below the pane, `` for the pane's own.
    state None clears the source's (and id's) claim. event: name of the hook event that
    made it. progress: percent, None if not told. resume: the command line that opens the
    session again, () if not told.
    """

    pane: PaneKey
    source: str
    state: State | None
    at: float
    agent: str = ""
    kind: Kind | None = None
    reason: Reason | None = None
    message: str = ""
    owner: ProcessKey | None = None
    id: str = ""
    name: str = ""
    session_id: str = ""
    complete: bool = False
    expires: float | None = None
    event: str = ""
    progress: int | None = None
    resume: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Identity:
    """Who owns a pane. certainty: `process wrapper hint report`; why: one line for explain.
    chain: the processes looked through, outermost first (`timeout`, `node`).
    headless: a one-shot run that works while it lives."""

    agent: str
    process: ProcessKey
    certainty: str = "process"
    why: str = ""
    chain: tuple[str, ...] = ()
    headless: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """The one state of a pane, and why.

    fingerprint: names a prompt or an ended turn; the same state with a new fingerprint
    is a transition. source: which evidence decided (`presence screen 7501 report hook
    option transcript contract loose silence`). look_again_at: engine seconds at which
    another look may change the decision, None if only news can.
    own_interrupt: the turn ended by the user's own key.
    """

    state: State
    why: str
    source: str
    kind: Kind | None = None
    reason: Reason | None = None
    fingerprint: str = ""
    message: str = ""
    options: tuple[Option, ...] = ()
    rule: str = ""
    own_interrupt: bool = False
    look_again_at: float | None = None


@dataclass(frozen=True, slots=True)
class Labels:
    """Where a pane is, in the user's words: what banners, mutes and lists go by.

    project: git root's name, else the folder's. path: git root or folder, absolute.
    branch: `` on the main one or outside git. agent_name: "Claude Code".
    """

    project: str = ""
    path: str = ""
    branch: str = ""
    agent: str = ""
    agent_name: str = ""
    server: str = ""
    session: str = ""
    window: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Transition:
    """A published change of a pane. at: engine seconds. worked: seconds of the turn that
    ended (0 if none did). first_sight: the pane was there before the daemon knew it."""

    pane: PaneKey
    at: float
    before: State
    after: State
    decision: Decision
    agent: str
    process: ProcessKey | None
    worked: float = 0.0
    first_sight: bool = False
    labels: Labels = Labels()
