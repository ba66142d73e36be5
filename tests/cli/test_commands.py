"""What each command asks, prints and exits with."""

# ruff: noqa: E501

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import PANE, FakeDaemon, Result
from trayagent.cli.main import COMMANDS
from trayagent.cli.quiet import until_morning
from trayagent.ipc.schema import VerbError

Run = Callable[..., Result]


def test_list_is_aligned_plain_text_in_a_pipe_and_cleaned_of_what_could_command_a_terminal(
    daemon: FakeDaemon, run: Run
):
    evil = {
        **PANE,
        "pane": "b:%12",
        "state": "working",
        "message": "a\x1b[31m\x9bb‮c\nd",
        "since": time.time() - 185,
    }
    daemon.answers["list"] = {"panes": [PANE, evil]}
    result = run("list")
    header, first, second = result.out.splitlines()
    assert result.code == 0
    assert [header.index(title) for title in ("PANE", "AGENT")] == [
        first.index("default:%5"),
        first.index("claude"),
    ]
    assert second.split("  ")[0] == "● working"
    assert "3 min" in second
    assert second.rstrip().endswith("a[31mbc d")
    assert "\x1b" not in result.out


def test_list_as_json_is_what_the_daemon_said(daemon: FakeDaemon, run: Run):
    assert json.loads(run("list", "--json").out) == [PANE]
    daemon.answers["watch"] = [{"panes": [PANE]}, {"panes": []}]
    lines = run("list", "--watch", "--json").out.splitlines()
    assert [json.loads(line) for line in lines] == [[PANE], []]


def test_an_empty_list_says_so_and_still_is_fine(daemon: FakeDaemon, run: Run):
    daemon.answers["list"] = {"panes": []}
    result = run("list")
    assert (result.code, "No agent" in result.out) == (0, True)
    assert json.loads(run("list", "--json").out) == []


def test_get_prints_one_pane_or_one_field(daemon: FakeDaemon, run: Run):
    text = run("get", "default:%5").out
    assert "Run rm -rf build?" in text
    assert "window_index  2" in text
    assert daemon.asked[-1] == ("get", {"pane": "default:%5"})
    assert run("get", "%5", "--field", "state").out == "blocked\n"
    assert run("get", "%5", "--field", "needs_you").out == "true\n"
    assert run("get", "%5", "--field", "reason").out == "\n"
    assert json.loads(run("get", "%5", "--json").out) == PANE
    assert run("get", "%5", "--field", "colour").code == 2


