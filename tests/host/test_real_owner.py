"""Reader and rules together: real processes in front of a real terminal, started in the ways in which
agents and their namesakes are."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.jobs import bundled_index
from tests.support.terminal import Terminal, eventually
from trayagent.host.procfs import Procfs
from trayagent.identity import identify
from trayagent.identity.insight import Insight
from trayagent.model.evidence import Identity
from trayagent.model.process import Job

INDEX = bundled_index()
SLEEP = shutil.which("sleep") or "sleep"
PYTHON = Path(sys.executable).resolve()
DASH = shutil.which("dash") or shutil.which("sh") or "sh"


@pytest.fixture
def reader() -> Iterator[Procfs]:
    """A reader that knows the bundled agents."""
    reader = Procfs(Insight(INDEX))
    yield reader
    reader.close()


def binary(path: Path) -> Path:
    """A program at this place that stays in front for as long as it is told."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(SLEEP, path)
    return path


def interpreter(path: Path) -> Path:
    """An interpreter of this name that runs the script it is given (a shell under another name)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(DASH, path)
    return path


def script(path: Path, text: str = "sleep 1000; :\n") -> Path:
    """A script at this place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def versioned(at: Path) -> str:
    return f"{binary(at / 'share/claude/versions/2.1.235')} 1000"


def npm_script(at: Path) -> str:
    return f"{interpreter(at / 'node')} {script(at / 'node_modules/@anthropic-ai/claude-code/cli.js')}"


def linked_script(at: Path) -> str:
    real = script(at / "node_modules/@openai/codex/bin/codex.js")
    link = at / "node_modules/.bin/tool"
    link.parent.mkdir()
    link.symlink_to(real)
    return f"{interpreter(at / 'node')} {link}"


def relative_script(at: Path) -> str:
    script(at / "node_modules/@google/gemini-cli/dist/index.js")
    return f"cd {at}/node_modules && {interpreter(at / 'node')} @google/gemini-cli/dist/index.js"


def nix_wrapped(at: Path) -> str:
    return f"exec -a /nix/store/x/bin/codex {binary(at / '.codex-wrapped')} 1000"


def first_line(at: Path) -> str:
    return str(script(at / "aider", f"#!{interpreter(at / 'python3.12')}\nsleep 1000; :\n"))


def package_runner(at: Path) -> str:
    return f"{interpreter(at / 'node')} {script(at / 'npm/bin/npx-cli.js')} -y @openai/codex@latest"


def grandchild(at: Path) -> str:
    wrapper = script(at / "wrapper.js", f"sh -c '{binary(at / 'codex')} 1000; :'; :\n")
    return f"{interpreter(at / 'node')} {wrapper}"


def cursor_link(at: Path) -> str:
    real = script(at / "share/cursor-agent/versions/2026.1/cursor-agent", "sleep 1000; :\n")
    (at / "agent").symlink_to(real)
    return f"sh {at / 'agent'}"


OWNED: dict[str, tuple[str | Callable[[Path], str], str]] = {
    "a binary named like its version": (versioned, "claude"),
    "a package's script": (npm_script, "claude"),
    "a link to a package's script": (linked_script, "codex"),
    "a script by a relative path": (relative_script, "gemini"),
    "a nix wrapper": (nix_wrapped, "codex"),
    "a script by its first line": (first_line, "aider"),
    "a shell's script of a short name": (lambda at: f"sh {script(at / 'pi')}", "pi"),
    "npx": (package_runner, "codex"),
    "cursor's generic name": (cursor_link, "cursor"),
    "timeout": (lambda at: f"timeout 600 {binary(at / 'claude')} 1000", "claude"),
    "nohup and timeout": (lambda at: f"nohup timeout 600 {binary(at / 'claude')} 1000", "claude"),
    "a shell that goes on afterwards": (
        lambda at: f"sh -c '{binary(at / 'claude')} 1000; exec sh'",
        "claude",
    ),
    "a wrapper's grandchild": (grandchild, "codex"),
    "a pipeline": (lambda at: f"sleep 1000 | {binary(at / 'codex')} 1000", "codex"),
    "a replaying process": (f"exec -a claude {PYTHON} -c 'import time; time.sleep(1000)'", "claude"),
    "a short name below a known folder": (lambda at: f"{binary(at / '.amp/bin/amp')} 1000", "amp"),
    "a remote agent with a hint": (
        lambda at: f"TRAYAGENT_AGENT=opencode {binary(at / 'ssh')} 1000",
        "opencode",
    ),
}


