"""What is read off a screen that asks: the command or question, and its options; never the whole screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.scoring import recorded
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.format import Manifest
from trayagent.manifest.load import Library
from trayagent.model.evidence import Verdict
from trayagent.model.panes import Screen
from trayagent.model.states import Kind, State


def judge(library: Library, agent: str, name: str) -> Verdict:
    manifest = library.get(agent)
    assert manifest is not None
    return next(evaluate(manifest, item.screen) for item in recorded(agent) if item.name == name)


COMMAND = "rm -rf build && mkdir -p build/out"
ALWAYS = "Yes, and don't ask again for rm -rf build and mkdir -p build/out commands in /home/dev/shop-api"


@pytest.mark.parametrize(
    ("agent", "name", "kind", "message"),
    [
        ("claude", "blocked_shell", Kind.PERMISSION, COMMAND),
        ("claude", "blocked_shell_40x15", Kind.PERMISSION, COMMAND),
        ("claude", "blocked_shell_classic", Kind.PERMISSION, COMMAND),
        ("claude", "blocked_edit", Kind.PERMISSION, "Do you want to make this edit to app.py?"),
        ("claude", "blocked_edit_40x15", Kind.PERMISSION, "Do you want to make this edit to app.py?"),
        ("claude", "blocked_write", Kind.PERMISSION, "Do you want to create util.py?"),
        (
            "claude",
            "blocked_web",
            Kind.PERMISSION,
            "url: https://example.com/docs\nprompt: What does it say?",
        ),
        ("claude", "blocked_ask", Kind.QUESTION, "Which database should the service use?"),
        ("claude", "blocked_ask_40x15", Kind.QUESTION, "Which database should the service use?"),
        ("claude", "blocked_askmulti_1", Kind.QUESTION, "Which database should the service use?"),
        (
            "claude",
            "blocked_bypass_warning",
            Kind.OTHER,
            "WARNING: Claude Code running in Bypass Permissions mode",
        ),
        ("codex", "blocked_shell", Kind.PERMISSION, COMMAND),
        ("codex", "blocked_shell_60x20", Kind.PERMISSION, COMMAND),
        ("codex", "blocked_two_2", Kind.PERMISSION, "touch build/two"),
        ("codex", "blocked_plan", Kind.PLAN, "Implement this plan?"),
        ("codex", "blocked_trust", Kind.TRUST, "/home/dev/shop-api"),
        ("opencode", "blocked_shell_80x24", Kind.PERMISSION, "rm -rf build && make test"),
        ("opencode", "blocked_edit_80x24", Kind.PERMISSION, "→ Edit src/app.py"),
        ("opencode", "blocked_question", Kind.QUESTION, "Which database should the cache use?"),
        ("gemini", "blocked_shell", Kind.PERMISSION, COMMAND),
        ("gemini", "blocked_shell_60x20", Kind.PERMISSION, COMMAND),
        ("gemini", "blocked_trick_above", Kind.PERMISSION, COMMAND),
        ("gemini", "blocked_two_2", Kind.PERMISSION, "touch build/two"),
        ("gemini", "blocked_edit_60x20", Kind.PERMISSION, "Edit src/app.py"),
        ("gemini", "blocked_ask_60x20", Kind.QUESTION, "Which database should the service use?"),
        ("gemini", "blocked_askmulti_2", Kind.QUESTION, "Which features should be in the first release?"),
        ("gemini", "blocked_plan", Kind.PLAN, "Plan ready\nPlan: fix the retry loop"),
        ("qwen", "blocked_shell", Kind.PERMISSION, COMMAND),
        ("qwen", "blocked_trick_above", Kind.PERMISSION, COMMAND),
        ("qwen", "blocked_shell_40x15", Kind.PERMISSION, "rm -rf build && mkdir -p build"),
        ("qwen", "blocked_edit_40x15", Kind.PERMISSION, "Edit src/app.py"),
        ("qwen", "blocked_agent", Kind.PERMISSION, "Agent Look through the tests"),
        ("qwen", "blocked_ask_80x24", Kind.QUESTION, "Which database should the service use?"),
        ("qwen", "blocked_plan", Kind.PLAN, "Plan ready\nPlan: fix the retry loop"),
        ("aider", "blocked_shell", Kind.PERMISSION, "make test"),
        ("aider", "blocked_new_file", Kind.PERMISSION, "Create new file?\nsrc/new_module.py"),
        ("aider", "blocked_add_url", Kind.QUESTION, "Add URL to the chat?\nhttp://127.0.0.1:8765/docs"),
        ("aider", "blocked_reasked", Kind.QUESTION, "Add .aider* to .gitignore (recommended)?"),
        ("copilot", "blocked_shell_80x24", Kind.PERMISSION, "rm -rf build && make test"),
        ("copilot", "blocked_edit", Kind.PERMISSION, "Do you want to edit /home/user/demo/src/app.py?"),
        ("copilot", "blocked_question", Kind.QUESTION, "Which database should the cache use?"),
    ],
)
def test_the_message_is_what_is_asked(
    library: Library, agent: str, name: str, kind: Kind, message: str
) -> None:
    verdict = judge(library, agent, name)
    assert (verdict.state, verdict.kind, verdict.message) == (State.BLOCKED, kind, message)


@pytest.mark.parametrize(
    ("agent", "name", "options"),
    [
        ("claude", "blocked_shell", [("1", "Yes"), ("2", ALWAYS), ("4", "No")]),
        ("claude", "blocked_shell_40x15", [("1", "Yes"), ("2", ALWAYS), ("4", "No")]),
        ("claude", "blocked_ask", [("1", "PostgreSQL"), ("2", "SQLite"), ("3", "MongoDB")]),
        ("claude", "blocked_ask_moved", [("1", "PostgreSQL"), ("2", "SQLite"), ("3", "MongoDB")]),
        ("codex", "blocked_plan", [("1", "Yes, implement this plan"), ("3", "No, stay in Plan mode")]),
        ("opencode", "blocked_fetch", [(None, "Allow once"), (None, "Allow always"), (None, "Reject")]),
        ("opencode", "blocked_question", [("1", "PostgreSQL"), ("4", "Type your own answer")]),
        ("gemini", "blocked_askmulti_2", [("1", "Login"), ("2", "Search"), ("3", "Export")]),
        ("gemini", "blocked_shell", [("1", "Allow once"), ("3", "No, suggest changes (esc)")]),
        ("qwen", "blocked_trick_above", [("1", "Yes, allow once"), ("4", "No, suggest changes (esc)")]),
        ("qwen", "blocked_ask_40x15", [("1", "PostgreSQL"), ("2", "SQLite"), ("3", "MongoDB")]),
        ("aider", "blocked_add_file", [(None, "(Y)es"), (None, "(N)o"), (None, "(D)on't ask again")]),
        ("copilot", "blocked_question", [(None, "PostgreSQL"), (None, "Other (type your answer)")]),
    ],
)
def test_the_options_are_those_on_the_screen(
    library: Library, agent: str, name: str, options: list[tuple[str | None, str]]
) -> None:
    found = [(option.key, option.label) for option in judge(library, agent, name).options]
    assert [one for one in found if one in options] == options


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode", "gemini", "qwen", "aider", "copilot"])
def test_every_recorded_dialog_has_a_short_message(library: Library, agent: str) -> None:
    for item in recorded(agent):
        if item.state == "blocked":
            message = judge(library, agent, item.name).message
            assert message, item.name
            assert len(message.split("\n")) <= 3, item.name
            assert len(message) <= 240, item.name


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("claude", "idle_interrupted"),
        ("claude", "idle_interrupted_40x15"),
        ("claude", "idle_interrupted_classic"),
        ("claude", "idle_after_esc_on_ask"),
        ("claude", "idle_after_esc_on_edit"),
        ("claude", "idle_after_esc_on_plan"),
        ("codex", "idle_interrupted_60x20"),
        ("codex", "idle_after_esc_on_permission"),
        ("opencode", "idle_interrupted"),
        ("gemini", "idle_interrupted_60x20"),
        ("gemini", "idle_after_esc_on_plan"),
        ("qwen", "idle_interrupted_40x15"),
        ("qwen", "idle_after_esc_on_permission"),
        ("aider", "idle_interrupted_80x24"),
        ("aider", "idle_interrupted_error_429"),
        ("copilot", "idle_interrupted"),
        ("copilot", "idle_denied_80x24"),
    ],
)
def test_an_esc_is_told_from_an_end(library: Library, agent: str, name: str) -> None:
    verdict = judge(library, agent, name)
    assert (verdict.state, verdict.interrupted) == (State.IDLE, True)


Written = Callable[[str], Manifest]
HEAD = '[[rules]]\nid = "r"\nstate = "blocked"\ncontains = ["asks"]\n[prompts.r]\n'


def message(written: Written, prompt: str, text: str) -> str:
    return evaluate(written(HEAD + prompt), Screen(text)).message


def test_later_patterns_are_fallbacks(written: Written) -> None:
    prompt = "patterns = ['cmd (?P<ask>\\w+)', 'asks (?P<ask>\\w+)']\nmessage = '{ask}'\n"
    assert message(written, prompt, "asks you\ncmd ls") == "ls"
    assert message(written, prompt, "asks you") == "you"


def test_a_template_line_without_any_of_its_groups_is_dropped(written: Written) -> None:
    prompt = "patterns = ['asks (?P<a>\\w+)', 'file (?P<f>\\w+)']\nmessage = ['{a}!', 'in {f}', 'fixed']\n"
    assert message(written, prompt, "asks you") == "you!\nfixed"


def test_rows_become_one_line_unless_the_group_keeps_them(written: Written) -> None:
    text = "asks │ one │\n   │ two │\n\n"
    folded = "patterns = ['(?s)asks (?P<ask>.*)']\nmessage = '{ask}'\n"
    kept = folded.replace("P<ask>", "P<ask_lines>")
    assert message(written, folded, text) == "one two"
    assert message(written, kept, text) == "one\ntwo"


def test_a_message_has_three_lines_at_most(written: Written) -> None:
    prompt = "patterns = ['(?s)asks(?P<ask_lines>.*)']\nmessage = '{ask}'\n"
    assert message(written, prompt, "asks\n" + "row\n" * 50) == "row\nrow\nrow"
    assert len(message(written, prompt, "asks\n" + "x" * 990)) <= 600


def test_a_prompt_may_be_like_another(written: Written) -> None:
    manifest = written(
        HEAD + "patterns = ['(?P<ask>asks \\w+)']\nmessage = '{ask}'\nkind = 'question'\n"
        "[prompts.s]\nlike = 'r'\nkind = 'plan'\n"
        + "[[rules]]\nid = 's'\nstate = 'blocked'\npriority = 3\ncontains = ['plan']\n"
    )
    verdict = evaluate(manifest, Screen("asks you plan"))
    assert (verdict.rule, verdict.kind, verdict.message) == ("s", Kind.PLAN, "asks you")
