"""Shared fixtures: reference data, deterministic Hypothesis."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "deterministic", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.load_profile("deterministic")


@pytest.fixture(scope="session")
def reference() -> Path:
    """Folder of the reference data; skips where the environment names none, unless SPILLWAY_REQUIRE_DATA insists."""
    folder = os.environ.get("SPILLWAY_DATA", "")
    if not folder:
        if os.environ.get("SPILLWAY_REQUIRE_DATA", "") not in ("", "0"):
            pytest.fail(
                "SPILLWAY_REQUIRE_DATA is set, but SPILLWAY_DATA does not name the folder of the reference data"
            )
        pytest.skip("SPILLWAY_DATA does not name the folder of the reference data")
    path = Path(folder)
    assert path.is_dir(), f"SPILLWAY_DATA names {folder!r}, which is no folder"
    return path
