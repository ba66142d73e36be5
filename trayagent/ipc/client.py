"""A command's end of the socket: small, blocking, quick to import.

`call` asks once, `stream` follows a stream. Both connect for themselves; a command that ends
leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trayagent.ipc import paths, schema
from trayagent.ipc.schema import Json, VerbError

__all__ = ["NoDaemon", "VerbError", "call", "stream"]

TIMEOUT = 5.0


class NoDaemon(Exception):
    """Nobody answers: there is no daemon, or it does not react. The text says what to do."""


class TimeOver(Exception):
    """The moment until which a stream was wanted has come."""


def call(
    verb: str, args: Json | None = None, *, folder: Path | None = None, timeout: float = TIMEOUT
) -> Json:
    """The data of the daemon's reply. timeout: seconds for the whole exchange.

    Raises NoDaemon, or VerbError with the daemon's own words."""
    with _connected(folder, timeout) as (connection, place):
        replies = _ask(connection, place, verb, args, time.monotonic() + timeout)
        try:
            return _data(next(replies))
        except StopIteration:
            raise NoDaemon(f"the daemon at {place} hung up without an answer; is it ending?") from None


def stream(
    verb: str,
    args: Json | None = None,
    *,
    folder: Path | None = None,
    timeout: float = TIMEOUT,
    end: float | None = None,
) -> Iterator[Json]:
    """The items of a stream until it ends. timeout: seconds to connect and ask; items may take any
    time, or until the moment `end` of time.monotonic().

    Raises NoDaemon also when the daemon ends meanwhile, and TimeOver at `end`."""
    with _connected(folder, timeout) as (connection, place):
        for reply in _ask(connection, place, verb, args, end, TimeOver):
            if reply.get("end"):
                return
            yield _data(reply)
    raise NoDaemon("the daemon has ended")


@contextmanager
def _connected(folder: Path | None, timeout: float) -> Iterator[tuple[socket.socket, Path]]:
    folder = paths.runtime_folder() if folder is None else folder
    place = folder / paths.SOCKET
    try:
        descriptor = paths.open_folder(folder, create=False)
    except paths.FolderError as error:
        if not folder.exists():
            raise NoDaemon(_not_running(place)) from error
        raise NoDaemon(f"will not talk to a daemon: {error}") from error
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        try:
            connection.connect(paths.socket_address(folder, descriptor))
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise NoDaemon(_not_running(place)) from error
        except OSError as error:
            raise NoDaemon(f"no connection to the daemon at {place}: {error}") from error
        finally:
            os.close(descriptor)
        yield connection, place


def _not_running(place: Path) -> str:
    return f"no daemon is running (nobody answers at {place}); start it with: trayagent"


def _ask(
    connection: socket.socket,
    place: Path,
    verb: str,
    args: Json | None,
    deadline: float | None,
    late: type[Exception] = NoDaemon,
) -> Iterator[Json]:
    """Whole replies as they come. late: what is raised at the deadline."""
    line = schema.request_line(verb, args or {})
    if len(line) > schema.LIMIT:
        raise VerbError("too-long", f"{verb}: the request has {len(line)} bytes, {schema.LIMIT} are allowed")
    try:
        connection.sendall(line)
        if deadline is None:
            connection.settimeout(None)
        parts: list[str] = []
        for message in _messages(connection, deadline):
            if "part" in message:
                parts.append(message["part"])
                if message.get("more"):
                    continue
                message, parts = schema.join_parts(parts), []
            yield message
    except TimeoutError as error:
        raise late(f"the daemon at {place} did not answer in time; see its log, or restart it") from error
    except (OSError, ValueError) as error:
        raise NoDaemon(f"the daemon at {place} broke off: {error}") from error


def _messages(connection: socket.socket, deadline: float | None) -> Iterator[dict[str, Any]]:
    buffer = bytearray()
    while True:
        if deadline is not None:
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
        data = connection.recv(schema.LIMIT)
        if not data:
            return
        buffer += data
        *lines, rest = buffer.split(b"\n")
        buffer = bytearray(rest)
        if len(buffer) > schema.LIMIT:
            raise ValueError("a line is longer than the protocol allows")
        for line in lines:
            yield json.loads(line)


def _data(reply: Json) -> Json:
    if not reply.get("ok"):
        error = reply.get("error") or {}
        raise VerbError(
            str(error.get("code", "internal")), str(error.get("text", "the daemon gave no reason"))
        )
    data = reply.get("data")
    return data if isinstance(data, dict) else {}
