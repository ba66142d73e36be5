"""The daemon's own parts on a stage: they watch its server alone, and keep what they write in its folder.

A daemon that runs is not touched: there is no socket, and files and settings are the stage's own.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from trayagent.daemon.options import Options
from trayagent.daemon.parts import Parts
from trayagent.demo.stage import Stage
from trayagent.demo.story import Act
from trayagent.model.view import PaneView

KNOWN_SECONDS = 15.0  # for the agents to be recognised; half a second as a rule
RECHECK = 0.05

Settings = Mapping[str, Any]
"""The tree of a config file."""


class NotPlayed(Exception):
    """The stage did not come to life; str() says what was missing."""


@asynccontextmanager
async def parts_on(
    stage: Stage, settings: Settings, stop: Callable[[str], None], attach: Callable[[Parts], None]
) -> AsyncIterator[Parts]:
    """Parts that run. attach: called with them before they are started."""
    # What is wrong is said in our own words, not between the lines of the story.
    handler = logging.FileHandler(stage.folder / "log", delay=True)
    logging.getLogger().addHandler(handler)
    config = stage.folder / "config.yaml"
    config.write_text(json.dumps(settings))  # every JSON text is YAML
    parts = Parts(Options(only_server=stage.socket, config=config, state=stage.folder / "state"), stop)
    attach(parts)
    try:
        await parts.start()
        yield parts
    finally:
        await parts.close()
        logging.getLogger().removeHandler(handler)
        handler.close()


async def recognised(parts: Parts, acts: Iterable[Act]) -> dict[str, PaneView]:
    """The pane of each agent, once all are recognised. Raises NotPlayed if one is not."""
    wanted = {act.agent for act in acts}
    for _ in range(round(KNOWN_SECONDS / RECHECK)):
        found = {view.agent: view for view in parts.views()}
        if wanted <= found.keys():
            return found
        await asyncio.sleep(RECHECK)
    missing = ", ".join(sorted(wanted - found.keys()))
    raise NotPlayed(f"{missing} was not recognised within {KNOWN_SECONDS:g} s")
