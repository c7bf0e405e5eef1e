"""Fixtures of the workload tests: sample files, and the reference log read once."""

from pathlib import Path

import pytest

from spillway.workloads import SwfLog, read_swf

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="session")
def small_log() -> SwfLog:
    """Eight records, five of them unusable in different ways."""
    return read_swf(DATA / "swf" / "small.swf")


@pytest.fixture(scope="session")
def kth(reference: Path) -> SwfLog:
    """The KTH SP2 log."""
    return read_swf(reference / "data" / "kth" / "KTH-SP2-1996-2.1-cln.swf.xz")
