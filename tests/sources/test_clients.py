"""What is known of the terminals that are attached."""

from __future__ import annotations

import pytest

from tests.support.desktop import Desktop
from trayagent.model.keys import PaneKey

pytestmark = pytest.mark.tmux


async def test_a_client_tells_what_it_shows_and_where_it_runs(server, watching):
    first = server.new_session()
    pane = server.split(first)
    server.tmux("select-pane", "-t", pane)
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with server.attach(environ={"WINDOWID": "4194317"}) as attached:
        client = (await watch.clients(key))[attached.name]
        assert client.pane == PaneKey(key, pane)
        assert f"{client.session_id} {client.window_id} {pane}" == attached.shows
        assert (client.pid, client.pids[0]) == (attached.pid, attached.pid)
        assert len(client.pids) > 1
        assert client.tty == client.name
        assert client.activity == int(server.tmux("list-clients", "-F", "#{client_activity}"))
        assert (client.window_hint, client.control, client.read_only) == (4194317, False, False)
    assert await watch.clients(key) == {}


@pytest.mark.desktop
async def test_a_client_in_a_terminal_window_names_that_window_and_the_terminal(server, watching):
    server.new_session()
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with Desktop() as desktop, server.attach_xterm(desktop.env, None, "-T", "the terminal") as attached:
        client = (await watch.clients(key))[attached.name]
        server.wait(lambda: desktop.windows("the terminal"), "the window")
        window = int(desktop.xdotool("search", "--name", "the terminal").split()[0])
        assert client.window_hint == window
        assert int(desktop.xdotool("getwindowpid", str(window))) in client.pids


async def test_a_control_mode_client_is_marked_as_one(server, watching):
    server.new_session()
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with server.attach(control=True) as attached:
        client = (await watch.clients(key))[attached.name]
        assert client.control


async def test_a_suspended_client_shows_nothing(server, watching):
    server.new_session()
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    with server.attach() as attached:
        name = attached.name
        assert (await watch.clients(key))[name].pane is not None
        server.tmux("suspend-client", "-t", name)
        client = (await watch.clients(key)).get(name)  # 3.7 does not list it at all
        assert client is None or client.pane is None or server.version < (3, 2)  # which does not say so
        attached.wake()
