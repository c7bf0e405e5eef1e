"""The policy and the life of buffers, held to recordings of real Slurms."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from spillway.experiments.slurm.deviations import deviations
from spillway.experiments.slurm.recording import Recording, read
from spillway.experiments.slurm.replay import starts

DATA = Path(__file__).parents[2] / "data" / "slurm"


@pytest.mark.parametrize("name", sorted(path.stem for path in DATA.glob("*.json")))
def test_every_start_is_as_slurm_had_it(name: str) -> None:
    """Median within 1 s, 95th percentile within bf_interval + 2 s, no job left out."""
    recording = read(DATA / f"{name}.json")
    found = deviations(recording, starts(recording, passes=True))
    assert found.passes, f"{name}: {found}"


@pytest.mark.parametrize("name", ["seed-1", "seed-2", "seed-3"])
def test_buffers_bind_in_the_recordings(name: str) -> None:
    """What is compared is no matter of nodes only: some jobs wait for buffers, both schedulers start some."""
    recording = read(DATA / f"{name}.json")
    assert len(recording.jobs) >= 60
    assert recording.settings.nodes >= 8
    assert sum(reason == "BurstBufferResources" for _, _, _, reason in recording.states) >= 10
    assert 5 < sum(job.backfilled for job in recording.jobs) < 55


@pytest.mark.parametrize("passes", [True, False])
def test_four_jobs_start_in_slurms_order(passes: bool) -> None:
    """Three jobs of which only one has room in the pool, one without a buffer; also where passes are regular."""
    recording = read(DATA / "four-jobs.json")
    simulated = starts(recording, passes=passes)
    assert _order(simulated) == _order([job.started or 0.0 for job in recording.jobs]) == [4, 1, 2, 3]
    assert deviations(recording, simulated).largest_s < 2.0


def test_four_jobs_of_another_machine() -> None:
    """The same jobs where they were first run, submitted from 48:02 to 48:04: within 2 s, in the same order.

    Only whole seconds are known of that run. Passes at whole seconds and half a second later are an assumption.
    """
    seen = [8.0, 31.0, 55.0, 4.0]  # s after 48:00, as jobcomp/filetxt had them
    recording = msgspec.structs.replace(read(DATA / "four-jobs.json"), main=[0.0], backfill=[0.5])
    simulated = starts(_shifted(recording, [2.0, 2.7, 3.4, 4.0]), passes=False)
    assert _order(simulated) == _order(seen)
    assert max(abs(one - other) for one, other in zip(simulated, seen, strict=True)) <= 2.0


def _order(starts: list[float]) -> list[int]:
    return [number + 1 for number in sorted(range(len(starts)), key=starts.__getitem__)]


def _shifted(recording: Recording, submitted: list[float]) -> Recording:
    """The same jobs, submitted at other times."""
    for job, at_s in zip(recording.jobs, submitted, strict=True):
        job.submitted = at_s
    return recording
