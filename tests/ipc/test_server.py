"""What clients of all sorts get from the server, and that none of them can harm it."""

# ruff: noqa: ASYNC240

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.ipc.conftest import Daemon, until
from trayagent.ipc import client, schema
from trayagent.ipc.client import NoDaemon, VerbError
from trayagent.ipc.paths import FolderError
from trayagent.ipc.server import AlreadyRunning, Server


async def ask(folder: Path, verb: str, args: dict[str, Any] | None = None) -> dict[str, Any]:
    return await asyncio.to_thread(client.call, verb, args, folder=folder)


async def test_a_request_gets_the_handlers_answer_and_the_handler_gets_the_peer(daemon: Daemon, folder: Path):
    assert await ask(folder, "get", {"pane": "%1"}) == {"panes": [{"pane": "default:%1"}], "verb": "get"}
    verb, args, peer = daemon.asked[0]
    assert (verb, args, peer.uid, peer.pid) == ("get", {"pane": "%1"}, os.geteuid(), os.getpid())


async def test_folder_and_socket_are_closed_to_others(daemon: Daemon, folder: Path):
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "daemon.sock").stat().st_mode) == 0o600


async def test_a_reply_longer_than_a_line_arrives_whole(daemon: Daemon, folder: Path, talk: Any):
    daemon.panes = [{"pane": f"a:%{n}", "message": 'é"\n\u0001' * 20} for n in range(3000)]
    assert (await ask(folder, "list"))["panes"] == daemon.panes
    raw = await talk(b'{"verb":"list"}\n')
    assert raw.count(b"\n") > 1
    assert max(len(line) + 1 for line in raw.splitlines()) <= schema.LIMIT


@pytest.mark.parametrize(
    "garbage",
    [b"\x00\xff\xfe\n", b"GET / HTTP/1.1\r\n\r\n", b"[" * 60_000 + b"\n", b"[]\n", b"\n",
     b'{"v":2,"verb":"x"}\n', b'{"id":[],"verb":"list"}\n', b'{"v":' + b"9" * 6000 + b"}\n", b'{"verb"'],
)  # fmt: skip
async def test_garbage_gets_one_clear_error_and_the_next_client_is_served(
    daemon: Daemon, folder: Path, talk: Any, garbage: bytes
):
    lines = (await talk(garbage)).splitlines()
    assert len(lines) == 1
    error = json.loads(lines[0])["error"]
    assert error["code"] in ("bad-request", "version")
    assert error["text"]
    assert (await ask(folder, "list"))["verb"] == "list"
    assert [verb for verb, _, _ in daemon.asked] == ["list"]


async def test_an_oversized_message_is_refused_while_it_is_still_being_sent(
    daemon: Daemon, folder: Path, talk: Any
):
    raw = await talk(b'{"verb":"list","args":{"x":"' + b"x" * 300_000 + b'"}}\n')
    assert [json.loads(line)["error"]["code"] for line in raw.splitlines()] == ["too-long"]
    assert daemon.asked == []


async def test_the_longest_allowed_message_is_read(daemon: Daemon, talk: Any):
    empty = schema.request_line("history", {"agent": ""})
    line = schema.request_line("history", {"agent": "x" * (schema.LIMIT - len(empty))})
    assert len(line) == schema.LIMIT
    assert json.loads(await talk(line))["ok"]
    over = schema.request_line("history", {"agent": "x" * (schema.LIMIT - len(empty) + 1)})
    assert json.loads(await talk(over))["error"]["code"] == "too-long"


@pytest.mark.parametrize(
    ("request_", "code", "word"),
    [
        ({"verb": "lst"}, "unknown-verb", "list"),
        ({"verb": 5}, "unknown-verb", "5"),
        ({"verb": "list", "args": []}, "bad-args", "object"),
        ({"verb": "get"}, "bad-args", "which pane"),
        ({"verb": "get", "args": {"pane": 5}}, "bad-args", "pane"),
        ({"verb": "get", "args": {"pane": "%1", "colour": "red"}}, "bad-args", "colour"),
        ({"verb": "history", "args": {"limit": True}}, "bad-args", "limit"),
        ({"verb": "history", "args": {"limit": None}}, "bad-args", "int"),
    ],
)
async def test_a_wrong_request_is_named_and_the_connection_goes_on(
    daemon: Daemon, talk: Any, request_: dict[str, Any], code: str, word: str
):
    first = json.dumps({"id": 1, **request_}).encode()
    replies = [
        json.loads(line) for line in (await talk(first + b'\n{"id":"b","verb":"list"}\n')).splitlines()
    ]
    assert [reply["id"] for reply in replies] == [1, "b"]
    assert replies[0]["error"]["code"] == code
    assert word in replies[0]["error"]["text"]
    assert replies[1]["ok"]


