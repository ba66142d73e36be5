"""What the engine wants done. Data only: a day of thirty agents is a list of these."""

from __future__ import annotations

from dataclasses import dataclass, field

from trayagent.model.evidence import Labels, Transition
from trayagent.model.keys import PaneKey, ProcessKey, ServerKey
from trayagent.model.settings import SinkSettings
from trayagent.model.states import Kind, Reason, State
from trayagent.model.view import TrayView

# -- towards sources and host ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Look:
    """Read a server once, in one command: these panes' screens, and with `listing` the
    complete lists of panes and clients too; `clients` without `listing`: the clients alone.
    Answered by Frame, Panes, Clients, then LookEnded. why: for `explain` and `events`."""

    server: ServerKey
    panes: tuple[PaneKey, ...] = ()
    listing: bool = False
    clients: bool = False
    joined: frozenset[PaneKey] = frozenset()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Discover:
    """Look for servers that came or went."""


@dataclass(frozen=True, slots=True)
class Examine:
    """Read the foreground job of these panes: (key, pid of its first process, tty). Answered by Job."""

    panes: tuple[tuple[PaneKey, int, str], ...]
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """Read what these panes' foreground jobs have used, by the job's leader. Answered by Physics."""

    panes: tuple[tuple[PaneKey, ProcessKey], ...]


@dataclass(frozen=True, slots=True)
class WatchTerminals:
    """The complete set of terminals whose pulse is wanted: panes (writes and reads) and clients (writes)."""

    panes: frozenset[str]
    clients: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WatchProcesses:
    """The complete set of processes whose end is wanted (Exited)."""

    processes: frozenset[ProcessKey]


@dataclass(frozen=True, slots=True)
class FindRepo:
    """Find the git root and branch of a folder. Answered by Repo."""

    dir: str


@dataclass(frozen=True, slots=True)
class AskUser:
    """Find out how long the person has been idle. Answered by UserIdle."""


# -- towards the person ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Banner:
    """Show a banner. alert: our id, never used twice. panes: what it is about, the first is
    where its default action goes; more than one in a merged banner or digest.

    body is plain text; the backend escapes it where the server wants markup.
    urgency: `low normal critical`. actions: (key, label); `default` first. kind:
    `single merged digest test notice`. pane_label: stable text of the pane for hints.
    """

    alert: int
    panes: tuple[PaneKey, ...]
    title: str
    body: str
    state: State
    urgency: str = "normal"
    actions: tuple[tuple[str, str], ...] = ()
    kind: str = "single"
    agent: str = ""


@dataclass(frozen=True, slots=True)
class CloseBanner:
    """Take a banner back: its pane was visited, answered, or changed. why: for the ledger."""

    alert: int
    why: str


@dataclass(frozen=True, slots=True)
class Sound:
    """Play the sound of a state (for an agent in a project, which may have their own).

    file: of the project's profile, which goes before all others; "" for none, `off` for silence."""

    state: State
    agent: str = ""
    project: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Send:
    """Hand an alert to a sink. transition: the one that it is about, the loudest of several.

    title and body are worded for this sink; the rest is the same alert as data. at_wall: epoch
    seconds of the transition. waited: seconds since then. alert: the banner it goes with, 0 for none."""

    sink: SinkSettings
    transition: int
    panes: tuple[PaneKey, ...]
    state: State
    title: str
    body: str
    at_wall: float
    waited: float = 0.0
    alert: int = 0
    kind: Kind | None = None
    reason: Reason | None = None
    labels: Labels = field(default_factory=Labels)


@dataclass(frozen=True, slots=True)
class Tray:
    """The icon, tooltip and menu as they are now; sent only when one of them changed."""

    view: TrayView


# -- towards the ledger ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecordTransition:
    """A pane changed. id: our number for it, rising, referred to by RecordDelivery."""

    id: int
    transition: Transition


@dataclass(frozen=True, slots=True)
class RecordDelivery:
    """The outcome of a transition's alert. outcome: `delivered merged delayed held failed cancelled`;
    reason: the rule that named it (`watching`, `muted`, `settle`, ...), "" when delivered.
    A transition has one final outcome; `delayed` and `held` may be followed by another."""

    transition: int
    at: float
    outcome: str
    reason: str = ""
    alert: int | None = None


@dataclass(frozen=True, slots=True)
class RecordFollowUp:
    """What was done about a transition after its outcome was settled, which it does not change.

    what: `reminded` (by another banner, `alert`), `sounded`, or `sent` (to the sink `to`)."""

    transition: int
    at: float
    what: str
    to: str = ""
    alert: int | None = None


@dataclass(frozen=True, slots=True)
class RecordRead:
    """The person has seen, answered or dismissed the pane's items. how: `watched typed clicked
    dismissed answered command`. Also deletes the question's text from the ledger."""

    pane: PaneKey
    at: float
    how: str


@dataclass(frozen=True, slots=True)
class RecordGone:
    """The pane left the list; ended: it was working or blocked when its process ended."""

    pane: PaneKey
    at: float
    ended: bool = False
    labels: Labels = field(default_factory=Labels)


@dataclass(frozen=True, slots=True)
class Note:
    """Something the person should know once (a bad manifest, a refused socket); for log and doctor."""

    topic: str
    text: str


Effect = (
    Look | Discover | Examine | Measure | WatchTerminals | WatchProcesses | FindRepo | AskUser
    | Banner | CloseBanner | Sound | Send | Tray
    | RecordTransition | RecordDelivery | RecordFollowUp | RecordRead | RecordGone | Note
)  # fmt: skip
