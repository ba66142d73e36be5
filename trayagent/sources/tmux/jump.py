"""Shows a pane in the client that was used last.

Everything is found out anew at the click: the clients, the pane, the sessions that show
its window. Then one chain changes what the client shows, inside a test on the server:
only if it is still the same server process and the pane is still in the same window.

- Targets are ids (`$1`, `@4`, `%5`), never names: names hold dots, colons, spaces, or `=`.
- `switch-client -E`: without -E the client's environment is copied into the session.
- The client keeps its session if the window is linked there; otherwise it goes to the
  session that was created first among those that have the window.
- `select-pane -Z` keeps a zoomed window zoomed. It exists from 3.1 on; before, the zoom
  is put back with `resize-pane -Z` where selecting another pane took it away.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from trayagent.model.keys import PaneKey
from trayagent.model.panes import Client
from trayagent.sources.base import JumpResult, Spot
from trayagent.sources.tmux import look, wire

Ask = Callable[[str, list[str]], Awaitable[wire.Reading | str]]
"""Runs a chain made with a mark on the pane's own server: the reading, or why there is none."""

_KEEP_ZOOM_SINCE = (3, 1)
_PLAIN = ("pane_id", "session_id", "window_id", "pane_active", "window_zoomed_flag")


@dataclass(frozen=True, slots=True)
class Place:
    """One place at which a pane can be shown. hidden: its window is zoomed and shows another pane."""

    session_id: str
    window_id: str
    hidden: bool


async def jump(
    ask: Ask,
    read: Callable[[list[list[str]]], tuple[Client, ...]],
    version: tuple[int, int],
    target: PaneKey | Spot,
) -> JumpResult:
    """Show the target. read: makes Clients of client records. Raises ValueError on a senseless reply."""
    pane, name, session = (
        (target.pane, target.client, target.session_id) if isinstance(target, Spot) else (target, "", "")
    )
    mark = wire.mark()
    reading = await ask(mark, survey(mark, pane, version))
    if isinstance(reading, str):
        return JumpResult(False, reading)
    found = places(reading.panes, pane)
    if not found or reading.head is None:
        return JumpResult(False, f"pane {pane.id} is gone")
    client = viewer(read(reading.clients), name)
    place = session_for(found, client, session)
    offer = attach(pane, place, reading.head.version)
    if client is None:
        return JumpResult(False, "no terminal is attached to this tmux server", attach=offer)
    mark = wire.mark()
    moved = await ask(mark, moves(mark, reading.head, pane, place, client))
    if isinstance(moved, str):
        return JumpResult(False, moved, attach=offer)
    if not moved.complete:
        return JumpResult(False, "the pane or the terminal went away meanwhile", attach=offer)
    return JumpResult(True, client=client, before=spot(client))


def survey(mark: str, pane: PaneKey, version: tuple[int, int]) -> list[str]:
    """The chain that finds out where the pane is and who could show it."""
    record = wire.record(mark, "p", _PLAIN, ())
    chain = [*wire.head(mark), ";", *look.of_panes(mark, (pane.id,), record, version)]
    return [*chain, ";", *look.of_clients(mark), ";", *wire.say(mark, "z")]


def places(records: list[list[str]], pane: PaneKey) -> list[Place]:
    """Where the pane is shown, the session that was created first at the head."""
    found = [
        Place(session, window, hidden=zoomed == "1" and active != "1")
        for id, session, window, active, zoomed in records
        if id == pane.id
    ]
    return sorted(found, key=lambda place: int(place.session_id[1:]))


def viewer(clients: tuple[Client, ...], name: str = "") -> Client | None:
    """The client to show something in: the named one if it is there, else the one used last."""
    able = [client for client in clients if not client.control and client.pane is not None]
    return max(able, key=lambda client: (client.name == name, client.activity, client.focused), default=None)


def session_for(found: list[Place], client: Client | None, wanted: str = "") -> Place:
    """The place to go to: in the wanted session, else in the client's own, else the first."""
    for session in (wanted, client.session_id if client else ""):
        for place in found:
            if place.session_id == session:
                return place
    return found[0]


def attach(pane: PaneKey, place: Place, version: tuple[int, int]) -> tuple[str, ...]:
    """The command that shows the pane in a new terminal."""
    window = f"{place.session_id}:{place.window_id}"
    chain = ["attach-session", "-t", place.session_id, ";", "select-window", "-t", window, ";", "select-pane"]
    keep = ["-Z"] if version >= _KEEP_ZOOM_SINCE else []
    return ("tmux", "-S", pane.server.place, *chain, *keep, "-t", pane.id)


def moves(mark: str, head: wire.Head, pane: PaneKey, place: Place, client: Client) -> list[str]:
    """The chain that shows the pane, if server and pane are still what they were; `z` says that it did."""
    steps = [f"select-window -t {quote(f'{place.session_id}:{place.window_id}')}"]
    if client.session_id != place.session_id:
        steps.insert(0, f"switch-client -E -c {quote(client.name)} -t {quote(place.session_id)}")
    keep = " -Z" if head.version >= _KEEP_ZOOM_SINCE else ""
    steps.append(f"select-pane{keep} -t {quote(pane.id)}")
    if place.hidden and not keep:
        steps.append(f"resize-pane -Z -t {quote(pane.id)}")
    steps.append(f"display-message -p {mark}z")
    test = f"#{{==:#{{pid}} #{{window_id}},{head.pid} {place.window_id}}}"
    return [*wire.head(mark), ";", "if-shell", "-F", "-t", pane.id, test, " ; ".join(steps)]


def quote(text: str) -> str:
    """A word for tmux's own command parser, which takes a quoted `'` as a shell does."""
    return "'" + text.replace("'", "'\\''") + "'"


def spot(client: Client) -> Spot | None:
    """What a client shows now."""
    return Spot(client.pane, client.session_id, client.name) if client.pane else None
