"""Conservative backfilling keeps its promises, except for delays by ends that are reported late."""

import dataclasses
import json
import math
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.core import Placement, StorageOrder
from spillway.platforms.catalogue import describe
from spillway.platforms.description.generate import build
from spillway.platforms.model import Platform
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.model.explanations import PassNotes, Role
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.site import Site
from spillway.schedulers.policies.conservative import Conservative
from spillway.schedulers.policykit.ordering import ORDER_NAMES
from spillway.schedulers.policykit.view import Holding
from spillway.workloads.batsim.json_file import format_batsim
from spillway.workloads.load import load_workload
from tests.kit.play import converse
from tests.kit.specs import session_spec
from tests.properties.buffer_cases import APART, GB
from tests.properties.buffer_world import platform
from tests.properties.mini import MiniJob, play
from tests.properties.sites import SITES, fields_of
from tests.properties.small_world import NODES
from tests.properties.test_policies import SHAPE, TREE
from tests.schedulers.runtimes import rigid

OVERDUE_S = 1.1e-3
"""A job that reaches its walltime is booked on for a millisecond, and reported within that."""


@dataclass
class Promises(Observer):
    """The earliest start that each job was ever promised, and when it was started or given its burst buffer."""

    promised: dict[str, float] = field(default_factory=dict)
    begun: dict[str, float] = field(default_factory=dict)

    def notes(self, now_s: float, notes: PassNotes) -> None:
        """Keep promises that are earlier than before."""
        for job_id, note in notes.notes.items():
            if note.role is Role.RESERVED and note.estimate_s is not None:
                self.promised[job_id] = min(note.estimate_s, self.promised.get(job_id, math.inf))

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Keep the time, unless its burst buffer came first."""
        self.begun.setdefault(job.id, now_s)

    def evicted(self, job: Job, holding: Holding, now_s: float) -> None:
        """Drop the promise, which was for the lost burst buffer."""
        self.promised.pop(job.id, None)

    def late_s(self) -> dict[str, float]:
        """Delay of each job's start against its promise (s); may be negative."""
        return {job_id: self.begun[job_id] - time_s for job_id, time_s in self.promised.items()}


# ---------------------------------------------------------------------------------------------- late reports

JOBS = st.lists(
    st.builds(
        lambda submit, nodes, wall, run, bb, rate: MiniJob(
            float(submit), nodes, float(wall), run * wall, bb * GB, rate
        ),
        submit=st.integers(0, 60),
        nodes=st.integers(1, 8),
        wall=st.integers(1, 40),
        run=st.sampled_from([0.25, 0.9, 1.0, 1.0, 2.0]),
        bb=st.sampled_from([0, 0, 1, 2, 4]),
        rate=st.sampled_from([0, 0, 5, 20]),
    ),
    min_size=2,
    max_size=14,
)
"""Most of them are killed at their walltimes."""


@settings(max_examples=120)
@given(
    jobs=JOBS,
    tree=st.booleans(),
    order=st.sampled_from([*sorted(ORDER_NAMES), "multifactor", "multifactor"]),
    site=st.sampled_from(list(SITES.values())),
    fields=st.randoms(use_true_random=False),
    storage_order=st.sampled_from(StorageOrder),
    late_s=st.sampled_from([1e-4, 1e-4, 9e-4]),
)
def test_jobs_killed_at_their_walltimes_make_no_other_later(
    jobs: list[MiniJob], tree: bool, order: str, site: Site, fields: random.Random, storage_order: StorageOrder,
    late_s: float,
) -> None:  # fmt: skip
    """No job starts later than its earliest promise, except for the sum of possible delays."""
    jobs = [dataclasses.replace(job, extras=fields_of(fields)) for job in jobs]
    promises = Promises()
    placement = Placement(storage_order=storage_order)
    session = Session(
        Conservative(order),
        rigid(),
        terms=Terms(explain=True, placement=placement, site=site),
        observer=promises,
    )
    play(session, TREE if tree else SHAPE, jobs, late_s)
    assert max(promises.late_s().values(), default=0.0) <= OVERDUE_S * len(jobs)