async def test_refusals_and_failures_of_the_handler_reach_the_client_as_errors(
    daemon: Daemon, folder: Path, caplog: pytest.LogCaptureFixture
):
    with pytest.raises(VerbError, match="no such pane") as refused:
        await ask(folder, "jump", {"pane": "%9"})
    assert refused.value.code == "no-pane"
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            with pytest.raises(VerbError) as failed:
                await ask(folder, "back")
    assert failed.value.code == "internal"
    assert len([record for record in caplog.records if record.exc_info]) == 1


async def test_a_client_that_never_finishes_its_line_is_told_and_cut_off(daemon: Daemon, folder: Path):
    reader, writer = await asyncio.open_unix_connection(folder / "daemon.sock")
    writer.write(b'{"verb":')
    line = await asyncio.wait_for(reader.readline(), 5)
    assert json.loads(line)["error"]["code"] == "slow"
    assert await asyncio.wait_for(reader.read(), 5) == b""
    writer.close()
    await writer.wait_closed()


async def test_an_idle_connection_stays_open(daemon: Daemon, folder: Path):
    reader, writer = await asyncio.open_unix_connection(folder / "daemon.sock")
    await asyncio.sleep(0.5)  # longer than line_timeout, which must not count before a line begins
    writer.write(b'{"verb":"list"}\n')
    assert json.loads(await asyncio.wait_for(reader.readline(), 5))["ok"]
    writer.close()
    await writer.wait_closed()


async def test_a_client_that_does_not_read_is_dropped_and_others_are_served(daemon: Daemon, folder: Path):
    daemon.panes = [{"message": "x" * 1000}] * 2000
    stuck = socket.socket(socket.AF_UNIX)
    stuck.connect(str(folder / "daemon.sock"))
    stuck.sendall(b'{"verb":"list"}\n')
    await until(lambda: bool(daemon.asked))
    daemon.panes = []
    assert (await ask(folder, "list"))["panes"] == []
    await until(lambda: not daemon.server._clients)
    stuck.close()


async def test_more_clients_than_allowed_are_told_to_come_back(daemon: Daemon, folder: Path):
    held = [await asyncio.open_unix_connection(folder / "daemon.sock") for _ in range(4)]
    for reader, writer in held:
        writer.write(b'{"verb":"version"}\n')
        await reader.readline()
    with pytest.raises(VerbError, match="try again") as refused:
        await ask(folder, "list")
    assert refused.value.code == "busy"
    for _, writer in held:
        writer.close()
        await writer.wait_closed()


async def test_a_stream_delivers_items_until_the_client_hangs_up(daemon: Daemon, folder: Path):
    reader, writer = await asyncio.open_unix_connection(folder / "daemon.sock")
    writer.write(b'{"id":3,"verb":"events"}\n')
    assert json.loads(await reader.readline()) == {
        "id": 3,
        "ok": True,
        "data": {"type": "hello"},
        "more": True,
    }
    daemon.feed.publish({"n": 1})
    assert json.loads(await reader.readline())["data"] == {"n": 1}
    writer.close()
    await writer.wait_closed()
    await until(lambda: len(daemon.feed) == 0)


async def test_the_small_client_follows_a_stream_and_notices_the_daemons_end(daemon: Daemon, folder: Path):
    def follow() -> list[Any]:
        got: list[Any] = []
        try:
            for item in client.stream("events", folder=folder):
                got.append(item)
        except NoDaemon as gone:
            got.append(str(gone))
        return got

    following = asyncio.create_task(asyncio.to_thread(follow))
    await until(lambda: len(daemon.feed) == 1)
    daemon.feed.publish({"n": 1})
    await until(lambda: not any(subscription._items for subscription in daemon.feed._subscriptions))
    await daemon.server.close()
    assert await asyncio.wait_for(following, 5) == [{"type": "hello"}, {"n": 1}, "the daemon has ended"]


