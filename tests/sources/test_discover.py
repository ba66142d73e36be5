"""Which servers are found, and which sockets are left alone."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from tests.support.tmux import TmuxServer
from trayagent.model.effects import Look
from trayagent.model.events import LookEnded, ServerFound, ServerGone
from trayagent.model.keys import ServerKey
from trayagent.sources.tmux.command import Runner
from trayagent.sources.tmux.discover import Discovery
from trayagent.sources.tmux.proc import Proc

pytestmark = pytest.mark.tmux
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
NO_PROC = "/nonexistent/proc"


def places(events: list[object], folder: Path) -> dict[str, str]:
    """Path below `folder` to name, of the servers found there (other tests may run beside this one)."""
    return {
        str(Path(event.server.place).relative_to(folder)): event.name
        for event in events
        if isinstance(event, ServerFound) and event.server.place.startswith(f"{folder}/")
    }


def stale(path: Path) -> None:
    """A socket file that nobody listens on."""
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


@pytest.fixture
def two(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch):
    """`-L a`, and a relative `-S` path with a space given in another folder, both with a pane; and stale
    sockets beside them."""
    with TmuxServer("a", ignored=False) as a:
        other = a.folder / "some where"
        other.mkdir()
        with TmuxServer(socket="some where/my sock", cwd=a.folder, folder=a.folder, ignored=False) as b:
            a.new_session()
            b.new_session()
            stale(a.socket.parent / "old")
            stale(other / "old one")
            monkeypatch.setenv("TMUX_TMPDIR", str(a.folder))
            yield a, b


async def test_servers_are_found_wherever_their_socket_lies_and_stale_sockets_are_silent(two, watching):
    a, b = two
    watch = watching()
    found = places(await watch.discover(), a.folder)
    assert found == {f"tmux-{os.getuid()}/a": "a", "some where/my sock": "my sock"}
    assert not [problem for problem in watch.source.problems() if str(a.folder) in problem.place]
    key = next(key for key in watch.source._servers if key.place == str(b.socket))
    assert key.pid == b.pid
    assert key.started == Proc().started(b.pid)


async def test_a_second_discovery_finds_nothing_new_and_asks_nobody(two, watching):
    watch = watching()
    await watch.discover()
    asked = watch.source.cost.n
    assert await watch.discover() == []
    assert watch.source.cost.n == asked


async def test_a_server_that_comes_and_one_that_goes_are_told_once(two, watching):
    a, b = two
    watch = watching()
    await watch.discover()
    b.kill()
    with TmuxServer("late", folder=a.folder, ignored=False) as late:
        late.new_session()
        events = await watch.discover()
        assert places(events, a.folder) == {f"tmux-{os.getuid()}/late": "late"}
        gone = [event.server.place for event in events if isinstance(event, ServerGone)]
        assert [place for place in gone if place.startswith(str(a.folder))] == [str(b.socket)]
        assert not places(await watch.discover(), a.folder)


async def test_without_proc_the_folder_and_the_named_sockets_are_asked(two, watching):
    a, b = two
    watch = watching(proc=Proc(NO_PROC), sockets=(str(b.socket), str(a.folder / "nothing here")))
    events = await watch.discover()
    assert places(events, a.folder) == {f"tmux-{os.getuid()}/a": "a", "some where/my sock": "my sock"}
    (key,) = [event.server for event in events if event.name == "a"]
    assert (key.pid, key.started) == (a.pid, int(a.ask("#{start_time}")))
    assert [info.pid for info in (await watch.panes(key)).values()] == [int(a.ask("#{pane_pid}"))]
    assert watch.source.problems() == ()
    asked = watch.source.cost.n
    assert await watch.discover() == []
    assert watch.source.cost.n == asked, "stale sockets are asked once"


async def test_without_proc_a_server_that_ended_is_gone_at_the_next_look(two, watching):
    a, _ = two
    watch = watching(proc=Proc(NO_PROC))
    key = await watch.found(a)
    a.kill()
    events = await watch.look(Look(key, listing=True))
    assert events == [ServerGone(key), LookEnded(key, "the server has ended")]


async def test_only_server_watches_that_one_even_where_the_folder_is_ignored(two, watching):
    a, b = two
    (b.socket.parent / ".trayagent-ignore").touch()
    watch = watching(only=str(b.socket))
    assert places(await watch.discover(), a.folder) == {"some where/my sock": "my sock"}
    assert len(watch.events) == 1


async def test_a_folder_that_asks_to_be_ignored_is_not_watched(two, watching):
    a, b = two
    (b.socket.parent / ".trayagent-ignore").touch()
    watch = watching(sockets=(str(b.socket),))
    assert places(await watch.discover(), a.folder) == {f"tmux-{os.getuid()}/a": "a"}
    assert not [problem for problem in watch.source.problems() if str(a.folder) in problem.place]


async def test_the_server_that_took_over_a_removed_socket_is_the_one_that_counts(two, watching):
    a, _ = two
    watch = watching()
    await watch.found(a)
    a.socket.unlink()
    with TmuxServer("a", folder=a.folder, ignored=False) as heir:
        heir.new_session()
        events = await watch.discover()
        (found,) = [
            event.server
            for event in events
            if isinstance(event, ServerFound) and event.server.place == str(a.socket)
        ]
        assert found.pid == heir.pid
        assert a.pid in [event.server.pid for event in events if isinstance(event, ServerGone)]
        heir.kill()
        os.kill(a.pid, signal.SIGUSR1)  # tmux(1): creates the socket anew, so that it can be ended
        a.wait(a.socket.exists, "the first server's socket")


async def test_a_symbolic_link_to_a_socket_is_refused_with_a_line(two, watching):
    a, b = two
    link = a.socket.parent / "link"
    link.symlink_to(b.socket)
    watch = watching()
    found = places(await watch.discover(), a.folder)
    assert f"tmux-{os.getuid()}/link" not in found
    assert [problem.text for problem in watch.source.problems() if problem.place == str(link)] == [
        "not watched: the socket is a symbolic link"
    ]


async def test_a_socket_folder_that_is_a_symbolic_link_is_refused_with_a_line(two, watching):
    a, b = two
    link = a.folder / "linked"
    link.symlink_to(b.socket.parent)
    watch = watching(only=str(link / "my sock"))
    assert await watch.discover() == []
    (problem,) = watch.source.problems()
    assert "is a symbolic link" in problem.text


@as_root
@pytest.mark.parametrize("what", ["socket", "folder"])
async def test_a_socket_of_another_user_is_refused_with_a_line(two, watching, what):
    _, b = two
    os.chown(b.socket if what == "socket" else b.socket.parent, 12345, 12345)
    watch = watching()
    await watch.discover()
    (problem,) = [problem for problem in watch.source.problems() if problem.place == str(b.socket)]
    assert "another user (uid 12345)" in problem.text
    assert str(b.socket) not in {key.place for key in watch.source._servers}


async def test_a_socket_that_everybody_could_replace_is_refused_with_a_line(two, watching):
    _, b = two
    b.socket.parent.chmod(0o777)
    watch = watching(sockets=(str(b.socket),))
    await watch.discover()
    (problem,) = [problem for problem in watch.source.problems() if problem.place == str(b.socket)]
    assert "written to by everybody" in problem.text
    b.socket.parent.chmod(0o1777)
    await watch.discover()
    assert str(b.socket) in {key.place for key in watch.source._servers}


async def test_what_belongs_to_another_user_is_never_asked(two):
    a, b = two

    async def ask(place: str) -> None:
        raise AssertionError(f"{place} was asked")

    survey = await Discovery(ask, sockets=(str(a.socket), str(b.socket)), uid=os.getuid() + 1).survey()
    assert survey.servers == []
    assert {problem.place for problem in survey.problems} == {str(a.socket), str(b.socket)}
    assert all("another user" in problem.text for problem in survey.problems)


async def test_no_tmux_program_is_said_and_nothing_breaks(two, watching):
    watch = watching(runner=Runner(environ={"PATH": "/nonexistent"}))
    await watch.discover()
    assert "no tmux program" in watch.source.problems()[0].text


def forged_proc(root: Path, place: str, processes: dict[int, tuple[int, int]]) -> Proc:
    """A /proc in which these processes (pid to parent and start) are called `tmux: server` and share one
    listening socket, as they do for the moment in which a server starts a program."""
    (root / "self").mkdir(parents=True)
    (root / "self" / "stat").touch()
    (root / "net").mkdir()
    header = "Num       RefCount Protocol Flags    Type St Inode Path\n"
    line = f"0000000000000000: 00000002 00000000 00010000 0001 01 777 {place}\n"
    (root / "net" / "unix").write_text(header + line)
    for pid, (parent, started) in processes.items():
        folder = root / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "fd" / "6").symlink_to("socket:[777]")
        (folder / "comm").write_text("tmux: server\n")
        fields = ["S", str(parent), *["0"] * 17, str(started)]
        (folder / "stat").write_text(f"{pid} (tmux: server) {' '.join(fields)}\n")
        (folder / "status").write_text(f"Name:\ttmux: server\nNSpid:\t{pid}\n")
    return Proc(str(root))


@pytest.mark.parametrize("pids", [(500, 900), (900, 500)])
async def test_a_server_that_is_just_starting_a_program_is_told_from_its_child(two, tmp_path, pids):
    _, b = two
    server, child = pids
    proc = forged_proc(tmp_path, str(b.socket), {server: (1, 4000), child: (server, 4000)})

    async def ask(place: str) -> None:
        return None

    survey = await Discovery(ask, proc=proc, environ={"TMUX_TMPDIR": str(tmp_path)}).survey()
    assert survey.servers == [ServerKey("tmux", str(b.socket), server, 4000)]


async def test_a_server_that_counts_processes_otherwise_is_refused_with_a_line(two, tmp_path):
    _, b = two
    proc = forged_proc(tmp_path, str(b.socket), {500: (1, 4000)})
    (tmp_path / "500" / "status").write_text("NSpid:\t500\t7\n")

    async def ask(place: str) -> None:
        return None

    survey = await Discovery(ask, proc=proc, environ={"TMUX_TMPDIR": str(tmp_path)}).survey()
    assert survey.servers == []
    assert [problem.place for problem in survey.problems] == [str(b.socket)]
