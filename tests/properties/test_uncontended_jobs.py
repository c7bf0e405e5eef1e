"""A job's uncontended time: the calculation equals a simulation of that job only."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.experiments.run import single, uncontended_jobs
from spillway.experiments.run.uncontended_times import NotCalculated, UncontendedTimes
from tests.properties.small_world import runs, workload
from tests.properties.test_players import JOBS

PRINTED_S = 1e-6
"""Times that the scheduler gets are whole microseconds."""


def both(jobs: Any, options: dict[str, object], session: dict[str, str]) -> tuple[dict[str, float], dict[str, float]]:
    """Times calculated (where they are), and all of them simulated, by job."""
    simulated: dict[str, float] = {}
    calculated: dict[str, float] = {}
    whole = uncontended_jobs.uncontended_s

    def twice(run: Any, root: Path, records: Mapping[str, Any], platform: Any, jobs: Any) -> dict[str, float]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(UncontendedTimes, "play", _refuse)
            simulated.update(whole(run, root, records))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(uncontended_jobs, "_simulated", lambda *_: {})
            calculated.update(whole(run, root, records, platform, jobs))
        return simulated

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        root = Path(folder)
        patch.setattr(uncontended_jobs, "uncontended_s", twice)
        [run] = runs(root, "io", workload("io", jobs), ["easy"], options=options, session=session)
        single.execute(single.Task(run, root, 600.0, uncontended=True))
    return calculated, simulated


def _refuse(*_: object) -> None:
    raise NotCalculated


@settings(max_examples=15)
@given(
    jobs=JOBS,
    phase_target=st.sampled_from([5e9, 2e10, 3.6e12]),
    session=st.sampled_from([{}, {"bb_life": "slurm"}, {"io_control": "exclusive", "io_order": "shortest"}]),
)
def test_calculated_as_simulated(jobs: Any, phase_target: float, session: dict[str, str]) -> None:
    """All jobs that are calculated, to the microsecond in which messages are stamped at either end."""
    calculated, simulated = both(jobs, {"phase_target": phase_target}, session)
    assert calculated.keys() <= simulated.keys()
    for job_id, seconds in calculated.items():
        assert seconds == pytest.approx(simulated[job_id], rel=1e-9, abs=1.1 * PRINTED_S), job_id


def test_most_are_calculated() -> None:
    """A job with a burst buffer is calculated; one that reaches its walltime is left to the simulation."""
    jobs = [(0, 4, 60.0, 3, 40, None, True), (5, 2, 60.0, 3, 40, 12, True), (9, 1, 7.5, 0, 0, 200, False)]
    calculated, simulated = both(jobs, {"phase_target": 5e9}, {})
    assert sorted(simulated) == ["w0!0", "w0!1", "w0!2"]
    assert sorted(calculated) == ["w0!0", "w0!2"]
