"""Surroundings of the demo's tests."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import surroundings


@pytest.fixture
def poor() -> Iterator[dict[str, str]]:
    """The environment of a login over ssh: private folders, no display, no bus."""
    # Not below pytest's own folders: a socket's path must be shorter than 108 bytes.
    folder = Path(tempfile.mkdtemp(prefix="demo-"))
    yield surroundings(folder)
    shutil.rmtree(folder, ignore_errors=True)
