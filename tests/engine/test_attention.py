"""What counts as looking at a pane."""

from __future__ import annotations

from dataclasses import replace

from trayagent.engine.attention import Attention
from trayagent.model.events import ActiveWindow
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.panes import Client, PaneInfo

SERVER = ServerKey("tmux", "/tmp/s", 1, 1)
PANE = PaneInfo(PaneKey(SERVER, "%1"), "default", "$0", "s", "@0", "w", 0, 0, 10, "/dev/pts/1")
OTHER = PaneKey(SERVER, "%2")
CLIENT = Client(SERVER, "c", 100, "/dev/pts/9", "$0", "@0", PANE.key, window_hint=7, pids=(100, 90))


def looking(window: int = 7, pid: int = 0, *clients: Client) -> Attention:
    shown = clients or (CLIENT,)
    return Attention(clients={SERVER: shown}, window=ActiveWindow(True, window, pid), idle=0.0, idle_at=0.0)


def test_the_active_pane_of_a_client_in_the_active_window_is_watched() -> None:
    assert looking().watching(PANE, False, 1.0)


def test_another_window_in_front_is_not_watching() -> None:
    assert not looking(window=8).watching(PANE, True, 1.0)


def test_a_desktop_that_says_nothing_is_not_watching() -> None:
    attention = looking()
    attention.window = ActiveWindow(False)
    assert not attention.watching(PANE, True, 1.0)


def test_a_split_beside_the_active_pane_is_visible_but_not_active() -> None:
    attention = looking(7, 0, replace(CLIENT, pane=OTHER))
    assert attention.watching(PANE, True, 1.0)
    assert not attention.watching(PANE, False, 1.0)


def test_a_zoomed_window_shows_one_pane() -> None:
    attention = looking(7, 0, replace(CLIENT, pane=OTHER))
    assert not attention.watching(replace(PANE, zoomed=True), True, 1.0)


def test_another_window_of_the_session_is_not_seen() -> None:
    assert not looking(7, 0, replace(CLIENT, window_id="@5")).watching(PANE, True, 1.0)


def test_a_control_mode_client_is_no_viewer() -> None:
    assert not looking(7, 0, replace(CLIENT, control=True)).watching(PANE, True, 1.0)


def test_the_focused_flag_alone_proves_nothing() -> None:
    stale = replace(CLIENT, focused=True)
    assert not looking(8, 0, stale).watching(PANE, True, 1.0)


def test_a_terminal_without_window_id_is_known_by_its_process() -> None:
    nameless = replace(CLIENT, window_hint=None)
    assert looking(55, 90, nameless).watching(PANE, True, 1.0)
    assert not looking(55, 91, nameless).watching(PANE, True, 1.0)


def test_of_two_terminals_in_one_process_the_focused_one_counts() -> None:
    here = replace(CLIENT, window_hint=None, focused=False)
    there = replace(here, tty="/dev/pts/8", window_id="@5", focused=True)
    assert not looking(55, 90, here, there).watching(PANE, True, 1.0)
    assert looking(55, 90, replace(here, focused=True), there).watching(PANE, True, 1.0)


def test_one_of_two_clients_in_front_is_enough() -> None:
    back = replace(CLIENT, tty="/dev/pts/8", window_hint=99)
    assert looking(7, 0, back, CLIENT).watching(PANE, True, 1.0)
    assert not looking(1, 0, back, CLIENT).watching(PANE, True, 1.0)


def test_nobody_watches_who_is_away_or_locked_out() -> None:
    attention = looking()
    assert not attention.watching(PANE, True, 301.0)
    attention.touched(301.0)
    assert attention.watching(PANE, True, 302.0)
    attention.locked = True
    assert not attention.watching(PANE, True, 302.0)


def test_a_desktop_that_does_not_tell_idleness_is_believed_to_be_used() -> None:
    attention = looking()
    attention.idle = None
    assert attention.watching(PANE, True, 10_000.0)


def test_what_was_learned_before_a_moment_is_not_known_since() -> None:
    attention = looking()
    attention.clients_at[SERVER], attention.idle_at = 5.0, 4.0
    assert attention.known_since(SERVER, 4.0)
    assert not attention.known_since(SERVER, 4.5)


def test_the_client_used_last_is_one_that_shows_something_to_a_person() -> None:
    used = replace(CLIENT, activity=10)
    later = {"activity": 20}
    others = (
        replace(CLIENT, control=True, **later),
        replace(CLIENT, pane=None, **later),
        replace(CLIENT, tty="", **later),
        replace(CLIENT, activity=5),
    )
    assert looking(7, 0, *others, used).last_used() == used
    assert looking(7, 0, *others[:3]).last_used() is None
    assert Attention().last_used() is None
