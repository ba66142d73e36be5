"""`report release set-state`: what agents and scripts say about themselves.

They are run by hooks, in the middle of an agent's work, so they differ from all other commands:
nothing is ever written to stdout (an agent may read that as its own), the exit code is 0 or 1 (2
would block a tool call of some agents), a refusal is one line on stderr, and only the standard
library is imported. `--quiet` says nothing and is always 0.
"""

from __future__ import annotations

import getopt
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from trayagent.cli.here import here
from trayagent.ipc import client

SECONDS = 2.0  # for the whole exchange: nobody's work waits longer for us

Args = dict[str, Any]

_REPORT_HELP = """\
Usage: trayagent report --agent A --owner-pid P --instance I --sequence N --status S [OPTIONS]

  Say what an agent (or any program) does. It must run in front of its pane.

  --agent NAME        What it is called; the same for its whole life.
  --owner-pid PID     Its own process, never that of a command that ends at once.
  --instance ID       Made up anew for each launch of the agent.
  --sequence N        From 1; higher with each report and the release.
  --status STATE      idle, working, needs-input, done or error.
  --message TEXT      What it asks or does (8192 bytes); left out: none.
  --session-id ID     Its session; left out: as before.
  --resume-json JSON  ["program", "argument", ...] that opens the session again; with --session-id.
  --pane PANE         Another pane than the one this runs in: SERVER:%5, %5 or a tty.
  --quiet             Say nothing, and exit with 0 whatever happens.

  Writes nothing to stdout. Exit codes: 0 taken, 1 refused (stderr says why).
"""

_RELEASE_HELP = """\
Usage: trayagent release --owner-pid P --instance I --sequence N [--pane PANE] [--quiet]

  End an instance's reports: its pane goes back to detection. While the agent is still in front.

  Writes nothing to stdout. Exit codes: 0 taken, 1 refused (stderr says why).
"""

_SET_STATE_HELP = """\
Usage: trayagent set-state STATE [-m MESSAGE] [--quiet]

  Say what this pane does, from inside it: idle, working, blocked, done, error; clear takes it back.
  It holds for the agent in front, else for the script or shell that runs this.

  Writes nothing to stdout. Exit codes: 0 taken, 1 refused (stderr says why).
"""


class Wrong(Exception):
    """The command line cannot be understood; the text says why."""


def run(command: str, arguments: Sequence[str]) -> int:
    """Run one of the commands; returns the exit code, 0 or 1."""
    help_text, options, build = COMMANDS[command]
    quiet = "--quiet" in arguments
    try:
        given, rest = getopt.gnu_getopt(list(arguments), "hm:q", ["help", "quiet", "message=", *options])
        values = {name.lstrip("-"): value for name, value in given}
        if "h" in values or "help" in values:
            sys.stdout.write(help_text)  # the one thing that is: somebody has asked to read it
            return 0
        quiet = quiet or "q" in values
        client.call(command, build(values, rest), timeout=SECONDS)
    except getopt.GetoptError as error:
        return _refused(command, f"{error.msg}; `trayagent {command} --help` says what there is", quiet)
    except (Wrong, client.NoDaemon) as error:
        return _refused(command, str(error), quiet)
    except client.VerbError as error:
        return _refused(command, error.text, quiet)
    except KeyboardInterrupt:
        return _refused(command, "interrupted", quiet)
    return 0


def _refused(command: str, text: str, quiet: bool) -> int:
    if quiet:
        return 0
    line = "".join(ch if ch.isprintable() else " " for ch in text)
    try:
        sys.stderr.write(f"trayagent {command}: {line}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):  # stderr is closed or full: the exit code says it
        return 1
    return 1


def _report(values: dict[str, str], rest: list[str]) -> Args:
    args = _owner(values, rest)
    for name in ("agent", "status"):
        args[name] = _needed(values, name)
    if "message" in values or "m" in values:
        args["message"] = _message(values)
    if "session-id" in values:
        args["session_id"] = _text(values["session-id"])
    if "resume-json" in values:
        args["resume"] = _resume(values["resume-json"])
    return args


def _owner(values: dict[str, str], rest: list[str]) -> Args:
    """What report and release have in common."""
    if rest:
        raise Wrong(f"what is {rest[0]!r}? All is said in options")
    return {
        **_pane(values.get("pane")),
        "owner_pid": _number(values, "owner-pid"),
        "instance": _needed(values, "instance"),
        "sequence": _number(values, "sequence"),
    }


def _set_state(values: dict[str, str], rest: list[str]) -> Args:
    if len(rest) != 1:
        raise Wrong("name one state: idle, working, blocked, done, error, or clear")
    args = {**_pane(None), "state": _text(rest[0])}
    if "message" in values or "m" in values:
        args["message"] = _message(values)
    return args


def _pane(pane: str | None) -> Args:
    if pane:
        return {"pane": _text(pane)}
    found = here()
    if found is None:
        raise Wrong("which pane? This runs in none; name one with --pane")
    return found


def _needed(values: dict[str, str], name: str) -> str:
    if name not in values:
        raise Wrong(f"--{name} is missing")
    return _text(values[name])


def _number(values: dict[str, str], name: str) -> int:
    text = _needed(values, name)
    if not (text.isascii() and text.isdigit()) or len(text) > 19:
        raise Wrong(f"--{name} must be a whole number, not {text!r:.40}")
    return int(text)


def _message(values: dict[str, str]) -> str:
    return _text(values.get("message", values.get("m", "")))


def _resume(text: str) -> list[Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise Wrong('--resume-json must be a JSON list of texts: ["program", "argument"]')
    return value


def _text(text: str) -> str:
    """An argument as Unicode; bytes that are none become a mark, as everywhere on the socket."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


_OWNED = ["owner-pid=", "instance=", "sequence=", "pane="]
COMMANDS: dict[str, tuple[str, list[str], Callable[[dict[str, str], list[str]], Args]]] = {
    "report": (_REPORT_HELP, [*_OWNED, "agent=", "status=", "session-id=", "resume-json="], _report),
    "release": (_RELEASE_HELP, _OWNED, _owner),
    "set-state": (_SET_STATE_HELP, [], _set_state),
}
