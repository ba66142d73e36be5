"""Who owns a pane: each row is a way in which agents really stand in front, or what only looks so."""

from __future__ import annotations

import pytest

from tests.support.jobs import LEADER, SHELL, job, process
from trayagent.identity import Index, identify
from trayagent.model.keys import ProcessKey
from trayagent.model.process import Process

NODE = "/usr/local/bin/node"


def owner(index: Index, *processes: Process) -> str | None:
    """The agent in front of these processes, the first being the leader."""
    found = identify(job(*processes), index)
    return found.agent if found else None


ONE_PROCESS = {
    "a binary named like its version": (
        process("claude", comm="2.1.235", exe="/home/u/.local/share/claude/versions/2.1.235"),
        "claude",
    ),
    "a version as kernel name and title": (
        process("2.1.34", comm="2.1.34", exe="/opt/claude/versions/2.1.34"),
        "claude",
    ),
    "a version that its upgrade deleted": (
        process("whatever", comm="2.1.4-beta", exe="/home/u/.local/share/claude/versions/2.1.4-beta.1"),
        "claude",
    ),
    "the npm package's script": (
        process("node /x/node_modules/@anthropic-ai/claude-code/cli.js", exe=NODE),
        "claude",
    ),
    "a bundle outside any package folder": (
        process("node /opt/@anthropic-ai/claude-code/cli.js", exe=NODE),
        "claude",
    ),
    "a linked script": (
        process(
            "node /usr/lib/node_modules/.bin/codex",
            exe=NODE,
            script="/usr/lib/node_modules/@openai/codex/bin/codex.js",
        ),
        "codex",
    ),
    "a nix wrapper by its kernel name": (
        process("/nix/store/x/bin/codex", comm=".codex-wrapped", exe=""),
        "codex",
    ),
    "a nix wrapper by argv alone": (
        process("/nix/store/abc-codex/bin/codex", comm="ld-linux", exe=""),
        "codex",
    ),
    "a script that nix runs": (
        process("python3.12 /nix/store/x/bin/hermes --resume x", exe="/nix/store/p/bin/python3.12"),
        "hermes",
    ),
    "node's own thread name": (process("node /home/u/bin/gemini", comm="MainThread", exe=NODE), "gemini"),
    "a shell's script": (process("sh /tmp/bin/pi", exe="/usr/bin/dash"), "pi"),
    "a script by its first line": (process("/bin/sh /tmp/bin/pi", comm="pi", exe="/usr/bin/dash"), "pi"),
    "bun's script": (process("bun /home/u/.bun/bin/omp", exe="/home/u/.bun/bin/bun"), "omp"),
    "npx with a version": (process("npx -y @openai/codex@latest", exe=NODE, comm="node"), "codex"),
    "npx as node's script": (
        process("node /usr/lib/node_modules/npm/bin/npx-cli.js --yes @google/gemini-cli", exe=NODE),
        "gemini",
    ),
    "npm's written title": (
        process("'npm exec @openai/codex@latest' '' '' ''", comm="npm exec @opena", exe=NODE),
        "codex",
    ),
    "npx with a package and a command": (process("npx -p @openai/codex@1 codex", exe=NODE), "codex"),
    "npx of a proven package": (process("npx @kilocode/cli", exe=NODE), "kilo"),
    "bunx": (process("bunx opencode", exe="/home/u/.bun/bin/bun"), "opencode"),
    "bun x": (process("bun x opencode-ai@1.2.3", exe="/home/u/.bun/bin/bun"), "opencode"),
    "pnpm dlx": (process("node /usr/bin/pnpm dlx @qwen-code/qwen-code", exe=NODE), "qwen"),
    "corepack pnpm dlx": (
        process("node /usr/bin/pnpm.cjs --dir /x dlx @github/copilot@1", exe=NODE),
        "copilot",
    ),
    "uvx": (process("uvx --from aider-chat aider --model x"), "aider"),
    "uv tool run": (process("uv tool run --python 3.12 --from 'aider-chat[help]==0.86' aider"), "aider"),
    "uv run of a module": (process("uv run python -m aider"), "aider"),
    "pipx run": (process("pipx run --spec aider-chat aider"), "aider"),
    "deno's npm specifier": (process("deno run -A npm:@openai/codex@1", exe="/usr/bin/deno"), "codex"),
    "a python module": (process("python3 -m aider --model x", exe="/usr/bin/python3.11"), "aider"),
    "a python module, options glued": (process("python3 -Im kimi_cli", exe="/usr/bin/python3.11"), "kimi"),
    "node's options with values": (
        process("node -r ./hook.js --import tsx --max-old-space-size=4096 /usr/bin/gemini", exe=NODE),
        "gemini",
    ),
    "the token behind --": (process("node -- /usr/bin/gemini", exe=NODE), "gemini"),
    "cursor's bundled node": (
        process(
            "/home/u/cursor-agent/versions/2026.1/node /home/u/cursor-agent/versions/2026.1/index.js",
            exe="/home/u/cursor-agent/versions/2026.1/node",
        ),
        "cursor",
    ),
    "cursor's generic name, resolved": (
        process(
            "bash /home/u/.local/bin/agent",
            exe="/usr/bin/bash",
            script="/home/u/.local/share/cursor-agent/versions/2026.1/cursor-agent",
        ),
        "cursor",
    ),
    "cursor's generic name in its folder": (
        process("agent", exe="/home/u/.cursor/bin/agent", comm="agent"),
        "cursor",
    ),
    "a native platform package": (
        process("/x/node_modules/@github/copilot-linux-x64/copilot", comm="MainThread"),
        "copilot",
    ),
    "a short name, proven by node": (process("pi", comm="pi", exe=NODE), "pi"),
    "a short name, proven by its folder": (process("amp", exe="/home/u/.amp/bin/amp"), "amp"),
    "a short name, proven by its package": (
        process("kilo", exe="/usr/local/lib/node_modules/@kilocode/cli-linux-x64/bin/kilo"),
        "kilo",
    ),
    "a release named like its platform": (
        process("./codex-x86_64-unknown-linux-musl", exe="/home/u/bin/codex-x86_64-unknown-linux-musl"),
        "codex",
    ),
    "a versioned release": (process("./grok-1.2.3", exe="/opt/x/grok-1.2.3"), "grok"),
    "a Windows command line": (
        process(r"""'cmd.exe' '/C' '"C:\Users\u\npm\codex.cmd" -s'""", exe=r"C:\Windows\cmd.exe"),
        "codex",
    ),
    "PowerShell's file": (
        process(r"powershell -ExecutionPolicy Bypass -File 'C:\npm\claude.ps1'", exe=r"C:\ps\powershell.exe"),
        "claude",
    ),
    "capital letters and an extension": (process("Claude.EXE", exe=r"C:\bin\Claude.EXE"), "claude"),
    "a replaying process": (process("claude", comm="python3", exe="/usr/bin/python3.11"), "claude"),
    # -- nobody -----------------------------------------------------------------------------
    "a login shell": (process("-zsh", exe="/usr/bin/zsh"), None),
    "another login shell": (process("-bash", exe="/usr/bin/bash"), None),
    "a shell that waits": (process("sh -c 'sleep 60'", exe="/usr/bin/dash"), None),
    "python's inline code": (
        process("python -c 'import codex; codex.main()'", exe="/usr/bin/python3.11"),
        None,
    ),
    "python's inline code, glued": (process("python3 -Ic 'codex'", exe="/usr/bin/python3.11"), None),
    "node's inline code": (process("node -e 'require(\"codex\")' codex", exe=NODE), None),
    "node's inline code, long": (process("node --eval=codex codex", exe=NODE), None),
    "a shell's inline code": (process("bash -lc 'echo claude'", exe="/usr/bin/bash"), None),
    "an option's value": (process("node -r /x/claude.js server.js", exe=NODE), None),
    "a search for the name": (process("grep claude x"), None),
    "an editor on notes": (process("vim claude.md"), None),
    "an editor on notes in its folder": (process("vim notes-about-claude.md /home/u/.claude/notes.md"), None),
    "a file in a folder of that name": (process("tail -f /home/u/dev/opencode/x"), None),
    "the same by a multi-call binary": (process("tail /home/u/dev/opencode", exe="/bin/busybox"), None),
    "a file of a package": (process("grep -r x node_modules/@anthropic-ai/claude-code/cli.js"), None),
    "a build in a folder of that name": (process("go build ./aider/..."), None),
    "tests of that name": (process("python -m pytest tests/aider", exe="/usr/bin/python3.11"), None),
    "installing with npm": (
        process("'npm install @openai/codex' ''", comm="npm install @op", exe=NODE),
        None,
    ),
    "installing with npm as script": (process("node /usr/bin/npm install @openai/codex", exe=NODE), None),
    "installing with bun": (process("bun add opencode-ai", exe="/usr/bin/bun"), None),
    "installing with pip": (
        process("python3 /usr/bin/pip install aider-chat", exe="/usr/bin/python3.11"),
        None,
    ),
    "installing with uv": (process("uv tool install aider-chat"), None),
    "building an image": (process("docker build claude/"), None),
    "inside a container": (process("docker exec -it c claude"), None),
    "on another machine": (process("ssh host claude"), None),
    "a nested tmux": (process("tmux attach -t claude", comm="tmux: client"), None),
    "the editor kilo": (process("kilo notes.txt"), None),
    "a static pi": (process("pi", exe="/usr/local/bin/pi"), None),
    "a static grok": (process("grok pattern", exe="/usr/bin/grok"), None),
    "an unreadable short name": (process("pi", exe=""), None),
    "a name that only begins so": (process("my-codex-helper"), None),
    "a folder named like the agent": (process("run", exe="/home/claude/bin/run"), None),
    "a version elsewhere": (process("2.1.235", comm="2.1.235", exe="/opt/claude/bin/2.1.235"), None),
    "a version of something else": (process("x", comm="2.1.235", exe="/opt/other/versions/2.1.235"), None),
    "another program of the package": (
        process("rg x", exe="/x/node_modules/@anthropic-ai/claude-code/vendor/ripgrep/rg"),
        None,
    ),
    "the package's build script": (
        process("node /x/node_modules/@openai/codex/scripts/postinstall.js", exe=NODE),
        None,
    ),
    "the package's install script": (
        process("node /x/node_modules/@openai/codex/install.cjs", exe=NODE),
        None,
    ),
    "not the package's entry": (
        process("node /x/node_modules/@mariozechner/pi-coding-agent/dist/worker.js", exe=NODE),
        None,
    ),
    "a package below the package": (
        process("node /x/node_modules/@openai/codex/node_modules/vite/bin/vite.js", exe=NODE),
        None,
    ),
    "a plain server": (process("node server.js", exe=NODE), None),
    "a title that mentions the name": (
        process("'worker: in /home/u/claude' ''", comm="worker", exe=NODE),
        None,
    ),
    "a title with the name behind": (process("'vite codex' ''", comm="vite", exe=NODE), None),
    "npx of another package": (process("npx cowsay claude", exe=NODE), None),
    "npx of a short name's namesake": (process("npx pi", exe=NODE), None),
    "npx with inline code": (process("npx -c 'claude --help'", exe=NODE), None),
    "a service for other programs": (process("codex mcp-server"), None),
    "a service behind options": (process("codex -c model=x app-server --listen unix://"), None),
    "a process without arguments": (Process(LEADER, SHELL.pid, LEADER, 1, "", ()), None),
}


