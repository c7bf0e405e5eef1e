"""Window choices on pictures of a loaded machine: fast enough, proven often enough, and Z3's memory stays.

The full table: ``python -m tools.benchmarks.window_load``.
"""

import resource

import pytest

from tools.benchmarks.window_load import Limits, by_largest_first, measure, pictures


@pytest.mark.parametrize(("size", "proven"), [(10, 1.0), (20, 0.95), (40, 0.8), (60, 0.65)])
def test_share_proven(size: int, proven: float) -> None:
    """Shares on 40 pictures at the thesis's load; unproven choices are close."""
    row = measure("bb", 40, size, 1.0, Limits(steps=300_000))
    assert row.proven >= proven
    assert all(first < 0.15 and second < 0.15 for first, second in row.gaps)


def test_z3_gives_its_memory_back() -> None:
    """Forty choices by Z3 need hardly more memory than ten."""
    limits = Limits(z3=50_000)
    for problem in pictures(10, 10, 1.0):
        by_largest_first(problem, limits)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for problem in pictures(40, 10, 1.0, seed=6):
        by_largest_first(problem, limits)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 20 * 1024  # KiB
