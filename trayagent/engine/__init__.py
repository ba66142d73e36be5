"""The sans-I/O core: `Engine.feed(event, now) -> [Effect]`, and nothing else decides anything."""

from trayagent.engine.engine import Engine

__all__ = ["Engine"]
