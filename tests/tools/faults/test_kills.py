"""Kills leave no process behind and no half run; ``python -m tools.faults kills --count 60`` does many."""

import sys
from pathlib import Path

import pytest

from tools.faults import kills

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the kernel ends children with their parents there only"
)


@pytest.mark.slow
def test_a_bounded_sample(tmp_path: Path) -> None:
    """A killed worker left its simulator behind, which waited for ever."""
    zmq = kills.WAYS[1]
    for seen in kills.series(3, tmp_path, (zmq,)):
        assert (seen.orphans, seen.wrong) == (0, ""), seen
