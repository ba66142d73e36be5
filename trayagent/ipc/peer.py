"""Who is at the other end of a unix socket, by the kernel's word (SO_PEERCRED, unix(7))."""

from __future__ import annotations

import os
import socket
import struct
from dataclasses import dataclass

_CREDENTIALS = struct.Struct("3i")


@dataclass(frozen=True, slots=True)
class Peer:
    """The process that connected; pid 0 where the system does not say."""

    pid: int
    uid: int


def peer_of(connection: socket.socket) -> Peer:
    """The peer. Systems without SO_PEERCRED rely on the folder's 0700: who got in is us."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return Peer(0, os.geteuid())
    pid, uid, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    return Peer(pid, uid)
