"""A list of processes in front of a terminal -> the agent that owns the pane. Pure: reads nothing.

    index = Index.build(manifests)
    identify(job, index, previous) -> Identity | None

The order of evidence, and the reason for each step, stands at the top of identify.py;
what is a table is in tables.py, and what an agent is called is in its own manifest.
"""

from trayagent.identity.identify import identify
from trayagent.identity.index import Index

__all__ = ["Index", "identify"]
