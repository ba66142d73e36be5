"""What is shown: panes as lists and commands see them, and the tray as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from trayagent.model.evidence import Labels, Option
from trayagent.model.keys import PaneKey, ProcessKey
from trayagent.model.states import Kind, Reason, State


@dataclass(frozen=True, slots=True)
class PaneView:
    """One listed pane. since: engine seconds of its last transition. identity and
    confidence: how the agent was recognised and how sure the state is, in one word each."""

    key: PaneKey
    labels: Labels
    agent: str
    name: str
    state: State
    since: float
    source: str
    why: str
    server: str
    session: str
    window: str
    window_index: int
    pane_id: str
    kind: Kind | None = None
    reason: Reason | None = None
    message: str = ""
    options: tuple[Option, ...] = ()
    rule: str = ""
    identity: str = ""
    confidence: str = ""
    title: str = ""
    command: str = ""
    dir: str = ""
    pid: int = 0
    process: ProcessKey | None = None
    session_id: str = ""
    fingerprint: str = ""
    unread: bool = False
    muted_until: float | None = None
    muted: bool = False
    own_interrupt: bool = False

    @property
    def needs_you(self) -> bool:
        """A person must act: blocked, or broken."""
        return self.state in (State.BLOCKED, State.ERROR)


@dataclass(frozen=True, slots=True)
class MenuItem:
    """One row of the tray's menu. id: stable across changes, so that an open menu stays
    (the same thing keeps its id for as long as it is shown). action: what a click does, as
    (verb, argument...) for daemon/actions; empty for a row that only tells.
    toggle: `check` or `radio` with `checked`; children: a submenu."""

    id: str
    label: str = ""
    action: tuple[str, ...] = ()
    enabled: bool = True
    separator: bool = False
    toggle: str = ""
    checked: bool = False
    children: tuple[MenuItem, ...] = ()
    icon: str = ""


@dataclass(frozen=True, slots=True)
class TrayView:
    """The tray at one moment. state: the loudest state; paused: slashed icon.
    count: panes that need you. title: accessible name. click: action of the left click,
    middle: of the middle click."""

    state: State = State.UNKNOWN
    paused: bool = False
    count: int = 0
    title: str = "trayagent"
    tooltip: str = ""
    menu: tuple[MenuItem, ...] = field(default=())
    click: tuple[str, ...] = ()
    middle: tuple[str, ...] = ()
