"""Watching changes nothing: what tmux knows of every window, session and client stays as it was."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

import trayagent.sources.tmux as package
from tests.support.tmux import IDLE, TmuxServer
from trayagent.model.effects import Look
from trayagent.model.events import LookEnded
from trayagent.model.keys import PaneKey

pytestmark = pytest.mark.tmux

PANES = (
    "#{session_name} #{session_attached} #{session_group_attached} #{session_alerts} #{session_activity} "
    "#{window_id} #{window_flags} #{window_layout} #{window_visible_layout} #{window_zoomed_flag} "
    "#{window_activity} #{window_activity_flag} #{window_bell_flag} #{window_silence_flag} #{window_active} "
    "#{window_active_clients} #{pane_id} #{pane_active} #{pane_last} #{pane_in_mode} #{pane_mode} "
    "#{pane_width}x#{pane_height} #{pane_pipe} #{pane_marked} #{pane_input_off} #{pane_title} "
    "#{history_size} #{cursor_x},#{cursor_y} #{scroll_position}"
)


def state(server: TmuxServer, session: str) -> dict[str, str]:
    """Everything about one session that watching must not change."""
    lines = server.tmux("list-panes", "-s", "-t", f"={session}:", "-F", PANES).splitlines()
    known = dict(
        zip((line.split(" ")[0] + str(count) for count, line in enumerate(lines)), lines, strict=True)
    )
    known["environment"] = server.tmux("show-environment", "-t", f"={session}")
    known["session options"] = server.tmux("show-options", "-t", f"={session}:")
    for line in server.tmux("list-panes", "-s", "-t", f"={session}:", "-F", "#{pane_id}").split():
        known[f"window options {line}"] = server.tmux("show-options", "-w", "-t", line)
        known[f"pane options {line}"] = server.tmux("show-options", "-p", "-t", line)
    return known


def common(server: TmuxServer) -> list[str]:
    """What belongs to the server as a whole."""
    wanted = [
        ["show-environment", "-g"],
        ["show-options", "-g"],
        ["show-options", "-s"],
        ["show-hooks", "-g"],
    ]
    return [server.tmux(*command) for command in [*wanted, ["list-buffers"], ["list-keys"]]]


@pytest.fixture
def quiet(server: TmuxServer) -> TmuxServer:
    """A session `quiet` with a zoomed split, a bell, a pane in copy mode and a dead pane; `one` and `two`
    for jumps."""
    first = server.new_session("quiet", columns=100, rows=30)
    server.tmux("set-option", "-g", "remain-on-exit", "on")
    server.tmux("set-option", "-wg", "monitor-activity", "on")
    zoomed = server.new_window(first)
    server.split(zoomed)
    server.split(server.split(zoomed))
    server.tmux("resize-pane", "-Z", "-t", zoomed)
    bell = server.new_window(first, f"printf '\\a'; {IDLE}")
    server.tmux("copy-mode", "-t", server.new_window(first))
    dead = server.new_window(first, "exit 1")
    server.tmux("set-environment", "-t", "=quiet", "DISPLAY", ":99")
    server.new_session("one")
    server.split(server.new_session("two"))
    server.wait(lambda: server.ask("#{window_bell_flag}", bell) == "1", "the bell")
    server.wait(lambda: server.ask("#{pane_dead}", dead) == "1", "the end")
    return server


async def test_a_thousand_looks_and_fifty_jumps_elsewhere_leave_a_session_as_it_was(quiet, watching):
    watch = watching(only=str(quiet.socket))
    key = await watch.found(quiet)
    with quiet.attach("one", environ={"DISPLAY": ":42"}) as client, quiet.attach("quiet") as other:
        ids = quiet.tmux("list-panes", "-a", "-F", "#{pane_id} #{session_name}").splitlines()
        keys = tuple(PaneKey(key, line.split(" ")[0]) for line in ids)
        targets = [PaneKey(key, line.split(" ")[0]) for line in ids if not line.endswith("quiet")]
        before, shared, shown = state(quiet, "quiet"), common(quiet), other.shows
        environments = [quiet.tmux("show-environment", "-t", f"={name}") for name in ("one", "two")]
        for number in range(250):
            whole = number % 10 == 0
            one = Look(key, panes=(keys[number % len(keys)],))
            looks = [one, Look(key, panes=keys, listing=whole, joined=frozenset(keys[:2]))]
            looks += [Look(key, clients=True), Look(key, listing=True)]
            await asyncio.gather(*(watch.source.look(look) for look in looks))
            if number % 5 == 0:
                name = client.name
                client_of_ours = [spot for spot in (await watch.clients(key)).values() if spot.name == name]
                assert client_of_ours
                quiet.wait(lambda: _latest(quiet, client), "our client to be the one used last")
                target = targets[number // 5 % len(targets)]
                result = await watch.source.jump(target)
                assert (result.ok, result.client.name) == (True, name)
                assert client.shows.endswith(target.id)
        assert not [event for event in watch.events if isinstance(event, LookEnded) and event.problem]
        assert state(quiet, "quiet") == before
        assert common(quiet) == shared
        assert other.shows == shown
        assert [quiet.tmux("show-environment", "-t", f"={name}") for name in ("one", "two")] == environments


def _latest(server: TmuxServer, client) -> bool:
    """Whether this client was used in a later second than any other; uses it if it was not."""
    lines = server.tmux("list-clients", "-F", "#{client_activity} #{client_pid}").splitlines()
    times = {int(line.split()[1]): int(line.split()[0]) for line in lines}
    mine = times.pop(client.pid)
    if mine > max(times.values()):
        return True
    client.type(b"x")
    return False


def test_no_command_is_used_that_changes_anything_but_in_a_jump(server):
    server.new_session()
    known = server.tmux("list-commands", "-F", "#{command_list_name}").split()
    looks = {"list-panes", "list-clients", "display-message", "capture-pane", "if-shell"}
    jumps = {"switch-client", "select-window", "select-pane", "resize-pane", "attach-session"}
    seen = set()
    for path in Path(package.__file__).parent.glob("*.py"):
        code = re.sub(r'"""[\s\S]*?"""|#(?!\{).*', "", path.read_text())
        used = {name for name in known if re.search(rf"[\"' ]{name}[\"' ]", code)}
        assert used <= (looks | jumps if path.name == "jump.py" else looks), path.name
        assert not re.search(r"[\"']-CC?[\"']", code), "control mode"
        seen |= used
    assert seen == looks | jumps, "the search finds what there is"
