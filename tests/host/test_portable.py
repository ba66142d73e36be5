"""What serves where there is no /proc, forced here: psutil instead, and polling instead of inotify."""

from __future__ import annotations

import asyncio
import ctypes
import subprocess
from types import SimpleNamespace

import psutil
import pytest

from tests.support.jobs import bundled_index
from tests.support.terminal import Terminal, eventually
from trayagent.host import choose
from trayagent.host.portable import PolledExits, PsutilReader, measure, started
from trayagent.host.proc import read_stat
from trayagent.host.pulse import TtyPulse
from trayagent.identity.insight import Insight
from trayagent.model.effects import WatchTerminals
from trayagent.model.events import Event, Exited, PulseState
from trayagent.model.keys import ProcessKey
from trayagent.model.process import Job


def look(reader: PsutilReader, terminal: Terminal) -> Job:
    (job,) = reader.examine([terminal.pane])
    return job


def until(reader: PsutilReader, terminal: Terminal, names: list[str]) -> Job:
    def there() -> Job | None:
        job = look(reader, terminal)
        return job if [process.comm for process in job.processes] == names else None

    return eventually(there, f"{names} in front")


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "1000"])


def test_a_shell_at_its_prompt_is_its_own_job_and_a_quiet_terminal_gives_the_same_object(
    shell: Terminal,
) -> None:
    reader = PsutilReader()
    job = until(reader, shell, ["bash"])
    assert job.shell_in_front and job.foreground == shell.pid
    assert look(reader, shell) is job


def test_a_command_is_in_front_with_all_its_group_until_it_is_suspended_or_ends(shell: Terminal) -> None:
    reader = PsutilReader()
    group = shell.run("bash -c 'sleep 1000; :'")
    job = until(reader, shell, ["bash", "sleep"])
    assert job.foreground == group and not job.shell_in_front
    assert job.processes[0].argv == ("bash", "-c", "sleep 1000; :")
    shell.send("\x1a")
    assert until(reader, shell, ["bash"]).shell_in_front
    shell.send("fg\n")
    assert until(reader, shell, ["bash", "sleep"]).foreground == group
    shell.send("\x03")
    assert until(reader, shell, ["bash"]).shell_in_front


def test_below_a_shell_that_was_started_by_hand_its_own_job_is_in_front(shell: Terminal) -> None:
    shell.run("env PS1='inner> ' bash --norc --noprofile -i")
    shell.wait_for_output("inner>")
    group = shell.run("sleep 1000")
    assert until(PsutilReader(), shell, ["sleep"]).foreground == group


def test_hints_and_executables_are_read(shell: Terminal) -> None:
    shell.run("TRAYAGENT_AGENT=robot sleep 1000")
    (process,) = until(PsutilReader(Insight(bundled_index())), shell, ["sleep"]).processes
    assert process.hints == (("TRAYAGENT_AGENT", "robot"),)
    assert process.exe is not None and process.exe.endswith("sleep")


def test_a_pane_whose_process_ended_is_not_alive_and_keeps_its_key(shell: Terminal) -> None:
    reader = PsutilReader()
    before = until(reader, shell, ["bash"])
    shell.process.kill()
    shell.process.wait()
    job = look(reader, shell)
    assert (job.alive, job.foreground, job.shell) == (False, 0, before.shell)
    reader.retain([])
    assert look(reader, shell).shell == ProcessKey(shell.pid, 0)


def test_start_times_are_those_of_proc_but_for_rounding(shell: Terminal) -> None:
    job = until(PsutilReader(), shell, ["bash"])
    assert abs(job.shell.started - read_stat(shell.pid).started) <= 100


def test_what_a_job_has_used_counts_its_children(shell: Terminal) -> None:
    shell.run("bash -c 'read line; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done & sleep 1000; :'")
    leader = until(PsutilReader(), shell, ["bash"]).processes[0].key
    (idle,) = measure([(shell.key, leader)])
    assert (idle.children, idle.newest) == (0, 0)
    shell.send("\n")
    busy = eventually(
        lambda: now if (now := measure([(shell.key, leader)])[0]).cpu > idle.cpu + 0.02 else None, "work"
    )
    assert busy.children >= 1 and busy.newest >= leader.started
    assert measure([(shell.key, ProcessKey(leader.pid, 1))]) == []


async def test_ends_are_polled_and_told_once_without_a_status() -> None:
    told: asyncio.Queue[Event] = asyncio.Queue()
    watch = PolledExits(told.put_nowait, every=0.05)
    child, other = sleeper(), sleeper()
    keys = [ProcessKey(each.pid, started(psutil.Process(each.pid))) for each in (child, other)]
    watch.watch(frozenset(keys))
    await asyncio.sleep(0.2)
    assert told.empty()
    child.kill()  # a zombie is an end: nobody waited for it yet
    assert await asyncio.wait_for(told.get(), 20) == Exited(keys[0])
    reused = ProcessKey(other.pid, 1)
    watch.watch(frozenset({reused, keys[1]}))
    assert await asyncio.wait_for(told.get(), 20) == Exited(reused)
    watch.close()
    other.kill()
    await asyncio.sleep(0.2)
    assert told.empty()
    child.wait()
    other.wait()


def test_without_proc_psutil_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    insight = Insight(bundled_index())
    assert not isinstance(choose.process_reader(insight, print), PsutilReader)
    assert not choose.has_proc("/nonexistent/self/stat")
    monkeypatch.setattr(choose, "has_proc", lambda: False)
    assert isinstance(choose.process_reader(insight, print), PsutilReader)
    assert choose.measurer() is measure


async def test_without_proc_ends_are_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "has_proc", lambda: False)
    watch = choose.exit_watch(lambda event: None)
    assert isinstance(watch, PolledExits)
    watch.close()


async def test_a_system_without_inotify_has_no_pulse_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *args, **kwargs: SimpleNamespace())
    said: list[Event] = []
    pulse = TtyPulse(said.append)
    pulse.watch(WatchTerminals(frozenset({"/dev/pts/1"})))
    pulse.watch(WatchTerminals(frozenset({"/dev/pts/1", "/dev/pts/2"})))
    assert said == [PulseState(False)]
    pulse.close()
