"""Reports from real processes to a real daemon: taken, refused, kept over a restart, waited for."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.stage import Stage
from tests.support.daemon import ROOT, Daemon
from tests.support.tmux import IDLE, named

pytestmark = pytest.mark.tmux


@pytest.fixture
def daemon(stage: Stage, only: list[str]) -> Iterator[Daemon]:
    with Daemon(args=only) as daemon:
        yield daemon


class Reporter:
    """A pane whose foreground process is a plain program, and what is reported for it."""

    def __init__(self, stage: Stage, daemon: Daemon, name: str = "work", command: str = IDLE) -> None:
        self.daemon = daemon
        self.pane = stage.server.new_session(name, command)
        self.pid = int(stage.server.ask("#{pane_pid}", self.pane))
        self.sequence = 0

    def report(self, status: str, *more: str, **change: Any) -> subprocess.CompletedProcess[str]:
        self.sequence += 1
        said = {"agent": "rsync", "owner-pid": self.pid, "instance": "one", "sequence": self.sequence}
        options = [f"--{name}={value}" for name, value in {**said, "status": status, **change}.items()]
        return self.daemon.cli("report", "--pane", self.pane, *options, *more)

    def takes(self, status: str, *more: str, **change: Any) -> None:
        done = self.report(status, *more, **change)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def refuses(self, why: str, status: str, *more: str, **change: Any) -> None:
        done = self.report(status, *more, **change)
        assert (done.returncode, done.stdout) == (1, "")
        assert why in done.stderr and len(done.stderr.splitlines()) == 1

    def row(self) -> dict[str, Any] | None:
        return self.daemon.pane(self.pane)

    def record(self) -> dict[str, Any] | None:
        record: dict[str, Any] | None = self.daemon.json("info", self.pane)["record"]
        return record


def test_a_program_that_is_no_agent_reports_and_is_listed(stage: Stage, daemon: Daemon) -> None:
    sync = Reporter(stage, daemon)
    sync.takes("working", "--message=Syncing photos")
    row = sync.row()
    assert row is not None
    assert (row["agent"], row["state"], row["message"]) == ("rsync", "working", "Syncing photos")
    sync.takes("needs-input", "--message=Overwrite 3 files?")
    row = sync.row()
    assert row is not None and (row["state"], row["message"]) == ("blocked", "Overwrite 3 files?")
    sync.takes("working")
    row = sync.row()
    assert row is not None and (row["state"], row["message"]) == ("working", "")
    done = daemon.cli(
        "release", "--pane", sync.pane, f"--owner-pid={sync.pid}", "--instance=one", "--sequence=9"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    daemon.wait_for(lambda: sync.row() is None, "the pane to leave the list")
    sync.refuses("was released or replaced", "working", sequence=10)


def test_each_refusal_says_why_and_changes_nothing(stage: Stage, daemon: Daemon) -> None:
    sync = Reporter(stage, daemon)
    other = Reporter(stage, daemon, "other")
    sync.takes("working", "--message=first", sequence=5)
    before = {**(sync.record() or {}), "age": 0}
    sync.refuses("sequence 5 is not above 5", "done", sequence=5)
    sync.refuses("not in the pane's foreground", "done", **{"owner-pid": other.pid})
    sync.refuses("no process 4194304", "done", **{"owner-pid": 4194304})
    sync.refuses("reports for this process group", "done", instance="two", sequence=1)
    sync.refuses("is rsync, not cat", "done", agent="cat", sequence=6)
    sync.refuses("no such status", "asleep", sequence=6)
    sync.refuses("longer than 8192 bytes", "done", "--message=" + "m" * 8193, sequence=6)
    sync.refuses("need the session id", "done", '--resume-json=["x"]', sequence=6)
    sync.refuses("must be a JSON list", "done", "--resume-json={", sequence=6)
    sync.refuses("must be a whole number", "done", sequence="six")
    sync.refuses("start at 1", "done", sequence=0)
    sync.refuses("option --colour not recognized", "done", "--colour=red")
    sync.refuses("no pane %99", "done", "--pane=%99", sequence=6)
    done = daemon.cli("report", "--quiet", "--nonsense")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {**(sync.record() or {}), "age": 0} == before


def test_without_a_daemon_it_is_one_line_and_1_and_quietly_0(tmp_path: Path) -> None:
    daemon = Daemon()
    args = ("report", "--agent=a", "--owner-pid=1", "--instance=i", "--sequence=1", "--status=idle")
    done = daemon.cli(*args, "--pane=%1")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no daemon is running" in done.stderr and len(done.stderr.splitlines()) == 1
    done = daemon.cli(*args, "--pane=%1", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = daemon.cli(*args, "--pane=%1", environ={"XDG_RUNTIME_DIR": "/nowhere"})
    assert done.returncode == 1 and "no daemon" in done.stderr
    daemon.kill()


def test_reporting_imports_neither_click_nor_asyncio() -> None:
    code = (
        "import sys; sys.argv = ['trayagent', 'report', '--quiet']; import trayagent.__main__ as e\n"
        "heavy = {'click', 'asyncio', 'yaml', 'argparse'}\n"
        "try: e.main()\nexcept SystemExit: print(*sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ""


def test_session_and_resume_arguments_are_shown_by_info(stage: Stage, daemon: Daemon) -> None:
    sync = Reporter(stage, daemon)
    resume = ["my agent", "resume", "s'1 $HOME"]
    sync.takes("idle", "--session-id=s1", f"--resume-json={json.dumps(resume)}")
    sync.takes("working")
    record = sync.record()
    assert record is not None
    assert (record["session_id"], record["resume"], record["sequence"]) == ("s1", resume, 2)
    assert daemon.cli("get", sync.pane, "--field", "session_id").stdout == "s1\n"
    shown = daemon.cli("info", sync.pane).stdout
    assert "s1" in shown and "report: working" in shown and f"of process {sync.pid}" in shown


def test_what_is_on_record_survives_a_restart_of_the_daemon(stage: Stage, only: list[str]) -> None:
    with Daemon(args=only) as daemon:
        sync = Reporter(stage, daemon)
        sync.takes("needs-input", "--message=Go on?", "--session-id=s1", '--resume-json=["x","s1"]')
        released = Reporter(stage, daemon, "released")
        released.takes("working", instance="old")
        daemon.cli("release", "--pane", released.pane, f"--owner-pid={released.pid}", "--instance=old",
                   "--sequence=2")  # fmt: skip
        daemon.stop()
        daemon.start()
        daemon.wait_for(lambda: daemon.state(sync.pane) == "blocked", "the record to be taken over")
        row = sync.row()
        assert row is not None and (row["agent"], row["message"]) == ("rsync", "Go on?")
        record = sync.record()
        assert record is not None and (record["sequence"], record["resume"]) == (1, ["x", "s1"])
        sync.refuses("sequence 1 is not above 1", "done", sequence=1)
        sync.takes("done", sequence=2)
        daemon.wait_for(
            lambda: "was released" in released.report("idle", instance="old", sequence=3).stderr,
            "the released instance to be remembered",
        )


def test_a_damaged_file_of_records_is_told_once_and_forgotten(stage: Stage, only: list[str]) -> None:
    with Daemon(args=only) as daemon:
        sync = Reporter(stage, daemon)
        sync.takes("working")
        daemon.stop()
        file = daemon.runtime / "reports.json"
        assert file.stat().st_mode & 0o777 == 0o600
        file.write_bytes(b'{"panes": {"tmux|x": 3, "no": []}, ')
        daemon.start()
        assert daemon.said("reports.json: is damaged") == 1
        sync.takes("working", sequence=1)


def test_when_the_owner_ends_its_report_ends_though_the_group_lives(stage: Stage, daemon: Daemon) -> None:
    script = "sleep 1000 & echo $! ; wait; exec sleep 1000"
    sync = Reporter(stage, daemon, command=f"exec bash -c '{script}'")
    stage.server.wait(lambda: stage.server.screen(sync.pane).strip().isdigit(), "the helper's pid")
    helper = int(stage.server.screen(sync.pane).strip())
    sync.takes("working", **{"owner-pid": helper})
    os.kill(helper, 15)  # by hand: no crash, which would stay until seen
    daemon.wait_for(lambda: sync.row() is None, "the pane to leave the list", 20)
    sync.refuses("no process", "working", **{"owner-pid": helper})
    sync.refuses("was released or replaced", "working")


def test_a_helper_reports_for_the_agent_in_its_group(stage: Stage, daemon: Daemon) -> None:
    agent = named("claude", "bash", "-c", "sleep 1000 & echo $!; wait")
    claude = Reporter(stage, daemon, command=agent)
    daemon.wait_for(lambda: daemon.state(claude.pane), "the agent to be recognised")
    helper = int(stage.server.screen(claude.pane).strip())
    claude.takes("needs-input", "--message=Which one?", **{"owner-pid": helper}, agent="claude")
    row = claude.row()
    assert row is not None and (row["agent"], row["state"], row["pid"]) == ("claude", "blocked", claude.pid)


# -- set-state -----------------------------------------------------------------------------


def inside(daemon: Daemon, *args: str) -> str:
    """A shell command line that runs trayagent where a pane is, telling its exit code and output."""
    env = " ".join(f"{name}={daemon.env[name]}" for name in ("XDG_RUNTIME_DIR", "HOME", "PYTHONPATH"))
    return f"{env} {sys.executable} -m trayagent {' '.join(args)}"


def test_set_state_speaks_for_the_script_that_runs_it(stage: Stage, daemon: Daemon) -> None:
    script = stage.folder / "deploy.sh"
    script.write_text(
        f"#!/bin/sh\n{inside(daemon, 'set-state working -m Deploying')} && echo taken\n"
        f"read go\n{inside(daemon, 'set-state done')} && echo taken\nread go\n"
    )
    pane = stage.server.new_session("deploy", f"exec sh {script}")
    daemon.wait_for(lambda: daemon.state(pane) == "working", "the script's word")
    stage.server.wait(lambda: stage.server.screen(pane).strip() == "taken", "nothing but taken")
    stage.press(pane)
    daemon.wait_for(lambda: daemon.state(pane) == "done", "the script's second word")


def test_set_state_from_elsewhere_is_refused(stage: Stage, daemon: Daemon) -> None:
    pane = stage.server.new_session("idle", IDLE)
    server = stage.server.ask("#{socket_path},#{pid},0", pane)
    done = daemon.cli("set-state", "working", environ={"TMUX_PANE": pane, "TMUX": server})
    assert (done.returncode, done.stdout) == (1, "")
    assert "what runs in front of its pane" in done.stderr
    assert daemon.pane(pane) is None


# -- wait ----------------------------------------------------------------------------------


def waiting(daemon: Daemon, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "trayagent", "wait", *args],
        env=daemon.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def test_wait_ends_with_the_state_that_was_waited_for(stage: Stage, daemon: Daemon) -> None:
    sync = Reporter(stage, daemon)
    sync.takes("working")
    waits = waiting(daemon, sync.pane, "--until", "blocked,done", "--timeout", "60")
    also = waiting(daemon, sync.pane, "--until", "working", "--change", "--timeout", "60")
    done = daemon.cli("wait", sync.pane, "--until", "working")
    assert (done.returncode, done.stdout) == (0, "working\n")
    daemon.wait_for(lambda: len(clients(daemon)) >= 4, "both to wait")
    sync.takes("done")
    assert ended(waits) == (0, "done\n", "")
    sync.takes("working")
    assert ended(also) == (0, "working\n", "")


def clients(daemon: Daemon) -> list[str]:
    """The daemon's open sockets: two followers of the test, and who waits."""
    links = [str(fd.readlink()) for fd in Path(f"/proc/{daemon.pid}/fd").iterdir() if fd.is_symlink()]
    here = str(daemon.runtime / "daemon.sock")
    mine = [line.split() for line in Path("/proc/net/unix").read_text().splitlines() if line.endswith(here)]
    inodes = {f"socket:[{row[6]}]" for row in mine if row[5] == "03"}  # connected
    return [link for link in links if link in inodes]


