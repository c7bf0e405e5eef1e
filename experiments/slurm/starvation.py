"""The cases of starvation (:mod:`spillway.experiments.trials.starvation`) on a real Slurm, with its recordings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from spillway.experiments.run.errors import SpecError
from spillway.experiments.slurm.configuration import Settings, Submission
from spillway.experiments.slurm.live import run, try_namespaces
from spillway.experiments.slurm.packages import cache_folder, programs
from spillway.experiments.slurm.recording import Recording, read, write
from spillway.experiments.trials.starvation import CASES, POOL, NotPlayed, Starts, StarvationCase
from spillway.experiments.trials.world import LICENSE

RELEASE = "24.11"
"""Release of Slurm: the one that has ``bf_licenses``."""

SHIPPED = Path(__file__).parent / "recordings"
"""Recordings that come with the package."""


MEASURED = "Slurm "
"""Begin of the names of rows that a real Slurm has measured."""


class SlurmSetup(NamedTuple):
    """A way to set up a Slurm.

    Attributes
    ----------
    name
        Name in tables and files.
    select, bf_licenses
        See :class:`~spillway.experiments.slurm.configuration.Settings`.
    counted
        Whether the buffer is not a pool of a plugin, but licenses (:data:`_COUNTED`).
    """

    name: str
    select: Literal["linear", "cons_tres"] = "cons_tres"
    bf_licenses: bool = False
    counted: bool = False


WAYS = (
    SlurmSetup("default"),
    SlurmSetup("bf_licenses", bf_licenses=True),
    SlurmSetup("bf_licenses, linear", select="linear", bf_licenses=True),
    SlurmSetup("bf_licenses, counted", bf_licenses=True, counted=True),
)
"""``SchedulerParameters=bf_licenses`` or not, the former with ``SelectType=select/linear``, or with licenses alone."""

_COUNTED = "bb"
"""Name of the licenses that stand for the buffer."""


def settings(case: StarvationCase, way: SlurmSetup) -> Settings:
    """Settings of Slurm for a case: passes every second, planned to the second."""
    return Settings(
        nodes=case.world.nodes,
        pool_units=POOL,
        release=RELEASE,
        bf_resolution_s=1,
        select=way.select,
        bf_licenses=way.bf_licenses,
        licenses=_licenses(way, case.licenses, case.world.gb),
    )


def _licenses(way: SlurmSetup, licenses: int, gb: int) -> dict[str, int]:
    """Licenses by name, of the site or of a job."""
    amounts = {LICENSE: licenses, _COUNTED: gb if way.counted else 0}
    return {name: amount for name, amount in amounts.items() if amount}


def submissions(case: StarvationCase, way: SlurmSetup) -> list[Submission]:
    """The jobs of a case, as they are submitted."""
    first_s = case.world.jobs[0].submit_s
    return [
        Submission(
            at_s=job.submit_s - first_s,
            nodes=job.nodes,
            units=0 if way.counted else job.gb,
            runtime_s=job.run_s,
            limit_min=(job.walltime_s or 0) // 60,
            licenses=",".join(f"{name}:{count}" for name, count in _licenses(way, job.licenses, job.gb).items()),
        )
        for job in case.world.jobs
    ]


@dataclass(frozen=True)
class StarvationRecordings:
    """Recordings of a real Slurm, by case."""

    name: str
    recordings: Mapping[str, Recording]

    def starts(self, case: StarvationCase) -> Starts:
        """The recorded starts."""
        recording = self.recordings.get(case.name)
        if recording is None:
            raise NotPlayed("there is no recording")
        first_s = recording.jobs[0].submitted or 0.0
        return {
            number: job.started - first_s for number, job in enumerate(recording.jobs, 1) if job.started is not None
        }


def recorded(way: SlurmSetup, recordings: Mapping[str, Recording]) -> StarvationRecordings:
    """Recordings of a way, by case, under its name in tables."""
    (version,) = {recording.slurm for recording in recordings.values()}
    return StarvationRecordings(f"{MEASURED}{version} ({way.name})", recordings)


def kept(folder: Path) -> list[StarvationRecordings]:
    """Recordings that :func:`keep` wrote into a folder, a row for each way.

    Raises
    ------
    SpecError
        The folder has no recording, or has recordings of one way from several versions of Slurm; or a file is not a
        recording.
    """
    rows = []
    for way in WAYS:
        paths = {case.name: _path(folder, case, way) for case in CASES}
        recordings = {name: read(path) for name, path in paths.items() if path.exists()}
        if len({recording.slurm for recording in recordings.values()}) > 1:
            raise SpecError(f"{folder}: expected recordings of one version of Slurm for {way.name!r}, got several")
        if recordings:
            rows.append(recorded(way, recordings))
    if not rows:
        raise SpecError(f"{folder}: expected a folder with recordings of 'spillway conformance slurm --live --record'")
    return rows


def keep(found: Mapping[SlurmSetup, Mapping[str, Recording]], folder: Path) -> None:
    """Write recordings into a folder, made if it does not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    for way, recordings in found.items():
        for case in CASES:
            write(recordings[case.name], _path(folder, case, way))


def _path(folder: Path, case: StarvationCase, way: SlurmSetup) -> Path:
    return folder / f"{case.name}-{way.name}.json".replace(",", "").replace(" ", "-")


def run_all(say: Callable[[str], None]) -> dict[SlurmSetup, dict[str, Recording]]:
    """Run all cases in all ways, each on a Slurm of its own, side by side: they sleep most of the time.

    Raises as :func:`spillway.experiments.slurm.live.run`.
    """
    each = [(case, way) for way in WAYS for case in CASES]
    try_namespaces()
    programs(RELEASE, cache_folder(), say)  # else each run would download them
    with ThreadPoolExecutor(len(each)) as pool:
        done = pool.map(lambda one: run(settings(*one), submissions(*one), say), each)
        found: dict[SlurmSetup, dict[str, Recording]] = {way: {} for way in WAYS}
        for (case, way), recording in zip(each, done, strict=True):
            found[way][case.name] = recording
    return found
