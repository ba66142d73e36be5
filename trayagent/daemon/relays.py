"""Relays in the daemon: their socket, whose panes they stand in, and what they have to say to the engine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from trayagent.host.choose import start_of
from trayagent.ipc.folder import RELAYS, FolderError, credentials
from trayagent.ipc.schema import Json
from trayagent.ipc.server import AlreadyRunning, Server
from trayagent.model.events import Event, Panes
from trayagent.model.keys import PaneKey
from trayagent.sources.relay import RelaySource

if TYPE_CHECKING:
    from trayagent.daemon.parts import Parts


class Relays:
    """Joins the relays' source to the other parts."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.source = RelaySource(parts.feed, self._pane_of, start_of, credentials)
        parts.listeners.append(self._follow)

    def listen(self, server: Server) -> None:
        """Serve relays at a socket beside the server's; without it the rest of the daemon goes on."""
        try:
            self.source.listen(server.also(RELAYS).socket)
        except (FolderError, AlreadyRunning) as error:
            self._parts.report("relays", str(error))

    def close(self) -> None:
        """Let all relays go."""
        self.source.close()

    def seen_outside(self, args: Json) -> Json:
        """A command's arguments; one that was typed on a relay's own terminal means the pane around it."""
        tty = args.get("tty")
        outer = self.source.terminals().get(tty) if isinstance(tty, str) else None
        return args if outer is None else args | {"tty": outer}

    def _follow(self, event: Event) -> None:
        """After a list the engine knows panes that it did not know; listeners hear of it before that."""
        if isinstance(event, Panes):
            asyncio.get_running_loop().call_soon(self.source.listed)

    def _pane_of(self, tty: str) -> PaneKey | None:
        panes = self._parts.engine.core.panes.values()
        return next((pane.key for pane in panes if pane.info.tty == tty and not pane.gone), None)
