"""Preemption by suspension: worked out by hand on eight nodes, as in ``test_preemption``, and in random worlds."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from spillway.base.errors import OptionError
from spillway.protocol.messages import JobState
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.preemption import as_a_whole
from spillway.schedulers.jobmodels.slices import rest_of
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.preemption import SuspendedState
from spillway.schedulers.model.site import License, Partition, Site, site_text
from spillway.schedulers.model.site_parts import Scheduler
from spillway.schedulers.policykit.view import Running
from spillway.simulator.reading.workload import workload_from_object
from tests.kit.specs import session_spec
from tests.kit.story import Preempted, Story
from tests.properties.checked import play_checked
from tests.schedulers.policykit.test_preemption import GB, job, play, tiers

SUSPENDING = tiers("suspend")
EVERY_SECOND = {"sched_interval": 1.0, "batch_sched_delay": 0.0}


def suspended(site: Site, jobs: list[dict[str, Any]], policy: str = "easy", **settings: Any) -> Story:
    """Play them where jobs are suspended; Slurm has passes in every second."""
    options = EVERY_SECOND if policy == "slurm-backfill" else {}
    return play(site, jobs, policy, policy_options=options, suspend="suspend", **settings)


@pytest.mark.parametrize("policy", ["easy", "conservative", "slurm-backfill"])
def test_a_job_goes_on_where_it_was(policy: str) -> None:
    """Job 1 has six nodes for 100 s; at 30 s job 2 of ``high`` needs all eight of them for 50 s.

    Job 1 has 70 s left when job 2 has ended, and runs these from 80 s on, on its nodes: it ends at 150 s, and nothing
    of its work is lost. Job 3, which waits for six nodes, gets no node of these before that.
    """
    story = suspended(SUSPENDING, [job(0, 6, 100), job(30, 8, 50, "high"), job(31, 6, 10)], policy)
    assert (story.starts["1"], story.starts["2"], story.starts["1#2"]) == (0, 30, 80)
    assert story.ends["1#2"] == (150, JobState.COMPLETED_SUCCESSFULLY)
    assert story.given["1#2"].nodes == story.given["1"].nodes
    assert story.starts["3"] >= 150
    assert story.preemptions == [Preempted("1", "2", "suspended, goes on as 1#2", 30, 30, 0)]


def test_only_nodes_are_left() -> None:
    """Job 1 has all nodes, the licence and 600 GB of the buffer's 1000; job 2 uses four of its nodes for 50 s.

    Job 3 of ``high`` needs two nodes and the licence, job 4 two nodes and 600 GB: job 1 keeps both, and the nodes that
    job 2 does not use. They wait until it has ended, at 100 + 50 s.
    """
    site = tiers("suspend", licenses=(License("l", 1),))
    jobs = [
        job(0, 8, 100, licenses="l", bb_total=6 * GB),
        job(30, 4, 50, "high"),
        job(31, 2, 10, licenses="l"),
        job(32, 2, 10, bb_total=6 * GB),
        job(33, 2, 10),
    ]
    story = suspended(site, jobs)
    assert (story.starts["2"], story.starts["1#2"], story.ends["1#2"][0]) == (30, 80, 150)
    assert [story.starts[name] for name in "345"] == [150, 150, 150]


def test_who_was_suspended_last_goes_on_first() -> None:
    """Tiers 1, 2 and 3: job 1 (100 s) is suspended at 10 s for job 2 (50 s), this at 20 s for job 3 (30 s).

    Job 3 ends at 50 s; job 2 has 40 s left, and runs until 90 s; then job 1, with 90 s left, till 180 s.
    """
    scheduler = Scheduler(preempt="partition_prio", preempts="suspend")
    partitions = (Partition("low", default=True), Partition("high", tier=2), Partition("top", tier=3))
    jobs = [job(0, 8, 100), job(10, 8, 50, "high"), job(20, 8, 30, "top")]
    story = suspended(Site(partitions=partitions, scheduler=scheduler), jobs)
    assert story.starts == {"1": 0, "2": 10, "3": 20, "2#2": 50, "1#2": 90}
    assert (story.ends["2#2"][0], story.ends["1#2"][0]) == (90, 180)


def test_what_cannot_be_cut_is_refused() -> None:
    """Job models with jobs that do more than compute, and buffers that are held longer than nodes."""
    jobs = [job(0, 8, 100), job(10, 8, 20, "high")]
    with pytest.raises(OptionError, match="the work of its jobs cannot be cut; models with jobs that can be suspended"):
        suspended(SUSPENDING, jobs, model="checkpointed")
    with pytest.raises(OptionError, match="a suspended job keeps its burst buffer beside its nodes"):
        suspended(SUSPENDING, jobs, bb_life="slurm")


class Places(Observer):
    """Holders of nodes over time, and the final state of each part."""

    def __init__(self) -> None:
        self.holders: dict[int, str] = {}
        self.parts: dict[str, list[tuple[float, float, tuple[int, ...], JobState]]] = {}
        self.what: dict[str, str] = {}

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """No node has two jobs."""
        for node in allocation.nodes:
            assert node not in self.holders, (job.id, self.holders[node])
            self.holders[node] = job.id

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Its nodes are free."""
        for node in running.allocation.nodes:
            del self.holders[node]
        name = running.job.name.partition("#")[0]
        self.parts.setdefault(name, []).append((running.start_s, now_s, running.allocation.nodes, state))

    def preempted(self, job: Job, by: str, what: str, told_s: float, now_s: float, lost_node_s: float) -> None:
        """Nothing is lost."""
        assert lost_node_s == 0.0
        self.what[job.name] = what