@pytest.mark.parametrize("case", OWNED, ids=lambda case: case.replace(" ", "_"))
def test_an_agent_in_front_is_known(case: str, shell: Terminal, reader: Procfs, tmp_path: Path) -> None:
    command, expected = OWNED[case]
    # A subshell, so that `exec -a` and `cd` leave the terminal's own shell alone.
    text = command if isinstance(command, str) else command(tmp_path)
    shell.run(f"({text})" if text.startswith(("exec", "cd")) else text)

    def known() -> Identity | None:
        (job,) = reader.examine([shell.pane])
        return identify(job, INDEX)

    found = eventually(known, f"{expected} in front")
    assert found.agent == expected
    assert found.why


def editor(at: Path) -> str:
    return f"{binary(at / 'kilo')} 1000"


NOBODYS: dict[str, tuple[str | Callable[[Path], str], str]] = {
    "a shell that waits": ("sh -c 'sleep 1000; :'", "sh"),
    "inline code that mentions one": (
        f"{PYTHON} -c 'codex = 1; import time; time.sleep(1000)'",
        PYTHON.name,
    ),
    "a search for one": ("grep claude -", "grep"),
    "a file in a folder of that name": (
        lambda at: f"tail -f {script(at / 'dev/opencode/main.go')}",
        "tail",
    ),
    "a namesake without proof": (editor, "kilo"),
    "a static binary of a short name": (lambda at: f"{binary(at / 'bin/pi')} 1000", "pi"),
    "a server": (lambda at: f"{interpreter(at / 'node')} {script(at / 'server.js')}", "node"),
    "a package's build script": (
        lambda at: (
            f"{interpreter(at / 'node')} {script(at / 'node_modules/@openai/codex/scripts/postinstall.js')}"
        ),
        "node",
    ),
    "a folder named like one": (lambda at: f"{binary(at / 'claude/bin/run')} 1000", "run"),
}


@pytest.mark.parametrize("case", NOBODYS, ids=lambda case: case.replace(" ", "_"))
def test_what_only_looks_like_an_agent_is_nobody(
    case: str, shell: Terminal, reader: Procfs, tmp_path: Path
) -> None:
    command, comm = NOBODYS[case]
    shell.run(command if isinstance(command, str) else command(tmp_path))

    def settled() -> Job | None:
        (job,) = reader.examine([shell.pane], fresh=True)
        return job if job.processes and job.processes[0].comm == comm else None

    job = eventually(settled, f"{comm} in front")
    assert identify(job, INDEX) is None


def test_a_suspended_agent_owns_nothing_until_it_is_resumed(
    shell: Terminal, reader: Procfs, tmp_path: Path
) -> None:
    shell.run(f"{binary(tmp_path / 'claude')} 1000")

    def owner() -> Identity | None:
        (job,) = reader.examine([shell.pane])
        return identify(job, INDEX)

    first = eventually(owner, "the agent")
    shell.send("\x1a")
    eventually(lambda: owner() is None, "the shell back")
    shell.send("fg\n")
    assert eventually(owner, "the agent again").process == first.process


def test_an_agent_that_is_the_terminals_own_command_owns_it(reader: Procfs, tmp_path: Path) -> None:
    terminal = Terminal(str(binary(tmp_path / "claude")), "1000")

    def owner() -> Identity | None:
        (job,) = reader.examine([terminal.pane])
        return identify(job, INDEX)

    found = eventually(owner, "the agent")
    assert found.process.pid == terminal.pid
    terminal.close()
    assert owner() is None


def test_an_agent_below_the_terminals_own_command_owns_it(reader: Procfs, tmp_path: Path) -> None:
    terminal = Terminal("sh", "-c", f"{binary(tmp_path / 'claude')} 1000; exec sh")

    def owner() -> Identity | None:
        (job,) = reader.examine([terminal.pane])
        return identify(job, INDEX)

    assert eventually(owner, "the agent").agent == "claude"
    terminal.close()


@pytest.mark.skipif(shutil.which("script") is None, reason="no script program: install bsdutils")
def test_an_agent_behind_a_terminal_of_its_own_owns_the_outer_one(
    shell: Terminal, reader: Procfs, tmp_path: Path
) -> None:
    shell.run(f"script -q -c '{binary(tmp_path / 'claude')} 1000' /dev/null")

    def owner() -> Identity | None:
        (job,) = reader.examine([shell.pane])
        return identify(job, INDEX)

    found = eventually(owner, "the agent")
    assert found.agent == "claude" and found.chain[0] == "script"
