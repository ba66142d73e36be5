"""Running one command: its text, its limits, its end."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest

from trayagent.model.effects import Look
from trayagent.sources.tmux.command import Runner

pytestmark = pytest.mark.tmux


def program(folder: Path, script: str) -> str:
    """A program in place of tmux."""
    path = folder / "tmux"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def ended(pid: int) -> bool:
    """Whether the process is gone, and has been waited for if it was ours."""
    return not Path(f"/proc/{pid}").exists()


def descriptors() -> int:
    """How many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_command_gets_the_socket_and_an_environment_without_anything_of_ours(tmp_path, monkeypatch):
    for name in ("TMUX", "TMUX_PANE", "SECRET", "LC_ALL"):
        monkeypatch.setenv(name, "C")
    runner = Runner(program(tmp_path, 'printf "%s|" "$@"; export -p; echo sorry >&2'))
    reply = await runner.run("/a socket", ["list-panes", "-a"])
    text = reply.out.decode()
    assert text.startswith("-u|-S|/a socket|list-panes|-a|")
    assert not [name for name in ("TMUX", "SECRET", "LC_ALL") if name in text]
    assert "HOME" in text
    assert (reply.err, reply.problem) == ("sorry", None)


async def test_output_of_many_pipes_full_arrives_whole(tmp_path):
    runner = Runner(program(tmp_path, "head -c 3000000 /dev/zero | tr '\\0' x"))
    assert (await runner.run("/s", [])).out == b"x" * 3_000_000
    await runner.close()
    assert (runner.cost.n, runner.cost.out) == (1, 3_000_000)
    assert runner.cost.cpu > 0


async def test_endless_output_is_cut_and_said(tmp_path):
    runner = Runner(program(tmp_path, "exec yes"), limit=100_000)
    reply = await runner.run("/s", [])
    assert reply.problem == "it wrote more than 100000 bytes"
    await runner.close()


async def test_a_late_command_is_killed_and_said(tmp_path):
    runner = Runner(program(tmp_path, "echo $$; exec sleep 1000"), timeout=0.3)
    reply = await runner.run("/s", [])
    assert reply.problem == "it did not answer within 0.3 s"
    await runner.close()
    assert ended(int(reply.out))


async def test_a_command_that_closed_its_output_and_lives_on_is_ended_too(tmp_path):
    runner = Runner(program(tmp_path, "echo $$; exec sleep 1000 >&- 2>&-"), timeout=0.3)
    reply = await runner.run("/s", [])
    assert reply.problem is None
    (child,) = runner._children
    await child.gone
    assert ended(int(reply.out))
    assert runner.cost.n == 1


async def test_a_cancelled_command_is_killed(tmp_path):
    os.mkfifo(tmp_path / "ready")
    runner = Runner(program(tmp_path, f"echo $$ > '{tmp_path}/ready'; exec sleep 1000"), timeout=60)
    task = asyncio.create_task(runner.run("/s", []))
    pid = int(await asyncio.to_thread((tmp_path / "ready").read_text))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await runner.close()
    assert ended(pid)


async def test_closing_ends_what_runs_and_starts_nothing_new(tmp_path):
    os.mkfifo(tmp_path / "ready")
    runner = Runner(program(tmp_path, f"echo $$ > '{tmp_path}/ready'; exec sleep 1000"), timeout=60)
    task = asyncio.create_task(runner.run("/s", []))
    pid = int(await asyncio.to_thread((tmp_path / "ready").read_text))
    await runner.close()
    assert ended(pid)
    for reply in (await task, await runner.run("/s", [])):
        assert "the program is ending" in (reply.problem or "")


async def test_a_program_that_cannot_be_started_is_said(tmp_path):
    reply = await Runner(str(tmp_path / "none")).run("/s", [])
    assert "could not be started: No such file or directory" in (reply.problem or "")


async def test_no_descriptor_and_no_child_is_left_behind(tmp_path):
    before = descriptors()
    good = Runner(program(tmp_path, "echo fine"))
    bad = Runner(str(tmp_path / "none"))
    await asyncio.gather(*(runner.run("/s", []) for runner in (good, bad) for _ in range(20)))
    await good.close()
    assert good.cost.n == 20
    assert descriptors() == before


async def test_five_hundred_commands_killed_at_any_moment_do_not_hurt_the_server(server, watching):
    pane = server.new_session(columns=120, rows=40)
    for _ in range(5):
        server.new_window(pane)
    watch = watching(only=str(server.socket))
    key = await watch.found(server)
    before = await watch.panes(key)
    rng = random.Random(7)
    listing = ["list-panes", "-a", ";", "capture-pane", "-p", "-t", pane]
    killed = 0
    while killed < 500:
        runner = Runner(timeout=rng.uniform(0, 0.004))
        killed += (await runner.run(str(server.socket), listing)).problem is not None
        await runner.close()
        assert runner.cost.n == 1
    assert server.running
    assert await watch.panes(key) == before
    assert (await watch.look(Look(key, clients=True)))[-1].problem is None


async def test_a_tmux_that_is_installed_later_is_found(tmp_path):
    runner = Runner(environ={"PATH": str(tmp_path)})
    assert "no tmux program" in (await runner.run("/s", ["list-panes"])).problem
    assert not runner.find()
    program(tmp_path, "echo here")
    assert runner.find()
    assert (await runner.run("/s", ["list-panes"])).out == b"here\n"
