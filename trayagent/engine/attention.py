"""What the person is looking at: clients, the active window, idleness and the lock, joined.

A pane is watched when a terminal window has the keyboard, that window's client shows
the pane, and the person is neither away nor locked out. tmux's own `focused` flag is no
proof by itself (it stays set where focus events were off when the client attached), so
it only decides between windows that share one process. What is not known is not watched.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trayagent.model.events import ActiveWindow
from trayagent.model.keys import ServerKey
from trayagent.model.panes import Client, PaneInfo


@dataclass(slots=True)
class Attention:
    """The last word of each witness. idle: seconds without input as of idle_at."""

    clients: dict[ServerKey, tuple[Client, ...]] = field(default_factory=dict)
    window: ActiveWindow = field(default_factory=lambda: ActiveWindow(known=False))
    idle: float | None = None
    idle_at: float = float("-inf")
    locked: bool = False
    quiet: bool = False
    away_after: float = 300.0
    clients_at: dict[ServerKey, float] = field(default_factory=dict)

    def known_since(self, server: ServerKey, moment: float) -> bool:
        """Whether clients and idleness have both been asked for after that moment."""
        return self.clients_at.get(server, float("-inf")) >= moment and self.idle_at >= moment

    def away(self, now: float) -> bool:
        """Nobody has touched the desktop for so long that nobody is in front of it."""
        return self.idle is not None and self.idle + (now - self.idle_at) >= self.away_after

    def touched(self, now: float) -> None:
        """A key went to one of our terminals, or a menu was used: somebody is there."""
        if self.idle is not None:
            self.idle, self.idle_at = 0.0, now

    def viewers(self, pane: PaneInfo) -> list[Client]:
        """The clients that show the pane's window."""
        found = self.clients.get(pane.key.server, ())
        return [client for client in found if not client.control and client.window_id == pane.window_id]

    def last_used(self) -> Client | None:
        """The client into whose terminal the person typed last, None if none is attached."""
        shown = [
            client
            for clients in self.clients.values()
            for client in clients
            if client.tty and client.pane is not None and not client.control
        ]
        return max(shown, key=lambda client: client.activity, default=None)

    def in_front(self, client: Client) -> bool:
        """Whether the client's terminal window has the keyboard."""
        if not self.window.known or client.control:
            return False
        if client.window_hint is not None:
            return client.window_hint == self.window.window
        if not self.window.pid or self.window.pid not in client.pids:
            return False
        sharing = [
            other
            for others in self.clients.values()
            for other in others
            if other.tty != client.tty and other.window_hint is None and self.window.pid in other.pids
        ]
        return not sharing or client.focused

    def watching(self, pane: PaneInfo, visible: bool, now: float) -> bool:
        """Whether the person sees the pane. visible: each split of a shown window counts,
        else only its active pane; a zoomed window shows one pane."""
        if self.locked or self.away(now):
            return False
        for client in self.viewers(pane):
            if not self.in_front(client):
                continue
            if client.pane == pane.key or (visible and not pane.zoomed):
                return True
        return False

    def explain(self, pane: PaneInfo, now: float) -> dict[str, object]:
        """The same as words, for `explain`."""
        return {
            "window_known": self.window.known,
            "active_window": self.window.window,
            "viewers": [
                {"client": client.name, "in_front": self.in_front(client), "shows": client.pane == pane.key}
                for client in self.viewers(pane)
            ],
            "away": self.away(now),
            "idle": None if self.idle is None else round(self.idle + now - self.idle_at),
            "locked": self.locked,
        }
