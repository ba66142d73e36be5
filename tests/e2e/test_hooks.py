"""Hooks that fire in real panes: from a POSIX script's file in the spool to the state of its agent."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.stage import Stage
from tests.support.daemon import Daemon
from tests.support.tmux import named

pytestmark = pytest.mark.tmux

# What an agent's settings would run: event, then FIELD=VALUE arguments. $AGENT, $SPOOL: of the test.
HOOK = """\
event=$1; shift
file=$$-$event
{
  printf '%s\\n' v=1 "agent=$AGENT" "event=$event" "pid=$PPID" "tmux=$TMUX" "pane=$TMUX_PANE"
  for field do printf 'field.%s\\n' "$field"; done
} >"$SPOOL/.$file" && mv "$SPOOL/.$file" "$SPOOL/$file"
"""


@pytest.fixture
def daemon(stage: Stage, only: list[str]) -> Iterator[Daemon]:
    with Daemon(args=only) as daemon:
        yield daemon


class Agent:
    """A process that is called like an agent, and runs what it is told: hooks, above all."""

    def __init__(self, stage: Stage, daemon: Daemon, agent: str = "claude") -> None:
        self.stage, self.daemon, self.agent = stage, daemon, agent
        self.hook = stage.folder / "hook.sh"
        self.hook.write_text(HOOK)
        self.orders = stage.folder / f"{agent}.orders"
        os.mkfifo(self.orders)
        loop = f'while read -r line; do eval "$line"; done <>{shlex.quote(str(self.orders))}'
        self.pane = stage.server.new_session(agent, named(agent, "bash", "-c", loop))
        daemon.wait_for(lambda: daemon.state(self.pane), "the agent to be recognised")

    def run(self, command: str) -> None:
        """Have the agent run a shell command, and wait until it has."""
        done = self.stage.folder / "done"
        done.unlink(missing_ok=True)
        self.orders.write_text(f"{command}; : >{shlex.quote(str(done))}\n")
        self.daemon.wait_for(done.exists, f"the agent to run {command}")

    def fires(self, event: str, *fields: str, before: str = "", agent: str = "") -> None:
        """Have one of its hooks fire. before: a command that starts the hook's shell."""
        words = shlex.join([event, *(field if "=" in field else f"session_id={field}" for field in fields)])
        spool = shlex.quote(str(self.daemon.runtime / "spool"))
        self.run(
            f"AGENT={agent or self.agent} SPOOL={spool} {before} sh {shlex.quote(str(self.hook))} {words}"
        )

    def becomes(self, state: str) -> None:
        self.daemon.wait_for(lambda: self.daemon.state(self.pane) == state, f"the agent to be {state}")

    def stays(self, state: str) -> None:
        """Whatever was in the spool has been read, and the state is what it was."""
        spool = self.daemon.runtime / "spool"
        self.daemon.wait_for(lambda: not list(spool.iterdir()), "the spool to be empty")
        assert self.daemon.state(self.pane) == state


def test_a_turn_with_a_question_as_its_hooks_tell_it(stage: Stage, daemon: Daemon) -> None:
    claude = Agent(stage, daemon)
    claude.fires("SessionStart", "s1", "source=startup")
    claude.becomes("idle")
    claude.fires("UserPromptSubmit", "s1")
    claude.becomes("working")
    claude.fires("PermissionRequest", "s1", "tool_name=AskUserQuestion")
    claude.becomes("blocked")
    row = daemon.pane(claude.pane)
    assert row is not None
    assert (row["kind"], row["source"], row["session_id"]) == ("question", "hook", "s1")
    (claim,) = daemon.json("info", claude.pane)["claims"]
    assert (claim["event"], claim["owner"], claim["live"]) == ("PermissionRequest", row["pid"], True)
    claude.fires("PostToolUse", "s1", "tool_name=AskUserQuestion")
    claude.becomes("working")
    claude.fires("Stop", "s1")
    claude.becomes("done")
    assert [entry["after"] for entry in daemon.history()][::-1] == [
        "idle",
        "working",
        "blocked",
        "working",
        "done",
    ]


def test_a_turn_whose_sub_agent_runs_on_has_not_ended(stage: Stage, daemon: Daemon) -> None:
    claude = Agent(stage, daemon)
    claude.fires("UserPromptSubmit", "s1")
    claude.becomes("working")
    claude.fires("Stop", "s1", "background_tasks.status=running")
    claude.fires("PreToolUse", "s1", "agent_id=a1", "tool_name=Bash")
    claude.fires("Stop", "s1", "agent_id=a1")
    claude.stays("working")
    claude.fires("Stop", "s1", "background_tasks.status=done")
    claude.becomes("done")


