"""Which file serves an agent across tools: precedence, names, what is lent, what a tool's folders are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.manifest.foreign import JACKIN, TUIOS
from trayagent.identity import Index
from trayagent.manifest.choice import newer
from trayagent.manifest.format import Manifest
from trayagent.manifest.load import TOOLS, Folder, Library, tool_folders

RULE = '[[rules]]\nid = "{0}"\nstate = "idle"\ncontains = ["x"]\n'
HOOKS = '[hooks]\nfields = ["x"]\n[answers]\nyes = "1"\n'

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the test's folder; returns the folder it is in."""

    def put(path: str, text: str) -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file.parent

    return put


def native(agent: str, rule: str = "r", head: str = "", tail: str = "") -> str:
    return f'id = "{agent}"\n{head}\n{RULE.format(rule)}{tail}'


BUNDLED = native(
    "claude", "bundled", 'name = "Claude Code"\nversion = "2"\naliases = ["claude-code"]',
    f'[detect]\nnames = ["claude"]\npackages = ["@x/claude"]\n{HOOKS}',
)  # fmt: skip


def library(tmp_path: Path, *folders: Folder) -> Library:
    bundled = tmp_path / "bundled"
    if not bundled.exists():
        bundled.mkdir()
        (bundled / "claude.toml").write_text(BUNDLED)
    return Library([*folders, Folder(bundled, "bundled")])


def served(found: Library, name: str) -> Manifest:
    manifest = found.get(name)
    assert manifest is not None
    return manifest


def test_user_goes_before_imported_before_updated_before_bundled(tmp_path: Path, write: Write) -> None:
    user = Folder(write("user/c.toml", native("claude", "user")), "user")
    tool = Folder(write("herdr/claude.toml", native("claude", "tool")), "herdr", trusted=False)
    update = Folder(
        write("updated/claude.toml", native("claude", "updated", 'version = "3"')), "updated", trusted=False
    )
    for folders, tier in (((user, tool, update), "user"), ((tool, update), "herdr"), ((update,), "updated")):
        found = library(tmp_path, *folders)
        assert found.tiers["claude"] == tier
        assert len(found.shadowed) == len(folders)
        assert [one.tier for one in found.shadowed] == [folder.tier for folder in folders[1:]] + ["bundled"]
        assert {one.by for one in found.shadowed} == {served(found, "claude").origin}


def test_an_update_that_is_not_newer_than_the_bundled_file_does_not_serve(
    tmp_path: Path, write: Write
) -> None:
    for version in ("1.9", "2", "2.0"):
        update = write("updated/claude.toml", native("claude", "updated", f'version = "{version}"'))
        found = library(tmp_path, Folder(update, "updated", trusted=False))
        assert found.tiers["claude"] == "bundled"
        assert "not newer" in found.shadowed[0].why


@pytest.mark.parametrize(
    ("one", "other", "is_newer"),
    [("2", "1.9", True), ("1.10", "1.9", True), ("1.0", "1", False), ("", "", False)],
)
def test_versions_are_compared_segment_by_segment(one: str, other: str, is_newer: bool) -> None:
    assert newer(Manifest("x", (), version=one), Manifest("x", (), version=other)) is is_newer


def test_a_tools_own_name_for_an_agent_is_ours(tmp_path: Path, write: Write) -> None:
    harness = TUIOS.replace('"demo"', '"claude-code"') + "[title]\nenabled = true\n[[title.rule]]\n"
    folder = write("tuios/c.toml", harness + 'state = "working"\nall = ["x"]\n')
    found = library(tmp_path, Folder(folder, "tuios", trusted=False))
    manifest = served(found, "claude")
    assert (manifest.id, manifest.dialect, found.tiers["claude"]) == ("claude", "tuios", "tuios")
    assert found.get("claude-code") is manifest
    assert [one.id for one in found.manifests] == ["claude"]


