"""`doctor` where no daemon answers: the daemon's own checks, made by this process."""

from __future__ import annotations

import asyncio
import logging

from trayagent.ipc.schema import Json


def local_checks() -> list[Json]:
    """Checks in the form of the daemon's own: name, ok (None: could be better), text, hint. Some seconds."""
    from trayagent.daemon.alone import without_daemon
    from trayagent.daemon.options import Options

    logging.getLogger().addHandler(logging.NullHandler())  # the checks say themselves what is wrong
    return [check.to_json() for check in asyncio.run(without_daemon(Options()))]