def test_another_sessions_end_in_the_same_process_ends_nothing(stage: Stage, daemon: Daemon) -> None:
    opencode = Agent(stage, daemon, "opencode")
    opencode.fires("chat.message", "sessionID=main")
    opencode.becomes("working")
    opencode.fires("session.status", "sessionID=child", "status.type=busy")
    opencode.fires("session.idle", "sessionID=child")
    opencode.stays("working")
    opencode.fires("session.idle", "sessionID=main")
    opencode.becomes("done")


def test_an_agent_that_an_agents_tool_has_started_says_nothing_for_it(stage: Stage, daemon: Daemon) -> None:
    claude = Agent(stage, daemon)
    claude.fires("UserPromptSubmit", "s1")
    claude.becomes("working")
    claude.fires("Stop", "s1", before="setsid bash -c '\"$@\"; :' claude")
    claude.fires("Stop", "s1", agent="codex")
    claude.stays("working")


def test_a_hook_whose_parents_have_ended_counts_for_the_agent_in_its_pane(
    stage: Stage, daemon: Daemon
) -> None:
    claude = Agent(stage, daemon)
    server = stage.server.ask("#{socket_path},#{pid},0", claude.pane)
    spool = daemon.runtime / "spool"
    note = f"v=1\nagent=claude\nevent=UserPromptSubmit\npid=4194304\ntmux={server}\npane={claude.pane}\n"
    (spool / ".x").write_text(note)
    (spool / ".x").rename(spool / "x")
    claude.becomes("working")


def test_what_its_hooks_said_ends_with_the_agent(stage: Stage, daemon: Daemon) -> None:
    claude = Agent(stage, daemon)
    claude.fires("PermissionRequest", "s1", "tool_name=Bash")
    claude.becomes("blocked")
    claude.fires("SessionEnd", "s1")
    daemon.wait_for(lambda: not daemon.json("info", claude.pane)["claims"], "the claim to end")


def test_the_spool_is_closed_to_others_and_made_again_where_it_was_removed(
    stage: Stage, daemon: Daemon
) -> None:
    spool = daemon.runtime / "spool"
    daemon.wait_for(spool.exists, "the spool to be made")
    assert spool.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(spool)
    daemon.wait_for(spool.exists, "the spool to be there again")
    claude = Agent(stage, daemon)
    claude.fires("UserPromptSubmit", "s1")
    claude.becomes("working")


def test_a_spool_that_is_a_link_is_not_used_and_said_once(
    stage: Stage, only: list[str], tmp_path: Path
) -> None:
    made = Daemon(args=only)
    made.runtime.mkdir(mode=0o700)
    (made.runtime / "spool").symlink_to(tmp_path)
    with made as daemon:
        (tmp_path / "x").write_text("v=1\nagent=claude\nevent=Stop\n")
        daemon.wait_for(lambda: daemon.said("hooks cannot be heard") == 1, "the link to be noticed")
        assert "is a link or no folder" in daemon.log
        (daemon.runtime / "spool").unlink()
        daemon.wait_for((daemon.runtime / "spool").is_dir, "the spool to be made")
        assert daemon.said("hooks cannot be heard") == 1
    assert (tmp_path / "x").exists()


def test_garbage_and_a_flood_in_the_spool_change_nothing(stage: Stage, daemon: Daemon) -> None:
    claude = Agent(stage, daemon)
    claude.fires("UserPromptSubmit", "s1")
    claude.becomes("working")
    spool = daemon.runtime / "spool"
    bad = [
        b"",
        os.urandom(300),
        b"x" * 100_000,
        b"v=2\n",
        b"v=1\nagent=claude\n",
        b"v=1\nagent=nobody\nevent=Stop\n",
        b"v=1\nagent=claude\nevent=Stop\npid=1\n",
        b"v=1\nagent=claude\nevent=Stop\npane=%0\ntmux=/x,1,0\n",
    ]
    for number in range(2000):
        (spool / f".{number}").write_bytes(bad[number % len(bad)])
        (spool / f".{number}").rename(spool / str(number))
    claude.stays("working")
    refusals = [line for line in daemon.log.splitlines() if "spool" in line]
    assert 0 < len(refusals) <= 8, "each kind is told once"
