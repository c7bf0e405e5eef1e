"""Long logs consist of the log's own jobs, nothing else."""

from __future__ import annotations

from collections import Counter

import pytest

from spillway.workloads.swf import SwfLog, SwfRecord
from tools.benchmarks.long_log import DAY_S, long_log

LOG = SwfLog(records=tuple(SwfRecord(place, 100 * place, run_s=place, processors=1) for place in range(1, 5)))


def test_one_after_another() -> None:
    """Each repetition begins a day after the last job of the one before; jobs are numbered anew, from 0 s on."""
    made = long_log(LOG, 9).records
    assert [row.run_s for row in made] == [1, 2, 3, 4, 1, 2, 3, 4, 1]
    assert [row.number for row in made] == list(range(1, 10))
    assert [row.submit_s for row in made[:5]] == [0, 100, 200, 300, 300 + DAY_S]
    assert made[8].submit_s == 2 * (300 + DAY_S)


@pytest.mark.parametrize(("jobs", "beside"), [(8, 2), (7, 2), (3, 4), (50, 3)])
def test_beside_each_other(jobs: int, beside: int) -> None:
    """So many logs at a time, each from another place on: as many jobs, in order, each row as often as the others."""
    made = long_log(LOG, jobs, beside).records
    assert len(made) == jobs
    assert [row.submit_s for row in made] == sorted(row.submit_s for row in made)
    assert sum(row.submit_s == 0 for row in made) == min(jobs, beside)
    if jobs == 8:
        assert set(Counter(row.run_s for row in made).values()) == {2}


def test_a_log_without_jobs() -> None:
    """Nothing can be repeated."""
    with pytest.raises(ValueError, match="expected a log with jobs"):
        long_log(SwfLog(), 3)
