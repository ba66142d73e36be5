"""Fixtures of the manifest tests: the bundled library, read once, and manifests written in a line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trayagent.manifest.format import Manifest
from trayagent.manifest.load import Library, read_text


@pytest.fixture(scope="session")
def library() -> Library:
    """The bundled manifests alone."""
    return Library.standard()


@pytest.fixture
def written() -> Callable[[str], Manifest]:
    """Read a manifest from TOML; its id is put in front, problems fail the test."""

    def read(toml: str) -> Manifest:
        manifest, problems = read_text(f'id = "demo"\n{toml}'.encode(), "demo.toml")
        assert manifest is not None, [str(problem) for problem in problems]
        return manifest

    return read
