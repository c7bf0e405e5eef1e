"""Our policies as published give the schedules that the published scheduler gave under the real Batsim."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from experiments.inputs import Inputs
from experiments.single import Task, execute
from experiments.spec import DEFAULT_TAU_S, Player, WorkloadSpec
from experiments.thesis.campaign import MACHINE, cross
from experiments.thesis.checks import EQUAL
from experiments.thesis.inputs import find_inputs
from experiments.thesis.models import Model
from experiments.thesis.published import MEASURED, Key, read_published
from experiments.thesis.variants import spec_of

Metrics = Callable[[Model, WorkloadSpec, str], dict[str, float]]
DETERMINED = ("fcfs", "filler", "no-future-1", "backfill-1", "backfill-sjf-1")
FIRST_200_MAXUTIL_S = 2925.8573
"""Mean wait of the first 200 IO-Aware jobs under the published maxutil scheduler and the real Batsim."""


class Played:
    """Published schedules played in a folder, each once for all tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, model: Model, workload: WorkloadSpec, policy: str, player: Player = Player.DIRECT) -> Path:
        """The folder of a run."""
        inputs = Inputs(self._folder, lambda _: None)
        (spec,) = cross(inputs, [workload], [MACHINE], model, [spec_of(policy)], (0,))
        if player is not spec.player:
            spec = msgspec.structs.replace(spec, player=player, id=f"{spec.id}-{player.value}")
        path = self._folder / spec.id
        if not path.exists():
            execute(Task(spec, self._folder, DEFAULT_TAU_S))
        return path

    def metrics(self, model: Model, workload: WorkloadSpec, policy: str) -> dict[str, float]:
        """The figures of a run's summary."""
        found: dict[str, float] = json.loads((self.run(model, workload, policy) / "metrics.json").read_text())
        return found


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """What has been played."""
    return Played(tmp_path_factory.mktemp("published"))


@pytest.fixture
def metrics(played: Played) -> Metrics:
    """Run a published schedule on a workload, unless that was done, and return the figures of its summary."""
    return played.metrics


def _compare(found: dict[str, float], model: Model, workload: str, policy: str) -> None:
    expected = {
        key.metric: value.value
        for key, value in read_published(MEASURED).items()
        if (key.model, key.workload, key.policy) == (model.value, workload, policy)
    }
    assert len(expected) == len(EQUAL)
    for metric, value in expected.items():
        assert found[metric] == pytest.approx(value, abs=EQUAL[metric] + 1e-9), metric


@pytest.mark.reference
@pytest.mark.parametrize("policy", DETERMINED)
def test_part_4_alloc_only(reference: Path, metrics: Metrics, policy: str) -> None:
    """1,565 jobs: waits, slowdowns, makespan, and the 24 jobs that their walltime ends."""
    sources = find_inputs(Model.ALLOC, [4], reference / "data" / "kth", Path())
    found = metrics(Model.ALLOC, sources.parts[4], policy)
    _compare(found, Model.ALLOC, "part-4", policy)
    assert found["killed"] == 24


@pytest.mark.reference
@pytest.mark.parametrize("policy", DETERMINED)
def test_first_1000_jobs_io_aware(reference: Path, metrics: Metrics, policy: str) -> None:
    """The published 1000-job file, each job in its phases: 40,614 jobs in Batsim's eyes."""
    (sample,) = find_inputs(Model.IO, [], reference / "data" / "kth", Path()).samples
    _compare(metrics(Model.IO, sample, policy), Model.IO, "io-aware-1000", policy)


@pytest.mark.reference
def test_first_200_jobs_io_aware_maxutil(reference: Path, metrics: Metrics) -> None:
    """Nothing in maxutil is random either: exhaustive search, nine orders, hill climbing."""
    sample = WorkloadSpec(source=str(reference / "transcripts" / "tw" / "io200.json"))
    found = metrics(Model.IO, sample, "maxutil-1.0-1")
    assert found["mean_waiting_time_s"] == pytest.approx(FIRST_200_MAXUTIL_S, abs=0.1)


@pytest.mark.reference
@pytest.mark.slow
@pytest.mark.parametrize(("source", "policy"), [("io-aware-1000", "backfill-1"), ("part-4", "backfill-sjf-1")])
def test_both_players_at_full_size(reference: Path, played: Played, source: str, policy: str) -> None:
    """IO-Aware jobs by calls and by messages: the tables of jobs and of sub-jobs are the same, byte for byte."""
    found = find_inputs(Model.IO, [4], reference / "data" / "kth", Path())
    workload = found.samples[0] if source == "io-aware-1000" else found.parts[4]
    direct, wire = (played.run(Model.IO, workload, policy, player) for player in (Player.DIRECT, Player.WIRE))
    assert direct != wire
    for name in ("jobs.csv", "batsim_jobs.csv", "schedule.csv", "allocations.csv"):
        assert (direct / name).read_bytes() == (wire / name).read_bytes(), name


def test_measured_values_are_of_known_schedules() -> None:
    """Every measured value belongs to a workload and a figure that the campaign produces."""
    places = {("alloc", "part-4"), ("alloc", "part-11"), ("io", "part-4"), ("io", "io-aware-1000")}
    for key in read_published(MEASURED):
        assert isinstance(key, Key)
        assert (key.model, key.workload) in places
        assert key.policy in DETERMINED
        assert key.metric in EQUAL