def test_without_a_name_the_pane_is_the_one_that_was_typed_in(
    daemon: FakeDaemon, run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TMUX_PANE", "%7")
    monkeypatch.setenv("TMUX", "/tmp/tmux-1000/a,b,812,0")
    run("jump")
    assert daemon.asked[-1][1]["tmux_pane"] == "%7"
    monkeypatch.setenv("TMUX", "/tmp/tmux-1000/default,812,0")
    run("jump")
    assert daemon.asked[-1] == (
        "jump", {"tmux_pane": "%7", "socket": "/tmp/tmux-1000/default", "server_pid": 812},
    )  # fmt: skip


def test_outside_of_any_terminal_a_pane_must_be_named(daemon: FakeDaemon, home: Path):
    done = subprocess.run(
        [sys.executable, "-m", "trayagent.cli.main", "jump"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "SERVER:%5" in done.stderr
    assert daemon.asked == []


@pytest.mark.parametrize(
    ("command", "verb", "args"),
    [
        (["jump", "%5"], "jump", {"pane": "%5"}),
        (["next"], "next", {}),
        (["back"], "back", {}),
        (["read", "%5"], "read", {"pane": "%5"}),
        (["read", "--all"], "read", {"all": True}),
        (["forget", "a:%5"], "forget", {"pane": "a:%5"}),
        (["mute", "%5"], "mute", {"scope": "pane", "pane": "%5", "seconds": 3600.0}),
        (["mute", "--project", "shop", "--for", "always"], "mute", {"scope": "project", "value": "shop", "seconds": None}),
        (["mute", "--agent", "codex", "--for", "90 min"], "mute", {"scope": "agent", "value": "codex", "seconds": 5400.0}),
        (["unmute", "--session", "play"], "unmute", {"scope": "session", "value": "play"}),
        (["pause"], "pause", {"seconds": None}),
        (["pause", "30min"], "pause", {"seconds": 1800.0}),
        (["unpause"], "unpause", {}),
        (["reload"], "reload", {}),
        (["stop"], "stop", {}),
        (["test-alert", "--state", "done", "--delay", "3"], "test-alert", {"state": "done", "delay": 3.0}),
    ],
)  # fmt: skip
def test_a_command_asks_its_verb_and_prints_the_answers_sentence(
    daemon: FakeDaemon, run: Run, command: list[str], verb: str, args: dict[str, Any]
):
    result = run(*command)
    assert (result.code, daemon.asked) == (0, [(verb, args)])
    assert f"did {verb}" in result.out


def test_an_end_is_told_as_a_time(daemon: FakeDaemon, run: Run):
    daemon.answers["pause"] = {"text": "alerts are paused", "until": time.time() + 86400 * 2}
    assert run("pause", "2 d").out.startswith("alerts are paused until 20")
    daemon.answers["mute"] = {"text": "it is muted", "until": None}
    assert run("mute", "%5").out == "it is muted for good\n"


def test_until_tomorrow_is_eight_in_the_morning_that_is_not_this_nights():
    for hour, hours in ((9, 23), (23, 9), (3, 5), (5, 27)):
        now = time.mktime((2026, 3, 10, hour, 0, 0, 0, 0, -1))
        assert until_morning(now) == hours * 3600


def test_what_the_daemon_refuses_is_told_and_is_exit_1(daemon: FakeDaemon, run: Run):
    daemon.answers["jump"] = VerbError("no-pane", "no pane %9; known are default:%5")
    result = run("jump", "%9")
    assert (result.code, result.out, result.err) == (1, "", "trayagent: no pane %9; known are default:%5\n")


@pytest.mark.parametrize("command", [["list"], ["jump", "%1"], ["status"], ["stop"], ["history"], ["events"]])
def test_without_a_daemon_it_is_exit_3_and_how_to_start_one(run: Run, command: list[str]):
    result = run(*command)
    assert result.code == 3
    assert "no daemon is running" in result.err
    assert "start it with: trayagent" in result.err


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["lst"], "Did you mean list?"),
        (["list", "--colour"], "--colour"),
        (["mute", "%5", "--project", "x"], "One at a time"),
        (["pause", "soon"], "30 min"),
        (["history", "--since", "whenever"], "2 h"),
        (["history", "--limit", "0"], "1"),
        (["--no-tray", "list"], "without a command"),
        (["explain", "--screen"], "FILE"),
        (["get", "a", "b"], "b"),
    ],
)
def test_a_wrong_command_line_is_exit_2_and_says_what_is_right(
    daemon: FakeDaemon, run: Run, command: list[str], words: str
):
    result = run(*command)
    assert result.code == 2
    assert words in result.err
    assert daemon.asked == []


# -- status, events, history -------------------------------------------------------------------

STATUS = {
    "version": "0.1.0", "pid": 7, "counts": {"blocked": 2, "error": 0, "done": 1, "working": 3}, "needs_you": 2,
    "longest_wait": 725.0, "paused": {"on": True, "until": None}, "tooltip": "2 need you", "config": "/c.yaml",
    "problems": ["/c.yaml:3:1: alerts: wrong"],
}  # fmt: skip


def test_status_is_for_people_bars_and_programs(daemon: FakeDaemon, run: Run):
    daemon.answers["status"] = STATUS
    text = run("status").out
    for words in ("2 blocked, 1 done, 3 working", "12 min", "paused until you unpause", "c.yaml:3:1"):
        assert words in text
    assert json.loads(run("status", "--json").out) == STATUS
    assert run("status", "--tmux").out == "◆2 ✔1 ●3\n"
    bar = json.loads(run("status", "--waybar").out)
    assert bar == {"text": "◆2 ✔1 ●3", "tooltip": "2 need you", "class": "paused", "alt": "paused"}


def test_a_second_start_shows_the_first_ones_status(daemon: FakeDaemon, run: Run):
    daemon.answers["status"] = STATUS
    result = run()
    assert result.code == 0
    assert "running already" in result.out
    assert "2 blocked" in result.out


def test_events_are_printed_as_they_come_until_the_stream_ends(daemon: FakeDaemon, run: Run):
    items = [
        {"type": "transition", "at": time.time(), "pane": "default:%5", "agent": "claude", "from": "working",
         "to": "blocked", "why": "rule x matched"},
        {"type": "delivery", "at": time.time(), "id": 4, "outcome": "held", "reason": "watching"},
        {"type": "transition", "at": time.time(), "pane": "b:%6", "agent": "codex", "from": "idle", "to": "working", "why": ""},
    ]  # fmt: skip
    daemon.answers["events"] = items
    lines = run("events").out.splitlines()
    assert "default:%5  claude  working → ◆ blocked  rule x matched" in lines[0]
    assert "outcome held  reason watching" in lines[1]
    assert [json.loads(line) for line in run("events", "--json").out.splitlines()] == items
    assert len(run("events", "%6").out.splitlines()) == 2  # the delivery may be about it


