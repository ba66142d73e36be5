"""One process -> the agent that it is, and which of its arguments are the agent's own.

In this order: a name of the process (kernel name, argv[0], executable), proven by its
executable where the name is a common word; its executable's place; the script or module
that an interpreter runs; the package that a package runner fetches. A name that an
interpreter's script has needs no other proof: a static binary cannot be one.
"""

from __future__ import annotations

from dataclasses import dataclass

from trayagent.identity import argv as read
from trayagent.identity.index import Index
from trayagent.identity.tables import LAUNCHERS, OWN_TERMINAL, RUNNERS, RUNTIMES, SERVICES, Runner
from trayagent.model.process import Process

_DEEPEST = 4  # corepack -> pnpm -> node -> script


@dataclass(frozen=True, slots=True)
class Match:
    """A process that is an agent. through: interpreter or runner looked through, "" if none.
    arguments: the agent's own, without those of what it was looked through."""

    agent: str
    why: str
    through: str = ""
    arguments: tuple[str, ...] = ()


def match(process: Process, index: Index) -> Match | None:
    """The agent that this process is, None if it is none, or one that serves other programs only."""
    found = _own_name(process, index) or _own_place(process, index) or _behind(process, index)
    if found is None or subcommand_is(found.arguments, SERVICES):
        return None
    return found


def names(process: Process) -> tuple[str, ...]:
    """The base names that the process goes by."""
    return read.names_of(process.comm, process.argv, process.exe)


def at_prompt(process: Process) -> bool:
    """The process is a shell that was given neither code nor a script: nobody works there."""
    runtime = RUNTIMES.get(read.family(_runtime(process)))
    if runtime is None or not runtime.shell:
        return False
    return read.script_of(runtime, read.words(process.argv)[1:]) is None


def _runtime(process: Process) -> str:
    """The name under which the process is an interpreter, "" if it is none."""
    return read.runtime_of(process.comm, process.argv, process.exe)


def is_program(process: Process) -> bool:
    """The process is a program in an interpreted language (no shell script), and no package runner."""
    runtime = RUNTIMES.get(read.family(_runtime(process)))
    return runtime is not None and not runtime.shell and RUNNERS.keys().isdisjoint(names(process))


def is_launcher(process: Process) -> bool:
    """The process may stand in front of an agent that it started."""
    return any(name in LAUNCHERS or name in RUNNERS or read.family(name) for name in names(process))


def gives_terminal(process: Process) -> bool:
    """The process runs its child in a terminal of its own."""
    return not OWN_TERMINAL.isdisjoint(names(process))


def is_headless(arguments: tuple[str, ...], patterns: tuple[tuple[str, ...], ...]) -> bool:
    """Whether the agent's own arguments make it a one-shot run (Detect.headless)."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for pattern in patterns:
        if not pattern:
            continue
        if not pattern[0].startswith("-"):
            if subcommand_is(own, frozenset(pattern[:1])) and _run_occurs(own, pattern):
                return True
        elif _run_occurs(own, pattern):
            return True
    return False


def subcommand_is(arguments: tuple[str, ...], wanted: frozenset[str]) -> bool:
    """Whether the first plain argument is one of `wanted`. A plain argument right after an option
    may be that option's value, so the search goes on behind it."""
    after_option = False
    for argument in arguments:
        if argument == "--":
            return False
        if argument.startswith("-"):
            after_option = "=" not in argument
        elif argument in wanted:
            return True
        elif after_option:
            after_option = False
        else:
            return False
    return False


