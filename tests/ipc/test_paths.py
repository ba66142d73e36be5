"""The one rule for the runtime folder, in Python and in shell."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from trayagent.ipc.paths import SHELL_RULE, runtime_folder

SHELLS = [name for name in ("dash", "bash", "zsh", "busybox") if shutil.which(name)]


@pytest.mark.parametrize("shell", SHELLS)
def test_shell_and_python_choose_the_same_folder(tmp_path: Path, shell: str):
    (tmp_path / "mine").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("mine")
    cases: list[str | None] = [str(tmp_path / n) for n in ("mine", "file", "link", "missing")]
    cases += [None, "", "relative", f"{tmp_path}/mine/", f"{tmp_path}/a b"]
    (tmp_path / "a b").mkdir()
    if os.geteuid() == 0:
        (tmp_path / "theirs").mkdir()
        os.chown(tmp_path / "theirs", 12345, 12345)
        cases.append(str(tmp_path / "theirs"))
    command = ["busybox", "sh"] if shell == "busybox" else [shell]
    for case in cases:
        env = {"PATH": os.environ["PATH"]} | ({"XDG_RUNTIME_DIR": case} if case is not None else {})
        script = f'set -u\n{SHELL_RULE}printf %s "$trayagent_dir"'
        said = subprocess.run([*command, "-c", script], env=env, capture_output=True, text=True, cwd=tmp_path)
        assert (said.stdout, said.stderr) == (str(runtime_folder(env)), ""), case


def test_without_a_runtime_folder_of_ours_it_is_in_tmp(tmp_path: Path):
    assert runtime_folder({}) == Path(f"/tmp/trayagent-{os.geteuid()}")
    assert runtime_folder({"XDG_RUNTIME_DIR": str(tmp_path / "missing")}) == runtime_folder({})
    assert runtime_folder({"XDG_RUNTIME_DIR": str(tmp_path)}) == tmp_path / "trayagent"
