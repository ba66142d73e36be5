"""Hints, one-shot runs, continuity, and what the index says about its manifests."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support.jobs import LEADER, SHELL, bundled_index, job, process
from trayagent.identity import Index, identify
from trayagent.identity.identify import conclusive
from trayagent.manifest.format import Detect
from trayagent.model.process import Process

NODE = "/usr/local/bin/node"


def test_a_hint_speaks_where_no_process_does(index: Index) -> None:
    remote = process("ssh host claude", hints=(("HERDR_AGENT", "claude-code"),))
    found = identify(job(remote), index)
    assert found is not None
    assert (found.agent, found.certainty) == ("claude", "hint")
    assert "HERDR_AGENT" in found.why


def test_a_live_process_beats_every_hint(index: Index) -> None:
    marked = process("codex", hints=(("TRAYAGENT_AGENT", "claude"),))
    found = identify(job(marked), index, hint="gemini")
    assert found is not None and (found.agent, found.certainty) == ("codex", "process")


def test_hints_rank_pane_then_our_own_then_foreign(index: Index) -> None:
    hints = (("TUIOS_AGENT", "gemini"), ("TRAYAGENT_AGENT", "codex"), ("HERDR_AGENT", "claude"))
    remote = job(process("ssh host", hints=hints))
    assert (found := identify(remote, index)) is not None and found.agent == "codex"
    assert (found := identify(remote, index, hint="opencode")) is not None and found.agent == "opencode"


def test_a_hint_that_names_nobody_known_says_nothing(index: Index) -> None:
    assert identify(job(process("ssh host", hints=(("TUIOS_AGENT", "nonsense"),))), index) is None


def test_a_hint_in_a_shell_at_its_prompt_is_not_an_agent(index: Index) -> None:
    shell = process("-zsh", exe="/usr/bin/zsh", hints=(("HERDR_AGENT", "claude"),))
    assert identify(job(shell), index, hint="claude") is None


ONE_SHOT = [
    ("claude -p hi", True),
    ("claude --print hi", True),
    ("claude -cp hi", True),
    ("claude", False),
    ("claude --permission-mode plan", False),
    ("claude -- -p", False),
    ("codex exec 'fix it'", True),
    ("codex -m gpt-5 exec x", True),
    ("codex --full-auto e x", True),
    ("codex 'exec the tests'", False),
    ("codex resume exec", False),
    ("aider --message hi", True),
    ("aider --message=hi", True),
    ("aider -m hi", True),
    ("aider --model m", False),
    ("opencode run hi", True),
    ("opencode /srv/run", False),
    ("gemini -i hi", False),
    ("droid exec x", True),
]


@pytest.mark.parametrize(("command", "expected"), ONE_SHOT)
def test_a_one_shot_run_is_told_by_its_arguments(index: Index, command: str, expected: bool) -> None:
    found = identify(job(process(command)), index)
    assert found is not None and found.headless is expected


def test_a_one_shot_run_is_told_behind_an_interpreter_too(index: Index) -> None:
    script = "/x/node_modules/@mariozechner/pi-coding-agent/dist/cli.js"
    plain = identify(job(process(f"node -r hook {script}", exe=NODE)), index)
    shot = identify(job(process(f"node -r hook {script} --mode json", exe=NODE)), index)
    runner = identify(job(process("npx -y @openai/codex exec x", exe=NODE)), index)
    own_option = identify(job(process("python3 -m aider --model x", exe="/usr/bin/python3.11")), index)
    assert plain is not None and not plain.headless
    assert shot is not None and shot.headless
    assert runner is not None and runner.headless
    assert own_option is not None and not own_option.headless


def test_the_agents_first_process_stands_for_it_while_it_lives(index: Index) -> None:
    fetching = process("npx -y @openai/codex", exe=NODE)
    first = identify(job(fetching), index)
    child = process("codex", 201, LEADER)
    gone_title = replace(fetching, argv=("npm run",), comm="npm run")
    second = identify(job(gone_title, child), index, first)
    assert first is not None and second is not None
    assert second.process == first.process and second.agent == "codex"
    third = identify(job(process("codex", 300, pgrp=300), foreground=300), index, second)
    assert third is not None and third.process.pid == 300


def test_another_agent_in_the_same_pane_is_another_identity(index: Index) -> None:
    first = identify(job(process("claude")), index)
    second = identify(job(process("codex", 300, pgrp=300), foreground=300), index, first)
    assert second is not None and second.agent == "codex" and second.process.pid == 300


def test_only_an_agent_or_a_shell_at_its_prompt_settles_the_matter(index: Index) -> None:
    assert conclusive(process("claude"), index)
    assert conclusive(process("-zsh", exe="/usr/bin/zsh"), index)
    assert not conclusive(process("sh -c claude", exe="/usr/bin/dash"), index)
    assert not conclusive(process("vim"), index)


def test_a_users_own_name_for_an_agent_needs_no_proof() -> None:
    index = bundled_index([("bwrap-pi", "pi"), ("pi", "pi")])
    for command in ("bwrap-pi", "pi"):
        found = identify(job(process(command, exe="/usr/local/bin/x")), index)
        assert found is not None and found.agent == "pi"


@dataclass(frozen=True)
class Plain:
    """A manifest as far as the index sees it."""

    id: str
    detect: Detect | None = None
    aliases: tuple[str, ...] = ()


def test_a_name_claimed_twice_stays_with_the_first_and_is_reported() -> None:
    index = Index.build([Plain("one", Detect(names=("x",))), Plain("two", Detect(names=("x",)))])
    assert index.by_name("x") == "one"
    assert index.conflicts == ("the process name 'x' of two belongs to one already",)


def test_a_foreign_manifest_borrows_the_identity_of_its_id() -> None:
    index = Index.build(
        [Plain("one")], fallback=[Plain("one", Detect(names=("x",))), Plain("two", Detect(names=("y",)))]
    )
    assert index.by_name("x") == "one"
    assert index.by_name("y") is None


def test_the_bundled_manifests_claim_nothing_twice(index: Index) -> None:
    assert index.conflicts == ()


def test_a_long_name_is_known_by_what_the_kernel_keeps_of_it() -> None:
    index = Index.build([Plain("long", Detect(names=("a-very-long-agent-name",)))])
    found = identify(job(process("x", comm="a-very-long-age")), index)
    assert found is not None and found.agent == "long"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("share/claude/versions/*", "/h/share/claude/versions/2", True),
        ("share/claude/versions/*", "/h/share/claude/versions/2/x", False),
        (".amp/**", "/h/.amp/a/b/c", True),
        (".cursor/**/agent", "/h/.cursor/agent", True),
        (".cursor/**/agent", "/h/.cursor/a/b/agent", True),
        (".cursor/**/agent", "/h/cursor/a/agent", False),
        ("/opt/*/x", "/opt/a/x", True),
        ("/opt/*/x", "/srv/opt/a/x", False),
        ("grok-[0-9]*", "/x/grok-1.2", True),
        ("grok-[0-9]*", "/x/grok-build", False),
        ("**", "/", False),
        ("", "/x", False),
    ],
)
def test_a_glob_stays_within_components(pattern: str, path: str, expected: bool) -> None:
    index = Index.build([Plain("one", Detect(exe_globs=(pattern,)))])
    assert (index.by_path(path) is not None) is expected


def _recorded(screens: Path) -> list[tuple[str, str, list[dict[str, object]]]]:
    """(file, agent, process tree) of every recording that has one, each tree once."""
    found: dict[str, tuple[str, str, list[dict[str, object]]]] = {}
    for path in sorted(screens.glob("*/*.json")):
        data = json.loads(path.read_text())
        if isinstance(data, dict) and data.get("process_tree") and data.get("state") != "exited":
            tree = data["process_tree"]
            key = data["agent"] + json.dumps([(entry["comm"], entry["argv"]) for entry in tree])
            found.setdefault(key, (path.name, data["agent"], tree))
    return list(found.values())


def test_every_recorded_process_tree_is_known_for_what_it_is(index: Index, screens: Path) -> None:
    """The recordings hold no executables: an agent whose name needs proof is given an interpreter's."""
    wrong = []
    trees = _recorded(screens)
    for file, agent, tree in trees:
        leader = next(entry for entry in tree if entry["ppid"] == tree[0]["pid"])
        group = leader["pid"]
        processes = [
            Process(
                pid=entry["pid"],
                ppid=entry["ppid"],
                pgrp=entry.get("pgrp", group),
                started=1,
                comm=entry["comm"],
                argv=tuple(entry["argv"]),
                exe=NODE,
            )
            for entry in sorted(tree[1:], key=lambda entry: entry["pid"] != group)
        ]
        found = identify(job(*processes, foreground=group), index)
        if found is None or found.agent != index.agent_id(agent):
            wrong.append((file, agent, found))
    assert len(trees) > 30
    assert wrong == []


def test_no_recorded_agent_shell_is_taken_for_an_agent(index: Index, screens: Path) -> None:
    for _, _, tree in _recorded(screens):
        shell = tree[0]
        own = Process(SHELL.pid, 1, SHELL.pid, 1, shell["comm"], tuple(shell["argv"]), "/usr/bin/bash")
        assert identify(job(own, foreground=SHELL.pid), index) is None