@pytest.mark.parametrize("case", ONE_PROCESS, ids=lambda case: case.replace(" ", "_"))
def test_a_leader_alone_decides(index: Index, case: str) -> None:
    leader, expected = ONE_PROCESS[case]
    assert owner(index, leader) == expected


@pytest.mark.parametrize(
    "launcher",
    [
        process("timeout 60 claude"),
        process("sudo -u me claude"),
        process("mise exec -- claude"),
        process("nohup claude"),
        process("sh -c 'claude; exec zsh'", exe="/usr/bin/dash"),
        process("bash ./start.sh", exe="/usr/bin/bash"),
        process("node wrapper.js", exe=NODE),
        process("python3 -c 'import subprocess'", exe="/usr/bin/python3.11"),
        process("make agent"),
        process("'npm run dev' ''", comm="npm run dev", exe=NODE),
    ],
    ids=lambda leader: leader.argv[0].replace(" ", "_"),
)
def test_a_launcher_is_looked_behind(index: Index, launcher: Process) -> None:
    found = identify(job(launcher, process("claude", 201, LEADER)), index)
    assert found is not None
    assert (found.agent, found.process) == ("claude", ProcessKey(201, 2010))
    assert found.certainty == "wrapper"
    assert found.chain[0] in (launcher.argv[0].split(" ")[0], "python3")
    assert owner(index, launcher) is None, "the launcher alone is nobody"


