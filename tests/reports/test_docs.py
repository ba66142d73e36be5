"""docs/protocols.md names tests that exist, and a hook's lines that are understood."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from trayagent.reports.spool import parse

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "protocols.md").read_text("utf-8")


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 20
    assert named <= set(re.findall(r"def (test_\w+)\(", source))


def test_the_hook_that_is_shown_writes_a_note(tmp_path: Path) -> None:
    script = PAGE.partition("## Hooks and the spool")[2].partition("```sh\n")[2].partition("```")[0]
    spool = tmp_path / "trayagent" / "spool"
    spool.mkdir(parents=True)
    env = {
        "PATH": os.environ["PATH"],
        "XDG_RUNTIME_DIR": str(tmp_path),
        "TMUX": "/tmp/s,4,0",
        "TMUX_PANE": "%1",
    }
    subprocess.run(["sh", "-c", script], env=env, check=True)
    (file,) = spool.iterdir()
    note = parse(file.read_bytes(), 1.0)
    assert (note.agent, note.event, note.server_pid, note.pids) == ("claude", "Stop", 4, (os.getpid(),))
    assert note.fields == {"session_id": ("ff32c408",), "background_tasks.status": ("running",)}
