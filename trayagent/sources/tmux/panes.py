"""What a server is asked about a pane, and the PaneInfo made of the answer.

A variable that a version does not know comes back empty, so one list serves 3.0 to
master. Two variables are dear: `pane_current_path` and `pane_current_command` read /proc
inside the server, 29 us and 16 us a pane (3.3a), while all the others together take 35 us.
So they are asked for with complete lists only, and remembered for the looks between.

A linked window is listed once for each session that shows it. Its panes are the same
panes: one PaneInfo, under the session that was created first (which does not flip while
the user moves about), the other places in `links`.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.panes import PaneInfo

OPTIONS = ("@agent_state", "@agent_session_id", "@agent_display_name", "@agent_status_text", "@agent_hint")
SLOW = ("pane_current_path", "pane_current_command")
PROGRESS_SINCE = (3, 7)
_PLAIN = (
    "pane_id",  # always the first
    "session_id",
    "window_id",
    "window_index",
    "pane_index",
    "pane_pid",
    "pane_width",
    "pane_height",
    "pane_active",
    "window_active",
    "window_zoomed_flag",
    "pane_in_mode",
    "pane_synchronized",
    "pane_pipe",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
)
_PROGRESS = ("pane_pb_state", "pane_pb_progress")
_FREE = ("pane_tty", "session_name", "window_name", "pane_title", *OPTIONS)

# OSC 9;4 as it was sent: state, and percentage where the state has one (ConEmu's definition).
_PROGRESS_STATE = {"normal": "1", "error": "2", "indeterminate": "3", "paused": "4"}


@dataclass(frozen=True, slots=True)
class Row:
    """One pane as listed. progress: its OSC 9;4 payload, "" where hidden or unknown to the server."""

    info: PaneInfo
    progress: str


def columns(version: tuple[int, int], *, slow: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables to ask for: those that are never free text, and those that may be."""
    plain = _PLAIN + _PROGRESS if version >= PROGRESS_SINCE else _PLAIN
    return plain, _FREE + SLOW if slow else _FREE


@dataclass(slots=True)
class Known:
    """What is remembered of one server's panes between looks, by id.

    slow: folder and command, as of the last complete list. last: the last records of each pane, and
    the Row that was made of them; most looks find a pane as it was, and give the same Row."""

    slow: dict[str, tuple[str, str]] = field(default_factory=dict)
    last: dict[str, tuple[list[list[str]], Row]] = field(default_factory=dict)

    def listed(self, rows: Mapping[str, Row]) -> None:
        """These are all panes there are now."""
        self.slow = {id: (row.info.dir, row.info.command) for id, row in rows.items()}
        self.last = {id: last for id, last in self.last.items() if id in rows}


def rows(
    records: Iterable[list[str]], names: tuple[str, ...], server: ServerKey, server_name: str, known: Known
) -> dict[str, Row]:
    """Panes by id. Raises ValueError when a record is not what was asked for."""
    places: dict[str, list[list[str]]] = {}
    for record in records:
        if len(record) != len(names):
            raise ValueError(f"a pane's record has {len(record)} values instead of {len(names)}")
        places.setdefault(record[0], []).append(record)
    found: dict[str, Row] = {}
    for id, values in places.items():
        before, row = known.last.get(id, (None, None))
        folder, command = known.slow.get(id, ("", ""))
        if row is None or before != values or (row.info.dir, row.info.command) != (folder, command):
            slow = {"pane_current_path": folder, "pane_current_command": command}
            row = _row([slow | dict(zip(names, value, strict=True)) for value in values], server, server_name)
            known.last[id] = (values, row)
        found[id] = row
    return found


def _row(places: list[dict[str, str]], server: ServerKey, server_name: str) -> Row:
    """One pane, of its records: one for each session that shows it."""
    places.sort(key=lambda value: (int(value["session_id"][1:]), int(value["window_index"])))
    return Row(_info(places, PaneKey(server, places[0]["pane_id"]), server_name), _progress(places[0]))


def _info(places: list[dict[str, str]], key: PaneKey, server_name: str) -> PaneInfo:
    value = places[0]
    return PaneInfo(
        key=key,
        server_name=server_name,
        session_id=value["session_id"],
        session=value["session_name"],
        window_id=value["window_id"],
        window=value["window_name"],
        window_index=int(value["window_index"]),
        pane_index=int(value["pane_index"]),
        pid=int(value["pane_pid"] or 0),  # none once dead, in newer versions
        tty=value["pane_tty"],
        dir=value["pane_current_path"],
        title=value["pane_title"],
        command=value["pane_current_command"],
        width=int(value["pane_width"]),
        height=int(value["pane_height"]),
        active=_on(value["pane_active"]),
        window_active=any(_on(place["window_active"]) for place in places),
        zoomed=_on(value["window_zoomed_flag"]),
        in_mode=_on(value["pane_in_mode"]),
        synchronized=_on(value["pane_synchronized"]),
        piped=_on(value["pane_pipe"]),
        dead=_on(value["pane_dead"]),
        dead_status=int(value["pane_dead_status"]) if value["pane_dead_status"] else None,
        dead_signal=_signal(value["pane_dead_signal"]),
        links=tuple(
            (place["session_id"], place["session_name"], int(place["window_index"])) for place in places[1:]
        ),
        options=tuple((name, value[name]) for name in OPTIONS if value[name]),
    )


def _on(value: str) -> bool:
    return value not in ("", "0")


def _signal(value: str) -> int | None:
    """tmux gives the number, or on BSD the name without its SIG."""
    if not value:
        return None
    if value.isdecimal():
        return int(value)
    found = signal.Signals.__members__.get("SIG" + value.upper())
    return int(found) if found else None


def _progress(value: dict[str, str]) -> str:
    state = _PROGRESS_STATE.get(value.get("pane_pb_state", ""))
    if state is None:
        return ""
    return f"4;{state};" + ("" if state == "3" else value["pane_pb_progress"])
