"""Projects and branches, as git itself made them and as nobody should make them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from trayagent.host.repo import KEEP, Repos, find_repo
from trayagent.model.events import Repo

needs_git = pytest.mark.skipif(
    shutil.which("git") is None, reason="no git on this machine: install that package"
)


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, deaf to the user's own settings."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def project(at: Path, branch: str = "main") -> Path:
    """A git project with one commit."""
    at.mkdir(parents=True)
    git(at, "init", "-q", "-b", branch)
    git(at, "commit", "-q", "--allow-empty", "-m", "one")
    return at


def made(at: Path, head: str = "ref: refs/heads/feature\n") -> Path:
    """A folder that only looks like a project, made by hand."""
    (at / ".git").mkdir(parents=True)
    (at / ".git" / "HEAD").write_text(head)
    return at


@needs_git
@pytest.mark.parametrize("branch", ["main", "master", "trunk"])
def test_the_main_branch_is_not_named(tmp_path: Path, branch: str) -> None:
    root = project(tmp_path / "shop", branch)
    assert find_repo(str(root)) == Repo(str(root), str(root), "")


@needs_git
def test_a_branch_is_named_from_any_folder_below(tmp_path: Path) -> None:
    root = project(tmp_path / "shop")
    git(root, "checkout", "-q", "-b", "fix/retry-loop")
    below = root / "a" / "b"
    below.mkdir(parents=True)
    assert find_repo(str(below)) == Repo(str(below), str(root), "fix/retry-loop")


@needs_git
def test_what_origin_calls_its_own_branch_is_a_main_one(tmp_path: Path) -> None:
    origin = project(tmp_path / "origin", "develop")
    git(tmp_path, "clone", "-q", str(origin), "copy")
    copy = tmp_path / "copy"
    assert git(copy, "branch", "--show-current") == "develop"
    assert find_repo(str(copy)).branch == ""
    git(copy, "checkout", "-q", "-b", "other")
    assert find_repo(str(copy)).branch == "other"


@needs_git
def test_a_worktree_is_its_own_root_with_its_own_branch(tmp_path: Path) -> None:
    root = project(tmp_path / "shop")
    git(root, "worktree", "add", "-q", "-b", "second", str(tmp_path / "tree"))
    tree = tmp_path / "tree"
    assert (tree / ".git").is_file()
    assert find_repo(str(tree)) == Repo(str(tree), str(tree), "second")
    assert find_repo(str(root)).branch == ""


@needs_git
def test_a_worktree_knows_what_origin_calls_main(tmp_path: Path) -> None:
    origin = project(tmp_path / "origin", "develop")
    git(tmp_path, "clone", "-q", "-b", "develop", str(origin), "copy")
    copy = tmp_path / "copy"
    git(copy, "checkout", "-q", "-b", "other")
    git(copy, "worktree", "add", "-q", str(tmp_path / "tree"), "develop")
    assert find_repo(str(tmp_path / "tree")).branch == ""


@needs_git
def test_a_submodule_is_its_own_project(tmp_path: Path) -> None:
    part = project(tmp_path / "part")
    root = project(tmp_path / "shop")
    git(root, "submodule", "add", "-q", str(part), "lib/part")
    inside = root / "lib" / "part"
    assert (inside / ".git").is_file()
    assert find_repo(str(inside)).root == str(inside)


@needs_git
def test_a_detached_head_is_shown_as_its_commit(tmp_path: Path) -> None:
    root = project(tmp_path / "shop")
    commit = git(root, "rev-parse", "HEAD")
    git(root, "checkout", "-q", "--detach")
    assert find_repo(str(root)).branch == commit[:7]


@needs_git
def test_a_rebase_keeps_its_branch(tmp_path: Path) -> None:
    root = project(tmp_path / "shop")
    for branch, text in (("one", "1"), ("two", "2")):
        git(root, "checkout", "-q", "-b", branch, "main")
        (root / "file").write_text(text)
        git(root, "add", "file")
        git(root, "commit", "-q", "-m", branch)
    git(root, "rebase", "-q", "one")
    assert git(root, "branch", "--show-current") == "", "the rebase has stopped at its conflict"
    assert find_repo(str(root)).branch == "two"


def test_outside_git_a_folder_is_its_own_root(tmp_path: Path) -> None:
    assert find_repo(str(tmp_path)) == Repo(str(tmp_path), str(tmp_path), "")


def test_a_folder_that_is_gone_is_found_by_those_above_it(tmp_path: Path) -> None:
    root = made(tmp_path / "shop")
    gone = str(root / "a" / "gone")
    assert find_repo(gone) == Repo(gone, str(root), "feature")


@pytest.mark.parametrize("folder", ["", "relative/x", "/nul\0x", "/nonexistent/x"])
def test_no_folder_is_too_odd(folder: str) -> None:
    assert find_repo(folder) == Repo(folder, folder, "")


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    folder = str(tmp_path / "a" / "x")
    assert find_repo(folder).branch == ""


def test_a_linked_folder_belongs_to_where_it_really_is(tmp_path: Path) -> None:
    root = made(tmp_path / "shop")
    (root / "src").mkdir()
    (tmp_path / "link").symlink_to(root / "src")
    assert find_repo(str(tmp_path / "link")).root == str(root)


@pytest.mark.parametrize(
    ("head", "branch"),
    [
        ("ref: refs/heads/a b\tc\n", ""),
        ("ref: refs/heads/\x1b[31mred\n", ""),
        ("ref: refs/heads/.invalid\n", ""),
        ("nonsense\n", ""),
        ("ref: refs/heads/" + "x" * 9000, ""),
    ],
    ids=["tab", "escape", "reftable", "nonsense", "endless"],
)
def test_an_odd_head_does_no_harm(tmp_path: Path, head: str, branch: str) -> None:
    root = made(tmp_path / "shop", head)
    assert find_repo(str(root)) == Repo(str(root), str(root), branch)


def test_an_empty_git_folder_is_no_project(tmp_path: Path) -> None:
    outer = made(tmp_path / "outer")
    (outer / "inner" / ".git").mkdir(parents=True)
    assert find_repo(str(outer / "inner")).root == str(outer)


def test_a_git_file_that_points_nowhere_is_no_project(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for text in ("gitdir: /nonexistent\n", "gitdir: ../shop/.git\n", "other", "gitdir: \0\n"):
        (tmp_path / "shop" / ".git").write_text(text)
        assert find_repo(str(tmp_path / "shop")).branch == ""


def test_a_pipe_in_the_place_of_a_file_does_not_stop_us(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    os.mkfifo(tmp_path / "shop" / ".git" / "HEAD")
    (tmp_path / "web").mkdir()
    os.mkfifo(tmp_path / "web" / ".git")
    assert find_repo(str(tmp_path / "shop")).branch == ""
    assert find_repo(str(tmp_path / "web")).branch == ""


def test_what_may_not_be_read_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run as root, who may read everything: the refusal is played."""
    root = made(tmp_path / "shop")
    inside = root / "closed" / "in"
    inside.mkdir(parents=True)
    real = Path.stat

    def guarded(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if (root / "closed") in path.parents:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", guarded)
    assert find_repo(str(inside)) == Repo(str(inside), str(root), "feature")


def test_an_answer_is_kept_for_some_seconds(tmp_path: Path) -> None:
    now = [100.0]
    repos = Repos(lambda: now[0])
    root = made(tmp_path / "shop")
    assert repos.find(str(root)).branch == "feature"
    (root / ".git" / "HEAD").write_text("ref: refs/heads/next\n")
    now[0] += KEEP - 0.1
    assert repos.find(str(root)).branch == "feature"
    now[0] += 0.2
    assert repos.find(str(root)).branch == "next"