def test_wait_may_begin_before_its_pane_exists_and_ends_when_it_goes(stage: Stage, daemon: Daemon) -> None:
    first = stage.server.new_session("first", IDLE)
    pane = f"%{int(first[1:]) + 1}"
    waits = waiting(daemon, pane, "--until", "done", "--timeout", "60")
    daemon.wait_for(lambda: len(clients(daemon)) >= 3, "it to wait")
    sync = Reporter(stage, daemon, "second")
    assert sync.pane == pane
    sync.takes("working")
    again = waiting(daemon, pane, "--until", "gone", "--timeout", "60")
    daemon.wait_for(lambda: len(clients(daemon)) >= 4, "both to wait")
    os.kill(sync.pid, 15)
    code, out, err = ended(waits)
    assert (code, out) == (1, "") and "has gone" in err
    assert ended(again) == (0, "gone\n", "")


def test_the_exit_codes_of_wait(stage: Stage, daemon: Daemon) -> None:
    done = daemon.cli("wait", "%77", "--timeout", "0")
    assert (done.returncode, done.stdout) == (1, "") and "none of blocked, done, error" in done.stderr
    assert daemon.cli("wait", "%77", "--until", "asleep").returncode == 2
    assert daemon.cli("wait").returncode == 2
    waits = waiting(daemon, "%77", "--timeout", "60")
    daemon.wait_for(lambda: len(clients(daemon)) >= 3, "it to wait")
    daemon.stop()
    assert ended(waits)[0] == 3
    assert daemon.cli("wait", "%77").returncode == 3
    daemon.start()


