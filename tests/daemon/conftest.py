"""Fixtures of the process's tests."""

from tests.demo.conftest import poor

__all__ = ["poor"]
