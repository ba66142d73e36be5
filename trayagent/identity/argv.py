"""Reading a command line: what a program is called, and which argument is the script it runs.

An interpreter's script is found by skipping its own options with their values
(tables.RUNTIMES); code given inline ends the search, so that `python -c '... codex ...'`
is nobody. `script_argument` is also what host/ calls to know which path to resolve.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from trayagent.identity.tables import EXTENSIONS, FAMILIES, RUNTIMES, Runtime

_VERSIONED_RUNTIME = re.compile(r"(python|pypy|node|nodejs)-?[0-9][0-9.]*(?:t|d|-dbg)?")
_NIX_WRAPPED = re.compile(r"\.(.+?)-wrapped_*")


def base_name(token: str) -> str:
    """The last path component in lower case, without a login shell's `-`, one known extension,
    and the wrapping that nix gives its binaries (`.codex-wrapped`)."""
    name = re.split(r"[/\\]", token.rstrip("/\\"))[-1].lower().removeprefix("-")
    for extension in EXTENSIONS:
        if name.endswith(extension) and len(name) > len(extension):
            name = name[: -len(extension)]
            break
    wrapped = _NIX_WRAPPED.fullmatch(name)
    return wrapped[1] if wrapped else name


def family(name: str) -> str:
    """The interpreter that a base name stands for (`python3.12` -> `python`, `zsh` -> `sh`), "" if none."""
    versioned = _VERSIONED_RUNTIME.fullmatch(name)
    return FAMILIES.get(versioned[1] if versioned else name, "")


def words(argv: tuple[str, ...]) -> tuple[str, ...]:
    """argv as the program meant it: a process that wrote a title over its arguments leaves one
    string with spaces, and empty strings behind it."""
    filled = tuple(argv)
    while filled and not filled[-1]:
        filled = filled[:-1]
    if len(filled) == 1 and " " in filled[0]:
        return tuple(filled[0].split())
    return filled


@dataclass(frozen=True, slots=True)
class Script:
    """What an interpreter runs. kind: `script`, `module`, or `inline` (code in an argument; text is
    empty). text: the script as written. rest: the arguments that follow it."""

    kind: str
    text: str = ""
    rest: tuple[str, ...] = ()


def script_of(runtime: Runtime, arguments: tuple[str, ...]) -> Script | None:
    """The script among an interpreter's arguments (argv without its first), None if it has none."""
    at = 0
    while at < len(arguments):
        argument = arguments[at]
        rest = arguments[at + 1 :]
        option = argument.lower() if runtime.shell and argument[:1] == "/" else argument
        if runtime is RUNTIMES["powershell"]:
            option = argument.lower()
        if argument == "--":
            return Script("script", rest[0], rest[1:]) if rest else None
        if option in runtime.words:
            at += 1
        elif option in runtime.inline or argument.startswith(
            tuple(f"{o}=" for o in runtime.inline if len(o) > 2)
        ):
            return Script("inline")
        elif option in runtime.command:
            return _first_word(" ".join(rest))
        elif option in runtime.values:
            at += 2
        elif argument[:1] in ("-", "+") and len(argument) > 1:
            clustered = _cluster(runtime, argument, rest)
            if clustered is not None:
                return clustered
            at += 1
        else:
            return Script("script", argument, rest)
    return None


def _cluster(runtime: Runtime, argument: str, rest: tuple[str, ...]) -> Script | None:
    """Code or a module named by a one-letter option, even among others or with its value glued on."""
    if argument.startswith("--") or not runtime.clusters:
        return None
    for at, letter in enumerate(argument[1:], start=1):
        option = f"-{letter}"
        if option in runtime.inline:
            return Script("inline")
        if option in runtime.module:
            glued = argument[at + 1 :]
            if glued:
                return Script("module", glued, rest)
            return Script("module", rest[0], rest[1:]) if rest else None
        if letter not in runtime.clusters:
            return None
    return None


def _first_word(line: str) -> Script:
    """The program that a command line of cmd or PowerShell begins with; quoted paths may hold spaces."""
    match = re.match(r"""\s*(?:&\s*)?(?:"([^"]+)"|'([^']+)'|(\S+))\s*(.*)""", line, re.DOTALL)
    if match is None:
        return Script("inline")
    return Script("script", (match[1] or match[2] or match[3]).strip('"'), tuple(match[4].split()))


def names_of(comm: str, argv: tuple[str, ...], exe: str | None) -> tuple[str, ...]:
    """The base names that a process goes by: kernel name, first word of argv, executable."""
    tokens = (comm, *words(argv)[:1], exe or "")
    return tuple(dict.fromkeys(name for name in map(base_name, tokens) if name))


def runtime_of(comm: str, argv: tuple[str, ...], exe: str | None) -> str:
    """The name under which a process is an interpreter, "" if it is none.

    argv[0] has the first word. Where it was changed (`exec -a`) the kernel's name or the
    executable tells, but not for a written title, whose words are no arguments, and
    never for a shell: a multi-call binary (busybox) is the executable of `tail` too.
    """
    told = words(argv)
    first = base_name(told[0]) if told else base_name(comm)
    if family(first):
        return first
    if len(told) > len(tuple(filter(None, argv))):
        return ""
    for name in (base_name(comm), base_name(exe or "")):
        if family(name) and not RUNTIMES[family(name)].shell:
            return name
    return ""


def script_argument(comm: str, argv: tuple[str, ...], exe: str | None = None) -> str | None:
    """The path argument that an interpreter runs as its script, as written; None if the process is
    no interpreter or runs none. host/ resolves it (Process.script)."""
    runtime = runtime_of(comm, argv, exe)
    if not runtime:
        return None
    script = script_of(RUNTIMES[family(runtime)], words(argv)[1:])
    return script.text if script is not None and script.kind == "script" else None