@pytest.mark.parametrize(
    ("alias", "agent"),
    [("agy", "antigravity"), ("claude-code", "claude"), ("gemini-cli", "gemini"), ("cursor-agent", "cursor"),
     ("qodercli", "qoder")],
)  # fmt: skip
def test_every_name_by_which_tools_know_an_agent_is_an_alias_of_its_bundled_file(
    library: Library, alias: str, agent: str
) -> None:
    assert served(library, alias).id == agent


def test_a_file_that_tells_no_process_borrows_ours_by_id_or_alias(tmp_path: Path, write: Write) -> None:
    for agent in ("claude", "claude-code"):
        pack = JACKIN.replace('"demo"', f'"{agent}"')
        rule = '[[rule]]\nid = "r"\nstate = "idle"\npriority = 1\nregion = "bottom:5"\n'
        found = library(tmp_path, Folder(write("jackin/c.toml", pack + rule), "jackin", trusted=False))
        manifest = served(found, "claude")
        assert manifest.name == "Claude Code"
        index = Index.build(found.manifests)
        assert (index.by_name("claude"), index.by_package("@x/claude")) == ("claude", "claude")


def test_commands_of_tmux_ide_add_to_what_is_known_of_the_process(tmp_path: Path, write: Write) -> None:
    data = {"id": "claude", "commands": ["claude", "my-claude"], "states": {}}
    folder = write("ide/c.json", json.dumps(data))
    detect = served(library(tmp_path, Folder(folder, "tmux-ide", trusted=False)), "claude").detect
    assert detect is not None
    assert (detect.names, detect.packages) == (("claude", "my-claude"), ("@x/claude",))


def test_hooks_and_answers_of_a_foreign_file_are_ours_in_their_place(tmp_path: Path, write: Write) -> None:
    foreign = native("claude", "tool", tail='[hooks]\nfields = ["evil"]\n[answers]\nyes = "9"\n')
    found = library(tmp_path, Folder(write("herdr/claude.toml", foreign), "herdr", trusted=False))
    manifest = served(found, "claude")
    assert manifest.rules[0].id == "tool"
    assert manifest.hooks is not None
    assert (manifest.hooks.fields, manifest.answers) == (("x",), (("yes", "1"),))
    assert [(problem.key, problem.fatal) for problem in found.problems] == [
        ("hooks", False),
        ("answers", False),
    ]


def test_hooks_and_answers_of_the_user_are_his(tmp_path: Path, write: Write) -> None:
    own = native("claude", tail='[hooks]\nfields = ["mine"]\n')
    manifest = served(library(tmp_path, Folder(write("user/claude.toml", own), "user")), "claude")
    assert manifest.hooks is not None
    assert (manifest.hooks.fields, manifest.answers) == (("mine",), ())


def test_a_foreign_file_without_rules_is_read_by_the_rules_of_the_next_shelf(
    tmp_path: Path, write: Write
) -> None:
    harness = TUIOS.replace('"demo"', '"claude-code"')
    found = library(tmp_path, Folder(write("tuios/c.toml", harness), "tuios", trusted=False))
    manifest = served(found, "claude")
    assert manifest.rules[0].id == "bundled"
    assert manifest.detect is not None
    assert manifest.detect.names == ("democli",)


def test_a_foreign_file_without_rules_of_an_unknown_agent_has_no_opinion(
    tmp_path: Path, write: Write
) -> None:
    found = library(tmp_path, Folder(write("tuios/c.toml", TUIOS), "tuios", trusted=False))
    assert served(found, "demo").rules == ()
    assert found.problems == ()


def test_of_two_that_claim_one_process_the_higher_rank_has_it(tmp_path: Path, write: Write) -> None:
    for agent, rank in (("aaa", 0), ("zzz", 5)):
        write(
            f"tuios/{agent}.toml",
            TUIOS.replace('"demo"', f'"{agent}"').replace("[detect]", f"priority = {rank}\n[detect]"),
        )
    found = library(tmp_path, Folder(tmp_path / "tuios", "tuios", trusted=False))
    assert Index.build(found.manifests).by_name("democli") == "zzz"


