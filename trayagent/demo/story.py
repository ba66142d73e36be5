"""Who plays in the demo, and when: the whole story in one table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trayagent.model.states import State

RECORDINGS = Path(__file__).with_name("recordings")


@dataclass(frozen=True, slots=True)
class Act:
    """One recorded agent. agent: its id, and its recording. project: the folder that it works in.
    sent: seconds of the story at which its prompt is sent. ends: the state that it is told of."""

    agent: str
    name: str
    project: str
    sent: float
    ends: State

    @property
    def cast(self) -> Path:
        """The recording."""
        return RECORDINGS / f"{self.agent}.cast"


# Far enough apart for three banners of their own, and over within a quarter of a minute: the agents come
# to their ends 2, 2.2 and 8.3 seconds after their prompts.
STORY = (
    Act("claude", "Claude Code", "shop-api", 0.6, State.BLOCKED),
    Act("opencode", "OpenCode", "blog", 3.2, State.ERROR),
    Act("codex", "Codex", "mail-app", 0.0, State.DONE),
)
