"""The bundled manifests' index."""

from __future__ import annotations

import pytest

from tests.support.jobs import bundled_index
from trayagent.identity import Index


@pytest.fixture(scope="session")
def index() -> Index:
    """Every bundled agent."""
    return bundled_index()