def test_the_guide_for_agents_names_commands_that_exist(daemon: Daemon) -> None:
    guide = daemon.cli("skill").stdout
    named_ones = {line.split()[1] for line in guide.splitlines() if line.startswith("    trayagent ")}
    assert {"set-state", "report", "release", "wait", "list", "jump"} <= named_ones
    for name in named_ones:
        assert daemon.cli(name, "--help").returncode == 0, name


# -- whatever comes ------------------------------------------------------------------------

FOREIGN = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
refused = 0
for _ in range(int(sys.argv[2])):
    with socket.socket(socket.AF_UNIX) as s:
        try:
            s.connect(sys.argv[1])
            s.sendall(b'{"verb":"report"}\\n')
            s.shutdown(socket.SHUT_WR)
            refused += b'"refused"' in s.recv(65536)
        except OSError:
            refused += 1
print(refused)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_refused_even_where_the_folder_lets_him_in(stage: Stage, daemon: Daemon) -> None:
    sync = Reporter(stage, daemon)
    sync.takes("working")
    sock = daemon.runtime / "daemon.sock"
    opened = [sock, *sock.parents[:3]]
    for path in opened:
        path.chmod(0o777)
    try:
        done = subprocess.run(
            [sys.executable, "-c", FOREIGN, str(sock), "100"], capture_output=True, text=True, check=True
        )
    finally:
        daemon.runtime.chmod(0o700)
    assert done.stdout == "100\n"
    record = sync.record()
    assert record is not None and (record["state"], record["sequence"]) == ("working", 1)


