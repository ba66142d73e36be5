"""Real programs that are given alerts."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from trayagent.model.effects import Send
from trayagent.model.evidence import Labels
from trayagent.model.keys import PaneKey, ServerKey
from trayagent.model.settings import SinkSettings
from trayagent.model.states import Kind, State
from trayagent.sinks.command import Commands

PANE = PaneKey(ServerKey("tmux", "/tmp/s", 1, 2), "%5")


class Told:
    """What was reported."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, topic: str, text: str) -> None:
        self.lines.append(text)


def lives(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def alert(code: str, *args: str, body: str = "Run it?", timeout: float = 30.0) -> Send:
    sink = SinkSettings("phone", (sys.executable, "-c", code, *args), timeout=timeout)
    labels = Labels(
        "shop", "/home/u/shop", "dev", "claude", "Claude Code", "default", "work", "w", "default:%5"
    )
    return Send(
        sink, 7, (PANE,), State.BLOCKED, "shop needs you", body, 1_800_000_000.0, 12.0, 3,
        Kind.PERMISSION, None, labels,
    )  # fmt: skip


async def test_a_program_gets_the_alert_on_stdin_and_in_its_environment(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = (
        "import json, os, sys; told = json.load(sys.stdin);"
        "mine = {k: v for k, v in os.environ.items() if k.startswith('TRAYAGENT_')};"
        "open(sys.argv[1], 'w').write(json.dumps([told, mine]))"
    )
    told = Told()
    commands = Commands(told)
    commands.send(alert(code, str(out)))
    await commands.wait()
    given, environment = json.loads(out.read_text())
    assert (given["state"], given["kind"], given["body"]) == ("blocked", "permission", "Run it?")
    assert (given["project"], given["pane"], given["waited"]) == ("shop", "default:%5", 12.0)
    assert environment["TRAYAGENT_TITLE"] == "shop needs you" and environment["TRAYAGENT_REASON"] == ""
    assert told.lines == []


async def test_no_shell_reads_what_an_agent_drew(tmp_path: Path) -> None:
    canary, out = tmp_path / "canary", tmp_path / "out"
    body = f"$(touch {canary}) `touch {canary}`; touch {canary}\n| touch {canary}"
    sent = alert("")
    sent = replace(
        sent, body=body, sink=replace(sent.sink, command=("sh", "-c", f'printf %s "$TRAYAGENT_BODY" > {out}'))
    )
    commands = Commands(Told())
    commands.send(sent)
    await commands.wait()
    assert out.read_text() == body and not canary.exists()


async def test_alerts_of_a_sink_keep_their_order(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = "import os, sys; open(sys.argv[1], 'a').write(os.environ['TRAYAGENT_BODY'] + ' ')"
    commands = Commands(Told())
    for number in range(5):
        commands.send(alert(code, str(out), body=str(number)))
    await commands.wait()
    assert out.read_text() == "0 1 2 3 4 "


async def test_a_program_that_hangs_is_ended_with_all_that_it_started_and_the_next_alert_is_sent(
    tmp_path: Path,
) -> None:
    out, told = tmp_path / "out", Told()
    commands = Commands(told)
    hang = (
        "import os, sys, time\n"
        "child = os.fork()\n"
        "if child: open(sys.argv[1] + '.pid', 'w').write(str(child))\n"
        "time.sleep(600)"
    )
    commands.send(alert(hang, str(out), timeout=1.0))
    commands.send(alert("import sys; open(sys.argv[1], 'w').write('next')", str(out)))
    await commands.wait()
    assert out.read_text() == "next"
    assert told.lines == [f"sink phone: {sys.executable}: did not end within 1 s, and was ended"]
    assert not lives(int(out.with_suffix(".pid").read_text()))


async def test_what_goes_wrong_is_told_with_the_programs_own_words() -> None:
    told = Told()
    commands = Commands(told)
    commands.send(alert("import sys; sys.exit('no such phone')"))
    missing = alert("")
    commands.send(replace(missing, sink=replace(missing.sink, command=("/no/such/program",))))
    await commands.wait()
    assert told.lines == [
        f"sink phone: {sys.executable}: ended with 1: no such phone",
        "sink phone: /no/such/program: No such file or directory",
    ]


async def test_a_program_that_does_not_read_its_input_is_fine() -> None:
    told = Told()
    commands = Commands(told)
    commands.send(alert("import os; os.close(0)", body="x" * 100_000))
    await commands.wait()
    assert told.lines == []


async def test_the_end_of_the_daemon_ends_what_runs(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    commands = Commands(Told())
    commands.send(
        alert(
            "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)", str(pid)
        )
    )
    running = int(await asyncio.to_thread(pid.read_text))
    assert lives(running)
    await commands.close()
    assert not lives(running)
