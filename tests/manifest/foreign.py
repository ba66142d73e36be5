"""Foreign files in a line: what the dialect tests read, and what a screen is to them."""

from __future__ import annotations

import json
from typing import Any

from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.format import Manifest, Problem
from trayagent.manifest.load import read_text
from trayagent.model.panes import Screen

TUIOS = 'schema_version = 1\nid = "demo"\n[detect]\ncomm = ["democli"]\n'
JACKIN = (
    'schema_version = 1\nagent = "demo"\nvalidated_versions = ">=1.0.0, <2.0.0"\nmin_engine_version = 2\n'
)


def good(text: str, suffix: str = ".toml") -> Manifest:
    """The manifest of a text in which nothing is wrong."""
    manifest, problems = read_text(text.encode(), f"demo{suffix}", suffix)
    assert manifest is not None, [str(problem) for problem in problems]
    assert problems == (), [str(problem) for problem in problems]
    return manifest


def wrong(text: str, suffix: str = ".toml") -> tuple[Problem, ...]:
    """The problems of a text that is refused."""
    manifest, problems = read_text(text.encode(), f"demo{suffix}", suffix)
    assert manifest is None
    return problems


def tuios(rule: str, block: str = "", screen: str = "screen") -> Manifest:
    """A harness with one rule in `[screen]` (or `[title]`)."""
    return good(f"{TUIOS}[{screen}]\nenabled = true\n{block}\n[[{screen}.rule]]\n{rule}\n")


def jackin(rule: str) -> Manifest:
    """A pack with one strong blocked rule over the whole bottom, or what the rule says instead."""
    given = {line.partition("=")[0].strip() for line in rule.split("\n")}
    rest = {
        "id": '"r"',
        "state": '"blocked"',
        "priority": "1",
        "region": '"bottom:50"',
        "strength": '"strong"',
    }
    head = "\n".join(f"{key} = {value}" for key, value in rest.items() if key not in given)
    return good(f"{JACKIN}[[rule]]\n{head}\n{rule}\n")


def tmux_ide(**states: Any) -> Manifest:
    """A manifest with these states."""
    return good(json.dumps({"id": "demo", "commands": ["democli"], "states": states}), ".json")


def says(manifest: Manifest, text: str = "", **screen: Any) -> str:
    """The verdict in a word: the state, `keep`, or `none` for no opinion."""
    verdict = evaluate(manifest, Screen(text, **screen))
    if verdict.state is None:
        return "keep" if verdict.keep else "none"
    return verdict.state.value
