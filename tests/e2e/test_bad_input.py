"""Bad input: broken rule files, a broken history file, garbage on the socket, a broken config.

Each is answered by one clear message with its place; nothing is lost, and the daemon goes on.
"""

from __future__ import annotations

import random
import socket

import pytest

from tests.e2e.stage import Stage, asking, at_dialog
from tests.support.daemon import Daemon
from trayagent.resources import folder

GOOD = (folder("manifests") / "claude.toml").read_text()
RULE = '[[rules]]\nid = "mine"\nstate = "blocked"\npriority = 999\nregion = "whole_recent"\n'

# file name -> its text, and what the one message about it must name beside the file
BROKEN = {
    "claude.toml": (GOOD + RULE + "regex = ['(unclosed']\n", ("mine", "regex")),
    "codex.toml": ('id = "codex"\nname = "C"\nversion = "1"\n' + RULE + "contans = ['x']\n", ("contans",)),
    "opencode.toml": (
        'id = "opencode"\nname = "O"\nversion = "1"\n'
        + RULE
        + f"{'all = [{ ' * 12}contains = ['x']{' }]' * 12}\n",
        ("mine", "deeper"),
    ),
    "gemini.toml": ('id = "gemini"\n' + "# filler\n" * 120_000, ("larger",)),
    "qwen.toml": ('id = "qwen"\nname = = 3\n', (":2",)),
    "aider.yaml": ("id: aider\nid: again\n", (":2",)),
    "crush.toml": ("".join(map(chr, range(128, 256))), ()),
}


def about(daemon: Daemon, name: str) -> list[str]:
    """The lines of the log that name a file."""
    return [line for line in daemon.log.splitlines() if name in line]


@pytest.mark.tmux
def test_broken_manifests_are_refused_with_their_place_and_the_bundled_ones_serve(
    stage: Stage, only: list[str]
) -> None:
    panes = [
        stage.play("claude", "one", at_dialog("claude/edit")),
        stage.play("codex", "two", at_dialog("codex/edit")),
        stage.play("opencode", "three", at_dialog("opencode/perm_write")),
    ]
    daemon = Daemon(args=only)
    daemon.manifests.mkdir(parents=True)
    for name, (text, _) in BROKEN.items():
        (daemon.manifests / name).write_text(text, "latin-1" if name == "crush.toml" else "utf-8")
    with daemon:
        daemon.wait_for(lambda: [daemon.state(pane) for pane in panes] == ["blocked"] * 3, "three prompts")
        sources = {row["id"]: row["source"] for row in daemon.json("manifests", "list")}
        doctor = daemon.cli("doctor").stdout.splitlines()
        for name, (_, words) in BROKEN.items():
            place = str(daemon.manifests / name)
            lines = about(daemon, place)
            assert len(lines) == 1, f"one message about {name}: {lines}"
            assert all(word in lines[0] for word in words), f"{words}: {lines[0]}"
            assert any(place in line for line in doctor), f"{name} in doctor"
            assert sources[name.partition(".")[0]] == "bundled", f"the bundled {name} serves"
        for name in BROKEN:
            (daemon.manifests / name).unlink()
        (daemon.manifests / "claude.toml").write_text(GOOD)
        assert daemon.ask("reload")["problems"] == []
        assert {row["id"]: row["source"] for row in daemon.json("manifests", "list")}["claude"] == "user"
        assert [daemon.state(pane) for pane in panes] == ["blocked"] * 3
        assert not any(str(daemon.manifests) in line for line in daemon.cli("doctor").stdout.splitlines())


@pytest.mark.tmux
@pytest.mark.parametrize("damage", ["garbage", "cut short", "overwritten inside"])
def test_a_corrupt_ledger_is_put_aside_and_history_goes_on(
    stage: Stage, only: list[str], damage: str
) -> None:
    pane = stage.play("claude", "api", asking("claude/edit"))
    with Daemon(args=only) as daemon:
        daemon.wait_for(lambda: daemon.history(), "the first entry")
        daemon.stop()
        ledger = daemon.state_folder / "ledger.db"
        raw = ledger.read_bytes()
        broken = {
            "garbage": random.Random(1).randbytes(50_000),
            "cut short": raw[: len(raw) // 2 + 100],
            "overwritten inside": raw[:100] + b"\xff" * (len(raw) - 200) + raw[-100:],
        }[damage]
        ledger.write_bytes(broken)
        daemon.start()
        daemon.wait_for(lambda: daemon.state(pane) == "idle", "the agent")
        stage.press(pane)
        daemon.wait_for(lambda: daemon.history(state="blocked"), "history that is written again")
        lines = about(daemon, str(ledger))
        assert len(lines) == 1, lines
        kept = [path for path in ledger.parent.iterdir() if path.is_file() and path.read_bytes() == broken]
        assert len(kept) == 1, "the broken file is kept"
        assert kept[0].name in lines[0], "and the message says where"


def test_garbage_on_the_socket_is_answered_and_harms_nobody() -> None:
    with Daemon() as daemon:
        place = str(daemon.runtime / "daemon.sock")
        noise = random.Random(2)
        garbage = [
            b"\n",
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            noise.randbytes(4096) + b"\n",
            b'{"verb": "list"\n',
            b"[" * 60_000 + b"\n",
            b'{"v": 99, "verb": "list"}\n',
            b'{"verb": "explode", "id": 1}\n',
            b'{"verb": "list", "args": {"no": "such"}, "id": 1}\n',
            b"x" * 300_000,
        ]
        held = _connect(place)  # half a request, which is never finished
        held.sendall(b'{"verb": "li')
        for raw in garbage:
            with _connect(place) as connection:
                connection.sendall(raw)
                answer = connection.recv(65536)
                assert b'"ok":false' in answer and b'"text":"' in answer, raw[:60]
            assert daemon.list() == []
        held.close()
        assert daemon.cli("status").returncode == 0
        assert daemon.log.count("\n") < 10, "a stranger cannot fill the log"


def _connect(place: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    connection.connect(place)
    return connection


def test_a_broken_config_keeps_the_last_good_one_and_says_where_it_is_wrong() -> None:
    with Daemon(config="alerts:\n  short_turn: 7 s\n") as daemon:
        daemon.wait_for(lambda: daemon.ask("status")["pid"], "the daemon")
        daemon.write_config("alerts:\n  short_turn: 7 s\n  setle: {blocked: 1 s}\n  merge: [\n")
        line = daemon.wait_for(lambda: about(daemon, f"{daemon.config}:"), "a message")[0]
        assert f"{daemon.config}:5:" in line or f"{daemon.config}:4:" in line, line
        assert any(str(daemon.config) in line for line in daemon.cli("doctor").stdout.splitlines())
        before = len(about(daemon, f"{daemon.config}:"))
        daemon.ask("reload")
        assert len(about(daemon, f"{daemon.config}:")) == before, "said once"
        daemon.write_config("alerts:\n  short_turn: 7 s\n  setle: {blocked: 1 s}\n")
        line = daemon.wait_for(lambda: about(daemon, f"{daemon.config}:3:3"), "a message about a key")[0]
        assert "setle" in line and "settle" in line, "with the nearest valid key"


def test_a_daemon_that_was_killed_starts_again_with_the_choices_made() -> None:
    with Daemon() as daemon:
        assert daemon.cli("pause", "always").returncode == 0
        daemon.kill()
        daemon.start()
        assert daemon.ask("status")["paused"]["on"], "the person's choice was kept"
        assert daemon.cli("doctor").returncode == 1, "without a bus, in these surroundings"
        second = daemon.cli()
        assert second.returncode == 0 and "running already" in second.stdout
