"""Fixture: a platform file, as SimGrid and we read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spillway.simulator.engines.simgrid import find_binding
from spillway.simulator.errors import EngineUnavailable


@pytest.fixture(scope="session")
def binding() -> None:
    """Skips where SimGrid's binding is not installed."""
    try:
        find_binding()
    except EngineUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def platform_file(tmp_path: Path) -> Path:
    """A path for a test's platform."""
    return tmp_path / "platform.xml"
