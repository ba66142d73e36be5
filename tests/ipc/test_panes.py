"""Pane objects, and which pane a command means."""

from __future__ import annotations

import pytest

from trayagent.ipc.panes import FIELDS, find_pane, pane_json
from trayagent.ipc.schema import VerbError
from trayagent.model.evidence import Labels
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.states import Kind, State
from trayagent.model.view import PaneView

A = ServerKey("tmux", "/tmp/tmux-1000/default", 100, 5)
B = ServerKey("tmux", "/tmp/tmux-1000/b:c", 200, 6)
TTY = ServerKey("bare", "/dev/pts/7", 300, 7)


def view(server: ServerKey, name: str, id: str) -> PaneView:
    return PaneView(
        key=PaneKey(server, id), labels=Labels(), agent="claude", name="Claude Code", state=State.BLOCKED,
        since=50.25, source="screen", why="rule x", server=name, session="main", window="edit",
        window_index=2, pane_id=id, kind=Kind.PERMISSION, message="Run ls?", pid=42,
    )  # fmt: skip


VIEWS = [
    view(A, "default", "%5"),
    view(A, "default", "%6"),
    view(B, "b:c", "%5"),
    view(TTY, "", "/dev/pts/7"),
]


def test_a_pane_object_has_the_fields_of_the_reference_in_their_order():
    made = pane_json(VIEWS[0], 1000.0)
    assert tuple(made) == FIELDS
    assert made["pane"] == "default:%5"
    assert made["since"] == 1050.25
    assert (made["state"], made["kind"], made["reason"]) == ("blocked", "permission", None)
    assert made["needs_you"] is True


@pytest.mark.parametrize(
    ("args", "index"),
    [
        ({"pane": "default:%5"}, 0),
        ({"pane": "%6"}, 1),
        ({"pane": "b:c:%5"}, 2),
        ({"pane": "/tmp/tmux-1000/b:c:%5"}, 2),
        ({"pane": "/dev/pts/7"}, 3),
        ({"tty": "/dev/pts/7"}, 3),
        ({"tmux_pane": "%5", "socket": "/a/link/to/default", "server_pid": 100}, 0),
        ({"tmux_pane": "%5", "socket": "/tmp/tmux-1000/default", "server_pid": 200}, 2),
        ({"tmux_pane": "%6"}, 1),
    ],
)
def test_a_pane_is_found_by_what_the_person_typed_or_by_where_he_is(args: dict[str, object], index: int):
    assert find_pane(VIEWS, args) is VIEWS[index]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ({"pane": "%5"}, "ambiguous", ["default:%5", "b:c:%5"]),
        ({"pane": "%99"}, "no-pane", ["%99", "default:%6", "trayagent list"]),
        ({"pane": "nope:%5"}, "no-pane", ["nope:%5"]),
        ({"tmux_pane": "%5", "server_pid": 999}, "no-pane", ["this terminal"]),
        ({"tty": "/dev/pts/8"}, "no-pane", ["/dev/pts/8"]),
    ],
)
def test_an_unclear_pane_is_refused_with_the_choices(args: dict[str, object], code: str, words: list[str]):
    with pytest.raises(VerbError) as refused:
        find_pane(VIEWS, args)
    assert refused.value.code == code
    assert all(word in refused.value.text for word in words)
