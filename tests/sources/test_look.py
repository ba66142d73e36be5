"""What a look reads, and what it makes of odd names, vanished panes and servers that do not answer."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from tests.support.tmux import IDLE, TmuxServer
from trayagent.model.effects import Look
from trayagent.model.events import Frame, LookEnded, Panes, ServerFound, ServerGone
from trayagent.model.keys import PaneKey
from trayagent.sources.tmux import look, wire
from trayagent.sources.tmux.command import Runner

pytestmark = pytest.mark.tmux
ODD = [
    "a.b",
    "x y",
    "quote\"'",
    "-dash",
    "#{pid}",
    "=eq",
    "🦊 ✳",
    "c:d",
    "$HOME",
    "~",
    "se;mi",
    "back\\slash",
]


def shows(text: str) -> str:
    """A pane's command that prints `text` (of printf) and stays."""
    return f"printf '{text}'; {IDLE}"


async def test_a_list_tells_what_tmux_itself_tells_of_each_pane(server, watching):
    first = server.new_session("main", columns=100, rows=30)
    second = server.new_window(first, name="logs")
    third = server.split(second)
    server.tmux("resize-pane", "-Z", "-t", second)
    server.tmux("set-option", "-w", "-t", second, "synchronize-panes", "on")
    server.tmux("pipe-pane", "-t", third, "cat >/dev/null")
    server.tmux("copy-mode", "-t", first)
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    panes = await watch.panes(key)
    assert set(panes) == {first, second, third}
    one, two, three = (panes[id] for id in (first, second, third))
    assert (one.key, one.server_name) == (PaneKey(key, first), "a")
    assert (one.session, two.window, two.window_index, three.pane_index) == ("main", "logs", 1, 1)
    assert (one.width, one.height) == (100, 30)
    assert one.pid == int(server.ask("#{pane_pid}", first))
    assert (one.tty, one.dir) == (server.ask("#{pane_tty}", first), str(server.folder))
    server.wait(lambda: server.ask("#{pane_current_command}", third) == "sleep", "the pane's command")
    three = (await watch.panes(key))[third]
    assert three.command == "sleep"
    assert [info.active for info in (one, two, three)] == [True, True, False]
    assert [info.window_active for info in (one, two, three)] == [True, False, False]
    assert [info.zoomed for info in (one, two, three)] == [False, True, True]
    assert [info.in_mode for info in (one, two, three)] == [True, False, False]
    assert [info.synchronized for info in (one, two, three)] == [False, True, True]
    assert [info.piped for info in (one, two, three)] == [False, False, True]


async def test_odd_session_and_window_names_arrive_as_tmux_keeps_them(server, watching):
    kept = {}
    for number, name in enumerate(ODD):
        pane = server.new_session(f"s{number}")
        plain = name.replace("#", "##")  # names given on a command line are formats
        server.tmux("rename-session", "-t", server.ask("#{session_id}", pane), "--", plain, check=False)
        server.tmux("rename-window", "-t", pane, "--", plain)
        kept[pane] = (server.ask("#{session_name}", pane), server.ask("#{window_name}", pane))
    watch = watching(only=str(server.socket))
    panes = await watch.panes(await watch.found(server))
    assert {id: (info.session, info.window) for id, info in panes.items()} == kept
    altered = {"a.b", "c:d", "$HOME", "back\\slash"}  # by some versions, when they are set
    assert {(name, name) for name in ODD if name not in altered} <= set(kept.values())


async def test_titles_and_options_are_taken_as_they_are_whatever_they_hold(server, watching):
    title = "✳ #{pid} 'q\"  ; #[fg=red]"
    pane = server.new_session()
    server.tmux("select-pane", "-t", pane, "-T", title.replace("#{", "##{"))
    nasty = "one\ntwo\tthree #{pid} $HOME 'q\" \\ ; }"
    server.tmux("set-option", "-p", "-t", pane, "@agent_status_text", nasty)
    server.tmux("set-option", "-p", "-t", pane, "@agent_state", "working;1700000000")
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    expected = (("@agent_state", "working;1700000000"), ("@agent_status_text", nasty))
    info = (await watch.panes(key))[pane]
    assert (info.title, info.options) == (title, expected)
    frame = (await watch.frames(key, pane))[pane]
    assert (frame.screen.title, frame.info.options) == (title, expected)


async def test_a_frame_is_the_screen_with_the_fields_of_the_same_moment(server, watching):
    pane = server.new_session(
        command=shows("top   \\n\\342\\234\\263 h\\303\\251\\302\\240\\n\\ttab"), rows=6
    )
    server.wait(lambda: "tab" in server.screen(pane), "the text")
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    listed = (await watch.panes(key))[pane]
    before = watch.source._now()
    frame = (await watch.frames(key, pane))[pane]
    assert frame.screen.text == "top\n✳ hé\xa0\n        tab\n\n\n"
    assert frame.screen.joined is None
    assert (frame.screen.width, frame.screen.height) == (80, 6)
    assert before <= frame.at <= watch.source._now()
    assert frame.info == listed


