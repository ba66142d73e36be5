"""`trayagent` in the foreground: start, serve, stop on a signal, with everything saved."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import logging.handlers
import signal
import sys
from pathlib import Path

from trayagent.daemon.answers import Answers
from trayagent.daemon.live import LiveLine
from trayagent.daemon.options import Options, state_folder
from trayagent.daemon.parts import Parts
from trayagent.ipc.paths import FolderError, runtime_folder
from trayagent.ipc.server import AlreadyRunning, Server

log = logging.getLogger("trayagent")

LOG_BYTES, LOG_FILES = 1_000_000, 3


def run(options: Options) -> int:
    """Run until stopped. Exit codes: 0 stopped as asked, 1 cannot run, 3 another one runs already."""
    _logging(options)
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


def _logging(options: Options) -> None:
    root = logging.getLogger()
    root.setLevel(logging.DEBUG if options.verbose else logging.INFO)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    shape = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    folder = state_folder(options)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = Path(folder) / "trayagent.log"
        handlers.append(
            logging.handlers.RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=LOG_FILES, delay=True)
        )
    except OSError as error:
        print(f"trayagent: no log file in {folder}: {error.strerror}", file=sys.stderr)
    for handler in handlers:
        handler.setFormatter(shape)
        root.addHandler(handler)
    if options.live:
        handlers[0].setLevel(logging.WARNING)
