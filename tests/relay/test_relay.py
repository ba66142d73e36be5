"""What stands between a person and his agent changes nothing for either."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.relay.seat import RELAY, Raw, bash_seat, ended, exchange, inner, is_raw, modes, resize, seat
from tests.support.terminal import Terminal, eventually
from trayagent.host.proc import all_stats


def test_every_byte_passes_unchanged_both_ways():
    exchange(3_000_000)


@pytest.mark.long
def test_a_hundred_megabytes_pass_unchanged_both_ways():
    exchange(100_000_000)


def _megabytes(pid: int) -> float:
    """Resident memory of a process."""
    return next(
        int(line.split()[1]) / 1024
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmRSS:")
    )


def test_keys_that_nobody_reads_are_held_back_and_the_output_goes_on():
    terminal = Raw(*inner("deaf"), env={})
    _until(terminal, b"turn 9 ")
    before, typed = _megabytes(terminal.pid), 0
    while select.select([], [terminal.master], [], 1.0)[1]:
        typed += os.write(terminal.master, b"k" * 4096)
        assert typed < 1_000_000
    assert _megabytes(terminal.pid) - before < 2
    _until(terminal, b"turn 300 ")
    os.close(terminal.master)
    os.waitpid(terminal.pid, 0)


def test_output_that_nobody_takes_is_held_back_and_keys_go_on(tmp_path: Path):
    terminal = Raw(*inner("flood", str(tmp_path / "key")), env={})
    _until(terminal, b"x")
    eventually(lambda: terminal.pid and _still(terminal.pid), "the flood's standstill")
    assert _megabytes(terminal.pid) < 40
    os.write(terminal.master, b"k")
    eventually(lambda: (tmp_path / "key").exists() and (tmp_path / "key").read_bytes() == b"k", "the key")
    os.close(terminal.master)
    os.waitpid(terminal.pid, 0)


def _still(pid: int) -> bool:
    """Whether a process uses no processor time for a while."""
    before = Path(f"/proc/{pid}/schedstat").read_text().split()[0]
    time.sleep(0.3)
    return Path(f"/proc/{pid}/schedstat").read_text().split()[0] == before


def _until(terminal: Raw, text: bytes) -> bytes:
    """Read until this was shown."""
    said = b""
    while text not in said:
        assert select.select([terminal.master], [], [], 30)[0], f"{text!r} did not come"
        said = said[-4096:] + os.read(terminal.master, 4096)
    return said


def test_nothing_of_a_long_last_word_is_lost():
    with seat(*inner("burst")) as terminal:
        assert ended(terminal) == 0
        eventually(lambda: terminal.output.endswith(b"x" * 50_000 + b"the very end"), "the whole output")


def test_the_exit_status_is_the_commands():
    for command, status in (("exit 0", 0), ("exit 3", 3), ("exit 255", 255)):
        with seat("sh", "-c", command) as terminal:
            assert ended(terminal) == status


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGSEGV, signal.SIGHUP]
)
def test_it_ends_by_the_signal_that_ended_the_command(number: int):
    with seat("sh", "-c", f"ulimit -c 0; kill -{number} $$") as terminal:
        assert ended(terminal) == -number


def test_a_command_that_is_not_there_is_told_as_a_shell_would():
    with seat("no-such-command-anywhere") as terminal:
        assert ended(terminal) == 127
        terminal.wait_for_output("no-such-command-anywhere: there is no such command")


def test_the_terminals_modes_are_as_before_after_the_command_was_killed():
    with bash_seat() as terminal:
        terminal.send("echo $$ >&2; stty -a >/dev/null\n")
        before = modes(terminal)
        terminal.send(" ".join((*RELAY, *inner("editor"))) + "\n")
        terminal.wait_for_output("editing ")
        assert is_raw(terminal)
        os.kill(_number_after(terminal, b"editing "), signal.SIGKILL)
        eventually(lambda: b"Killed" in terminal.output, "the shell's word")
        eventually(lambda: modes(terminal)[:4] == before[:4], "the old modes")


def test_the_terminals_modes_are_as_before_after_the_relay_itself_was_killed():
    with seat("sh", "-c", " ".join((*RELAY, *inner("editor"))) + "; sleep 1000", relay=False) as terminal:
        before = modes(terminal)
        terminal.wait_for_output("editing ")
        assert is_raw(terminal)
        relay = next(
            stat for stat in all_stats() if stat.session == terminal.pid and stat.ppid == terminal.pid
        )
        os.kill(relay.pid, signal.SIGKILL)
        eventually(lambda: modes(terminal) == before, "the old modes")
        editor = _number_after(terminal, b"editing ")
        eventually(lambda: not any(stat.pid == editor and not stat.dead for stat in all_stats()), "its end")


def test_the_command_sees_the_windows_size_and_its_changes():
    with seat(*inner("sizes")) as terminal:
        terminal.wait_for_output("size ")
        resize(terminal, 41, 133)
        terminal.wait_for_output("size 41x133")
        resize(terminal, 24, 80)
        terminal.wait_for_output("size 24x80")


def test_signals_to_the_relay_reach_the_command():
    with seat(*inner("signals")) as terminal:
        terminal.wait_for_output("waiting ")
        for number in (signal.SIGUSR1, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            os.kill(terminal.pid, number)
            terminal.wait_for_output(f"got {number.name}")
        os.kill(terminal.pid, signal.SIGTERM)
        assert ended(terminal) == 7


def test_control_c_is_the_inner_terminals_business():
    with seat(*inner("signals")) as terminal:
        terminal.wait_for_output("waiting ")
        terminal.send("\x03")
        terminal.wait_for_output("got SIGINT")
        os.kill(_number_after(terminal, b"waiting "), signal.SIGKILL)


@pytest.mark.parametrize("program", ["sizes", "editor"])
def test_control_z_gives_the_shell_the_terminal_and_fg_takes_it_back(program: str):
    with bash_seat() as terminal:
        before = modes(terminal)
        terminal.send(" ".join((*RELAY, *inner(program))) + "\n")
        terminal.wait_for_output("size " if program == "sizes" else "editing ")
        eventually(lambda: is_raw(terminal), "the relay's modes")
        terminal.send("\x1a")
        terminal.wait_for_output("Stopped")
        eventually(lambda: modes(terminal)[:2] == before[:2], "the shell's modes")
        terminal.send("echo the shell is $((40 + 2))\n")
        terminal.wait_for_output("the shell is 42")
        resize(terminal, 33, 99)
        terminal.send("fg\n")
        if program == "sizes":
            terminal.wait_for_output("size 33x99")
            terminal.send("\n")
        else:
            terminal.wait_for_output("back again")
            terminal.send("\xe9")
            terminal.wait_for_output("key c3")
            terminal.send("q")
        eventually(lambda: not is_raw(terminal), "the end")
        terminal.send("\necho status $?\n")
        terminal.wait_for_output("status 0")


def test_a_relay_in_the_background_leaves_the_terminal_alone_until_it_is_in_front():
    with bash_seat() as terminal:
        terminal.send(" ".join((*RELAY, *inner("signals"))) + " & sleep 0.1; echo shell $((6 * 7))\n")
        terminal.wait_for_output("waiting ")
        terminal.wait_for_output("shell 42")
        assert terminal.foreground() == terminal.pid
        terminal.send("fg\n")
        eventually(lambda: is_raw(terminal), "the relay's modes")
        terminal.send("\x03")
        terminal.wait_for_output("got SIGINT")
        os.kill(_number_after(terminal, b"waiting "), signal.SIGKILL)


def test_a_closed_terminal_hangs_the_command_up():
    terminal = Raw(*inner("editor"), env={})
    editor = int(_until(terminal, b"\n").split()[-1])
    os.close(terminal.master)
    eventually(lambda: not any(stat.pid == editor and not stat.dead for stat in all_stats()), "its end")
    assert os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1]) == -signal.SIGHUP


@pytest.mark.parametrize("end", ["\x07", "\x1b\\"])
def test_the_question_for_osc_7501_is_answered_before_the_terminal_answers_anything(end: str):
    with seat(*inner("ask", end)) as terminal:
        terminal.wait_for_output("\x1b[c")
        assert b"\x1b]7501;?" + end.encode() + b"\x1b[c" in terminal.output  # it passes on, unchanged
        terminal.send("\x1b[?62;c")
        answer = "\x1b]7501;?:states=idle,working,done,blocked,error:kinds=permission,question,auth" + end
        terminal.wait_for_output((answer + "\x1b[?62;c").encode().hex())


def test_without_a_terminal_at_both_ends_the_command_simply_runs():
    said = subprocess.run(
        [*RELAY, "sh", "-c", "cat; echo $TRAYAGENT_RELAY; exit 4"], input=b"in", capture_output=True
    )
    assert (said.returncode, said.stdout, said.stderr) == (4, b"in\n", b"")


def test_where_no_terminal_is_left_the_command_simply_runs():
    code = (
        "import os, sys; os.openpty = lambda: (_ for _ in ()).throw(OSError(28, 'no ptys left'))\n"
        "from trayagent.relay.program import main; sys.exit(main(['--', 'sh', '-c', 'tty; exit 6']))"
    )
    with seat(sys.executable, "-c", code, relay=False) as terminal:
        assert ended(terminal) == 6
        terminal.wait_for_output(terminal.tty)


def test_a_relay_inside_of_a_relay_steps_aside():
    count = "ps -o comm= -t $(tty) | wc -l"
    with seat(*RELAY, "sh", "-c", f"echo $({count}) processes $TRAYAGENT_RELAY") as terminal:
        assert ended(terminal) == 0
        inside = terminal.output.split()[-1].decode()
        assert inside.startswith("/dev/pts/") and int(inside.rpartition(":")[2])
        with seat("sh", "-c", f"echo $({count}) processes") as alone:
            assert ended(alone) == 0
            assert terminal.output.split()[0] == alone.output.split()[0]


def test_the_environment_is_the_commands_own():
    names = "import os; print(sorted(os.environ.items()))"
    with seat(sys.executable, "-c", names, relay=False) as terminal:
        assert ended(terminal) == 0
        direct = eval(terminal.output)
    with seat(sys.executable, "-c", names) as terminal:
        assert ended(terminal) == 0
        relayed = [pair for pair in eval(terminal.output) if pair[0] != "TRAYAGENT_RELAY"]
    assert relayed == direct


def test_ignored_signals_stay_ignored_and_others_are_default():
    masks = "grep -E 'Sig(Ign|Blk|Cgt)' /proc/self/status"
    command = f"trap '' HUP; {{}} {masks}"
    shown = []
    for way in ("", " ".join(RELAY)):
        with seat("sh", "-c", command.format(way), relay=False) as terminal:
            assert ended(terminal) == 0
            shown.append(
                eventually(lambda terminal=terminal: terminal.output.count(b"\n") == 3 and terminal.output)
            )
    assert shown[0] == shown[1]


def test_only_what_it_needs_is_imported():
    heavy = {"asyncio", "click", "dataclasses", "inspect", "json", "pathlib", "re", "subprocess", "typing"}
    code = (
        "import sys; sys.argv = ['trayagent', 'run']; import trayagent.relay.program; "
        "import trayagent.relay.session, socket, trayagent.ipc.folder; print(*sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert heavy & set(said.stdout.split()) == set()


def _number_after(terminal: Terminal, mark: bytes) -> int:
    return int(eventually(lambda: terminal.output.partition(mark)[2].split()[:1])[0])
