"""`trayagent` in the foreground: start, serve, stop on a signal, with everything saved."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import sys

from trayagent.daemon import logs
from trayagent.daemon.answers import Answers
from trayagent.daemon.live import LiveLine
from trayagent.daemon.options import Options
from trayagent.daemon.parts import Parts
from trayagent.ipc.paths import FolderError, runtime_folder
from trayagent.ipc.server import AlreadyRunning, Server

log = logging.getLogger("trayagent")


def run(options: Options) -> int:
    """Run until stopped. Exit codes: 0 stopped as asked, 1 cannot run, 3 another one runs already."""
    logs.begin(options)
    try:
        return asyncio.run(_serve(options))
    except KeyboardInterrupt:
        return 0


async def _serve(options: Options) -> int:
    stopping: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def stop(why: str) -> None:
        if not stopping.done():
            stopping.set_result(why)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop, signal.Signals(number).name)
    folder = options.runtime or runtime_folder()
    answers: list[Answers] = []
    server = Server(folder, lambda verb, args, peer: answers[0](verb, args, peer))
    try:
        await server.start()
    except AlreadyRunning as error:
        print(f"trayagent: {error}", file=sys.stderr)
        return 3
    except FolderError as error:
        print(f"trayagent: {error}", file=sys.stderr)
        return 1
    parts = Parts(options, stop)
    answers.append(Answers(parts))
    line = LiveLine(parts) if options.live else contextlib.nullcontext()
    try:
        parts.relays.listen(server)
        await parts.start()
        # What was made so far lives as long as we do; the collector need not look at it again.
        gc.collect()
        gc.freeze()
        gc.enable()
        with line:
            log.info("stopped: %s", await stopping)
    finally:
        await server.close()
        await parts.close()
    return 0
