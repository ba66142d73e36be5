"""Several sessions of one agent: what they make of its pane."""

from __future__ import annotations

from trayagent.model.keys import ProcessKey
from trayagent.model.states import State
from trayagent.reports.sessions import MOST, SILENT, Sessions, Word


def word(session: str, state: State, at: float = 0.0) -> Word:
    return Word(state, at, "event", session)


def test_the_end_of_one_session_is_not_the_end_of_the_other() -> None:
    sessions = Sessions(ProcessKey(1, 2))
    assert sessions.hear(word("main", State.WORKING, 1)).state is State.WORKING
    sessions.hear(word("child", State.WORKING, 2))
    assert sessions.hear(word("child", State.DONE, 3)) == word("main", State.WORKING, 1)
    assert sessions.hear(word("main", State.DONE, 4)) == word("main", State.DONE, 4)


def test_a_question_of_any_session_is_the_panes() -> None:
    sessions = Sessions(ProcessKey(1, 2))
    sessions.hear(word("child", State.BLOCKED, 1))
    assert sessions.hear(word("main", State.WORKING, 2)).session == "child"
    assert sessions.hear(word("child", State.WORKING, 3)).state is State.WORKING


def test_a_session_that_fell_silent_does_not_keep_the_pane_at_work() -> None:
    sessions = Sessions(ProcessKey(1, 2))
    sessions.hear(word("lost", State.WORKING, 0))
    assert sessions.hear(word("main", State.DONE, SILENT)).state is State.WORKING
    assert sessions.hear(word("main", State.DONE, SILENT + 1)).state is State.DONE


def test_with_the_last_session_everything_is_over() -> None:
    sessions = Sessions(ProcessKey(1, 2))
    sessions.hear(word("a", State.DONE, 1))
    sessions.hear(word("b", State.IDLE, 2))
    ended = sessions.end("b", 3)
    assert ended is not None and ended.session == "a"
    assert sessions.end("a", 4) is None
    assert sessions.end("never", 5) is None


def test_an_event_comes_in_the_state_of_its_own_session_where_there_are_several() -> None:
    sessions = Sessions(ProcessKey(1, 2))
    assert sessions.before("main", State.IDLE) is State.IDLE
    sessions.hear(word("main", State.BLOCKED, 1))
    assert sessions.before("main", State.IDLE) is State.IDLE, "the screen knew better"
    sessions.hear(word("child", State.WORKING, 2))
    assert sessions.before("main", State.IDLE) is State.BLOCKED


def test_no_more_sessions_are_kept_than_anybody_has() -> None:
    sessions = Sessions(ProcessKey(1, 2))
    for number in range(3 * MOST):
        sessions.hear(word(str(number), State.WORKING, number))
    assert len(sessions.words) == MOST
