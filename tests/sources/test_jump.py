"""Where a jump goes, what it leaves alone, and when it refuses."""

from __future__ import annotations

import shlex

import pytest

from tests.sources.test_look import ODD
from tests.support.tmux import TmuxServer
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.sources.tmux.command import Runner

pytestmark = pytest.mark.tmux


def spot(server: TmuxServer, pane: str) -> str:
    """`$session @window %pane`, as AttachedClient.shows tells it."""
    return server.ask("#{session_id} #{window_id} #{pane_id}", pane)


async def test_a_jump_reaches_panes_of_sessions_with_odd_names(server, watching):
    home = server.new_session("home")
    panes = []
    for name in ODD:
        pane = server.new_session("s" + str(ODD.index(name)))
        session = server.ask("#{session_id}", pane)
        server.tmux(
            "rename-session", "-t", session, "--", name.replace("#", "##"), check=False
        )  # 3.0: no `.`
        panes.append(server.new_window(pane, name=name.replace("#", "##")))
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with server.attach(home) as client:
        for pane in panes:
            result = await watch.source.jump(PaneKey(key, pane))
            assert result.ok, result.reason
            assert client.shows == spot(server, pane)
            assert result.client.name == client.name


async def test_a_jump_goes_to_a_split_and_keeps_the_zoom(server, watching):
    first = server.new_session()
    split = server.split(server.new_window(first))
    server.tmux("resize-pane", "-Z", "-t", split)
    other = server.split(split)  # unzooms
    server.tmux("resize-pane", "-Z", "-t", other)
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with server.attach(first) as client:
        assert (await watch.source.jump(PaneKey(key, split))).ok
        assert client.shows.endswith(split)
        assert server.ask("#{window_zoomed_flag}#{pane_active}", split) == "11"


async def test_of_two_clients_the_one_used_last_is_taken_and_the_other_left_alone(server, watching):
    one, two = server.new_session("one"), server.new_session("two")
    target = server.new_session("three")
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with server.attach(one) as first, server.attach(two) as second:
        activity = "#{client_activity}"

        def used_last() -> bool:
            first.type(b"x")
            times = server.tmux("list-clients", "-F", "#{client_pid} " + activity).split()
            seen = dict(zip(times[::2], times[1::2], strict=True))
            return int(seen[str(first.pid)]) > int(seen[str(second.pid)])

        server.wait(used_last, "a later second")
        before = second.shows
        result = await watch.source.jump(PaneKey(key, target))
        assert (result.ok, result.client.pid) == (True, first.pid)
        assert first.shows.endswith(target)
        assert second.shows == before


async def test_a_jump_can_be_taken_back(server, watching):
    one, two = server.new_session("one"), server.new_session("two")
    start = server.new_window(one)
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with server.attach(one) as client:
        server.tmux("select-window", "-t", start)
        before = client.shows
        there = await watch.source.jump(PaneKey(key, two))
        assert client.shows == spot(server, two)
        assert there.before.pane == PaneKey(key, start)
        back = await watch.source.jump(there.before)
        assert back.ok
        assert client.shows == before
        assert back.before.pane == PaneKey(key, two)


async def test_a_linked_window_is_shown_in_the_clients_own_session(server, watching):
    first, second = server.new_session("first"), server.new_session("second")
    pane = server.new_window(first)
    server.tmux("link-window", "-d", "-s", pane, "-t", "second:5")
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with server.attach(second) as client:
        assert (await watch.source.jump(PaneKey(key, pane))).ok
        assert (
            client.shows
            == f"{server.ask('#{session_id}', second)} {server.ask('#{window_id} #{pane_id}', pane)}"
        )
        assert server.ask("#{window_id}", "first:") == server.ask("#{window_id}", first), "first did not move"


async def test_a_jump_does_not_touch_the_environment_of_the_session(server, watching):
    one = server.new_session("one")
    two = server.new_session("two")
    server.tmux("set-environment", "-t", "two", "DISPLAY", ":99")
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with server.attach(one, environ={"DISPLAY": ":42"}) as client:
        before = server.tmux("show-environment", "-t", "two")
        assert (await watch.source.jump(PaneKey(key, two))).ok
        assert client.shows == spot(server, two)
        assert server.tmux("show-environment", "-t", "two") == before


async def test_without_a_client_the_command_to_attach_is_offered_and_it_works(server, watching):
    first = server.new_session("x y")
    pane = server.split(server.new_window(first))
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    result = await watch.source.jump(PaneKey(key, pane))
    assert not result.ok
    assert "no terminal is attached" in result.reason
    assert shlex.split(result.attach_command) == list(result.attach)
    with server.attach(command=result.attach[3:]) as client:
        server.wait(lambda: client.shows.endswith(pane), "the pane")


async def test_control_mode_and_suspended_clients_are_no_viewers(server, watching):
    pane = server.new_session()
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with server.attach(control=True), server.attach() as suspended:
        if server.version < (3, 2):  # which does not say that a client is suspended
            suspended.close()
        else:
            server.tmux("suspend-client", "-t", suspended.name)
        result = await watch.source.jump(PaneKey(key, pane))
        assert not result.ok
        assert result.attach
        if not suspended.closed:
            suspended.wake()


async def test_a_pane_that_is_gone_is_refused(server, watching):
    first = server.new_session()
    pane = server.split(first)
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with server.attach(first) as client:
        before = client.shows
        server.tmux("kill-pane", "-t", pane)
        result = await watch.source.jump(PaneKey(key, pane))
        assert (result.ok, result.reason) == (False, f"pane {pane} is gone")
        assert client.shows == before


@pytest.mark.parametrize("listed", [True, False])
async def test_after_a_restart_the_same_id_on_the_same_socket_is_refused(server, watching, listed):
    server.new_session()
    watch = watching(only=str(server.socket))
    old = await watch.found(server)
    if listed:
        await watch.panes(old)
    server.kill()
    pane = server.new_session()
    other = server.new_window(pane)
    with server.attach(pane) as client:
        before = client.shows
        result = await watch.source.jump(PaneKey(old, other))
        assert (result.ok, result.reason) == (False, "the server has ended; another one has taken its place")
        new = await watch.found(server)
        assert new != old
        again = await watch.source.jump(PaneKey(old, other))
        assert (again.ok, again.reason) == (False, "the tmux server of this pane has ended")
        stranger = ServerKey("tmux", new.place, new.pid, new.started + 1)
        assert not (await watch.source.jump(PaneKey(stranger, other))).ok
        assert client.shows == before


async def test_a_hung_server_makes_a_jump_fail_with_a_reason(server, watching):
    pane = server.new_session()
    watch = watching(only=str(server.socket), runner=Runner(timeout=0.3))
    key = await watch.found(server)
    server.pause()
    result = await watch.source.jump(PaneKey(key, pane))
    server.resume()
    assert (result.ok, result.reason) == (False, "it did not answer within 0.3 s")