def test_a_broken_import_leaves_the_bundled_file_in_force(tmp_path: Path, write: Write) -> None:
    folder = write("herdr/claude.toml", native("claude", tail="prio = 1\n"))
    found = library(tmp_path, Folder(folder, "herdr", trusted=False))
    assert found.tiers["claude"] == "bundled"
    assert found.problems[0].fatal


# -- where the tools keep their files ----------------------------------------------------


def paths(tool: str, home: Path, environ: dict[str, str]) -> list[str]:
    return [str(folder.path) for folder in tool_folders(tool, home, environ)]


def test_each_tool_has_its_folder() -> None:
    home = Path("/h")
    assert {tool: paths(tool, home, {}) for tool in TOOLS} == {
        "thinkterm": ["/h/.config/thinkterm/agent-detection"],
        "herdr": ["/h/.config/herdr/agent-detection"],
        "tuios": ["/h/.config/tuios/harnesses"],
        "tmux-ide": ["/h/.tmux-ide/agent-detection", "/h/.tmux-ide/pack/manifest-pack.json"],
        "jackin": ["/h/.jackin/agent-status/packs"],
    }


def test_the_environment_names_other_folders() -> None:
    home = Path("/h")
    assert paths("tuios", home, {"TUIOS_HARNESS_DIR": "/t"}) == ["/t", "/h/.config/tuios/harnesses"]
    assert paths("tmux-ide", home, {"TMUX_IDE_HOME": "/i"})[0] == "/i/agent-detection"
    assert paths("jackin", home, {"JACKIN_STATUS_PACK_DIR": "/j"}) == ["/j"]
    assert paths("herdr", home, {"XDG_CONFIG_HOME": "/c"}) == [
        "/c/herdr/agent-detection",
        "/h/.config/herdr/agent-detection",
    ]


def imported(tmp_path: Path, *tools: str) -> Library:
    return Library.standard(imports=tools, home=tmp_path, environ={})


def test_a_file_of_herdr_must_be_named_like_its_agent(tmp_path: Path, write: Write) -> None:
    write(".config/herdr/agent-detection/other.toml", native("claude", "tool"))
    found = imported(tmp_path, "herdr")
    assert found.tiers["claude"] == "bundled"
    assert "not named like" in found.problems[0].text
    write(".config/herdr/agent-detection/other.toml", native("claude", "tool", 'aliases = ["other"]'))
    assert imported(tmp_path, "herdr").tiers["claude"] == "herdr"


def test_the_id_in_a_file_of_thinkterm_selects_whatever_its_name(tmp_path: Path, write: Write) -> None:
    write(".config/thinkterm/agent-detection/any.toml", native("claude", "tool"))
    assert imported(tmp_path, "thinkterm").tiers["claude"] == "thinkterm"


def test_the_tool_that_is_named_first_is_the_stronger(tmp_path: Path, write: Write) -> None:
    write(".config/thinkterm/agent-detection/a.toml", native("claude"))
    write(".config/herdr/agent-detection/claude.toml", native("claude"))
    assert imported(tmp_path, "herdr", "thinkterm").tiers["claude"] == "herdr"
    assert imported(tmp_path, "thinkterm", "herdr").tiers["claude"] == "thinkterm"


def ide(rule: str, *ids: str) -> list[dict[str, object]]:
    states = {"blocked": {"any": [{"contains": rule}]}}
    return [{"id": agent, "commands": [f"{agent}-cli"], "states": states} for agent in ids]


