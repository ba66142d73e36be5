"""The foreground job of real terminals."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.jobs import bundled_index
from tests.support.terminal import Terminal, eventually
from trayagent.host import proc
from trayagent.host.family import Family
from trayagent.host.physics import measure
from trayagent.host.procfs import FULL_EVERY, UNASKED, YOUNG, Procfs
from trayagent.identity.insight import Insight
from trayagent.model.keys import PaneKey, ProcessKey, ServerKey
from trayagent.model.process import Job


class Watch:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Watch:
    """The reader's clock."""
    return Watch()


@pytest.fixture
def reader(clock: Watch) -> Iterator[Procfs]:
    """A reader that reads every member of every group."""
    reader = Procfs(clock=clock)
    yield reader
    reader.close()


def descriptors() -> int:
    """How many files this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def names(job: Job) -> list[str]:
    """The kernel's names of a job's processes."""
    return [process.comm for process in job.processes]


def look(reader: Procfs, terminal: Terminal, fresh: bool = False) -> Job:
    """One examination of one terminal."""
    (job,) = reader.examine([terminal.pane], fresh)
    return job


def until(reader: Procfs, terminal: Terminal, wanted: list[str]) -> Job:
    """The job once its processes have these names: a command is in front before it has executed."""
    return eventually(
        lambda: job if names(job := look(reader, terminal, fresh=True)) == wanted else None,
        f"{wanted} in front",
    )


def test_a_shell_at_its_prompt_is_its_own_job(reader: Procfs, shell: Terminal) -> None:
    job = look(reader, shell)
    assert job.shell_in_front and job.alive
    assert names(job) == ["bash"]
    assert job.processes[0].key == job.shell == ProcessKey(shell.pid, proc.read_stat(shell.pid).started)
    assert job.processes[0].exe == os.path.realpath(shutil.which("bash") or "")
    assert job.processes[0].argv == ("bash", "--norc", "--noprofile", "-i")


def test_a_command_is_in_front_until_it_is_suspended(reader: Procfs, shell: Terminal) -> None:
    group = shell.run("sleep 1000")
    job = until(reader, shell, ["sleep"])
    assert job.foreground == group and not job.shell_in_front
    assert job.processes[0].argv == ("sleep", "1000")
    shell.send("\x1a")
    eventually(lambda: shell.foreground() == shell.pid, "the shell in front")
    assert look(reader, shell).shell_in_front


def test_a_quiet_terminal_gives_the_same_object(reader: Procfs, shell: Terminal, clock: Watch) -> None:
    shell.run("sleep 1000")
    first = until(reader, shell, ["sleep"])
    clock.time += YOUNG
    assert look(reader, shell) is first, "a full reading that found nothing new"
    clock.time += FULL_EVERY - 0.1
    assert look(reader, shell) is first, "a quick reading"
    clock.time += FULL_EVERY
    assert look(reader, shell) is first
    assert look(reader, shell, fresh=True) is first


def test_a_quick_reading_opens_nothing(
    reader: Procfs, shell: Terminal, clock: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.run("sleep 1000")
    job = until(reader, shell, ["sleep"])
    clock.time += YOUNG
    look(reader, shell)
    clock.time += 1

    def refused(*_: object, **__: object) -> int:
        raise AssertionError("a quick reading opened a file")

    monkeypatch.setattr(os, "open", refused)
    monkeypatch.setattr(os, "readlink", refused)
    assert look(reader, shell) is job


def test_another_program_in_the_same_process_is_seen_at_once(
    reader: Procfs, shell: Terminal, clock: Watch
) -> None:
    group = shell.run("bash -c 'read line; exec sleep 1000'")
    until(reader, shell, ["bash"])
    clock.time += YOUNG + 0.1
    assert names(look(reader, shell)) == ["bash"]
    shell.send("\n")
    job = eventually(lambda: job if names(job := look(reader, shell)) == ["sleep"] else None, "exec")
    assert job.foreground == group


def test_a_launchers_child_is_found_while_the_group_is_young(
    reader: Procfs, shell: Terminal, clock: Watch
) -> None:
    shell.run("bash -c 'read line; sleep 1000; :'")
    until(reader, shell, ["bash"])
    clock.time += YOUNG - 1
    shell.send("\n")
    eventually(lambda: names(look(reader, shell)) == ["bash", "sleep"], "the child")


def test_a_launchers_later_child_is_found_after_five_seconds(
    reader: Procfs, shell: Terminal, clock: Watch
) -> None:
    shell.run("bash -c 'read line; sleep 1000; :'")
    first = until(reader, shell, ["bash"])
    clock.time += YOUNG
    look(reader, shell)
    shell.send("\n")
    eventually(
        lambda: [proc.read_stat(child).comm for child in proc.read_children(first.foreground)] == ["sleep"],
        "the child",
    )
    assert look(reader, shell) is first
    clock.time += FULL_EVERY
    assert names(look(reader, shell)) == ["bash", "sleep"]


def test_a_pipeline_is_read_wholly(reader: Procfs, shell: Terminal) -> None:
    shell.run("sleep 1000 | cat")
    assert until(reader, shell, ["sleep", "cat"]).processes[0].pid == shell.foreground()


def test_members_whose_leader_is_gone_are_found(reader: Procfs, shell: Terminal) -> None:
    group = shell.run("sleep 1000 | cat | sleep 1001")
    until(reader, shell, ["sleep", "cat", "sleep"])
    os.kill(group, signal.SIGKILL)
    job = eventually(
        lambda: job if (job := look(reader, shell, fresh=True)).processes[0].pid != group else None,
        "the leader gone",
    )
    assert job.foreground == group
    assert names(job)[-1] == "sleep"


def test_orphans_in_front_are_found_by_a_full_search(reader: Procfs, shell: Terminal) -> None:
    """The job's leader has ended and its child, which is not the shell's, holds the terminal."""
    group = shell.run("bash -c '(trap : HUP; sleep 1000; :) & read line'")
    until(reader, shell, ["bash", "bash", "sleep"])
    stat = proc.read_stat(group)
    orphans = proc.read_children(group)
    os.kill(shell.pid, signal.SIGSTOP)  # it must not take the terminal back
    os.kill(group, signal.SIGKILL)
    eventually(lambda: proc.read_stat(orphans[0]).ppid != group, "adoption")
    job = look(reader, shell, fresh=True)
    os.kill(shell.pid, signal.SIGCONT)
    assert job.foreground == stat.pgrp
    assert sorted(names(job)) == ["bash", "sleep"]


@pytest.mark.skipif(shutil.which("script") is None, reason="no script program: install bsdutils")
def test_what_is_in_front_of_a_terminal_inside_is_listed(reader: Procfs, shell: Terminal) -> None:
    shell.run("script -q -c 'sleep 1000; :' /dev/null")
    job = eventually(
        lambda: job if "sleep" in names(job := look(reader, shell, fresh=True)) else None, "the inner job"
    )
    assert names(job)[0] == "script"
    inner = next(process for process in job.processes if process.comm == "sleep")
    assert inner.pgrp != job.foreground


def test_a_background_job_is_not_listed(reader: Procfs, shell: Terminal) -> None:
    shell.send("sleep 1000 &\n")
    eventually(lambda: proc.read_children(shell.pid), "the background job")
    assert names(look(reader, shell, fresh=True)) == ["bash"]


def test_a_replaced_executable_has_its_plain_name(reader: Procfs, shell: Terminal, tmp_path: Path) -> None:
    binary = tmp_path / "claude" / "versions" / "2.1.235"
    binary.parent.mkdir(parents=True)
    shutil.copy(shutil.which("sleep") or "", binary)
    shell.run(f"{binary} 1000")
    until(reader, shell, ["2.1.235"])
    binary.unlink()
    (process,) = look(reader, shell, fresh=True).processes
    assert process.exe == str(binary)


def test_a_script_is_followed_through_its_links(shell: Terminal, clock: Watch, tmp_path: Path) -> None:
    real = tmp_path / "node_modules" / "@openai" / "codex" / "bin" / "codex.js"
    real.parent.mkdir(parents=True)
    real.write_text("sleep 1000; :\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").symlink_to(real)
    reader = Procfs(Insight(bundled_index()), clock)
    shell.send(f"cd {tmp_path}\n")
    shell.run("sh bin/tool")
    job = eventually(lambda: job if (job := look(reader, shell, True)).processes[0].script else None)
    assert job.processes[0].script == str(real)
    reader.close()


def test_hints_are_read_from_what_is_in_front_only(shell: Terminal, clock: Watch) -> None:
    reader = Procfs(Insight(bundled_index()), clock)
    shell.send("export TUIOS_AGENT=codex\n")
    shell.run("HERDR_AGENT='claude code' OTHER=1 sleep 1000")
    job = until(reader, shell, ["sleep"])
    assert dict(job.processes[0].hints) == {"HERDR_AGENT": "claude code", "TUIOS_AGENT": "codex"}
    os.kill(job.foreground, signal.SIGKILL)
    eventually(lambda: shell.foreground() == shell.pid, "the shell in front")
    assert look(reader, shell).processes[0].hints == ()
    reader.close()


def test_other_members_are_not_read_once_the_leader_settles_it(shell: Terminal, clock: Watch) -> None:
    reader = Procfs(Insight(bundled_index()), clock)
    shell.run("bash -c 'exec -a claude bash -c \"sleep 1000; :\"'")
    job = eventually(
        lambda: job if (job := look(reader, shell, True)).processes[0].argv[0] == "claude" else None,
        "the agent",
    )
    assert len(job.processes) == 1
    reader.close()


def test_new_knowledge_is_used_at_the_next_look(shell: Terminal, clock: Watch) -> None:
    reader = Procfs(Insight(bundled_index()), clock)
    shell.run("HERDR_AGENT=codex sleep 1000")
    job = until(reader, shell, ["sleep"])
    assert job.processes[0].hints
    clock.time += YOUNG
    assert look(reader, shell) is job
    reader.learn(Insight(bundled_index([("sleep", "claude")])))
    assert look(reader, shell).processes[0].hints == ()
    reader.close()


def test_a_pane_whose_process_ended_is_not_alive_and_stays_so(reader: Procfs) -> None:
    terminal = Terminal("sleep", "1000")
    before = until(reader, terminal, ["sleep"])
    terminal.close()
    job = look(reader, terminal)
    assert not job.alive and job.foreground == 0 and job.processes == ()
    assert job.shell == before.shell
    assert look(reader, terminal) is job


def test_a_zombie_is_an_ended_pane(reader: Procfs) -> None:
    terminal = Terminal("sleep", "1000")
    until(reader, terminal, ["sleep"])
    os.kill(terminal.pid, signal.SIGKILL)
    eventually(lambda: proc.read_stat(terminal.pid).dead, "the zombie")
    assert not look(reader, terminal).alive
    terminal.close()


def test_a_process_that_never_was_is_an_ended_pane(reader: Procfs) -> None:
    pane = (PaneKey(ServerKey("tmux", "/x", 1, 1), "%1"), 2**22 - 1, "/dev/pts/999")
    (job,) = reader.examine([pane])
    assert not job.alive


def test_a_pane_that_got_another_process_is_read_anew(reader: Procfs, shell: Terminal) -> None:
    other = Terminal("sleep", "1000")
    until(reader, other, ["sleep"])
    key = other.key
    (job,) = reader.examine([(key, shell.pid, shell.tty)])
    assert names(job) == ["bash"] and job.pane == key
    other.close()


def test_everything_is_given_back(clock: Watch, shell: Terminal) -> None:
    before = descriptors()
    reader = Procfs(clock=clock)
    shell.run("sleep 1000")
    until(reader, shell, ["sleep"])
    assert descriptors() == before + 2
    reader.retain([])
    assert descriptors() == before
    look(reader, shell)
    reader.close()
    assert descriptors() == before


def test_a_pane_that_nobody_asks_about_is_given_back(clock: Watch, shell: Terminal) -> None:
    reader = Procfs(clock=clock)
    other = Terminal("sleep", "1000")
    until(reader, other, ["sleep"])
    look(reader, shell)
    before = descriptors()
    clock.time += UNASKED
    look(reader, shell)
    assert descriptors() == before
    clock.time += UNASKED
    look(reader, shell)
    assert descriptors() == before - 1, "the other's process led its own group: one file"
    assert names(look(reader, other)) == ["sleep"]
    reader.close()
    other.close()


def test_no_descriptors_left_is_not_the_end_of_an_agent(
    clock: Watch, shell: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    reader = Procfs(clock=clock, report=said.append)
    shell.run("sleep 1000")
    job = until(reader, shell, ["sleep"])

    def refused(*_: object, **__: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refused)
        assert look(reader, shell, fresh=True) is job
        assert look(reader, shell, fresh=True) is job
    assert len(said) == 1 and "Too many open files" in said[0]
    assert look(reader, shell, fresh=True) is job
    reader.close()


def test_a_kernel_without_children_files_serves_as_well(
    reader: Procfs, shell: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proc, "has_children_files", lambda: False)
    monkeypatch.setattr(reader, "_family", Family())
    shell.run("bash -c 'sleep 1000; :'")
    until(reader, shell, ["bash", "sleep"])


def test_processes_that_come_and_go_while_they_are_read_do_no_harm(reader: Procfs, shell: Terminal) -> None:
    shell.run("bash -c 'while :; do (/bin/true | /bin/true); done'")
    jobs = [look(reader, shell, fresh=True) for _ in range(300)]
    assert all(job.alive for job in jobs)
    assert {job.processes[0].comm for job in jobs if job.processes} == {"bash"}


def test_a_name_may_hold_blanks_and_parentheses() -> None:
    line = b"42 (a) b (c)) S 7 8 9 34816 8 0 0 0 0 0 1 2 3 4 20 0 1 0 777 1 2 3"
    stat = proc.parse_stat(line)
    assert (stat.comm, stat.ppid, stat.tpgid, stat.started, stat.cpu) == ("a) b (c)", 7, 8, 777, 10)


def test_what_a_job_has_used_counts_its_children(shell: Terminal) -> None:
    group = shell.run("bash -c 'read line; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done & sleep 1000; :'")
    leader = ProcessKey(group, proc.read_stat(group).started)
    (idle,) = measure([(shell.key, leader)])
    assert (idle.children, idle.newest) == (0, 0)
    shell.send("\n")
    busy = eventually(
        lambda: now if (now := measure([(shell.key, leader)])[0]).cpu > idle.cpu + 0.02 else None, "work"
    )
    assert busy.children >= 1
    assert busy.newest >= leader.started
    assert measure([(shell.key, ProcessKey(group, 1))]) == []