def test_a_grandchild_below_node_and_a_shell_is_found(index: Index) -> None:
    found = identify(
        job(
            process("node wrapper.js", exe=NODE),
            process("sh -c claude", 201, LEADER, exe="/usr/bin/dash"),
            process("claude", 202, 201),
        ),
        index,
    )
    assert found is not None and found.agent == "claude"
    assert found.chain == ("node", "sh")
    assert "node and sh" in found.why


def test_the_leader_beats_a_helper_that_is_named_like_another_agent(index: Index) -> None:
    helper = process("node /x/node_modules/@openai/codex/bin/codex.js mcp", 201, LEADER, exe=NODE)
    assert owner(index, process("claude"), helper) == "claude"


def test_a_helper_below_a_launcher_is_no_agent(index: Index) -> None:
    assert owner(index, process("node chat.js", exe=NODE), process("codex mcp", 201, LEADER)) is None


def test_a_programs_one_shot_tool_does_not_own_the_pane(index: Index) -> None:
    tool = process("claude -p --output-format stream-json", 201, LEADER)
    assert owner(index, process("node board.js", exe=NODE), tool) is None
    assert owner(index, process("bash nightly.sh", exe="/usr/bin/bash"), tool) == "claude"


def test_a_child_in_another_group_is_not_looked_at(index: Index) -> None:
    assert owner(index, process("timeout 60 x"), process("claude", 201, LEADER, pgrp=201)) is None
    assert owner(index, process("vim"), process("claude", 201, LEADER, pgrp=201)) is None


