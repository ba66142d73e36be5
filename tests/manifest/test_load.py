"""Which file serves an agent: folders, precedence, aliases, refusals, reloading."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trayagent.manifest.load import Folder, Library, read_file, read_text
from trayagent.model.states import State

RULE = '[[rules]]\nid = "{rule}"\nstate = "idle"\ncontains = ["x"]\n'


def write(folder: Path, name: str, agent: str, rule: str = "r", head: str = "", tail: str = "") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f'id = "{agent}"\n{head}\n{RULE.format(rule=rule)}{tail}', "utf-8")


def two(tmp_path: Path) -> tuple[Path, Path, Library]:
    user, bundled = tmp_path / "user", tmp_path / "bundled"
    write(bundled, "demo.toml", "demo", "bundled", head='aliases = ["demo-cli"]')
    return user, bundled, Library([Folder(user, "user"), Folder(bundled, "bundled")])


def rule_of(library: Library, name: str) -> str:
    manifest = library.get(name)
    assert manifest is not None
    return manifest.rules[0].id


def test_every_bundled_file_loads_without_a_word(library: Library) -> None:
    assert [str(problem) for problem in library.problems] == []
    assert len(library.manifests) > 20


def test_every_bundled_file_ends_in_no_opinion_and_is_named_like_its_agent(library: Library) -> None:
    for manifest in library.manifests:
        assert Path(manifest.origin).stem == manifest.id
        last = manifest.ranked[-1]
        assert last.state is None, manifest.id
        assert last.priority < min((rule.priority for rule in manifest.ranked[:-1]), default=0), manifest.id


def test_an_alias_finds_the_agent(library: Library) -> None:
    assert library.get("claude-code") is library.get("claude")
    assert library.get("nobody") is None


def test_a_missing_user_folder_is_no_problem(tmp_path: Path) -> None:
    _, _, library = two(tmp_path)
    assert library.problems == ()
    assert rule_of(library, "demo-cli") == "bundled"


def test_the_users_file_replaces_the_whole_agent(tmp_path: Path) -> None:
    user, _, library = two(tmp_path)
    write(user, "mine.toml", "demo", "mine")
    library.reload()
    assert rule_of(library, "demo") == "mine"
    assert library.get("demo-cli") is None
    assert library.tiers["demo"] == "user"


def test_a_users_alias_replaces_the_agent_of_that_id(tmp_path: Path) -> None:
    user, _, library = two(tmp_path)
    write(user, "other.toml", "other", "mine", head='aliases = ["demo"]')
    library.reload()
    assert rule_of(library, "demo") == "mine"
    assert [manifest.id for manifest in library.manifests] == ["other"]


def test_a_bad_file_is_reported_and_the_next_source_serves(tmp_path: Path) -> None:
    user, _, library = two(tmp_path)
    write(user, "demo.toml", "demo", "mine", tail="priorty = 3\n")
    library.reload()
    assert rule_of(library, "demo") == "bundled"
    (problem,) = library.problems
    assert (Path(problem.file).name, problem.rule, problem.key, problem.line) == (
        "demo.toml",
        "mine",
        "priorty",
        7,
    )
    write(user, "demo.toml", "demo", "mine")
    library.reload()
    assert rule_of(library, "demo") == "mine"
    assert library.problems == ()


def test_the_second_file_of_one_id_is_reported(tmp_path: Path) -> None:
    user, _, library = two(tmp_path)
    write(user, "a.toml", "demo", "first")
    write(user, "b.yaml", "x")
    (user / "b.yaml").write_text("id: demo\nrules: [{id: second, contains: [x]}]\n", "utf-8")
    library.reload()
    assert rule_of(library, "demo") == "first"
    assert "already defined" in library.problems[0].text


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    user, _, library = two(tmp_path)
    user.mkdir()
    (user / "demo.toml").symlink_to(user / "nowhere")
    (user / "folder.toml").mkdir()
    library.reload()
    assert rule_of(library, "demo") == "bundled"
    assert [problem.text.split(":")[0] for problem in library.problems] == [
        "cannot be read",
        "cannot be read",
    ]


def test_other_files_of_the_folder_are_left_alone(tmp_path: Path) -> None:
    user, _, library = two(tmp_path)
    user.mkdir()
    (user / "README.md").write_text("no manifest")
    (user / "demo.toml~").write_text("no manifest")
    library.reload()
    assert library.problems == ()


def test_hooks_and_answers_come_from_trusted_folders_only(tmp_path: Path) -> None:
    acts = '[answers]\nyes = "1"\n[hooks]\ncomplete = true\n'
    write(tmp_path / "there", "demo.toml", "demo", tail=acts)
    ours = Library([Folder(tmp_path / "there", "user")]).get("demo")
    foreign = Library([Folder(tmp_path / "there", "imported", trusted=False)])
    theirs = foreign.get("demo")
    assert ours is not None
    assert theirs is not None
    assert (ours.answers, ours.hooks is None) == ((("yes", "1"),), False)
    assert (theirs.answers, theirs.hooks) == ((), None)
    assert [(problem.key, problem.fatal) for problem in foreign.problems] == [
        ("hooks", False),
        ("answers", False),
    ]


def test_a_file_without_rules_is_read_by_those_of_its_family(tmp_path: Path) -> None:
    user, _, library = two(tmp_path)
    user.mkdir()
    (user / "fork.toml").write_text('id = "fork"\nfamily = "demo"\n', "utf-8")
    (user / "orphan.toml").write_text('id = "orphan"\nfamily = "nobody"\n', "utf-8")
    library.reload()
    assert rule_of(library, "fork") == "bundled"
    fork = library.get("fork")
    assert fork is not None
    assert fork.fallback is State.IDLE
    assert library.get("orphan") is None
    assert [problem.key for problem in library.problems] == ["family"]


def test_a_pipe_among_the_manifests_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "robot.toml")
    manifest, problems = read_file(tmp_path / "robot.toml")
    assert manifest is None
    assert "no file" in problems[0].text


@pytest.mark.parametrize("key", ["? [a, b]\n: 1", "? {a: b}\n: 1", "[a]: 1"])
def test_a_yaml_key_that_is_no_text_is_refused_with_its_line(key: str) -> None:
    manifest, problems = read_text(f"id: demo\n{key}\n".encode(), "demo.yaml", ".yaml")
    assert manifest is None
    assert [(problem.line, problem.text) for problem in problems] == [
        (2, "a key is a list or a table, not a text")
    ]