async def test_wrapped_rows_are_joined_where_asked_for(server, watching):
    sized = "until [ \"$(stty size)\" = '4 10' ]; do sleep 0.05; done; "  # 3.2 sizes it a moment later
    pane = server.new_session(command=sized + shows("0123456789abcdefghij end"), columns=10, rows=4)
    server.wait(lambda: "end" in server.screen(pane), "the text")
    watch = watching(only=str(server.socket))
    frame = (await watch.frames(await watch.found(server), pane, joined=True))[pane]
    assert frame.screen.text == "0123456789\nabcdefghij\n end\n"
    assert frame.screen.joined == "0123456789abcdefghij end\n"


async def test_a_pane_that_vanished_does_not_spoil_the_others(server, watching):
    first = server.new_session(command=shows("first"))
    gone = server.new_window(first)
    last = server.new_window(first, shows("last"))
    server.wait(lambda: "first" in server.screen(first) and "last" in server.screen(last), "the texts")
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    server.tmux("kill-pane", "-t", gone)
    frames = await watch.frames(key, first, gone, last)
    assert {id: frame.screen.text.strip() for id, frame in frames.items()} == {first: "first", last: "last"}


async def test_a_linked_window_gives_one_pane_with_its_other_places(server, watching):
    first = server.new_session("zeta")
    pane = server.new_window(first, name="shared")
    other = server.new_session("alpha")
    server.tmux("link-window", "-d", "-s", pane, "-t", "alpha:5")
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    info = (await watch.panes(key))[pane]
    sessions = [server.ask("#{session_id}", id) for id in (first, other)]
    assert (info.session_id, info.session, info.window_index) == (sessions[0], "zeta", 1)
    assert info.links == ((sessions[1], "alpha", 5),)
    assert not info.window_active
    server.tmux("select-window", "-t", "alpha:5")
    frame = (await watch.frames(key, pane))[pane]
    assert frame.info == dataclasses.replace(info, window_active=True)


async def test_a_dead_pane_tells_how_it_ended(server, watching):
    keep = server.new_session()
    server.tmux("set-option", "-g", "remain-on-exit", "on")
    failed = server.new_window(keep, "exit 3")
    killed = server.new_window(keep, "kill -TERM $$; sleep 100")
    server.wait(lambda: all(server.ask("#{pane_dead}", id) == "1" for id in (failed, killed)), "both ends")
    watch = watching(only=str(server.socket))
    panes = await watch.panes(await watch.found(server))
    assert [panes[id].dead for id in (keep, failed, killed)] == [False, True, True]
    assert (panes[failed].dead_status, panes[failed].dead_signal) == (3, None)
    told = 15 if server.version >= (3, 3) else None
    assert (panes[killed].dead_status, panes[killed].dead_signal) == (None, told)


