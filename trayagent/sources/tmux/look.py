"""The commands that a Look becomes: one, as long as it fits into tmux's 16 KiB for a command.

One command lists and captures together, so that a screen and the fields beside it are of
the same moment: the server runs the whole chain before it reads from any pane again.

- In a chain of `;` a pane that has vanished aborts the rest. `if-shell -F 1 '...'`
  around each capture isolates it.
- Fields are read through one `list-panes -a` with a filter, for a single pane too: the
  same format serves all, and a linked window gives all its places. Asking for the window
  of one pane instead (`-t`) saves 0.3 ms of 1.4 ms in a server with 50 panes and costs
  more from four panes on. Filters exist from 3.2 on; older servers list all.
- Only list-panes, list-clients, display-message, capture-pane and if-shell are ever
  used here: nothing that changes anything, sends anything or attaches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from trayagent.sources.tmux import clients, panes, wire

_FILTER_SINCE = (3, 2)
_LIMIT = 15_000  # bytes; tmux refuses commands of 16,384 with its own header (imsg)


@dataclass(frozen=True, slots=True)
class Request:
    """What to read: the ids of panes to capture, whether to list all panes, whether to list the clients."""

    ids: tuple[str, ...] = ()
    listing: bool = False
    clients: bool = False
    joined: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Command:
    """One tmux command. names: the values of its pane records, in order; ids: whose screens it reads."""

    mark: str
    args: list[str]
    names: tuple[str, ...]
    ids: tuple[str, ...]
    listing: bool
    clients: bool


def commands(request: Request, version: tuple[int, int] | None) -> Iterator[Command]:
    """Split a request into commands that fit. version None: not known yet, the oldest is assumed."""
    while True:
        command = _command(request, version or (3, 0))
        yield command
        left = request.ids[len(command.ids) :]
        if not left:
            return
        request = replace(request, ids=left, listing=False, clients=False)


def of_panes(mark: str, ids: Iterable[str] | None, record: str, version: tuple[int, int]) -> list[str]:
    """The part of a chain that lists these panes (older servers: all), or all for None."""
    listed = ["list-panes", "-a", "-F", record]
    if ids is not None and version >= _FILTER_SINCE:
        listed += ["-f", "#{m:*#{pane_id} *," + "".join(f"{id} " for id in ids) + "}"]
    return [*listed, ";", *wire.say(mark, "P")]


def of_clients(mark: str) -> list[str]:
    """The part of a chain that lists all clients."""
    record = wire.record(mark, "q", clients.PLAIN, clients.FREE)
    return ["list-clients", "-F", record, ";", *wire.say(mark, "Q")]


def _command(request: Request, version: tuple[int, int]) -> Command:
    """One command for as many of the wanted panes as fit."""
    mark = wire.mark()
    plain, free = panes.columns(version, slow=request.listing)
    record = wire.record(mark, "p", plain, free)
    captures: list[str] = []
    ids: list[str] = []
    room = _LIMIT - len(record) - 1000  # the fixed parts of the chain and of the client list
    for id in request.ids:
        capture = _capture(mark, id, id in request.joined)
        room -= sum(len(word) + 1 for word in capture) + len(id) + 1
        if room < 0 and ids:
            break
        captures += capture
        ids.append(id)
    chain = wire.head(mark)
    if request.listing or ids:
        chain += [";", *of_panes(mark, None if request.listing else ids, record, version)]
    if request.clients:
        chain += [";", *of_clients(mark)]
    chain += [*captures, ";", *wire.say(mark, "z")]
    return Command(mark, chain, plain + free, tuple(ids), request.listing, request.clients)


def _capture(mark: str, id: str, joined: bool) -> list[str]:
    number = id[1:]
    text = f"display-message -p {mark}s{number} ; capture-pane -p -t {id}"
    if joined:
        text += f" ; display-message -p {mark}j{number} ; capture-pane -p -J -t {id}"
    return [";", "if-shell", "-F", "1", text]
