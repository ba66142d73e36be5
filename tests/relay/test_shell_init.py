"""What `shell-init` prints, in the shells that it is for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.relay.seat import ended, seat
from tests.support.daemon import ROOT
from tests.support.terminal import eventually
from trayagent.cli.shellinit import TEMPLATES, names, text

SHELLS = {"bash": ("bash", "--norc"), "zsh": ("zsh", "-f"), "fish": ("fish", "--no-config")}
AGENT = '#!/bin/sh\nprintf \'<%s>\' "$@"\necho " relay:${TRAYAGENT_RELAY:+yes} status:3"\nexit 3\n'


@pytest.fixture(params=sorted(SHELLS))
def shell(request: pytest.FixtureRequest) -> str:
    """Each shell that is installed."""
    if shutil.which(request.param) is None:
        pytest.skip(f"no {request.param} here")
    return str(request.param)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder of programs, an agent and trayagent among them."""
    programs = {
        "claude": AGENT,
        "trayagent": f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m trayagent "$@"\n',
    }
    for name, script in programs.items():
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def said(shell: str, place: Path, *lines: str, interactive: bool = True) -> str:
    """What a shell shows that has read our functions and then runs these lines."""
    (place / "functions").write_text(text(shell, ["claude", "codex"]))
    (place / "lines").write_text("\n".join(lines) + "\n")
    env = {"PATH": f"{place}:{os.environ['PATH']}", "HOME": str(place), "TERM": "xterm"}
    start = [*SHELLS[shell], *(["-i"] if interactive else []), "-c"]
    with seat(*start, f". {place}/functions\n. {place}/lines", env=env, relay=False) as terminal:
        ended(terminal)
        eventually(lambda: b"end" in terminal.output, "the last line")
        return terminal.output.decode().replace("\r", "")


def test_an_agent_runs_in_a_relay_with_its_arguments_and_its_status(shell: str, place: Path):
    status = "$status" if shell == "fish" else "$?"
    shown = said(shell, place, "claude 'a b' '*' ''", f"echo ended {status}; echo end")
    assert "<a b><*><> relay:yes" in shown
    assert "ended 3" in shown


def test_an_agent_that_is_not_installed_gets_no_function(shell: str, place: Path):
    asks = (
        "functions -q codex; or echo none" if shell == "fish" else "typeset -f codex >/dev/null || echo none"
    )
    assert "none" in said(shell, place, asks, "echo end")


def test_a_scripts_shell_starts_agents_as_ever(shell: str, place: Path):
    assert "relay: " in said(shell, place, "claude x", "echo end", interactive=False)


def test_without_trayagent_the_agent_simply_runs(shell: str, place: Path):
    gone = f"rm {place}/trayagent"
    lines = [gone, "hash -r", "claude x", "echo end"] if shell != "fish" else [gone, "claude x", "echo end"]
    # An installed one may be in PATH as well.
    if other := shutil.which("trayagent"):
        keep = [each for each in os.environ["PATH"].split(":") if not (Path(each) / "trayagent").exists()]
        assert other
        path = f"{place}:{':'.join(keep)}"
        lines.insert(
            0, f"set -x PATH {path.replace(':', ' ')}" if shell == "fish" else f"export PATH='{path}'"
        )
    assert "<x> relay: status:3" in said(shell, place, *lines)


def test_an_alias_of_the_same_name_goes_through_the_function(shell: str, place: Path):
    if shell == "fish":  # an alias of fish is a function of the person's own: it stays
        return
    (place / "before").write_text("alias claude='claude --fast'\n")
    shown = said(shell, place, "claude x", "echo end")
    assert "<x> relay:yes" in shown
    lines = [f". {place}/before", f". {place}/functions", f". {place}/after", "echo end"]
    (place / "after").write_text("claude x\n")
    assert "<--fast><x> relay:yes" in said(shell, place, *lines)


def test_a_function_of_the_persons_own_stays(shell: str, place: Path):
    own = "function claude; echo mine; end" if shell == "fish" else "claude() { echo mine; }"
    (place / "own").write_text(own + "\n")
    functions = f". {place}/own\n. {place}/functions"
    again = "functions -e claude" if shell == "fish" else "unset -f claude"
    shown = said(shell, place, again, functions, "claude x", "echo end")
    assert "mine" in shown and "<x>" not in shown


def test_inside_of_a_relay_the_agent_runs_without_another(shell: str, place: Path):
    (place / "claude").write_text("#!/bin/sh\necho mark $TRAYAGENT_RELAY\n")
    shown = said(shell, place, "claude", "trayagent run -- trayagent run -- claude", "echo end")
    assert shown.count("mark /dev/pts/") == 2


def test_all_known_agents_or_those_that_were_chosen():
    assert {"claude", "codex", "aider"} <= set(names(None))
    assert names("codex") == ["codex"]
    command = [sys.executable, "-m", "trayagent", "shell-init", "bash", "--agents", "nobody"]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 1 and "nobody" in refused.stderr


def test_every_shell_that_is_offered_is_tested():
    assert set(TEMPLATES) == set(SHELLS)
