"""What docs/manifests.md shows can be used as it stands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.manifest.foreign import says
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.load import TOOLS, read_text, tool_folders
from trayagent.manifest.updates import read_index
from trayagent.model.panes import Screen
from trayagent.model.states import Kind

PAGE = (Path(__file__).parent.parent.parent / "docs" / "manifests.md").read_text("utf-8")


def blocks(page: str, language: str = "toml") -> list[str]:
    """The fenced blocks of a language, without the indentation of the list that they stand in."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", page, re.M | re.S)
    return [re.sub(rf"^{indent}", "", text, flags=re.M) for indent, text in found]


TUTORIAL = PAGE.partition("## An unknown agent")[2].partition("## The file")[0]

ASKS = """ Nova wants to run a command.
   $ make deploy
 Run it?
 ❯ 1. Yes
   2. No
 esc to cancel"""
WORKS = "✻ Reading files (12s, esc to interrupt)\n────────\n❯\n────────\n  ? for help"
IDLE = "Done.\n────────\n❯\n────────\n  ? for help"


def test_the_tutorials_file_says_the_three_states_and_the_question() -> None:
    manifest, problems = read_text("\n".join(blocks(TUTORIAL)).encode(), "nova.toml")
    assert manifest is not None, [str(problem) for problem in problems]
    assert problems == ()
    assert manifest.detect is not None
    assert [says(manifest, text) for text in (ASKS, WORKS, IDLE, "else")] == [
        "blocked",
        "working",
        "idle",
        "keep",
    ]
    asked = evaluate(manifest, Screen(ASKS))
    assert (asked.kind, asked.message) == (Kind.PERMISSION, "make deploy")
    assert [(option.key, option.label) for option in asked.options] == [("1", "Yes"), ("2", "No")]


def test_the_first_file_of_the_tutorial_is_one_by_itself() -> None:
    manifest, problems = read_text(blocks(TUTORIAL)[0].encode(), "nova.toml")
    assert manifest is not None
    assert problems == ()
    assert says(manifest, "anything") == "keep"


def test_the_documented_file_is_accepted_without_a_word() -> None:
    text = blocks(PAGE.partition("## The file")[2])[0]
    manifest, problems = read_text(text.encode(), "demo.toml")
    assert manifest is not None
    assert problems == ()


def test_the_documented_index_is_one() -> None:
    text = blocks(PAGE.partition("## Updates")[2])[0].replace("…", "0" * 64)
    entries, problems = read_index(text.encode(), "index.toml")
    assert problems == ()
    assert [entry.id for entry in entries] == ["claude"]
    assert tomllib.loads(text)["schema_version"] == 1


@pytest.mark.parametrize("tool", TOOLS)
def test_the_page_names_the_folders_of_every_tool(tool: str) -> None:
    section = PAGE.partition("## Other tools' files")[2].partition("## Updates")[0]
    assert f"`{tool}`" in section
    for folder in tool_folders(tool, Path("/home/me"), {}):
        last = folder.path.parts[-2:] if folder.path.suffix else folder.path.parts[-1:]
        assert "/".join(last) in section
