"""Fixtures of the end-to-end tests: everything in them is real."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.stage import Stage
from tests.support.tmux import TmuxServer


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A private tmux server with room for projects and scripts; a daemon needs `--only-server` for it."""
    # Not below pytest's own folders: a socket's path must be shorter than 108 bytes.
    with tempfile.TemporaryDirectory(prefix="stage-") as folder, TmuxServer("stage") as server:
        yield Stage(server, Path(folder))


@pytest.fixture
def only(stage: Stage) -> list[str]:
    """The daemon's arguments that make it watch the stage, and nothing else of this machine."""
    return ["--only-server", str(stage.server.socket)]