@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "C"}, {"LANG": "C.UTF-8"}])
async def test_the_locale_makes_no_difference(server, watching, monkeypatch, locale):
    for name in ("LANG", "LC_ALL", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in locale.items():
        monkeypatch.setenv(name, value)
    pane = server.new_session(command=shows("\\342\\234\\263 \\342\\224\\200 h\\303\\251"))
    server.tmux("rename-window", "-t", pane, "é ✳")
    server.tmux("set-option", "-p", "-t", pane, "@agent_status_text", "tab\there ✳")
    server.wait(lambda: "✳" in server.screen(pane), "the text")
    watch = watching(only=str(server.socket))
    frame = (await watch.frames(await watch.found(server), pane))[pane]
    assert frame.screen.text.rstrip() == "✳ ─ hé"
    assert frame.info.window == "é ✳"
    assert frame.info.options == (("@agent_status_text", "tab\there ✳"),)


async def test_being_inside_another_tmux_makes_no_difference(server, watching, monkeypatch):
    pane = server.new_session()
    with TmuxServer("b") as other:
        monkeypatch.setenv("TMUX", f"{other.socket},{other.new_session()[1:]},0")
        monkeypatch.setenv("TMUX_PANE", "%0")
        watch = watching(only=str(server.socket))
        panes = await watch.panes(await watch.found(server))
        assert [info.pid for info in panes.values()] == [int(server.ask("#{pane_pid}", pane))]


async def test_what_a_pane_prints_cannot_pass_for_a_part_of_the_reply(server, watching):
    marks = "".join(f"{number:012x}z\\n" for number in range(20)) + "#{pid}\\n%%0"
    pane = server.new_session(command=shows(marks), rows=40)
    server.wait(lambda: "%0" in server.screen(pane), "the text")
    watch = watching(only=str(server.socket))
    frame = (await watch.frames(await watch.found(server), pane))[pane]
    assert frame.screen.text.rstrip() == marks.replace("\\n", "\n").replace("%%", "%")


async def test_a_look_too_big_for_one_command_is_read_in_several(server, watching):
    first = server.new_session(command=shows("first"))
    last = server.new_window(first, shows("last"))
    server.wait(lambda: "first" in server.screen(first) and "last" in server.screen(last), "the texts")
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    ids = [first, *(f"%{number}" for number in range(1000, 1600)), last]
    wanted = tuple(PaneKey(key, id) for id in ids)
    asked = watch.source.cost.n
    events = await watch.look(Look(key, panes=wanted, listing=True))
    assert events[-1] == LookEnded(key)
    assert [event.pane.id for event in events if isinstance(event, Frame)] == [first, last]
    assert [len(event.panes) for event in events if isinstance(event, Panes)] == [2]
    assert watch.source.cost.n - asked > 2


@pytest.mark.parametrize("version", [(3, 0), (3, 3), (3, 7)])
@pytest.mark.parametrize("listing", [True, False])
def test_commands_stay_below_the_limit_and_leave_nobody_out(version, listing):
    ids = tuple(f"%{number}" for number in range(99_000, 99_400))
    made = list(look.commands(look.Request(ids, listing, True, frozenset(ids)), version))
    assert tuple(id for command in made for id in command.ids) == ids
    assert [command.listing for command in made] == [listing] + [False] * (len(made) - 1)
    assert all(sum(len(word) + 1 for word in command.args) < 16_000 for command in made)


async def test_a_server_without_sessions_is_an_empty_list(server, watching):
    pane = server.new_session()
    server.tmux("set-option", "-s", "exit-empty", "off")
    server.tmux("kill-pane", "-t", pane)
    watch = watching(only=str(server.socket))
    assert await watch.panes(await watch.found(server)) == {}


async def test_a_hung_server_is_a_problem_in_time_and_holds_up_nobody(server, watching):
    server.new_session()
    with TmuxServer("b", folder=server.folder) as other:
        other.new_session()
        hung = watching(only=str(server.socket), runner=Runner(timeout=1.0))
        fine = watching(only=str(other.socket))
        one, two = await hung.found(server), await fine.found(other)
        server.pause()
        waiting = asyncio.create_task(hung.look(Look(one, listing=True)))
        for _ in range(3):
            assert len(await fine.panes(two)) == 1
        assert not waiting.done(), "other servers are read meanwhile"
        assert await waiting == [LookEnded(one, "it did not answer within 1 s")]
        server.resume()
        assert len(await hung.panes(one)) == 1


async def test_a_server_that_ended_is_gone_and_a_new_one_at_its_place_is_another(server, watching):
    server.new_session()
    watch = watching(only=str(server.socket))
    old = await watch.found(server)
    server.kill()
    assert await watch.look(Look(old, listing=True)) == [
        ServerGone(old),
        LookEnded(old, "the server has ended"),
    ]
    assert await watch.look(Look(old, listing=True)) == [LookEnded(old, "the server is gone")]
    server.new_session()
    (found,) = await watch.discover()
    assert isinstance(found, ServerFound)
    assert found.server != old
    assert len(await watch.panes(found.server)) == 1


async def test_a_restarted_server_does_not_answer_for_the_old_one(server, watching):
    server.new_session()
    watch = watching(only=str(server.socket))
    old = await watch.found(server)
    await watch.panes(old)
    server.kill()
    server.new_session()
    events = await watch.look(Look(old, panes=(PaneKey(old, "%0"),), listing=True))
    assert [type(event) for event in events] == [ServerGone, LookEnded]
    assert events[-1].problem is not None


def test_versions_are_read_in_all_their_forms():
    given = ["3.0a", "3.3a", "3.7c", "next-3.8", "master", "openbsd-7.8", "3.2-rc"]
    assert [wire.version(text) for text in given] == [
        (3, 0),
        (3, 3),
        (3, 7),
        (3, 8),
        wire.NEWEST,
        wire.NEWEST,
        (3, 2),
    ]


def test_tabs_of_a_row_become_the_blanks_that_they_are_on_screen():
    reading = wire.read("Ms1\na\tb\n漢字\tx\n\t\n".replace("M", "f" * 12).encode(), "f" * 12)
    assert reading.screens == {"%1": "a       b\n漢字    x\n"}


def test_a_reply_that_is_none_is_refused():
    with pytest.raises(ValueError):
        wire.read(b"ffffffffffff?", "f" * 12)


async def test_a_pane_that_is_as_it_was_is_told_by_the_same_object_again(server, watching):
    pane = server.new_session()
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    await watch.panes(key)
    first = (await watch.frames(key, pane))[pane].info
    assert (await watch.frames(key, pane))[pane].info is first
    server.tmux("select-pane", "-t", pane, "-T", "another title")
    changed = (await watch.frames(key, pane))[pane].info
    assert changed == dataclasses.replace(first, title="another title")
    server.tmux("rename-session", "-t", pane, "elsewhere")
    assert (await watch.panes(key))[pane].session == "elsewhere"