def test_ten_thousand_bad_messages_change_nothing(stage: Stage, daemon: Daemon) -> None:
    """Garbage, oversized, replayed and stolen words, over the raw socket; each gets one refusal."""
    sync = Reporter(stage, daemon)
    sync.takes("working", "--message=true", sequence=1000)
    before, log = {**(sync.record() or {}), "age": 0}, daemon.log
    good = {
        "pane": sync.pane, "agent": "rsync", "owner_pid": sync.pid, "instance": "one",
        "sequence": 1, "status": "done",
    }  # fmt: skip
    bad: list[dict[str, Any]] = [
        {"sequence": 1000},
        {"sequence": -1},
        {"sequence": 10**400},
        {"sequence": 1001, "owner_pid": 1},
        {"sequence": 1001, "owner_pid": 10**300},
        {"sequence": 1001, "owner_pid": -5},
        {"sequence": 1001, "instance": "thief"},
        {"sequence": 1001, "agent": "cat"},
        {"sequence": 1001, "agent": "\x1b]0;x\x07"},
        {"sequence": 1001, "status": "\udcff"},
        {"sequence": 1001, "message": "m" * 9000},
        {"sequence": 1001, "message": 3},
        {"sequence": 1001, "resume": ["x"]},
        {"sequence": 1001, "session_id": "s", "resume": ["x", "\x00"]},
        {"sequence": 1001, "session_id": "s", "resume": [[["x"]]]},
        {"sequence": 1001, "session_id": "s", "resume": ["x"] * 200},
        {"sequence": True},
        {"sequence": 1001.5},
        {"sequence": 1001, "pane": 7},
        {"sequence": 1001, "unknown": 1},
    ]
    lines = [json.dumps({"verb": "report", "args": {**good, **change}}).encode() for change in bad]
    ending = {"pane": sync.pane, "owner_pid": sync.pid, "instance": "one", "sequence": 4}
    lines += [json.dumps({"verb": "release", "args": ending}).encode()]
    lines += [json.dumps({"verb": "set-state", "args": {"pane": sync.pane, "state": "done"}}).encode()]
    refused = 0
    for at in range(0, 10_000 - 500, 500):
        refused += exchange(daemon, [lines[(at + number) % len(lines)] for number in range(500)])
    # What cannot be understood ends its connection: one refusal each.
    for number in range(500):
        junk = os.urandom(64).replace(b"\n", b"x") if number % 5 else b"y" * (70_000)
        refused += exchange(daemon, [junk])
    assert refused == 10_000
    assert {**(sync.record() or {}), "age": 0} == before
    assert daemon.state(sync.pane) == "working"
    assert daemon.log == log, "nothing was logged for any of them"


def exchange(daemon: Daemon, lines: list[bytes]) -> int:
    """Send lines over one connection; how many replies refuse, with a reason."""
    refused = 0
    with socket.socket(socket.AF_UNIX) as raw, raw.makefile("rb") as replies:
        raw.settimeout(30)
        raw.connect(str(daemon.runtime / "daemon.sock"))
        for line in lines:
            raw.sendall(line + b"\n")
            reply = json.loads(replies.readline())
            refused += not reply["ok"] and len(reply["error"]["text"]) > 10
    return refused
