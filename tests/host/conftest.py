"""Real terminals with real processes in front."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.terminal import Terminal


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Terminal]:
    """An interactive bash on a terminal of its own, in the test's folder."""
    terminal = Terminal("bash", "--norc", "--noprofile", "-i", cwd=tmp_path)
    terminal.wait_for_output("ready>")
    yield terminal
    terminal.close()