def world(rng: Random) -> tuple[Site, dict[str, Any], Mapping[str, float]]:
    """Jobs of three tiers, all suspended for higher ones, some with buffers and licences; the runtime of each."""
    times = (0.0, 0.0, 4.0)
    partitions = (
        Partition("low", default=True, grace_s=rng.choice(times)),
        Partition("mid", "0-5", tier=2, grace_s=rng.choice(times)),
        Partition("high", tier=3),
    )
    scheduler = Scheduler(preempt="partition_prio", preempts="suspend", exempt_s=rng.choice(times))
    jobs, runs = [], {}
    for number in range(1, rng.randint(6, 16)):
        seconds = float(rng.choice((5, 20, 45, 90)))
        runs[str(number)] = seconds
        partition = rng.choice(("low", "low", "mid", "high"))
        jobs.append({
            "id": str(number), "subtime": float(rng.randint(0, 60)), "res": rng.choice((1, 2, 4, 6)),
            "walltime": seconds + rng.choice((1, 1, 50)), "profile": str(number), "partition": partition,
            **({"licenses": "l"} if rng.random() < 0.2 else {}), **({"bb_total": 4 * GB} if rng.random() < 0.3 else {}),
        })  # fmt: skip
    jobs.sort(key=lambda one: float(str(one["subtime"])))
    profiles = {name: {"type": "delay", "delay": seconds} for name, seconds in runs.items()}
    site = Site(partitions=partitions, scheduler=scheduler, licenses=(License("l", 2),))
    return site, {"nb_res": 8, "jobs": jobs, "profiles": profiles}, runs


@pytest.mark.parametrize("policy", ["easy", "conservative", "slurm-backfill", "filler"])
def test_no_work_is_lost(policy: str) -> None:
    """No two jobs are on a node at an instant; all parts of a job have the same nodes, and run as long as the job does;
    their walltimes count while they run: no job is killed except for preemption.
    """
    several = 0
    for seed in range(6):
        site, data, runs = world(Random(f"suspended {policy} {seed}"))
        seen = Places()
        options = EVERY_SECOND if policy == "slurm-backfill" else {}
        settings = {"site": site_text(site), "suspend": "suspend"}
        assert play_checked(
            session_spec(policy, options, "rigid", settings=settings), workload_from_object(data), seen
        ).finished
        assert seen.parts.keys() == runs.keys()
        for name, parts in seen.parts.items():
            *earlier, last = [state for *_, state in parts]
            assert last is JobState.COMPLETED_SUCCESSFULLY, (seed, name, parts)
            assert set(earlier) <= {JobState.COMPLETED_KILLED}
            assert len({nodes for _, _, nodes, _ in parts}) == 1
            assert sum(end_s - start_s for start_s, end_s, *_ in parts) == pytest.approx(
                runs[name], abs=0.01 * len(parts)
            )
            several += len(parts) > 1
    assert several


def test_a_job_that_starts_over_has_all_of_its_work() -> None:
    """Its second part had 70 of 100 s; requeued after an outage it is the job that was submitted."""
    whole = Job("w0!1", 0, 0.0, 101.0, 2, profile_name="p", profile={"type": "delay", "delay": 100.0})
    rest = rest_of(whole, 30.0, 0.3)
    assert rest["delay"] == 70.0
    again = Job("w0!1#3", 0, 0.0, 71.0, 2, profile_name="p@1#2", profile=rest)
    found = as_a_whole(again, SuspendedState(Allocation((0, 1)), whole))
    assert (found.id, found.profile, found.profile_name, found.walltime_s) == ("w0!1#3", whole.profile, "p", 101.0)


def test_what_is_left_of_a_contended_profile() -> None:
    """The share that the simulator states counts, as the remaining time is not known: 40 % of 1e11 flops."""
    whole = Job("w0!1", 0, 0.0, 101.0, 2, profile={"type": "parallel_homogeneous", "cpu": 1e11, "com": 5e6})
    assert rest_of(whole, 30.0, 0.6) == {
        "type": "parallel_homogeneous", "cpu": pytest.approx(4e10), "com": pytest.approx(2e6), "ret": 0,
    }  # fmt: skip
