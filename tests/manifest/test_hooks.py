"""The `[hooks]` and `[answers]` of the bundled manifests: they parse and say what the agents were seen to do.

The sequences are those that the agents fired while they were recorded.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.scoring import recorded
from trayagent.manifest import hooks as hooks_module
from trayagent.manifest.evaluate import evaluate
from trayagent.manifest.format import HookRule, Hooks
from trayagent.manifest.hooks import fields_of, session_of, values
from trayagent.manifest.load import Library
from trayagent.model.states import Kind, Reason, State

STATES = tuple(State)
TASKS = [{"type": "subagent", "status": "running"}]

# Agent, event, its fields, the state before, the state after. None: the agent is no longer spoken for.
SAID: tuple[tuple[str, str, dict[str, Any], str, str | None], ...] = (
    ("claude", "SessionStart", {"source": "startup"}, "unknown", "idle"),
    ("claude", "SessionStart", {"source": "compact"}, "working", "working"),
    ("claude", "UserPromptSubmit", {}, "idle", "working"),
    ("claude", "PreToolUse", {"tool_name": "Bash"}, "idle", "working"),
    ("claude", "PermissionRequest", {"tool_name": "Bash"}, "working", "blocked"),
    ("claude", "PostToolUse", {"tool_name": "Bash"}, "blocked", "working"),
    ("claude", "PostToolUse", {"tool_name": "Bash"}, "idle", "idle"),
    ("claude", "PostToolUse", {"tool_name": "Bash"}, "done", "done"),
    ("claude", "Notification", {"notification_type": "permission_prompt"}, "working", "blocked"),
    ("claude", "Notification", {"notification_type": "elicitation_dialog"}, "working", "blocked"),
    ("claude", "Notification", {"notification_type": "idle_prompt"}, "working", "idle"),
    ("claude", "Notification", {"notification_type": "idle_prompt"}, "done", "done"),
    ("claude", "Notification", {"notification_type": "auth_success"}, "working", "working"),
    ("claude", "Stop", {"background_tasks": []}, "working", "done"),
    ("claude", "Stop", {}, "working", "done"),
    ("claude", "Stop", {"background_tasks": TASKS}, "working", "working"),
    ("claude", "SubagentStop", {"background_tasks": TASKS}, "working", "working"),
    ("claude", "StopFailure", {"error": "unknown"}, "working", "error"),
    ("claude", "SessionEnd", {"reason": "clear"}, "idle", None),
    ("codex", "SessionStart", {"source": "startup"}, "working", "working"),
    ("codex", "UserPromptSubmit", {}, "idle", "working"),
    ("codex", "PreToolUse", {"tool_name": "apply_patch"}, "idle", "working"),
    ("codex", "PermissionRequest", {"tool_name": "Bash"}, "working", "blocked"),
    ("codex", "PostToolUse", {"tool_name": "Bash"}, "blocked", "working"),
    ("codex", "PostToolUse", {"tool_name": "Bash"}, "idle", "idle"),
    ("codex", "Interrupt", {}, "blocked", "idle"),
    ("codex", "Stop", {}, "working", "done"),
    ("codex", "agent-turn-complete", {}, "working", "working"),
    ("codex", "SessionEnd", {"reason": "other"}, "done", None),
    ("opencode", "chat.message", {}, "idle", "working"),
    ("opencode", "session.status", {"status": {"type": "busy"}}, "error", "working"),
    ("opencode", "session.status", {"status": {"type": "retry", "attempt": 1}}, "working", "working"),
    ("opencode", "permission.asked", {}, "working", "blocked"),
    ("opencode", "permission.replied", {"reply": "once"}, "blocked", "working"),
    ("opencode", "permission.replied", {"reply": "reject"}, "blocked", "idle"),
    ("opencode", "question.asked", {}, "working", "blocked"),
    ("opencode", "question.replied", {}, "blocked", "working"),
    ("opencode", "session.error", {"error": {"name": "MessageAbortedError"}}, "working", "idle"),
    ("opencode", "session.error", {"error": {"name": "ContextOverflowError"}}, "working", "error"),
    ("opencode", "session.compacted", {}, "error", "working"),
    ("opencode", "session.status", {"status": {"type": "idle"}}, "working", "done"),
    ("opencode", "session.idle", {}, "working", "done"),
    ("opencode", "session.idle", {}, "done", "done"),
    ("opencode", "session.idle", {}, "idle", "idle"),  # after an interrupt or a refusal
    ("opencode", "session.idle", {}, "error", "error"),
)


def hooks_of(library: Library, agent: str) -> Hooks:
    manifest = library.get(agent)
    assert manifest is not None and manifest.hooks is not None
    return manifest.hooks


def serving(
    library: Library, agent: str, event: str, fields: dict[str, Any], before: State
) -> HookRule | None:
    hooks = hooks_of(library, agent)
    return hooks_module.serving(hooks, event, fields_of(fields, hooks), before)


def told(library: Library, agent: str, event: str, fields: dict[str, Any], before: State) -> State | None:
    hooks = hooks_of(library, agent)
    said = hooks_module.said(hooks, event, fields_of(fields, hooks), before)
    return before if said is None else said.state


def test_the_hooks_of_every_bundled_manifest_parse(library: Library) -> None:
    having = [manifest for manifest in library.manifests if manifest.hooks is not None]
    assert {"claude", "codex", "opencode", "gemini", "qwen", "kimi"} <= {manifest.id for manifest in having}
    for manifest in having:
        hooks = manifest.hooks
        assert hooks is not None and hooks.rules, manifest.id
        named = {key for rule in hooks.rules for key, _ in rule.where}
        assert named <= set(hooks.fields), f"{manifest.id}: asked for, but never written"
        assert all(wanted for rule in hooks.rules for _, wanted in rule.where), manifest.id
        assert not [rule.event for rule in hooks.rules if rule.clear and rule.state], manifest.id


@pytest.mark.parametrize(("agent", "complete"), [("claude", False), ("codex", False), ("opencode", True)])
def test_only_a_set_that_covers_every_change_is_complete(
    library: Library, agent: str, complete: bool
) -> None:
    manifest = library.get(agent)
    assert manifest is not None and manifest.hooks is not None
    assert manifest.hooks.complete is complete


@pytest.mark.parametrize(("agent", "event", "fields", "before", "after"), SAID)
def test_an_event_says_what_the_agent_does(
    library: Library, agent: str, event: str, fields: dict[str, Any], before: str, after: str | None
) -> None:
    assert told(library, agent, event, fields, State(before)) == (None if after is None else State(after))


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode"])
def test_what_follows_a_tool_only_ends_a_block(library: Library, agent: str) -> None:
    for event in ("PostToolUse", "PostToolUseFailure", "tool.execute.after"):
        for before in STATES:
            after = told(library, agent, event, {}, before)
            assert after == before or (before, after) == (State.BLOCKED, State.WORKING)


def test_the_kind_that_a_question_told_outlives_its_reminder(library: Library) -> None:
    asked = serving(library, "claude", "PermissionRequest", {"tool_name": "AskUserQuestion"}, State.WORKING)
    assert asked is not None and asked.kind is Kind.QUESTION
    reminder = {"notification_type": "permission_prompt"}
    assert serving(library, "claude", "Notification", reminder, State.BLOCKED) is None


def test_a_broken_turn_has_the_reason_that_the_agent_gives(library: Library) -> None:
    for error, reason in (
        ("rate_limit", Reason.LIMIT),
        ("authentication_failed", Reason.AUTH),
        ("x", Reason.API),
    ):
        rule = serving(library, "claude", "StopFailure", {"error": error}, State.WORKING)
        assert rule is not None and rule.reason is reason


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_an_answer_gives_what_the_recorded_dialogs_offer_under_its_key(library: Library, agent: str) -> None:
    manifest = library.get(agent)
    assert manifest is not None
    answers, met = dict(manifest.answers), set()
    for screen in recorded(agent):
        for option in evaluate(manifest, screen.screen).options if screen.state == "blocked" else ():
            if (key := answers.get(option.label)) is not None:
                met.add(option.label)
                assert key == option.key or option.label.endswith(f"({key})"), screen.name
    assert met == set(answers)


def test_no_answer_refuses_by_escape_or_approves_a_plan(library: Library) -> None:
    for manifest in library.manifests:
        assert "escape" not in {key.lower() for _, key in manifest.answers}, manifest.id
    for agent in ("claude", "codex", "gemini"):
        manifest = library.get(agent)
        assert manifest is not None
        plans = [evaluate(manifest, screen.screen) for screen in recorded(agent)]
        labels = {option.label for plan in plans if plan.kind is Kind.PLAN for option in plan.options}
        assert labels and not labels & set(dict(manifest.answers)), agent


# -- whose event it is -----------------------------------------------------------------------------


def test_a_field_is_read_in_every_entry_of_a_list_and_through_tables() -> None:
    data = {"a": [{"b": 1}, {"b": [2, "x"]}, {"c": 3}, "no table"], "d": None}
    assert values(data, "a.b") == ("1", "2", "x")
    assert values(data, "a.b.c") == ()
    assert values(data, "missing.b") == ()
    assert values("no table", "a") == ()


@pytest.mark.parametrize("agent", ["claude", "qwen"])
def test_a_sub_agents_event_never_ends_its_parents_turn(library: Library, agent: str) -> None:
    hooks = hooks_of(library, agent)
    for event in {rule.event for rule in hooks.rules}:
        for before in STATES:
            for extra in ({}, {"notification_type": "idle_prompt"}, {"error": "rate_limit"}):
                after = told(library, agent, event, {"agent_id": "a1", **extra}, before)
                assert after == before or after in (State.WORKING, State.BLOCKED), event


def test_a_sub_agents_question_blocks_the_pane(library: Library) -> None:
    asked = {"agent_id": "a1", "tool_name": "Bash"}
    assert told(library, "claude", "PermissionRequest", asked, State.WORKING) is State.BLOCKED
    assert told(library, "claude", "PostToolUse", asked, State.BLOCKED) is State.WORKING


@pytest.mark.parametrize(
    ("agent", "name"),
    [("claude", "session_id"), ("opencode", "sessionID"), ("copilot", "sessionId"), ("cline", "taskId")],
)
def test_the_session_is_known_by_each_agents_own_name_for_it(library: Library, agent: str, name: str) -> None:
    assert session_of(fields_of({name: "s-1", "prompt": "secret"}, hooks_of(library, agent))) == "s-1"
    assert session_of({}) == ""
