"""What the world tells the engine. Claim and Job (evidence.py, process.py) are events too.

Times named `at` are engine seconds: a clock that counts suspended time and never
goes back (CLOCK_BOOTTIME); Wall tells how far the wall clock is from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trayagent.model.evidence import Claim, Labels
from trayagent.model.keys import PaneKey, ProcessKey, ServerKey
from trayagent.model.panes import Client, PaneInfo, Screen
from trayagent.model.process import Job
from trayagent.model.settings import Settings
from trayagent.model.states import Kind, Reason, State

# -- from sources ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Panes:
    """The complete list of one server's panes; a pane that is missing is gone."""

    server: ServerKey
    panes: tuple[PaneInfo, ...]


@dataclass(frozen=True, slots=True)
class ServerFound:
    """A server that may be watched was found; its list is due. name: as users call it (`default`)."""

    server: ServerKey
    name: str


@dataclass(frozen=True, slots=True)
class ServerGone:
    """A server ended, and all of its panes with it."""

    server: ServerKey


@dataclass(frozen=True, slots=True)
class Frame:
    """One look at one pane. info: the pane's fields as read in the same command.

    at: when the look began, so that a write after it is known to be unseen.
    screen None: the pane was listed but not captured.
    """

    pane: PaneKey
    info: PaneInfo
    screen: Screen | None
    at: float


@dataclass(frozen=True, slots=True)
class Clients:
    """The complete list of one server's clients."""

    server: ServerKey
    clients: tuple[Client, ...]


@dataclass(frozen=True, slots=True)
class LookEnded:
    """The look that a Look effect asked for is over; problem says why it failed, if it did."""

    server: ServerKey
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a pane's program wrote, byte for byte and in order (relay, tap; at most 64 KiB each).

    at: when it was written. lost: bytes before these were skipped; half a sequence may be missing."""

    pane: PaneKey
    data: bytes
    at: float
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Relayed:
    """A relay stands between the pane's terminal and its agent: the job to read is the one of the
    relay's own terminal. tty: its slave; pid: its first process; 0: the relay has ended."""

    pane: PaneKey
    tty: str = ""
    pid: int = 0


# -- from the host -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pulse:
    """Terminals that were written to (wrote) or whose input was read (typed) since the last drain."""

    wrote: frozenset[str] = frozenset()
    typed: frozenset[str] = frozenset()
    overflow: bool = False


@dataclass(frozen=True, slots=True)
class TerminalsChanged:
    """A terminal came or went: lists are due."""


@dataclass(frozen=True, slots=True)
class PulseState:
    """Which terminals have no pulse (unwatchable or none on this system): they are polled."""

    available: bool
    deaf: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Exited:
    """A watched process ended. status: exit status, None if unknown; signal: what killed it."""

    process: ProcessKey
    status: int | None = None
    signal: int | None = None


@dataclass(frozen=True, slots=True)
class Physics:
    """What a pane's foreground job has used: cpu: seconds of user and system time of the group
    and its descendants so far; children: how many processes it has; newest: start of the
    youngest one (clock ticks since boot), 0 if it has none. Answers Measure."""

    pane: PaneKey
    cpu: float
    children: int
    newest: int


@dataclass(frozen=True, slots=True)
class Repo:
    """Where a folder belongs: git root (or the folder itself) and branch ("" on the main one)."""

    dir: str
    root: str
    branch: str


@dataclass(frozen=True, slots=True)
class Wall:
    """wall clock = engine seconds + offset. zone: IANA name, "" for the system's own."""

    offset: float
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """The machine slept for `slept` seconds and is awake again."""

    slept: float


# -- from the desktop --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ActiveWindow:
    """The window that has the keyboard. known False: this desktop does not say.

    window: the X11 id, 0 for none. pid: _NET_WM_PID or 0."""

    known: bool
    window: int = 0
    pid: int = 0


