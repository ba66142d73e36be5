"""`trayagent run -- CMD`: the command line, and when there is nothing to relay.

Without a terminal at both ends (a pipe, a file, cron), inside of a relay already, or where the
terminal cannot be opened, the command simply replaces us: it is never refused for our sake.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

from trayagent.relay import launch
from trayagent.relay.outer import Outer, shared_tty

USAGE = """\
Usage: trayagent run [--] COMMAND [ARGUMENT]...

Run a coding agent so that it can say exactly what it is doing, in any terminal, also inside of
tmux. The agent gets a terminal of its own and notices nothing: every byte passes unchanged, both
ways; window size, job control, signals and exit status are as without it. trayagent gets a
copy of what the agent writes, and nothing of what you type. Without trayagent's daemon, or when it
hangs, nothing changes either.

`trayagent shell-init` prints shell functions that do this for the agents that you use.
"""


def main(arguments: list[str]) -> int:
    """Run the command; its exit status. Does not return where the command replaces us or a signal ends us."""
    command = arguments[1:] if arguments[:1] == ["--"] else arguments
    if arguments[:1] in (["-h"], ["--help"]):
        sys.stdout.write(USAGE)
        return 0
    if not command or (command is arguments and command[0].startswith("-")):
        sys.stderr.write(USAGE.partition("\n")[0] + "\n")
        return 2
    outer = None if is_relayed() else _outer()
    if outer is None:
        launch.run(command)
        raise AssertionError("the command runs")
    gc.disable()  # it would find nothing, and write to every page that we share with the leader's process
    from trayagent.relay.session import Session

    rdev = os.fstat(0).st_rdev
    streams = [number for number in range(3) if _is_tty(number, rdev)]
    try:
        session = Session(command, outer, streams)
    except OSError:  # no terminal or process is left to be had; the command may need neither
        launch.run(command)
        raise
    return end_as(session.run())


def is_relayed() -> bool:
    """Whether a relay stands in front of this terminal already: the mark names our own session."""
    told = os.environ.get(launch.MARK, "").rpartition(":")[2]
    return told == str(os.getsid(0))


def _outer() -> Outer | None:
    path = shared_tty(0, 1)
    try:
        return Outer(path) if path else None
    except OSError:  # it may be written to, but not opened (after `su`)
        return None


def _is_tty(number: int, rdev: int) -> bool:
    try:
        return os.isatty(number) and os.fstat(number).st_rdev == rdev
    except OSError:  # closed
        return False


def end_as(status: int) -> int:
    """End as the command ended: by the same signal, or with its exit status, which is returned."""
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the core that matters is the command's
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (number,))
    os.kill(os.getpid(), number)
    return 128 + number
