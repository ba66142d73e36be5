"""installers/start.sh: exact remedies for what is missing, and an installation that can be repeated."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "installers" / "start.sh"
TOOLS = ("sh", "id", "dirname", "readlink", "mkdir", "ln", "cat", "rm", "sed", "env")


def run(path: str, home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the script with this PATH and HOME."""
    env = {"PATH": path, "HOME": str(home)}
    command = [shutil.which("sh") or "/bin/sh", str(SCRIPT), *args]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)


def bin_with(folder: Path, **programs: str) -> str:
    """A PATH with the usual tools and these scripts only."""
    folder.mkdir()
    for tool in TOOLS:
        if found := shutil.which(tool):
            (folder / tool).symlink_to(found)
    for name, body in programs.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    return str(folder)


def test_no_python_at_all_names_the_command_that_gets_it(tmp_path: Path) -> None:
    done = run(bin_with(tmp_path / "bin", apt_get="exit 1"), tmp_path)
    assert done.returncode == 1
    assert "Python 3.11 or newer is missing." in done.stderr
    assert "Get it with:  sudo apt-get install python3 python3-venv" in done.stderr


def test_an_old_python_is_named_with_its_version(tmp_path: Path) -> None:
    old = 'case "$2" in *version_info*) exit 1;; *) echo 3.9.2;; esac'
    done = run(bin_with(tmp_path / "bin", python3=old, dnf="exit 1"), tmp_path)
    assert done.returncode == 1
    assert "Python 3.11 or newer is missing (python3 here is 3.9.2)." in done.stderr
    assert "sudo dnf install python3.12" in done.stderr


def test_a_python_without_venv_names_the_package_of_that_python(tmp_path: Path) -> None:
    bare = 'case "$2" in *ensurepip*) exit 1;; *) exit 0;; esac'
    path = bin_with(tmp_path / "bin", apt_get="exit 1")
    (tmp_path / "bin" / "python3.12").write_text(f"#!/bin/sh\n{bare}\n")
    (tmp_path / "bin" / "python3.12").chmod(0o755)
    done = run(path, tmp_path)
    assert done.returncode == 1
    assert "python3.12 lacks its venv and pip modules." in done.stderr
    assert "sudo apt-get install python3.12-venv" in done.stderr


def test_asked_to_it_installs_system_packages_with_apt_and_only_then(tmp_path: Path) -> None:
    log = tmp_path / "log"
    path = bin_with(tmp_path / "bin", apt_get=f'echo "$@" >>{log}', sudo='exec "$@"')
    run(path, tmp_path)
    assert not log.exists()
    done = run(path, tmp_path, "--install-system-packages")
    assert done.returncode == 1
    assert log.read_text().splitlines() == [
        "update -q",
        "install -y --no-install-recommends python3 python3-venv",
    ]


def test_help_is_the_scripts_own_head(tmp_path: Path) -> None:
    done = run(os.environ["PATH"], tmp_path, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Installs trayagent for this user")
    assert "set -eu" not in done.stdout


@pytest.mark.long
def test_it_installs_once_and_anew_when_something_changed(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for name in ("trayagent", "manifests", "icons", "sounds", "installers"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, checkout / name)
    home = tmp_path / "home"
    command = ["sh", str(checkout / "installers" / "start.sh"), "--no-start"]
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}

    def install() -> str:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600, check=True)
        return done.stderr

    assert "installing into" in install()
    program = home / ".local" / "bin" / "trayagent"
    first = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
    assert "installing into" not in install()
    init = checkout / "trayagent" / "__init__.py"
    version = init.read_text()
    init.write_text(version.replace('"0.', '"9.'))
    assert "installing into" in install()
    assert subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout != first