@dataclass(frozen=True, slots=True)
class UserIdle:
    """Seconds since the last input at the desktop, None if nobody says so."""

    seconds: float | None


@dataclass(frozen=True, slots=True)
class Locked:
    """The session is locked, or not."""

    locked: bool


@dataclass(frozen=True, slots=True)
class DesktopQuiet:
    """The desktop's own do-not-disturb. source names who said so."""

    on: bool
    source: str = ""


@dataclass(frozen=True, slots=True)
class BannerShown:
    """The notification server took the banner. id: its own number for it, 0 if it gives none."""

    alert: int
    id: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class BannerFailed:
    """The banner could not be shown; the item stays unread, and is not lost."""

    alert: int
    why: str


@dataclass(frozen=True, slots=True)
class BannerClosed:
    """by: `user`, `time`, `us` or `other`. A dismissed banner is read, not answered."""

    alert: int
    by: str


# -- from the person, through tray, banner or command line -------------------------------


@dataclass(frozen=True, slots=True)
class Visited:
    """The person went to the pane through us (banner, menu, `jump`): it is seen."""

    pane: PaneKey


@dataclass(frozen=True, slots=True)
class MuteSet:
    """scope: `pane session project agent`; value: the pane's key text, session, path, agent id.

    until: engine seconds, None for always. Setting an until in the past unmutes."""

    scope: str
    value: str
    until: float | None


@dataclass(frozen=True, slots=True)
class Paused:
    """Alerts are paused until engine seconds `until`; None: until unpaused; in the past: unpaused."""

    until: float | None


@dataclass(frozen=True, slots=True)
class MenuOpening:
    """The tray's menu is about to be seen: it must be fresh."""


@dataclass(frozen=True, slots=True)
class Read:
    """Ended items of a pane are read; pane None: all."""

    pane: PaneKey | None = None


@dataclass(frozen=True, slots=True)
class Forget:
    """The pane's item leaves the list until the pane changes again."""

    pane: PaneKey


@dataclass(frozen=True, slots=True)
class Configured:
    """The config was read. settings: in force now; problems: what is wrong with the file, a line each."""

    settings: Settings
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Programs:
    """What of the person's own programs is there, so that the menu offers only what works.

    terminal: one that a command can be run in. editor: something that opens the config file.
    clipboard: something that takes a text."""

    terminal: bool = False
    editor: bool = False
    clipboard: bool = False


@dataclass(frozen=True, slots=True)
class ManifestsChanged:
    """The manifests were read anew; every known screen is judged again."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What the ledger knows of a pane from before this start (fed once, before the first list).

    alerted: the state's banner has been shown or held, so it must not be shown again."""

    pane: PaneKey
    process: ProcessKey | None
    agent: str
    state: State
    fingerprint: str
    since_wall: float
    generation: int = 0
    alerted: bool = True


@dataclass(frozen=True, slots=True)
class Recalled:
    """An alert from before this start, as the ledger has it (fed oldest first, after Wall).

    id: of its transition. at_wall: epoch seconds. outcome and held_by: as in RecordDelivery."""

    id: int
    at_wall: float
    pane: PaneKey
    state: State
    labels: Labels
    outcome: str
    held_by: str = ""
    kind: Kind | None = None
    reason: Reason | None = None
    message: str = ""
    read: bool = True


@dataclass(frozen=True, slots=True)
class Tick:
    """Nothing happened but time; fed when Engine.wake_at is reached."""


Event = (
    Panes | ServerFound | ServerGone | Frame | Clients | LookEnded | Output | Relayed | Job | Claim
    | Pulse | TerminalsChanged | PulseState | Exited | Physics | Repo | Wall | Resumed
    | ActiveWindow | UserIdle | Locked | DesktopQuiet | BannerShown | BannerFailed | BannerClosed
    | Visited | MenuOpening | MuteSet | Paused | Read | Forget | Configured | Programs | ManifestsChanged
    | Remembered | Recalled | Tick
)  # fmt: skip