def test_history_tells_what_became_and_why_it_was_held_back(daemon: FakeDaemon, run: Run):
    entry = {
        "type": "transition", "id": 4, "at": time.time(), "pane": "default:%5", "agent": "claude", "project": "shop",
        "before": "working", "after": "blocked", "outcome": "held", "held_by": "watching", "text": "Run ls?", "why": "r",
    }  # fmt: skip
    gone = {"type": "ended", "at": time.time(), "pane": "default:%6", "agent": "codex", "project": "infra"}
    daemon.answers["history"] = {"entries": [entry, gone]}
    _, first, second = run("history", "--unread", "--reason", "watching", "--limit", "5").out.splitlines()
    assert daemon.asked[-1][1] == {"limit": 5, "reason": "watching", "unread": True}
    assert "◆ blocked" in first
    assert "held: watching" in first
    assert first.endswith("Run ls?")
    assert "ended mid-turn" in second
    run("history", "--since", "2 h")
    assert abs(daemon.asked[-1][1]["since"] - (time.time() - 7200)) < 60
    assert json.loads(run("history", "--json").out) == [entry, gone]
    daemon.answers["history"] = {"entries": []}
    assert run("history").out == "Nothing.\n"


def test_doctor_lists_the_daemons_checks_with_what_to_do_and_exits_by_them(daemon: FakeDaemon, run: Run):
    daemon.answers["version"] = {"version": "0.1", "pid": 77}
    daemon.answers["doctor"] = {
        "checks": [{"name": "tray", "ok": True, "text": "the icon is registered", "hint": ""}]
    }
    result = run("doctor")
    assert result.code == 0
    assert "the icon is registered" in result.out
    assert "pid 77" in result.out
    assert "Everything that is needed works" in result.out
    daemon.answers["doctor"]["checks"].append(
        {"name": "bus", "ok": False, "text": "no bus", "hint": "log in"}
    )
    failed = run("doctor", "--json")
    assert failed.code == 1
    assert [check["name"] for check in json.loads(failed.out)] == ["daemon", "tray", "bus"]
    assert re.search(r"^NO +bus +no bus; log in$", run("doctor").out, re.MULTILINE)


def test_doctor_without_a_daemon_checks_what_it_can(run: Run, home: Path):
    (home / "config" / "trayagent").mkdir()
    (home / "config" / "trayagent" / "config.yaml").write_text("tray: [\n")
    result = run("doctor")
    assert result.code == 3
    assert "config.yaml:2:1" in result.out
    assert "no daemon is running" in result.out
    assert str(home / "run" / "trayagent") in result.out
    assert not list((home / "state").glob("trayagent/*.db")), "it only looks"


def test_version_needs_no_daemon_and_names_an_older_one(daemon: FakeDaemon, run: Run):
    daemon.answers["version"] = {"version": "0.0.1", "protocol": 1, "pid": 5}
    result = run("version")
    assert result.out.startswith("trayagent 0.")
    assert "0.0.1; restart it" in result.out
    daemon.stop()
    assert json.loads(run("version", "--json").out)["daemon"] is None


# -- explain -----------------------------------------------------------------------------------

EXPLAIN = {
    "pane": "default:%5",
    "labels": {"project": "shop", "branch": "fix", "agent_name": "Claude Code"},
    "decision": {"state": "blocked", "kind": "permission", "why": "rule permission matched", "source": "screen",
                 "rule": "permission", "message": "Run ls?", "fingerprint": "ab12", "for": 65, "held": None},
    "identity": {"agent": "claude", "certainty": "wrapper", "why": "node runs claude", "chain": ["timeout", "node"],
                 "pid": 42, "job": [{"pid": 42, "name": "node", "argv": ["node", "claude"]}]},
    "manifest": {"id": "claude", "version": "3", "source": "bundled", "path": "/m/claude.toml"},
    "trace": {"manifest": "claude", "rules": [
        {"id": "plan", "state": "blocked", "priority": 930, "region": "whole", "matched": False, "won": False,
         "decided": "contains 'plan'", "rows": ["x"]},
        {"id": "permission", "state": "blocked", "priority": 900, "region": "bottom", "matched": True, "won": True,
         "decided": "regex 'y'", "rows": ["Do you want\x1b[0m this?", ""]}]},
    "evidence": [{"source": "presence", "state": None, "why": "nothing to say"}],
    "claims": [{"source": "hook", "state": "working", "age": 4.2, "live": False, "message": "",
                "why_not": "older than its agent"}],
    "attention": {"watched": False, "clients": [{"name": "/dev/pts/3", "shows": True}]},
    "looks": {"wrote": 1.5}, "alerts": {"paused": False}, "muted": False,
}  # fmt: skip


