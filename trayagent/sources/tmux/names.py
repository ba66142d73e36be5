"""How servers and panes are called on the command line: `SERVER:%5`, or `%5` where that is enough.

SERVER is the base name of the socket (`default`, `a`), or its whole path where two
servers share a base name. A path may hold colons and percent signs; the last `:%` counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

from trayagent.model.keys import PaneKey, ServerKey

_PANE = re.compile(r"(?:(?P<server>.+):)?(?P<id>%[0-9]+)", re.DOTALL)


def server_name(server: ServerKey, known: Iterable[ServerKey]) -> str:
    """What a server is called among the known ones."""
    base = PurePath(server.place).name
    shared = any(other.place != server.place and PurePath(other.place).name == base for other in known)
    return server.place if shared else base


def text(pane: PaneKey, known: Iterable[ServerKey]) -> str:
    """A pane as `SERVER:%5`."""
    return f"{server_name(pane.server, known)}:{pane.id}"


def parse(name: str, panes: Iterable[PaneKey]) -> PaneKey:
    """The pane that a name means among these.

    Raises LookupError, with a sentence for the person, if there is none or more than one,
    and ValueError if this is no name of a tmux pane at all."""
    match = _PANE.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is not a tmux pane: expected %N or SERVER:%N")
    server = match["server"]
    found = [
        pane
        for pane in panes
        if pane.server.kind == "tmux"
        and pane.id == match["id"]
        and (server is None or server in (pane.server.place, PurePath(pane.server.place).name))
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise LookupError(f"there is no pane {name}")
    servers = [pane.server for pane in found]
    raise LookupError(f"{name} is one of " + ", ".join(sorted(text(pane, servers) for pane in found)))