def test_a_pack_of_tmux_ide_stands_below_its_files_and_a_later_file_above_an_earlier(
    tmp_path: Path, write: Write
) -> None:
    write(".tmux-ide/pack/manifest-pack.json", json.dumps({"manifests": [*ide("pack", "one", "two"), 3]}))
    write(".tmux-ide/agent-detection/a.json", json.dumps(ide("first", "one")[0]))
    write(".tmux-ide/agent-detection/b.json", json.dumps(ide("second", "one")[0]))
    write(".tmux-ide/agent-detection/c.toml", "not one of theirs")
    found = imported(tmp_path, "tmux-ide")
    assert served(found, "one").origin.endswith("b.json")
    assert served(found, "two").origin.endswith("manifest-pack.json")
    assert [problem.fatal for problem in found.problems] == [False, True]


def test_the_users_own_folder_may_hold_any_dialect(tmp_path: Path, write: Write) -> None:
    write("user/a.toml", TUIOS)
    write("user/b.json", json.dumps(ide("x", "ide")[0]))
    write("user/c.toml", JACKIN.replace("demo", "jack"))
    user = Folder(tmp_path / "user", "user")
    found = library(tmp_path, user)
    assert {one.id: one.dialect for one in found.manifests if one.id != "claude"} == {
        "demo": "tuios",
        "ide": "tmux-ide",
        "jack": "jackin",
    }


# -- herdr's newest layout ---------------------------------------------------------------

DETECTION = 'version = "2026.1"\n' + RULE.format("asks")
AGENT = """
schema = 1
id = "demo"
name = "Demo Agent"
aliases = ["demo-cli"]
startable = true
[sound]
key = "x"
"""
PROCESS = """
names = [".demo-wrapped", "demo"]
versioned_basename_prefix = "demo-"
[[package_paths]]
kind = "normalized_components"
components = ["node_modules", "@acme", "demo", "dist", "cli"]
[[package_paths]]
kind = "exact_suffix"
components = ["lib", "demo", "main.js"]
[bundled_node]
runtime_basename = "node"
entrypoint_basename = "index.js"
package_directory = "demo-agent"
versions_directory = "versions"
"""


def test_a_folder_of_the_newest_layout_is_one_agent(tmp_path: Path, write: Write) -> None:
    for name, text in (
        ("detection", DETECTION),
        ("agent", AGENT),
        ("process", PROCESS),
        ("resume", "no toml"),
    ):
        write(f"user/demo/{name}.toml", text)
    found = library(tmp_path, Folder(tmp_path / "user", "user"))
    assert found.problems == ()
    manifest = served(found, "demo-cli")
    assert (manifest.id, manifest.name, manifest.version, manifest.dialect) == (
        "demo", "Demo Agent", "2026.1", "herdr",
    )  # fmt: skip
    index = Index.build(found.manifests)
    assert index.by_name("demo") == "demo"
    assert index.by_path("/opt/demo-1.2.3") == "demo"
    assert index.by_path("/opt/demo-helper") is None
    assert index.by_path("/usr/lib/demo/main.js") == "demo"
    assert index.by_path("/x/demo-agent/versions/3/node") == "demo"
    assert index.by_package_path("/x/node_modules/@acme/demo/dist/cli.js") == ("demo", "@acme/demo")
    assert index.by_package_path("/x/node_modules/@acme/demo/dist/build.js") is None


def test_one_bad_file_refuses_the_folder_and_is_named(tmp_path: Path, write: Write) -> None:
    write("user/demo/detection.toml", DETECTION)
    write("user/demo/agent.toml", AGENT.replace('"demo"', '"De mo"'))
    found = library(tmp_path, Folder(tmp_path / "user", "user"))
    assert found.get("demo") is None
    assert [(Path(problem.file).name, problem.key) for problem in found.problems] == [("agent.toml", "id")]
    write("user/demo/agent.toml", AGENT)
    write("user/demo/process.toml", "names = [")
    found = library(tmp_path, Folder(tmp_path / "user", "user"))
    assert Path(found.problems[0].file).name == "process.toml"