# ---------------------------------------------------------------------------------------------- on the simulator


def played(data: dict[str, Any], machine: Platform, spec: SessionSpec) -> Promises:
    """Promises to a workload's jobs on the embedded simulator, with message latency, and their starts."""
    promises = Promises()
    session = spec.session(promises, explain=True)
    converse(session, machine, data, spec=spec, check=False)
    assert not session.waiting
    return promises


def workload(rng: random.Random, model: str, life: str) -> dict[str, Any]:
    """Jobs that crowd eight nodes and two storage nodes; every second one is killed, and staging moves no bytes."""
    data: dict[str, Any] = {"nb_res": NODES, "jobs": [], "profiles": {}}
    for number in range(rng.randint(5, 25)):
        seconds = rng.choice((1.0, 5.0, 7.5, 10.0, 20.0, 60.0))
        profile: dict[str, Any] = {"type": "delay", "delay": seconds}
        size = rng.choice((0, 0, 1, 2, 3, 5)) * GB
        if size and rng.random() < 0.3:
            profile |= {"bb_total": 2 * size, "bb_stripes": rng.choice((1, 2))}
        elif size:
            profile["bb"] = size
        if size and (model == "io" or life in APART):
            profile |= {"stage_in_s": rng.choice((0.0, 3.0, 7.0)) if life != "two-reservations" else 0.0}
            profile |= {"stage_out_s": rng.choice((0.0, 0.0, 2.0, 11.0))}
            profile |= {"stage_in_bytes": 0, "stage_out_bytes": 0} if model == "io" else {}
        data["profiles"][f"p{number}"] = profile
        data["jobs"].append(
            {
                "id": str(number),
                "subtime": rng.choice((0, rng.randint(0, 100), round(rng.uniform(0, 100), 3))),
                "res": rng.choice((1, 1, 2, 3, 4, 5, 8, 8)),
                "profile": f"p{number}",
                "walltime": rng.choice((seconds / 2, seconds, 0.7 * seconds, seconds + 1, 3 * seconds, 100.0)),
            }
        )
    data["jobs"].sort(key=lambda job: job["subtime"])
    return data


@pytest.mark.parametrize("life", ["with-nodes", "slurm", "standby", "standby:bound=5", "two-reservations"])
@pytest.mark.parametrize("model", ["rigid", "io"])
def test_every_life_of_burst_buffers_keeps_promises(life: str, model: str) -> None:
    """The bound is as small as without buffers. With two reservations no job stages in: such jobs come before all
    promises from their stage-in on, and that may be late itself.
    """
    promised = 0
    for seed in range(12):
        rng = random.Random(f"{life} {model} {seed}")
        data = workload(rng, model, life.partition(":")[0])
        settings = {"bb_life": life, "node_order": rng.choice(("first-fit", "pack"))}
        if life == "with-nodes":
            settings["storage_order"] = rng.choice([order.value for order in StorageOrder])
        spec = session_spec(
            "conservative", {"order": rng.choice(["fcfs", *ORDER_NAMES])}, model=model, settings=settings
        )
        promises = played(data, platform(rng.choice(("two", "four")), 1), spec)
        assert max(promises.late_s().values(), default=0.0) <= OVERDUE_S * len(data["jobs"]), f"seed {seed}"
        promised += len(promises.promised)
    assert promised > 40


@pytest.mark.parametrize("options", [{}, {"order": "sjf"}, {"order": "wfp3"}], ids=str)
def test_a_log_of_three_hundred_jobs(options: dict[str, str]) -> None:
    """Three of 193 jobs were later than promised, by 4,217 s at most."""
    data = json.loads(format_batsim(load_workload("kth-like:jobs=300")))
    promises = played(data, build(describe("thesis", None)), session_spec("conservative", options))
    late_s = promises.late_s()
    assert len(late_s) > 180
    assert max(late_s.values()) < 0.01
