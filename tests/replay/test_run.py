"""Recorded sessions through the production engine: what it would have said, and when."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.casts import Recording, recording, recordings
from trayagent.manifest.load import Library
from trayagent.replay.cast import CastError, CastEvent, parse_cast
from trayagent.replay.programs import InFront, programs
from trayagent.replay.run import as_json, replay, run
from trayagent.replay.theatre import Change

LIBRARY = Library.standard()
LATE = 1.1  # seconds after which a readable dialog must have been told, at the latest
BRIEF = 0.5  # a dialog that is answered sooner need not be seen
ASKING = [session for session in recordings() if session.dialogs]


def typed_in(session: Recording) -> tuple[float, ...]:
    """When keys were read: as it was written down, else as the agent went to work on something."""
    if session.keys is not None:
        return session.keys
    return tuple(truth.earliest for truth in session.truths if truth.state == "working")


def passed(session: Recording, agent: str | None = None) -> list[Change]:
    """The transitions of a recorded session."""
    return replay(session.cast, LIBRARY, agent=agent, typed=typed_in(session))


def test_a_session_of_two_questions_is_told_as_it_went() -> None:
    changes = passed(recording("claude/ask"))
    assert [change.to for change in changes if change.alert == "delivered"] == ["blocked", "blocked"]
    # Both turns went on for a moment after the answer; whether a look fell into it is chance, but
    # either way nobody is told of the end of what he has just answered himself.
    ends = [(change.frm, change.to, change.alert) for change in changes if change.frm == "blocked"]
    assert len(ends) == 2
    assert all(to in ("working", "idle") and alert.startswith("held: ") for _, to, alert in ends)
    assert changes[-1].to == "idle"
    assert {change.agent for change in changes} == {"claude"}
    assert [change.kind for change in changes if change.to == "blocked"] == ["question", "question"]


@pytest.mark.parametrize("session", ASKING, ids=lambda session: session.name)
def test_each_dialog_is_seen_soon_after_it_became_readable(session: Recording) -> None:
    blocked = [change.t for change in passed(session, session.agent) if change.to == "blocked"]
    standing = [d for d in session.dialogs if session.keys is None or d.until - d.settled > BRIEF]
    for dialog in standing:
        assert any(dialog.settled - 1.5 <= moment <= dialog.settled + LATE for moment in blocked), dialog


@pytest.mark.parametrize("session", ASKING, ids=lambda session: session.name)
def test_nothing_else_is_taken_for_a_dialog(session: Recording) -> None:
    for change in passed(session, session.agent):
        if change.to == "blocked":
            truth = [truth.state for truth in session.truths if truth.earliest <= change.t]
            if truth[-1] == "starting":
                continue  # questions of a start (folder trust, sign-in) were answered, not labelled
            shown = [d for d in session.dialogs if d.settled - 1.5 <= change.t <= d.until + LATE]
            assert shown or truth[-1:] == ["blocked"], change


def test_a_killed_agent_is_told_as_ended_in_the_middle() -> None:
    last = passed(recording("claude/killed"))[-1]
    assert (last.frm, last.to) == ("working", "idle")
    assert "ended mid-turn" in last.why


def test_the_same_recording_gives_the_same_transitions() -> None:
    assert passed(recording("codex/shell")) == passed(recording("codex/shell"))


def test_the_lines_for_programs_are_json_with_these_keys() -> None:
    lines = run(recording("claude/ask").path, json=True, library=LIBRARY)
    first = json.loads(lines[1])
    assert {"t", "from", "to", "agent", "rule", "why", "alert"} <= set(first)
    assert (first["from"], first["to"], first["agent"]) == ("idle", "working", "claude")
    assert 3.4 < first["t"] < 4.6


def test_the_lines_for_people_say_when_what_and_why() -> None:
    line = run(recording("claude/ask").path, library=LIBRARY)[2]
    assert "working -> blocked" in line
    assert line.endswith("[delivered]")


def test_who_is_in_front_is_read_from_the_shells_own_marks() -> None:
    assert [each.argv for each in programs(recording("claude/killed").cast)] == [
        ("claude", "--permission-mode", "default"),
        (),
    ]
    assert [each.argv[0] for each in programs(recording("aider/shell").cast)] == ["aider"]


def session_of(*outputs: str, header: str = "") -> bytes:
    """A recording that shows `outputs`, one a second."""
    head = '{"version": 2, "width": 80, "height": 24' + header + "}\n"
    return (head + "".join(json.dumps([at + 1, "o", out]) + "\n" for at, out in enumerate(outputs))).encode()


def test_assignments_and_typing_errors_are_no_part_of_the_command() -> None:
    cast = parse_cast(session_of("\x1b[?2004h~$ ", "A=1 clauu\b\x1b[Kde -c\r\n\x1b[?2004l\r", "hello"))
    assert programs(cast) == (InFront(2.0, ("claude", "-c")),)


def test_an_unknown_program_is_an_error_that_names_it() -> None:
    cast = parse_cast(session_of("nethack\r\n\x1b[?2004l\r", "You die..."))
    with pytest.raises(CastError, match="shows nethack, which no manifest knows; name the agent"):
        replay(cast, LIBRARY)


def test_a_recording_that_does_not_tell_needs_an_agent() -> None:
    cast = parse_cast(session_of("hello"))
    with pytest.raises(CastError, match="does not tell which program it shows; name the agent with --agent"):
        replay(cast, LIBRARY)
    with pytest.raises(CastError, match="no manifest knows an agent 'nethack'"):
        replay(cast, LIBRARY, agent="nethack")
    assert replay(cast, LIBRARY, agent="claude") == []


def test_the_header_may_name_the_command() -> None:
    session = recording("claude/ask").cast
    inside = [[event.at, "o", event.data] for event in session.events if event.at > 0.81]
    head = {"version": 2, "width": 120, "height": 40, "command": "claude --resume"}
    cast = parse_cast("\n".join(json.dumps(row) for row in [head, *inside]).encode())
    assert [change.to for change in replay(cast, LIBRARY)][:3] == ["idle", "working", "blocked"]


def test_input_events_count_as_typing() -> None:
    session = recording("opencode/perm_allow").cast
    end = session.duration
    typed = replace(session, events=(*session.events, CastEvent(end + 3, "i", "A")))
    assert [change.to for change in replay(session, LIBRARY) if change.t > end - 1] == ["done"]
    assert [change.to for change in replay(typed, LIBRARY) if change.t > end - 1] == ["done", "idle"]


def test_a_change_is_one_line_of_json() -> None:
    change = Change(1.5, "working", "blocked", "claude", "permission", "two\nlines")
    assert "\n" not in as_json(change)


def test_a_resize_reaches_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "x.cast"
    path.write_bytes(session_of("claude\r\n\x1b[?2004l\r") + b'[2, "r", "100x30"]\n[3, "r", "huge"]\n')
    with pytest.raises(CastError, match="a resize to 'huge'"):
        run(path, library=LIBRARY)


@pytest.mark.parametrize("session", recordings(), ids=lambda session: session.name)
def test_nobody_is_told_of_an_end_that_is_none(session: Recording) -> None:
    truths = session.truths
    for change in passed(session, session.agent):
        if change.to == "done" and change.alert in ("delivered", "merged"):
            ends = [truth for truth in truths if truth.state in ("idle", "errored", "exited")]
            near = any(change.t - 2.0 <= truth.certain <= change.t + 5.0 for truth in ends)
            unlabelled = not truths or (truths[-1].certain < change.t and truths[-1].state == "working")
            assert near or unlabelled, (change, truths)
