"""Fixtures of the desktop tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.desktop import Desktop


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    """A desktop without tray, notifications and sound; a test starts what it needs."""
    with Desktop() as private:
        yield private
