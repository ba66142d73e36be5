"""Who is at the other end of a unix socket, by the kernel's word (SO_PEERCRED, unix(7))."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from trayagent.ipc.folder import credentials


@dataclass(frozen=True, slots=True)
class Peer:
    """The process that connected; pid 0 where the system does not say."""

    pid: int
    uid: int


def peer_of(connection: socket.socket) -> Peer:
    """The peer. Systems without SO_PEERCRED rely on the folder's 0700: who got in is us."""
    return Peer(*credentials(connection))