def _run_occurs(arguments: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Whether `pattern` occurs side by side; a lone option also as `--option=value` or in `-cp`."""
    if any(arguments[at : at + len(pattern)] == pattern for at in range(len(arguments) - len(pattern) + 1)):
        return True
    if len(pattern) == 2 and f"{pattern[0]}={pattern[1]}" in arguments:
        return True
    if len(pattern) != 1:
        return False
    option = pattern[0]
    if option.startswith("--"):
        return any(argument.startswith(f"{option}=") for argument in arguments)
    return len(option) == 2 and any(_cluster_holds(argument, option[1]) for argument in arguments)


def _cluster_holds(argument: str, letter: str) -> bool:
    """A short run of one-letter options, `-cp`, that holds the letter."""
    body = argument[1:]
    return argument[:1] == "-" and body.isalpha() and len(body) <= 3 and letter in body


def _own_name(process: Process, index: Index) -> Match | None:
    """By what the process itself is called."""
    for name in names(process):
        agent = index.by_name(name)
        if agent is not None and index.proven(agent, name, process.exe):
            return Match(agent, f"the process is called {name}", arguments=_own_arguments(process))
    return None


def _own_arguments(process: Process) -> tuple[str, ...]:
    """The arguments behind argv[0], or behind the script where argv[0] is an interpreter."""
    runtime = read.runtime_of("", process.argv, None)
    arguments = read.words(process.argv)[1:]
    if not runtime:
        return arguments
    script = read.script_of(RUNTIMES[read.family(runtime)], arguments)
    return script.rest if script is not None else ()


def _own_place(process: Process, index: Index) -> Match | None:
    """By where its executable lies."""
    agent = index.by_path(process.exe) if process.exe else None
    if agent is None:
        return None
    return Match(agent, f"its executable lies where {agent}'s does", arguments=_own_arguments(process))


def _behind(process: Process, index: Index) -> Match | None:
    """By what an interpreter or a package runner was told to run."""
    called = names(process)
    runner = next((name for name in called if name in RUNNERS), "")
    return _told(_runtime(process), runner, read.words(process.argv)[1:], process.script, index, _DEEPEST)


def _told(
    runtime: str, runner: str, arguments: tuple[str, ...], resolved: str | None, index: Index, levels: int
) -> Match | None:
    """What `runtime` or `runner` (either may be "") runs with these arguments."""
    if levels == 0:
        return None
    if runner:
        fetched = _fetched(runner, arguments, index, levels)
        if fetched is not None or runner != runtime:
            return fetched
    if runtime:
        return _script(runtime, arguments, resolved, index, levels)
    return None


def _script(
    runtime: str, arguments: tuple[str, ...], resolved: str | None, index: Index, levels: int
) -> Match | None:
    """What an interpreter's script or module is; a runner that is itself a script is looked through."""
    script = read.script_of(RUNTIMES[read.family(runtime)], arguments)
    if script is None or script.kind == "inline":
        return None
    if script.kind == "module":
        agent = index.by_module(script.text)
        return Match(agent, f"{runtime} runs its module", runtime, script.rest) if agent else None
    for path in dict.fromkeys((script.text, resolved or script.text)):
        agent = _script_agent(path, index)
        if agent is not None:
            return Match(
                agent, f"{runtime} runs its script {read.base_name(script.text)}", runtime, script.rest
            )
    name = read.base_name(script.text)
    if name in RUNNERS:
        return _told("", name, script.rest, None, index, levels - 1)
    return None


def _script_agent(path: str, index: Index) -> str | None:
    """The agent whose script this is: by its file name, its package, or its place."""
    packaged = index.by_package_path(path)
    if packaged is not None:
        return packaged[0]
    return index.by_name(read.base_name(path)) or index.by_path(path) or index.by_package(path)


def _fetched(runner: str, arguments: tuple[str, ...], index: Index, levels: int) -> Match | None:
    """The agent whose package or command a package runner was told to run."""
    rules = RUNNERS[runner]
    behind = _behind_words(rules, arguments)
    if behind is None:
        return None
    package, command, rest = _command(rules, behind)
    if not command:
        return None
    named = index.by_package(package) if package else None
    agent = named or index.by_package(command)
    if agent is None:
        by_name = index.by_name(read.base_name(command))
        agent = by_name if by_name is not None and not index.detect(by_name).require_exe else None
    if agent is not None:
        return Match(agent, f"{runner} runs {agent}", runner, rest)
    name = read.base_name(command)
    return _told(
        name if read.family(name) else "", name if name in RUNNERS else "", rest, None, index, levels - 1
    )


def _behind_words(rules: Runner, arguments: tuple[str, ...]) -> tuple[str, ...] | None:
    """The arguments behind the runner's subcommand, None if another one was given."""
    if not rules.words:
        return arguments
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in rules.values else 1
    for words in sorted(rules.words, key=len, reverse=True):
        if arguments[at : at + len(words)] == words:
            return arguments[at + len(words) :]
    return None


def _command(rules: Runner, arguments: tuple[str, ...]) -> tuple[str, str, tuple[str, ...]]:
    """(package named by an option, the command or package to run, its arguments); "" for what is missing."""
    package, at = "", 0
    while at < len(arguments):
        argument = arguments[at]
        option, _, value = argument.partition("=")
        if argument == "--":
            at += 1
            break
        if not argument.startswith("-"):
            break
        if option in rules.inline:
            return package, "", ()
        if option in rules.packages:
            package = value or (arguments[at + 1] if at + 1 < len(arguments) else "")
        at += 2 if not value and option in (rules.values | rules.packages) else 1
    rest = arguments[at:]
    return package, rest[0] if rest else "", rest[1:]
