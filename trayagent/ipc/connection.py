"""One client's byte stream: lines in with limits on length and time, replies out with a deadline.

A client may sit idle for as long as it likes, but a line once begun must be finished within
`line_timeout`, and a reply must be taken within `write_timeout`; else the client is cut off,
so that nothing it does can make us keep memory or wait. Deadlines are `asyncio.timeout`:
`wait_for` of Python 3.11 loses a cancellation that comes as its wait ends, and the task lives on.
"""

from __future__ import annotations

import asyncio

from trayagent.ipc import schema

_CHUNK = 16 * 1024
# What is read and thrown away after a final error, so that a client still writing gets to read it.
_LINGER_BYTES, _LINGER_SECONDS = 4 * 1024 * 1024, 1.0


class Gone(Exception):
    """The client hung up, or was cut off because it did not read."""


class Connection:
    """Reads and writes of one accepted client."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        line_timeout: float,
        write_timeout: float,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._line_timeout, self._write_timeout = line_timeout, write_timeout
        self._buffer = bytearray()
        self._ended = False
        writer.transport.set_write_buffer_limits(high=schema.LIMIT)

    async def next_line(self) -> bytes | None:
        """The next request's line, None at the end. Raises VerbError (fatal) for one too long or too slow."""
        while (at := self._buffer.find(b"\n")) < 0 and not self._ended:
            if len(self._buffer) >= schema.LIMIT:
                raise self._too_long()
            await self._fill(self._line_timeout if self._buffer else None)
        if at + 1 > schema.LIMIT:
            raise self._too_long()
        if at < 0:
            line, self._buffer = bytes(self._buffer), bytearray()
            return line or None
        line = bytes(self._buffer[:at])
        del self._buffer[: at + 1]
        return line

    async def hung_up(self) -> None:
        """Return once the client has closed its side; what it says meanwhile waits its turn."""
        while not self._ended and len(self._buffer) <= schema.LIMIT:
            await self._fill(None)
        if not self._ended:
            await asyncio.Event().wait()  # it talks too much to be read further: its stream goes on

    async def _fill(self, timeout: float | None) -> None:
        try:
            async with asyncio.timeout(timeout):
                data = await self._reader.read(_CHUNK)
        except TimeoutError as error:
            text = f"a request must be sent within {self._line_timeout:g} s"
            raise schema.VerbError("slow", text, fatal=True) from error
        except OSError:  # reset: the client is gone, which is all there is to know
            data = b""
        self._buffer += data
        self._ended = not data

    def _too_long(self) -> schema.VerbError:
        return schema.VerbError("too-long", f"a message may have {schema.LIMIT} bytes", fatal=True)

    async def send(self, reply: schema.Json) -> None:
        """Send the reply, in parts if it is long. Raises Gone."""
        try:
            for line in schema.lines(reply):
                self._writer.write(line)
                async with asyncio.timeout(self._write_timeout):
                    await self._writer.drain()
        except (TimeoutError, OSError) as error:
            self._writer.transport.abort()
            raise Gone from error

    async def refuse(self, error: schema.VerbError) -> None:
        """Send a last error, give the client the time to read it, and say no more."""
        await self.send(schema.failure(error.id, error.code, error.text))
        try:
            self._writer.write_eof()
            async with asyncio.timeout(_LINGER_SECONDS):
                left = _LINGER_BYTES
                while left > 0 and (data := await self._reader.read(_CHUNK)):
                    left -= len(data)
        except (TimeoutError, OSError) as error:
            raise Gone from error

    async def close(self) -> None:
        """Close; what was written is still sent."""
        self._writer.close()
        try:
            async with asyncio.timeout(self._write_timeout):
                await self._writer.wait_closed()
        except (TimeoutError, OSError):
            self._writer.transport.abort()
