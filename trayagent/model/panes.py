"""What a source knows about a pane, its clients, and its screen at one moment."""

from __future__ import annotations

from dataclasses import dataclass

from trayagent.model.keys import PaneKey, ServerKey


@dataclass(frozen=True, slots=True)
class PaneInfo:
    """A pane as its server lists it.

    pid: the pane's first process. tty: path of its terminal. dir: working folder.
    title: what the server shows as its title (may be a default; see Frame.title).
    active: it is the active pane of its window. window_active: its window is the
    session's current one. zoomed: its window is zoomed. links: further
    (session id, session name, window index) under which a linked window shows it.
    options: the pane options that reports are read from, name to raw value.
    dead_status: exit status of a pane that remained after its process ended.
    dead_signal: the signal that ended it.
    """

    key: PaneKey
    server_name: str
    session_id: str
    session: str
    window_id: str
    window: str
    window_index: int
    pane_index: int
    pid: int
    tty: str
    dir: str = ""
    title: str = ""
    command: str = ""
    width: int = 80
    height: int = 24
    active: bool = True
    window_active: bool = True
    zoomed: bool = False
    in_mode: bool = False
    synchronized: bool = False
    piped: bool = False
    dead: bool = False
    dead_status: int | None = None
    dead_signal: int | None = None
    links: tuple[tuple[str, str, int], ...] = ()
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Client:
    """A terminal attached to a server, as a possible viewer.

    pane: the pane it shows as active. window_id, session_id: what it shows.
    focused: the server's own flag, which alone is no proof (it stays set for ever
    where focus events were off when the client attached). control: a control-mode
    client, never a viewer. activity: epoch seconds of its last key. window_hint: the
    X11 window id that the client's environment names (WINDOWID), if any.
    pids: the client process and its ancestors, nearest first (the terminal is among them).
    """

    server: ServerKey
    name: str
    pid: int
    tty: str
    session_id: str
    window_id: str
    pane: PaneKey | None
    focused: bool = False
    control: bool = False
    read_only: bool = False
    activity: int = 0
    window_hint: int | None = None
    pids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Screen:
    """What the rules read: the text of one screen and what the program said beside it.

    text: physical rows joined by newlines, trailing blanks of a row removed. joined:
    the same with wrapped rows joined, None where nobody asked for it. title and
    progress: what the program itself emitted (OSC 0/2; the payload of OSC 9 after
    `9;`, such as `4;3;`), empty if it never did.
    """

    text: str
    title: str = ""
    progress: str = ""
    width: int = 80
    height: int = 24
    joined: str | None = None
