"""A pane as commands see it, and which pane a command means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, TypeVar

from trayagent.ipc.schema import Json, VerbError
from trayagent.model.keys import PaneKey

if TYPE_CHECKING:
    from trayagent.model.view import PaneView

FIELDS = (
    "pane", "server", "session", "window", "window_index", "pane_id", "agent", "name", "state", "kind",
    "reason", "since", "needs_you", "source", "confidence", "identity", "message", "title", "command",
    "dir", "pid", "session_id",
)  # fmt: skip


class Place(Protocol):
    """What a pane is found by; a PaneView is one."""

    @property
    def key(self) -> PaneKey:
        """Its key."""

    @property
    def pane_id(self) -> str:
        """`%5`, or the tty's path."""

    @property
    def server(self) -> str:
        """The server's name."""


P = TypeVar("P", bound=Place)


def pane_name(view: Place) -> str:
    """How a command line names the pane: `SERVER:%5`, or the tty's path for a bare terminal."""
    if view.pane_id.startswith("/") or not view.server:
        return view.pane_id
    return f"{view.server}:{view.pane_id}"


def pane_json(view: PaneView, wall_offset: float) -> Json:
    """The pane object of `list`: FIELDS in their order. since: epoch seconds."""
    values = {
        "pane": pane_name(view),
        "state": view.state.value,
        "kind": view.kind.value if view.kind else None,
        "reason": view.reason.value if view.reason else None,
        "since": round(view.since + wall_offset, 3),
    }
    return {name: values[name] if name in values else getattr(view, name) for name in FIELDS}


def find_pane(views: Iterable[P], args: Json) -> P:
    """The pane that PANE arguments (schema.PANE) mean. Raises VerbError `no-pane` or `ambiguous`."""
    views = list(views)
    if "pane" in args:
        text = args["pane"]
        found = [view for view in views if _named(view, text)]
    elif "tmux_pane" in args:
        text = args["tmux_pane"]
        found = [view for view in views if _typed_in(view, args)]
    else:
        text = args.get("tty", "")
        found = [view for view in views if text and text in (view.pane_id, view.key.server.place)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(sorted(pane_name(view) for view in found))
        raise VerbError("ambiguous", f"{text} is not unique; say which one: {names}")
    raise VerbError("no-pane", _missing(text, "pane" not in args, views))


def _named(view: Place, text: str) -> bool:
    if text in (view.pane_id, pane_name(view)):
        return True
    server, colon, pane_id = text.rpartition(":")
    return bool(colon) and pane_id == view.pane_id and server in (view.server, view.key.server.place)


def _typed_in(view: Place, args: Json) -> bool:
    """$TMUX names the server by pid, which is proof, and by a socket path that may hold links."""
    server, pid = view.key.server, args.get("server_pid", 0)
    same = server.pid == pid if pid and server.pid else args.get("socket", "") in ("", server.place)
    return same and view.pane_id == args["tmux_pane"]


def _missing(text: str, here: bool, views: list[P]) -> str:
    names = sorted(pane_name(view) for view in views)
    known = (
        f"known are {', '.join(names[:12])}{' ...' if len(names) > 12 else ''}" if names else "none is known"
    )
    if here:
        return f"this terminal ({text}) is no pane with an agent; name one: {known}"
    return f"no pane {text}; {known} (trayagent list shows them)"
