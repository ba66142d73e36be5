"""`doctor` without a daemon: the daemon's parts, started for their answers alone.

Nothing is watched, no icon is shown, no banner sent, and nothing kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from trayagent.daemon import doctor_desktop
from trayagent.daemon.check import Check
from trayagent.daemon.doctor import checks
from trayagent.daemon.options import Options
from trayagent.daemon.parts import Parts

SECONDS = 2.0  # for bus and X server to answer


async def without_daemon(options: Options) -> list[Check]:
    """All checks that need no daemon, by parts of our own."""
    parts = Parts(options, lambda why: None)
    parts.tmux.emit = lambda event: None  # nothing is watched
    parts.bus.start()
    parts.windows.start(lambda event: None)
    parts.notifier.start()
    parts.quiet.start()
    parts.system_bus.start()
    parts.lock.start()
    try:
        await asyncio.gather(
            _manifests_read(parts), parts.tmux.discover(), doctor_desktop.known(parts, SECONDS)
        )
        return await checks(parts, alone=True)
    finally:
        await _end(parts)


async def _manifests_read(parts: Parts) -> None:
    await parts.manifests.start()
    parts.manifests.stop()


async def _end(parts: Parts) -> None:
    ends: list[Coroutine[Any, Any, None]] = [
        parts.notifier.stop(), parts.windows.stop(), parts.quiet.stop(), parts.lock.stop(),
        parts.system_bus.close(), parts.tmux.close(), parts.ends.close(),
    ]  # fmt: skip
    await asyncio.gather(*ends)
    parts.pump.stop()
    parts.processes.close()
    await parts.bus.close()