def test_explain_prints_identity_rules_claims_and_the_decision(daemon: FakeDaemon, run: Run):
    daemon.answers["explain"] = EXPLAIN
    text = run("explain", "%5").out
    for words in (
        "default:%5  shop  fix  Claude Code", "◆ blocked (permission), for 1 min", "timeout > node", "42  node  node claude",
        "claude  version 3  bundled  /m/claude.toml", "--  930  plan  blocked  [whole]  failed at: contains 'plan'",
        "=>  900  permission  blocked  [bottom]", "| Do you want[0m this?", "hook  working  4 s ago  (does not count: older than its agent)",
        "presence", "name /dev/pts/3, shows yes",
    ):  # fmt: skip
        assert words in text, words
    assert "\x1b" not in text
    assert json.loads(run("explain", "%5", "--json").out) == EXPLAIN


def test_explain_of_a_pane_without_an_agent_leaves_out_what_is_not_there(daemon: FakeDaemon, run: Run):
    nothing = {
        "pane": "a:%1",
        "decision": {"state": "unknown"},
        "identity": None,
        "manifest": None,
        "trace": None,
    }
    daemon.answers["explain"] = nothing
    text = run("explain", "%1").out
    assert "nobody known" in text
    assert "no agent is known here" in text


# -- help, speed, terminals ----------------------------------------------------------------------


def test_every_command_has_help_and_the_table_tells_its_first_line(run: Run):
    text = run("--help").out
    for section, commands in COMMANDS.items():
        assert section in text
        for name, (_, line) in commands.items():
            assert line in text
            result = run(name, "--help")
            assert result.code == 0, name
            assert "Usage: trayagent" in result.out


def test_a_quick_command_imports_nothing_heavy(daemon: FakeDaemon):
    script = (
        "import sys; from trayagent.cli.main import trayagent\n"
        "trayagent.main(['list', '--json'], standalone_mode=False)\n"
        "print([name for name in ('asyncio', 'yaml', 'sqlite3', 'dbus_fast', 'platformdirs', 're2', 'pyte',"
        " 'trayagent.config.values', 'trayagent.manifest') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.parametrize(("columns", "no_color"), [(100, ""), (100, "1"), (44, "")])
def test_on_a_terminal_lines_fit_and_have_colour_unless_it_is_not_wanted(
    daemon: FakeDaemon, columns: int, no_color: str
):
    daemon.answers["list"] = {"panes": [{**PANE, "message": "漢字 and a very long question " * 20}]}
    script = (
        "import fcntl, os, pty, struct, sys, termios\n"
        "pid, fd = pty.fork()\n"
        "if pid == 0:\n"
        "    size = struct.pack('HHHH', 24, int(sys.argv[1]), 0, 0)\n"
        "    fcntl.ioctl(1, termios.TIOCSWINSZ, size)\n"
        "    os.execv(sys.executable, [sys.executable, '-m', 'trayagent.cli.main', 'list'])\n"
        "out = b''\n"
        "while True:\n"
        "    try: data = os.read(fd, 65536)\n"
        "    except OSError: break\n"
        "    if not data: break\n"
        "    out += data\n"
        "sys.stdout.buffer.write(out)\n"
    )
    env = {**os.environ, "TERM": "xterm-256color", "PYTHONUTF8": "1"} | (
        {"NO_COLOR": no_color} if no_color else {}
    )
    env.pop("COLUMNS", None)
    done = subprocess.run([sys.executable, "-c", script, str(columns)], capture_output=True, env=env)
    lines = done.stdout.decode().replace("\r", "").splitlines()
    assert len(lines) == 2, lines
    assert ("\x1b[" in lines[1]) == (not no_color)

    from trayagent.cli.show import cells

    assert all(cells(line) <= columns for line in lines)
    assert lines[1].endswith("…")


def test_a_reader_that_has_enough_is_no_error(daemon: FakeDaemon):
    daemon.answers["list"] = {"panes": [PANE] * 3000}
    command = f"{sys.executable} -m trayagent.cli.main list | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("STATE")


def test_pane_names_are_offered_to_the_shell(daemon: FakeDaemon):
    env = {
        **os.environ,
        "_TRAYAGENT_COMPLETE": "bash_complete",
        "COMP_WORDS": "trayagent jump def",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        [sys.executable, "-m", "trayagent.cli.main"], env=env, capture_output=True, text=True
    )
    assert "default:%5" in done.stdout
