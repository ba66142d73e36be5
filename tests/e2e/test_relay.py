"""A relay in a tmux pane is that pane: one row, the agent's own identity, and what it says counts."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.stage import Stage, asking
from tests.support.daemon import ROOT, Daemon

pytestmark = pytest.mark.tmux


@pytest.fixture
def daemon(only: list[str]) -> Iterator[Daemon]:
    with Daemon(args=only) as running:
        yield running


def relay(daemon: Daemon) -> str:
    """What starts a relay that reaches this daemon."""
    words = ["env", f"XDG_RUNTIME_DIR={daemon.env['XDG_RUNTIME_DIR']}", f"PYTHONPATH={ROOT}"]
    return shlex.join([*words, sys.executable, "-m", "trayagent", "run", "--"])


def behind(daemon: Daemon, pane: str) -> str:
    """The relay's own terminal, "" while the daemon knows of no relay in the pane."""
    known = daemon.pane(pane) and daemon.ask("explain", pane=pane)["identity"]["relay"]
    return known or ""


def test_relay_and_tmux_pane_are_one_pane_with_the_agent_in_it(stage: Stage, daemon: Daemon):
    pane = stage.play("claude", "shop", asking("claude/edit"), wrapper=relay(daemon))
    daemon.wait_for(lambda: daemon.state(pane) == "idle", "the agent behind the relay")
    assert [(row["pane_id"], row["agent"]) for row in daemon.list()] == [(pane, "claude")]
    inner = daemon.wait_for(lambda: behind(daemon, pane), "the relay")
    row = daemon.pane(pane)
    assert row is not None and inner != stage.server.ask("#{pane_tty}", pane)
    assert Path(f"/proc/{row['pid']}/fd/0").resolve() == Path(inner)
    assert Path(f"/proc/{row['pid']}/comm").read_text().strip() != "python"
    stage.press(pane)
    daemon.wait_for(lambda: daemon.state(pane) == "blocked", "its dialog")


def test_a_relay_finds_the_daemon_that_comes_later_and_the_next_one(stage: Stage, daemon: Daemon):
    daemon.stop()
    pane = stage.play("claude", "shop", asking("claude/edit"), wrapper=relay(daemon))
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        daemon.start()
        daemon.wait_for(lambda: behind(daemon, pane), "the relay")
        daemon.stop() if signal_number == signal.SIGTERM else daemon.kill()
        assert stage.server.ask("#{pane_dead}", pane) == "0"
    daemon.start()
    stage.press(pane)
    daemon.wait_for(lambda: daemon.state(pane) == "blocked", "its dialog")


def test_what_a_program_says_of_itself_behind_a_relay_is_its_state(stage: Stage, daemon: Daemon):
    says = r"printf '\033]7501;state=blocked:kind=question:app=rsync:msg=%s\033\\' V2hpY2g/; exec sleep 1000"
    pane = stage.server.new_session("sync", f"exec {relay(daemon)} sh -c {shlex.quote(says)}")
    daemon.wait_for(lambda: daemon.state(pane) == "blocked", "its word")
    row = daemon.pane(pane)
    assert row is not None and (row["agent"], row["message"]) == ("rsync", "Which?")
