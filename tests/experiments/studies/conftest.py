"""Points of studies are played in the process of their test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kit.runs import played_here


@pytest.fixture(autouse=True, scope="module")
def _here() -> Iterator[None]:
    """Runs and points start no processes."""
    with played_here():
        yield
