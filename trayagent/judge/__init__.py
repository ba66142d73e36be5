"""Arbitration: all the evidence about a pane becomes one state, with its reason.

The path, in the order of the files: `evidence` (what there is) -> `rules` (the first
that speaks) -> `holds` (is it steady enough to be told) -> `decide` (fingerprint,
done and seen, the Memory that the next call starts from). `rollup` says which of many
states is the loudest. Everything is pure; `now` is engine seconds.
"""

from trayagent.judge.decide import Memory, decide, fresh, seen
from trayagent.judge.evidence import Ending, Evidence, Front
from trayagent.judge.rollup import loudest

__all__ = ["Ending", "Evidence", "Front", "Memory", "decide", "fresh", "loudest", "seen"]
