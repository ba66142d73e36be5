"""Makes dbus-fast wait where the bus is slow to read, instead of giving the connection up.

Its writer hands a message to the socket as soon as it is given one, also while an earlier one is
only half written because the socket's buffer is full (measured with 5.2.0; the code is as old as
python-dbus-next, whose issue 153 it is). The kernel then answers EAGAIN, which the writer takes for
the end of the connection. Some pictures of the tray and a menu at once fill the buffer (208 KiB)
whenever the bus does not get to run for a moment. A send of nothing is what the writer understands:
it waits until the socket can be written.
"""

from __future__ import annotations

import socket
from typing import Any

from dbus_fast.aio import MessageBus


class PatientSocket:
    """What the writer uses of a socket; a full buffer takes nothing, and is no error."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def send(self, data: memoryview) -> int:
        """Bytes taken, 0 where the buffer is full; raises OSError."""
        try:
            return self._sock.send(data)
        except BlockingIOError:
            return 0

    def sendmsg(self, *args: Any) -> int:
        """As `socket.sendmsg`, for messages with descriptors (which we never send)."""
        return self._sock.sendmsg(*args)


def make_patient(connection: MessageBus) -> None:
    """Give a connected bus's writer such a socket."""
    writer: Any = connection._writer
    writer.sock = PatientSocket(writer.sock)
