"""Our policies as published give the schedules that the published scheduler gave under the real Batsim."""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import Task, Transport
from spillway.experiments.studies.points import Point
from spillway.experiments.studies.product import Product, prepare
from spillway.experiments.studies.thesis.claims import EQUAL
from spillway.experiments.studies.thesis.inputs import SAMPLE, find_inputs
from spillway.experiments.studies.thesis.play import policy as schedule
from spillway.experiments.studies.thesis.published import MEASURED, Key, read_published

Metrics = Callable[[str, str, str], dict[str, float]]
DETERMINED = ("fcfs", "filler", "no-future-1", "backfill-1", "backfill-sjf-1")
FIRST_200_MAXUTIL_S = 2925.8573
"""Mean wait of the first 200 IO-Aware jobs under the published maxutil scheduler and the real Batsim."""

PART_4_S = {
    "fcfs": 463540.4685,
    "filler": 16049.0401,
    "backfill-1": 16813.2261,
    "backfill-sjf-1": 13858.5558,
    "no-future-1": 39899.3179,
}
"""Mean waits of part-4, Alloc-Only, under the published schedulers and the real Batsim."""


class Played:
    """Published schedules played in a folder, each once for all tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, model: str, workload: str, policy: str, transport: Transport = Transport.DIRECT) -> Path:
        """The folder of a run."""
        point = Point((("model", model), ("workload", workload), ("policy", policy), ("seed", 0)))
        [spec] = prepare(Product(policy=schedule), [point], self._folder, Console(quiet=True)).values()
        if transport is not spec.transport:
            spec = msgspec.structs.replace(spec, transport=transport, id=f"{spec.id}-{transport.value}")
        path = self._folder / spec.id
        if not path.exists():
            execute(Task(spec, self._folder))
        return path

    def metrics(self, model: str, workload: str, policy: str) -> dict[str, float]:
        """The figures of a run's summary."""
        found: dict[str, float] = json.loads((self.run(model, workload, policy) / "metrics.json").read_text())
        return found


def source(reference: Path, model: str, name: str) -> str:
    """Place of a published input."""
    return find_inputs(model, reference / "data" / "kth", Path())[name].source


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Runs played so far, shared by the tests."""
    return Played(tmp_path_factory.mktemp("published"))


@pytest.fixture
def metrics(played: Played) -> Metrics:
    """Run a published schedule on a workload, unless that was done, and return the figures of its summary."""
    return played.metrics


def _compare(found: dict[str, float], model: str, workload: str, policy: str) -> None:
    expected = {
        key.metric: value.value
        for key, value in read_published(MEASURED).items()
        if (key.model, key.workload, key.policy) == (model, workload, policy)
    }
    assert len(expected) == len(EQUAL)
    for metric, value in expected.items():
        assert found[metric] == pytest.approx(value, abs=EQUAL[metric] + 1e-9), metric


@pytest.mark.reference
@pytest.mark.parametrize("policy", DETERMINED)
def test_part_4_alloc_only(reference: Path, metrics: Metrics, policy: str) -> None:
    """1,565 jobs: waits, slowdowns, makespan, and the 24 jobs that their walltime ends."""
    found = metrics("rigid", source(reference, "rigid", "part-4"), policy)
    _compare(found, "rigid", "part-4", policy)
    assert found["mean_waiting_time_s"] == pytest.approx(PART_4_S[policy], abs=1e-4)
    assert found["killed"] == 24


@pytest.mark.reference
@pytest.mark.parametrize("policy", DETERMINED)
def test_first_1000_jobs_io_aware(reference: Path, metrics: Metrics, policy: str) -> None:
    """The published 1000-job file, each job in its phases: 40,614 jobs in Batsim's eyes."""
    _compare(metrics("io", source(reference, "io", SAMPLE), policy), "io", SAMPLE, policy)


@pytest.mark.reference
def test_first_200_jobs_io_aware_maxutil(reference: Path, metrics: Metrics) -> None:
    """Nothing in maxutil is random either: exhaustive search, nine orders, hill climbing."""
    found = metrics("io", str(reference / "transcripts" / "tw" / "io200.json"), "maxutil-1.0-1")
    assert found["mean_waiting_time_s"] == pytest.approx(FIRST_200_MAXUTIL_S, abs=0.1)


@pytest.mark.reference
@pytest.mark.slow
def test_objects_and_bytes_at_full_size(reference: Path, played: Played) -> None:
    """IO-Aware jobs by objects and by bytes: the tables of jobs and of sub-jobs are the same, byte for byte."""
    place = source(reference, "io", SAMPLE)
    direct, in_bytes = (played.run("io", place, "backfill-1", way) for way in (Transport.DIRECT, Transport.BYTES))
    assert direct != in_bytes
    for name in ("jobs.csv", "batsim_jobs.csv", "schedule.csv", "allocations.csv"):
        assert (direct / name).read_bytes() == (in_bytes / name).read_bytes(), name


def test_measured_values_are_of_known_schedules() -> None:
    """Every measured value belongs to a workload and a figure that the study produces."""
    places = {("rigid", "part-4"), ("rigid", "part-11"), ("io", "part-4"), ("io", SAMPLE)}
    for key in read_published(MEASURED):
        assert isinstance(key, Key)
        assert (key.model, key.workload) in places
        assert key.policy in DETERMINED
        assert key.metric in EQUAL
