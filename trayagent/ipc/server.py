"""The daemon's end of the socket.

`Server(folder, handler)`: start() takes the instance lock, removes the socket of a daemon that
is gone, and listens; each client is then served one request at a time, each reply an answer of
`handler(verb, args, peer)`: a dict, or an async iterator of dicts for a stream. A stream ends
when its iterator does, or when the client hangs up.

Whatever a client sends, it gets one clear error at most, and nobody else notices: requests are
checked against the schema first, an exception in the handler is an `internal` error and logged
once a kind, and there are bounds on clients, lengths and times.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from trayagent.ipc import paths, schema
from trayagent.ipc.connection import Connection, Gone
from trayagent.ipc.listening import AlreadyRunning as AlreadyRunning
from trayagent.ipc.listening import Listening
from trayagent.ipc.lock import InstanceLock
from trayagent.ipc.peer import Peer, peer_of
from trayagent.ipc.schema import Json, VerbError

Handler = Callable[[str, Json, Peer], Awaitable[Json | AsyncIterator[Json]]]

log = logging.getLogger("trayagent.ipc")


class Server:
    """The socket server of one runtime folder."""

    def __init__(
        self,
        folder: Path,
        handler: Handler,
        *,
        max_clients: int = 64,
        line_timeout: float = 10.0,
        write_timeout: float = 10.0,
    ) -> None:
        self.folder, self._handler = folder, handler
        self._max_clients, self._line_timeout, self._write_timeout = max_clients, line_timeout, write_timeout
        self._lock = InstanceLock()
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self._told: set[str] = set()
        self._sockets: list[Listening] = []

    async def start(self) -> None:
        """Serve from now on. Raises AlreadyRunning, or FolderError if the folder cannot be trusted."""
        descriptor = paths.open_folder(self.folder, create=True)
        try:
            if not self._lock.acquire(descriptor):
                raise AlreadyRunning(f"another trayagent serves {self.folder}")
            try:
                listening = Listening(self.folder, descriptor, paths.SOCKET)
                self._sockets.append(listening)
                self._server = await asyncio.start_unix_server(self._connected, sock=listening.socket)
            except BaseException:
                self._lock.release()
                raise
        finally:
            os.close(descriptor)

    async def close(self) -> None:
        """Hang up on all clients, remove the socket if it is still ours, and let go of the lock."""
        if self._server is not None:
            self._server.close()
        for client in list(self._clients):
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        self._server = None
        for listening in self._sockets:
            listening.remove()
        self._lock.release()

    def also(self, name: str) -> Listening:
        """Another socket in the same folder, under the same lock; valid once started. Raises FolderError."""
        descriptor = paths.open_folder(self.folder, create=True)
        try:
            listening = Listening(self.folder, descriptor, name)
        finally:
            os.close(descriptor)
        self._sockets.append(listening)
        return listening

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        connection = Connection(reader, writer, self._line_timeout, self._write_timeout)
        try:
            await self._welcome(connection, peer_of(writer.get_extra_info("socket")))
        except Gone:
            log.debug("a client hung up")
        except asyncio.CancelledError:
            writer.transport.abort()
        except Exception:
            self._tell_once("client", "serving a client failed")
        finally:
            self._clients.discard(task)
            await connection.close()

    async def _welcome(self, connection: Connection, peer: Peer) -> None:
        try:
            if peer.uid != os.geteuid():
                raise VerbError("refused", "this socket serves its own user only", fatal=True)
            if len(self._clients) > self._max_clients:
                raise VerbError("busy", f"{self._max_clients} clients are connected; try again", fatal=True)
            while (line := await connection.next_line()) is not None:
                await self._serve(connection, peer, line)
        except VerbError as error:
            await connection.refuse(error)

    async def _serve(self, connection: Connection, peer: Peer, line: bytes) -> None:
        """Answer one request; only an error after which nothing can be understood is raised."""
        try:
            request = schema.parse_request(line)
        except VerbError as error:
            if error.fatal:
                raise
            await connection.send(schema.failure(error.id, error.code, error.text))
            return
        try:
            answer = await self._handler(request.verb, request.args, peer)
            if isinstance(answer, dict):
                reply = schema.success(request.id, answer)
            else:
                reply = await self._stream(connection, request, answer)
        except (Gone, asyncio.CancelledError):
            raise
        except VerbError as error:
            reply = schema.failure(request.id, error.code, error.text)
        except Exception:
            self._tell_once(request.verb, "%s failed", request.verb)
            text = (
                f"{request.verb} failed inside the daemon; its log says more (trayagent doctor shows where)"
            )
            reply = schema.failure(request.id, "internal", text)
        await connection.send(reply)

    async def _stream(
        self, connection: Connection, request: schema.Request, items: AsyncIterator[Json]
    ) -> Json:
        """Send items until they end; the client's hanging up ends them too."""

        async def pump() -> None:
            async for item in items:
                await connection.send(schema.success(request.id, item, more=True))

        pumping, hung_up = asyncio.create_task(pump()), asyncio.create_task(connection.hung_up())
        try:
            await asyncio.wait((pumping, hung_up), return_when=asyncio.FIRST_COMPLETED)
            if not pumping.done():
                raise Gone
            await pumping
        finally:
            pumping.cancel()
            hung_up.cancel()
            await asyncio.gather(pumping, hung_up, return_exceptions=True)
            close = getattr(items, "aclose", None)
            if close is not None:
                await close()
        return schema.end(request.id)

    def _tell_once(self, kind: str, text: str, *args: str) -> None:
        """Log the exception at hand with its place; the same kind only once, it would repeat."""
        if kind not in self._told:
            self._told.add(kind)
            log.exception(text, *args)
