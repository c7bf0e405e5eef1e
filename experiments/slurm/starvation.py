"""The cases of starvation (:mod:`spillway.experiments.trials.starvation`) on a real Slurm, with its recordings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from spillway.experiments.run.errors import SpecError
from spillway.experiments.slurm.configuration import Settings, Submission
from spillway.experiments.slurm.live import run
from spillway.experiments.slurm.recording import Recording, read, write
from spillway.experiments.trials.starvation import CASES, POOL, NotPlayed, StarvationCase, Starts
from spillway.experiments.trials.world import LICENSE

RELEASE = "24.11"
"""Of Slurm: the one that knows ``bf_licenses``."""

SHIPPED = Path(__file__).parent / "recordings"
"""Recordings that come with the package."""

class Way(NamedTuple):
    """How a Slurm is set: what it is called in tables and files, and the settings that differ."""

    name: str
    select: Literal["linear", "cons_tres"] = "cons_tres"
    bf_licenses: bool = False


WAYS = (
    Way("default"),
    Way("bf_licenses", bf_licenses=True),
    Way("bf_licenses linear", select="linear", bf_licenses=True),
)


def settings(case: StarvationCase, way: Way) -> Settings:
    """How the Slurm of a case is set: passes every second, planned to the second."""
    return Settings(
        nodes=case.world.nodes,
        pool_units=POOL,
        release=RELEASE,
        bf_resolution_s=1,
        select=way.select,
        bf_licenses=way.bf_licenses,
        licenses={LICENSE: case.licenses} if case.licenses else {},
    )


def submissions(case: StarvationCase) -> list[Submission]:
    """The jobs of a case, as they are submitted."""
    first_s = case.world.jobs[0].submit_s
    return [
        Submission(
            at_s=job.submit_s - first_s,
            nodes=job.nodes,
            units=job.gb,
            runtime_s=job.run_s,
            limit_min=(job.walltime_s or 0) // 60,
            licenses=f"{LICENSE}:{job.licenses}" if job.licenses else "",
        )
        for job in case.world.jobs
    ]


@dataclass(frozen=True)
class Recorded:
    """What a real Slurm did, by case."""

    name: str
    recordings: Mapping[str, Recording] = field(hash=False)

    def starts(self, case: StarvationCase) -> Starts:
        """As recorded."""
        recording = self.recordings.get(case.name)
        if recording is None:
            raise NotPlayed("there is no recording")
        first_s = recording.jobs[0].submitted or 0.0
        return {
            number: job.started - first_s for number, job in enumerate(recording.jobs, 1) if job.started is not None
        }


def live(say: Callable[[str], None], jobs: int = 2) -> list[Recording]: ...
