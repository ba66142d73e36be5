"""What an agent's hooks have said of each of its sessions, and what that makes of its pane.

One process may run several sessions at once (sub-agents with sessions of their own, hidden threads),
and the end of one is not the end of the other. The pane is blocked while any session is, else
working while any session is, else what the last event said. A session that has said nothing for
`SILENT` does not speak for the pane any more, unless it was the last to speak.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trayagent.model.keys import ProcessKey
from trayagent.model.states import Kind, Reason, State

SILENT = 600.0
MOST = 64  # sessions of one process; the one that was silent longest is forgotten


@dataclass(frozen=True, slots=True)
class Word:
    """The last that a session's hooks have said. at: engine seconds."""

    state: State
    at: float
    event: str
    session: str = ""
    kind: Kind | None = None
    reason: Reason | None = None
    message: str = ""


@dataclass(slots=True)
class Sessions:
    """The sessions of one agent's process."""

    owner: ProcessKey
    words: dict[str, Word] = field(default_factory=dict)

    def before(self, session: str, pane: State) -> State:
        """The state in which an event of this session comes: the pane's, where there is no other session."""
        word = self.words.get(session)
        return pane if word is None or len(self.words) == 1 else word.state

    def hear(self, word: Word) -> Word:
        """A session says something; returns what now speaks for the pane."""
        self.words.pop(word.session, None)
        self.words[word.session] = word  # the last to speak stands last
        while len(self.words) > MOST:
            del self.words[next(iter(self.words))]
        return self._loudest(word.at) or word

    def end(self, session: str, now: float) -> Word | None:
        """A session is over; returns what now speaks for the pane, None if nothing does."""
        self.words.pop(session, None)
        return self._loudest(now) or next(reversed(self.words.values()), None)

    def _loudest(self, now: float) -> Word | None:
        """The last of the blocked, else of the working ones that are not silent."""
        for state in (State.BLOCKED, State.WORKING):
            for word in reversed(self.words.values()):
                if word.state is state and now - word.at <= SILENT:
                    return word
        return None
