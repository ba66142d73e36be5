"""Several tmux servers, odd names, and panes at every place that tmux has: listed right, jumped to right."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.casts import recording
from tests.support.daemon import Daemon
from tests.support.player import Script
from tests.support.tmux import IDLE, TmuxServer, wait_until

pytestmark = pytest.mark.tmux

NAMES = ("a.b", "x y", "quote\"'", "-dash", "#{pid}", "🦊 ✳")


@dataclass
class Two:
    """Two servers: `a` in the default folder, and one at `sp ace/so cket` as seen from another folder."""

    folder: Path
    first: TmuxServer
    second: TmuxServer
    daemon: Daemon
    servers: dict[str, TmuxServer] = field(default_factory=dict)
    _played: int = 0

    def agent(self) -> str:
        """A command that plays an idle agent; each has a file of its own, which nobody writes again."""
        self._played += 1
        shown = recording("claude/edit")
        script = Script().cast(shown.cast, shown.starts, shown.truths[1].certain, at_once=True)
        return script.command("claude", self.folder, f"{self._played}.script")

    def rows(self) -> dict[tuple[str, str], dict[str, Any]]:
        """`trayagent list --json` of our two servers: (server, pane id) -> row."""
        ours = {str(server.socket.resolve()): name for name, server in self.servers.items()}
        names = {Path(place).name: name for place, name in ours.items()} | ours
        return {
            (names[row["server"]], row["pane_id"]): row
            for row in self.daemon.json("list")
            if row["server"] in names
        }


@pytest.fixture
def two() -> Iterator[Two]:
    with tempfile.TemporaryDirectory(prefix="two-") as name:
        folder = Path(name)
        (folder / "sp ace").mkdir(mode=0o700)
        (folder / "tmux").mkdir(mode=0o700)
        with (
            TmuxServer("a", folder=folder / "tmux", ignored=False) as first,
            TmuxServer(socket="sp ace/so cket", cwd=folder, folder=folder / "tmux", ignored=False) as second,
        ):
            daemon = Daemon(environ={"TMUX_TMPDIR": str(folder / "tmux")})
            yield Two(folder, first, second, daemon, {"first": first, "second": second})


def spot(server: TmuxServer, pane: str) -> str:
    """`$session @window %pane`, as AttachedClient.shows tells it."""
    return server.ask("#{session_id} #{window_id} #{pane_id}", pane)


def named_session(server: TmuxServer, number: int, name: str, command: str) -> str:
    """A session that really has this name, which tmux would take for a format or an option."""
    pane = server.new_session(f"s{number}", command, 120, 40)
    server.tmux("rename-session", "-t", server.ask("#{session_id}", pane), "--", name.replace("#", "##"))
    return pane


def test_two_servers_with_odd_sessions_are_listed_and_jumped_to(two: Two) -> None:
    homes = {name: server.new_session("home", IDLE, 120, 40) for name, server in two.servers.items()}
    panes = {
        (where, named_session(server, number, name, two.agent())): name
        for where, server in two.servers.items()
        for number, name in enumerate(NAMES)
    }
    kept = {key: two.servers[key[0]].ask("#{session_name}", key[1]) for key in panes}
    with two.daemon as daemon:
        daemon.wait_for(lambda: set(two.rows()) == set(panes), "all agents of both servers")
        rows = two.rows()
        for key in panes:
            assert rows[key]["session"] == kept[key], "the name as tmux has it"
            assert rows[key]["agent"] == "claude"
        assert {row["pane"] for row in rows.values()} == {
            f"{'a' if where == 'first' else 'so cket'}:{pane}" for where, pane in panes
        }
        clients = {
            where: server.attach(homes[where], columns=120, rows=40) for where, server in two.servers.items()
        }
        for where, pane in panes:
            done = daemon.cli("jump", rows[where, pane]["pane"])
            assert done.returncode == 0, done.stderr
            assert clients[where].shows == spot(two.servers[where], pane)
        other = rows["first", next(pane for where, pane in panes if where == "first")]["pane_id"]
        unclear = daemon.cli("jump", other)  # the same %id on both servers
        assert unclear.returncode == 1
        assert f"a:{other}" in unclear.stderr and f"so cket:{other}" in unclear.stderr
        gone = daemon.cli("jump", "a:%9999")
        assert gone.returncode == 1 and "%9999" in gone.stderr


def test_linked_split_and_zoomed_panes_are_listed_once_and_jumped_to(two: Two) -> None:
    server = two.first
    home = server.new_session("home", IDLE, 120, 40)
    linked = server.new_session("linked", two.agent(), 120, 40)
    server.tmux("link-window", "-d", "-s", linked, "-t", "home:7")
    split = server.split(server.new_session("split", IDLE, 120, 80), two.agent())
    zoomed = server.new_session("zoomed", two.agent(), 120, 80)
    hidden = server.split(zoomed, two.agent())
    server.tmux("resize-pane", "-Z", "-t", zoomed)
    wanted = {("first", pane) for pane in (linked, split, zoomed, hidden)}
    with two.daemon as daemon:
        daemon.wait_for(lambda: set(two.rows()) == wanted, "four agents")
        listed = [row["pane_id"] for row in daemon.json("list") if row["server"] == "a"]
        assert sorted(listed) == sorted(pane for _, pane in wanted), "a linked window's pane is one pane"
        with server.attach(home, columns=120, rows=40) as client:
            assert daemon.cli("jump", f"a:{linked}").returncode == 0
            assert client.shows == f"{server.ask('#{session_id}', home)} " + server.ask(
                "#{window_id} #{pane_id}", linked
            ), "it is shown in the session where the person already is"
            for pane in (split, hidden, zoomed):
                assert daemon.cli("jump", f"a:{pane}").returncode == 0
                assert client.shows == spot(server, pane)
            assert server.ask("#{window_zoomed_flag} #{pane_active}", zoomed) == "1 1", "still zoomed"
            assert daemon.cli("back").returncode == 0
            assert client.shows.endswith(hidden)


def test_a_killed_and_restarted_server_starts_clean(two: Two) -> None:
    server = two.first
    old = server.new_session("old", two.agent(), 120, 40)
    with two.daemon as daemon:
        daemon.wait_for(lambda: ("first", old) in two.rows(), "the agent")
        before = two.rows()["first", old]
        server.kill()
        daemon.wait_for(lambda: not two.rows(), "the list to be empty")
        new = server.new_session("new", two.agent(), 120, 40)
        assert new == old, "the same id on the same socket, and yet another pane"
        daemon.wait_for(lambda: ("first", new) in two.rows(), "the new server's agent")
        after = two.rows()["first", new]
        assert (after["session"], after["pid"] != before["pid"]) == ("new", True)
        with server.attach(columns=120, rows=40) as client:
            assert daemon.cli("jump", f"a:{new}").returncode == 0
            assert client.shows == spot(server, new)


def test_without_a_client_a_jump_says_how_to_attach(two: Two) -> None:
    pane = two.second.new_session("alone", two.agent(), 120, 40)
    with two.daemon as daemon:
        daemon.wait_for(lambda: ("second", pane) in two.rows(), "the agent")
        done = daemon.cli("jump", f"so cket:{pane}")
        assert done.returncode == 1
        assert "attach-session" in done.stderr and str(two.second.socket) in done.stderr


def test_a_symlinked_socket_is_refused_with_a_line_in_doctor(two: Two) -> None:
    pane = two.first.new_session("ours", two.agent(), 120, 40)
    hidden = TmuxServer("hidden", folder=two.folder / "tmux", socket=str(two.folder / "sp ace" / "real"))
    with hidden, two.daemon as daemon:
        hidden.new_session("hidden", two.agent(), 120, 40)
        link = two.first.socket.parent / "linked"
        link.symlink_to(hidden.socket)
        daemon.wait_for(lambda: ("first", pane) in two.rows(), "our agent")
        line = daemon.wait_for(lambda: _line(daemon, link), "a line in doctor")
        assert "symbolic link" in line
        assert not any(row["session"] == "hidden" for row in daemon.json("list"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a socket to another user")
def test_a_foreign_socket_is_refused_with_a_line_in_doctor(two: Two) -> None:
    pane = two.first.new_session("ours", two.agent(), 120, 40)
    two.second.new_session("theirs", two.agent(), 120, 40)
    os.chown(two.second.socket, 65534, -1)
    with two.daemon as daemon:
        daemon.wait_for(lambda: ("first", pane) in two.rows(), "our agent")
        line = daemon.wait_for(lambda: _line(daemon, two.second.socket), "a line in doctor")
        assert "another user" in line
        assert not any(row["session"] == "theirs" for row in daemon.json("list"))
        os.chown(two.second.socket, os.geteuid(), -1)


def _line(daemon: Daemon, place: Path) -> str:
    """The line of `trayagent doctor` that names this place, "" if there is none."""
    return next((line for line in daemon.cli("doctor").stdout.splitlines() if str(place) in line), "")


def test_looks_and_jumps_elsewhere_change_nothing_of_a_server(two: Two) -> None:
    """The other windows' zoom, active pane, layout, activity, bells, environment and options stay."""
    server = two.first
    home = server.new_session("home", IDLE, 120, 40)
    panes = [server.new_window(home, two.agent()) for _ in range(3)]
    other = server.new_session("other", IDLE, 120, 40)
    split = server.split(other)
    server.tmux("resize-pane", "-Z", "-t", other)
    bell = server.new_window(other, "printf '\\a'; exec sleep 100000")
    wait_until(lambda: server.ask("#{window_bell_flag}", bell) == "1", "a bell")
    server.tmux("set-option", "-p", "-t", split, "@mine", "kept")
    server.tmux("set-environment", "-t", "other", "MINE", "kept")

    def account() -> list[str]:
        fields = "#{window_id} #{pane_id} #{pane_active} #{window_active} #{window_zoomed_flag} "
        fields += "#{window_layout} #{window_activity} #{window_bell_flag} #{pane_width}x#{pane_height}"
        return [
            server.tmux("list-panes", "-s", "-t", "other", "-F", fields),
            server.tmux("show-environment", "-t", "other"),
            server.tmux("show-options", "-p", "-t", split),
            server.tmux("show-options", "-t", "other"),
            server.tmux("show-hooks", "-g"),
        ]

    before = account()
    with two.daemon as daemon:
        daemon.wait_for(lambda: len(two.rows()) == 3, "three agents")
        with server.attach(home, columns=120, rows=40) as client:
            for number in range(10):
                pane = panes[number % 3]
                assert daemon.cli("jump", f"a:{pane}").returncode == 0
                assert client.shows == spot(server, pane)
        assert account() == before