def test_behind_sudo_what_is_in_front_of_the_inner_terminal_counts(index: Index) -> None:
    inner = process("claude", 203, 202, pgrp=203)
    assert owner(index, process("sudo claude"), inner) == "claude"
    assert (
        owner(index, process("timeout 9 sudo claude"), process("sudo claude", 201, LEADER), inner) == "claude"
    )


def test_the_walk_ends_after_four_levels(index: Index) -> None:
    chain = [process("sh -c x", LEADER + n, LEADER + n - 1 if n else SHELL.pid) for n in range(5)]
    found = process("claude", LEADER + 4, LEADER + 3)
    assert owner(index, *chain[:4], found) == "claude"
    deeper = process("claude", LEADER + 5, LEADER + 4)
    walked = identify(job(*chain, deeper), index)
    assert walked is None


def test_a_pipeline_belongs_to_its_agent(index: Index) -> None:
    assert owner(index, process("tail -f log"), process("claude -p", 201)) == "claude"
    gone = job(process("claude -p", 201), foreground=LEADER)
    found = identify(gone, index)
    assert found is not None and found.agent == "claude" and found.headless


def test_a_member_behind_a_wrapper_scores_higher(index: Index) -> None:
    found = identify(
        job(process("cat x"), process("codex", 201), process("node /usr/bin/gemini", 202, exe=NODE)), index
    )
    assert found is not None and found.agent == "gemini"


def test_a_shell_at_its_prompt_is_nobody_whatever_it_starts_for_the_prompt(index: Index) -> None:
    own = process("-zsh", SHELL.pid, 1, pgrp=SHELL.pid, exe="/usr/bin/zsh", started=SHELL.started)
    helper = process("claude --version", 201, SHELL.pid, pgrp=SHELL.pid)
    assert identify(job(own, helper, foreground=SHELL.pid), index) is None


def test_an_agent_that_is_the_panes_own_command_owns_it(index: Index) -> None:
    own = process("claude", SHELL.pid, 1, pgrp=SHELL.pid, started=SHELL.started)
    found = identify(job(own, foreground=SHELL.pid), index)
    assert found is not None and found.process == SHELL


def test_an_agent_below_the_panes_own_shell_command_owns_it(index: Index) -> None:
    own = process("sh -c 'claude; exec zsh'", SHELL.pid, 1, pgrp=SHELL.pid, exe="/usr/bin/dash", started=1000)
    child = process("claude", 201, SHELL.pid, pgrp=SHELL.pid)
    found = identify(job(own, child, foreground=SHELL.pid), index)
    assert found is not None and found.agent == "claude" and found.process.pid == 201


def test_a_pane_that_ended_or_has_nobody_in_front_is_nobodys(index: Index) -> None:
    assert identify(job(process("claude"), alive=False), index) is None
    assert identify(job(process("claude"), foreground=0), index) is None
    assert identify(job(), index) is None
