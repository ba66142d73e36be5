"""What a server is asked about its clients, and the Client made of the answer and /proc.

A client that was suspended (detached from its screen by the user's shell) shows nothing:
its pane is None. Control-mode clients are listed, marked as such. The `focused` flag
exists from 3.2 on.

Which window a client's terminal is cannot be asked from tmux: the client process knows
(WINDOWID, where the terminal exports it), or one of its ancestors is the terminal. Only
that one variable of its environment is looked at.
"""

from __future__ import annotations

from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.panes import Client
from trayagent.sources.tmux.proc import Proc

PLAIN = (
    "client_pid",
    "session_id",
    "window_id",
    "pane_id",
    "client_control_mode",
    "client_readonly",
    "client_activity",
)
FREE = ("client_name", "client_tty", "client_flags")
NAMES = PLAIN + FREE


class Clients:
    """Makes Clients of records, and remembers what each client process said of its window."""

    def __init__(self, proc: Proc) -> None:
        self._proc = proc
        self._windows: dict[tuple[int, int], int | None] = {}

    def read(self, records: list[list[str]], server: ServerKey) -> tuple[Client, ...]:
        """All clients of a server. Raises ValueError when a record is not what was asked for."""
        return tuple(self._client(record, server) for record in records)

    def _client(self, record: list[str], server: ServerKey) -> Client:
        if len(record) != len(NAMES):
            raise ValueError(f"a client's record has {len(record)} values instead of {len(NAMES)}")
        value = dict(zip(NAMES, record, strict=True))
        pid = int(value["client_pid"])
        flags = value["client_flags"].split(",")
        shows = bool(value["pane_id"]) and "suspended" not in flags
        return Client(
            server=server,
            name=value["client_name"],
            pid=pid,
            tty=value["client_tty"],
            session_id=value["session_id"],
            window_id=value["window_id"],
            pane=PaneKey(server, value["pane_id"]) if shows else None,
            focused="focused" in flags,
            control=value["client_control_mode"] == "1",
            read_only=value["client_readonly"] == "1",
            activity=int(value["client_activity"] or 0),
            window_hint=self._window(pid),
            pids=self._proc.lineage(pid) or (pid,),
        )

    def _window(self, pid: int) -> int | None:
        """The X11 window that the client was started in, as its terminal says."""
        started = self._proc.started(pid)
        if started is None:
            return None
        key = (pid, started)
        if key not in self._windows:
            if len(self._windows) > 200:  # clients come and go for months
                self._windows.clear()
            text = self._proc.variable(pid, "WINDOWID") or ""
            self._windows[key] = int(text) if text.isascii() and text.isdecimal() else None
        return self._windows[key]