async def test_a_second_instance_is_refused_and_the_first_goes_on(daemon: Daemon, folder: Path):
    second = Daemon(folder)
    with pytest.raises(AlreadyRunning):
        await second.server.start()
    assert (await ask(folder, "list"))["verb"] == "list"
    await daemon.server.close()
    await second.server.start()
    assert (await ask(folder, "list"))["verb"] == "list"
    await second.server.close()
    assert not (folder / "daemon.sock").exists()


async def test_a_dead_daemons_socket_is_replaced(folder: Path):
    folder.mkdir(mode=0o700)
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(folder / "daemon.sock"))
    stale.close()
    with pytest.raises(NoDaemon, match="no daemon is running"):
        await ask(folder, "list")
    fresh = Daemon(folder)
    await fresh.server.start()
    assert (await ask(folder, "list"))["verb"] == "list"
    await fresh.server.close()


async def test_a_socket_at_which_somebody_answers_is_never_taken(folder: Path):
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(folder / "daemon.sock"))
        other.listen()
        with pytest.raises(AlreadyRunning):
            await Daemon(folder).server.start()
        assert (folder / "daemon.sock").exists()


@pytest.mark.parametrize("kind", ["link", "file"])
async def test_a_planted_folder_is_not_used(tmp_path: Path, folder: Path, kind: str):
    if kind == "link":
        (tmp_path / "theirs").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "theirs")
    else:
        folder.write_text("")
    with pytest.raises(FolderError, match=str(folder)):
        await Daemon(folder).server.start()
    with pytest.raises(NoDaemon, match="will not talk"):
        await ask(folder, "list")


async def test_a_file_in_the_sockets_place_is_not_deleted(folder: Path):
    folder.mkdir(mode=0o700)
    (folder / "daemon.sock").write_text("precious")
    with pytest.raises(FolderError, match="no socket"):
        await Daemon(folder).server.start()
    assert (folder / "daemon.sock").read_text() == "precious"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
async def test_a_foreign_folder_is_refused_by_both_sides(folder: Path):
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    with pytest.raises(FolderError, match="12345"):
        await Daemon(folder).server.start()
    with pytest.raises(NoDaemon, match="12345"):
        await ask(folder, "list")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
async def test_another_users_process_is_refused_even_where_the_file_system_lets_it_in(
    daemon: Daemon, folder: Path
):
    folder.chmod(0o755)
    (folder / "daemon.sock").chmod(0o666)
    for parent in folder.parents:
        if parent.stat().st_uid == os.geteuid() and str(parent).startswith("/tmp/"):
            parent.chmod(0o755)
    script = (
        "import os, socket, sys; os.setuid(12345); s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        's.sendall(b\'{"verb":"list"}\\n\'); print(s.recv(1000).decode())'
    )
    child = await asyncio.create_subprocess_exec(
        "/usr/bin/python3", "-c", script, str(folder / "daemon.sock"), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await asyncio.wait_for(child.communicate(), 20)
    assert json.loads(out)["error"]["code"] == "refused"
    assert daemon.asked == []


async def test_a_loose_folder_of_ours_is_closed_at_start(folder: Path):
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    made = Daemon(folder)
    await made.server.start()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    await made.server.close()


async def test_a_path_too_long_for_a_socket_works_all_the_same(tmp_path: Path):
    folder = tmp_path / ("long" * 30) / "run"
    folder.parent.mkdir()
    made = Daemon(folder)
    await made.server.start()
    assert (await ask(folder, "list"))["verb"] == "list"
    await made.server.close()


async def test_a_hung_daemon_is_a_timeout_not_a_wait_for_ever(folder: Path):
    async def hang(*_: Any) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    server = Server(folder, hang)
    await server.start()
    with pytest.raises(NoDaemon, match="in time"):
        await asyncio.to_thread(client.call, "list", folder=folder, timeout=0.2)
    await server.close()


@pytest.mark.parametrize("turns", range(8))
async def test_closing_while_an_item_is_being_sent_ends_the_stream(folder: Path, turns: int) -> None:
    """At whichever turn of the loop the end comes."""
    daemon = Daemon(folder)
    await daemon.server.start()
    reader, writer = await asyncio.open_unix_connection(folder / "daemon.sock")
    writer.write(b'{"verb":"events"}\n')
    assert b"hello" in await reader.readline()
    daemon.feed.publish({"type": "news"})
    for _ in range(turns):
        await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await daemon.server.close()
    writer.close()
