"""Times at which resources come back after the end of a recorded job, played from recordings made by hand."""

from __future__ import annotations

import pytest

from spillway.experiments.slurm.configuration import Settings, Submission
from spillway.experiments.slurm.recording import RecordedJob, Recording
from spillway.experiments.slurm.replay import starts


def job(
    nodes: int, submitted_s: float, started_s: float, ended_s: float, idle_s: float, licenses: str = ""
) -> RecordedJob:
    """A job for at most a minute."""
    request = Submission(at_s=submitted_s, nodes=nodes, units=0, runtime_s=1.0, limit_min=1, licenses=licenses)
    return RecordedJob(request=request, submitted=submitted_s, started=started_s, ended=ended_s, idle=idle_s)


@pytest.mark.parametrize("release", ["22.05", "24.11"])
def test_licenses_are_back_before_nodes(release: str) -> None:
    """Job 1 has three of four nodes and the only license from 1 s on; it ends at 5.0 s, its nodes are back at 5.5 s.

    Main passes are at 1.0, 4.9, 5.2 and 5.6 s. Job 2, which needs a node and the license, starts at 5.2 s on the
    fourth one. Job 3 needs three nodes, and starts at 5.6 s.
    """
    jobs = [job(3, 0.5, 1.0, 5.0, 5.5, "x:1"), job(1, 0.6, 5.2, 9.0, 9.0, "x:1"), job(3, 0.7, 5.6, 9.0, 9.0)]
    settings = Settings(nodes=4, pool_units=10, release=release, licenses={"x": 1})
    recording = Recording(slurm=release, settings=settings, main=[1.0, 4.9, 5.2, 5.6], backfill=[99.0], jobs=jobs)
    assert starts(recording, passes=True) == pytest.approx([1.0, 5.2, 5.6], abs=1e-6)


def test_what_depends_on_a_job_waits_for_its_nodes() -> None:
    """Job 2, which needs another node, waits until job 1 has given its node back at 5.5 s, not for its end at 5.0 s.

    There is a site, with a license that no job needs: without a site no dependency is played.
    """
    jobs = [job(1, 0.5, 1.0, 5.0, 5.5), job(1, 0.6, 5.6, 9.0, 9.0)]
    jobs[1].request = Submission(at_s=0.6, nodes=1, units=0, runtime_s=1.0, limit_min=1, depends="afterany:1")
    settings = Settings(nodes=4, pool_units=10, licenses={"x": 1})
    recording = Recording(slurm="22.05", settings=settings, main=[1.0, 4.9, 5.2, 5.6], backfill=[99.0], jobs=jobs)
    assert starts(recording, passes=True) == pytest.approx([1.0, 5.6], abs=1e-6)
