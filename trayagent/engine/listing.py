"""Servers, lists and clients: which panes there are, and where they are shown."""

from __future__ import annotations

from trayagent.engine.core import Core
from trayagent.engine.jobs import leave
from trayagent.engine.panes import Pane, pane
from trayagent.judge import Ending, Front
from trayagent.model.effects import Discover, Examine, FindRepo
from trayagent.model.events import (
    Clients,
    LookEnded,
    Panes,
    PulseState,
    Remembered,
    Repo,
    ServerFound,
    ServerGone,
    TerminalsChanged,
)
from trayagent.model.keys import PaneKey
from trayagent.model.panes import PaneInfo

# Terminals come in bursts (a layout being built): one list for all of them.
LIST_AFTER = 0.15
LIST_EVERY = 2.0  # where terminals come and go all the time, as builds and tests make them
# A new terminal's server may need a moment until its socket can be found.
DISCOVER_EVERY = 30.0


def server_found(core: Core, event: ServerFound) -> None:
    """A server may be watched: its list is due at once."""
    core.names[event.server] = event.name
    core.planner.want_list(event.server, core.now)


def server_gone(core: Core, event: ServerGone) -> None:
    """A server ended: its panes are gone, and its clients see nothing."""
    _missing(core, [entry for entry in core.panes.values() if entry.key.server == event.server])
    core.planner.forget_server(event.server)
    core.attention.clients.pop(event.server, None)
    core.attention.clients_at.pop(event.server, None)
    core.watch_dirty = True


def panes(core: Core, event: Panes) -> None:
    """The complete list of one server."""
    present = {info.key for info in event.panes}
    _missing(core, [e for e in core.panes.values() if e.key.server == event.server and e.key not in present])
    examine: list[tuple[PaneKey, int, str]] = []
    fresh: list[tuple[PaneKey, int, str]] = []
    for info in event.panes:
        known = core.panes.get(info.key)
        into = examine
        if known is None or known.gone:
            into = fresh
            known = core.panes[info.key] = pane(info, core.now)
            core.planner.add(info.key, info.tty)
            core.planner.wrote([info.tty], core.now)  # what it wrote before it was listened to
            core.watch_dirty = True
        update(core, known, info)
        if info.dead:
            _dead(core, known, info)
        else:
            into.append(known.terminal)
    core.out += [Examine(tuple(panes), anew) for panes, anew in ((examine, False), (fresh, True)) if panes]
    _find_branches(core, event)
    core.tray.dirty = True
    core.look_at_seen(event.server)


def update(core: Core, known: Pane, info: PaneInfo) -> None:
    """Take over what the server says of a pane."""
    if info.tty != known.info.tty:
        core.planner.remove(info.key)
        core.planner.add(info.key, info.tty)
        core.watch_dirty = True
    moved = info.dir != known.info.dir or known.labels.target == ""
    known.info = info
    if moved or known.labels.session != info.session or known.labels.window != info.window:
        core.relabel(known)
    if info.dir and info.dir not in core.repos:
        core.repos[info.dir] = Repo(info.dir, info.dir, "")
        core.out.append(FindRepo(info.dir))


def _find_branches(core: Core, event: Panes) -> None:
    """Agents change branches under way; each list asks anew."""
    agents = {info.dir for info in event.panes if info.dir and core.panes[info.key].identity is not None}
    core.out += [FindRepo(folder) for folder in sorted(agents)]


def repo(core: Core, event: Repo) -> None:
    """A folder's project and branch are known (or have changed)."""
    if core.repos.get(event.dir) == event:
        return
    core.repos[event.dir] = event
    for known in core.panes.values():
        if known.info.dir == event.dir:
            core.relabel(known)


def clients(core: Core, event: Clients) -> None:
    """Who is attached, and to what."""
    core.attention.clients_at[event.server] = core.now
    if core.attention.clients.get(event.server) != event.clients:
        core.attention.clients[event.server] = event.clients
        core.watch_dirty = True
    core.look_at_seen(event.server)


def look_ended(core: Core, event: LookEnded) -> None:
    """A look came back, or failed; a failure is a problem until the next success."""
    core.planner.look_ended(event.server)
    topic = f"server {event.server.place}"
    if event.problem is not None:
        core.problems[topic] = event.problem
    else:
        core.problems.pop(topic, None)
    for key in [key for key in core.catching if key.server == event.server and key not in core.panes]:
        core.catching.discard(key)


def terminals_changed(core: Core, event: TerminalsChanged) -> None:
    """A terminal came or went: servers and their lists may have changed."""
    core.out.append(Discover())
    for server, entry in core.planner.servers.items():
        core.planner.want_list(server, max(core.now + LIST_AFTER, entry.listed + LIST_EVERY))


def pulse_state(core: Core, event: PulseState) -> None:
    """Which terminals have no pulse."""
    core.planner.hear(event.available, event.deaf)


def remembered(core: Core, event: Remembered) -> None:
    """What the ledger knows from before this start."""
    core.remembered[event.pane] = event


def _missing(core: Core, gone: list[Pane]) -> None:
    for entry in gone:
        core.planner.remove(entry.key)
        core.catching.discard(entry.key)
        core.watch_dirty = True
        entry.gone = True
        if entry.identity is None:
            core.panes.pop(entry.key, None)
            core.tray.dirty = True
        elif entry.left_at is None:
            leave(core, entry, Front.GONE)


def _dead(core: Core, known: Pane, info: PaneInfo) -> None:
    """A pane that stays on the screen after its process has ended."""
    if known.identity is not None and known.left_at is None:
        known.ending = Ending(info.dead_status, info.dead_signal)
        leave(core, known, Front.GONE)
