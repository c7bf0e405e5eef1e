"""Passes of ``slurm-backfill`` that skip steps without effect, against plain ones: random worlds are played alike."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import pytest

from spillway.experiments.slurm.replay import MACHINE
from spillway.platforms.catalogue import builtin_files
from spillway.platforms.description import read_description
from spillway.platforms.generate import generate
from spillway.platforms.model import Platform
from spillway.platforms.xml_reader import parse_platform
from spillway.protocol.messages import Reply
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.model.explanations import PassNotes
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.site import Association, License, Partition, Qos, Site, Weights, site_text
from spillway.schedulers.model.site_parts import Gpus, Limits
from spillway.schedulers.policies.slurm_backfill import SlurmBackfill
from spillway.schedulers.policykit.view import Holding
from spillway.simulator.engines.fixed import FixedEngine
from tests.kit.play import converse
from tests.reference.slurm import PlainSlurm

GB = 10**9


@cache
def machine(nodes: int) -> Platform:
    """Nodes, and a pool of 8 GB."""
    text = MACHINE.format(nodes=nodes, capacity=8 * GB)
    return parse_platform(generate(read_description(text, "slurm", builtin_files())), "slurm")


SITES = {
    "none": Site(),
    "partitions": Site(
        partitions=(
            Partition("a", "0-5"),
            Partition("b", "4-11"),
            Partition("all", default=True),
            Partition("first", "0-7", tier=3),
        ),
    ),
    "counted": Site(
        partitions=(Partition("a", "0-7"), Partition("b", "6-11", factor=5), Partition("all", default=True)),
        licenses=(License("x", 3),),
        associations=(
            Association("lab", limits=Limits(group_tres={"node": 6})),
            Association("lab", "1", default=True),
            Association("lab", "2", default=True),
        ),
        qos=(Qos("normal"), Qos("high", 9)),
        weights=Weights(age=50, fairshare=500, size=100, qos=300, partition=200, longest_age_s=200.0, period_s=20.0),
    ),
}


GPUS = Site(
    partitions=(Partition("a", "0-5"), Partition("b", "4-11"), Partition("all", default=True)),
    gpus=(Gpus(1, "2-8"), Gpus(4, "6-8 11")),
)
"""Nodes 2 to 5 have one GPU, 6 to 8 and 11 four."""


class Everything(Observer):
    """All that happens to jobs, and all that passes note."""

    def __init__(self) -> None:
        self.lines: list[tuple[Any, ...]] = []

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """It has these nodes."""
        self.lines.append((now_s, "started", job.id, allocation))

    def held(self, job: Job, holding: Holding, now_s: float) -> None:
        """It has its buffer."""
        self.lines.append((now_s, "held", job.id, holding))

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """Keep the reason."""
        self.lines.append((now_s, "rejected", job.id, reason))

    def notes(self, now_s: float, notes: PassNotes) -> None:
        """In the order of jobs."""
        self.lines.append((now_s, sorted(notes.notes.items(), key=lambda one: one[0])))


def options_of(rng: Random) -> dict[str, Any]:
    """Options with which much happens in a few minutes."""
    order = rng.choice(("fcfs", "fcfs", "multifactor", "sjf", "wfp3"))
    return {
        "order": order,
        "bf_interval": rng.choice((1.0, 7.0, 30.0)),
        "bf_max_job_test": rng.choice((3, 8, 500)),
        "bf_window": rng.choice((2.0, 1440.0)),
        "bf_resolution": rng.choice((1.0, 15.0, 60.0)),
        "sched_interval": rng.choice((5.0, 60.0)),
        "batch_sched_delay": rng.choice((0.0, 3.0)),
        "bf_licenses": rng.random() < 0.5,
        "release": rng.choice(("22.05", "24.11")),
        "default_queue_depth": rng.choice((2, 6, 100, 100)),
        "bf_max_job_part": rng.choice((0, 0, 0, 1, 4)),
        "bf_max_job_user": rng.choice((0, 0, 0, 1, 4)),
        "bf_job_part_count_reserve": rng.choice((0, 0, 1, 2)),
        "bf_one_resv_per_job": rng.random() < 0.5,
        "bf_min_prio_reserve": rng.choice((0, 300, 700)) if order == "multifactor" else 0,
    }


def workload_of(rng: Random) -> dict[str, Any]:
    """Jobs with and without buffers, some of two partitions, some that exceed their walltimes."""
    nodes, share = rng.choice((12, 12, 70)), rng.choice((0.0, 0.0, 0.5))
    data, sizes = dict[str, Any](nb_res=nodes, jobs=[], profiles={}), (1, 1, 2, 3, nodes // 4, nodes // 2, nodes)
    span_s = rng.choice((10, 100, 400))
    for number in range(rng.randint(8, 40)):
        seconds = rng.choice((3.0, 20.0, 45.0, 90.0, 200.0))
        job: dict[str, Any] = {
            "id": number, "subtime": round(rng.uniform(0, span_s), 1), "res": rng.choice(sizes),
            "walltime": seconds + rng.choice((-1.0, 0.0, 2.0, 50.0, 300.0)), "profile": f"p{number}",
            "user": rng.choice(("1", "2", "3")), "qos": rng.choice(("", "normal", "high")),
            "partition": rng.choice(("", "a", "b", "all", "a,b", "first,all", "all,a")),
        }  # fmt: skip
        if rng.random() < 0.3:
            job["licenses"] = f"x:{rng.randint(1, 3)}"
        if rng.random() < share:
            job |= {"bb_total": rng.choice((1, 2, 4)) * GB, "stage_in_s": rng.choice((0.0, 4.0, 30.0))}
            job["stage_out_s"] = rng.choice((0.0, 10.0))
        data["jobs"].append(job)
        data["profiles"][job["profile"]] = {"type": "delay", "delay": seconds}
    data["jobs"].sort(key=lambda job: job["subtime"])
    return data


def played(policy: SlurmBackfill, settings: dict[str, Any], data: dict[str, Any], *, explain: bool) -> list[Any]:
    """All that happens, and all replies."""
    seen = Everything()
    spec = SessionSpec("slurm-backfill", settings=settings)
    session = spec.session(seen, explain=explain, policy=policy)
    replies = list[Reply]()
    converse(session, machine(data["nb_res"]), data, spec=spec, engine=FixedEngine, replies=replies, check=False)
    assert any("started" in line for line in seen.lines)
    return [seen.lines, replies]


def world(seed: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Options, settings and jobs."""
    rng = Random(seed)
    site = rng.choice(list(SITES))
    options, data = options_of(rng), workload_of(rng)
    settings = {
        "site": "" if site == "none" else site_text(SITES[site]),
        "bb_life": rng.choice(("with-nodes", "slurm")),
        "estimates": rng.choice(("walltime", "walltime", "history")),
        "maintenance": rng.choice(("", "", "", "60s 40s every 300s nodes 2-5; 200s 30s")),
    }
    known = {one.name for one in SITES[site].partitions}
    for job in data["jobs"]:
        if not set(job["partition"].split(",")) <= known:
            del job["partition"]
        if site != "counted":
            job.pop("licenses", None)
    return options, settings, data


@pytest.mark.parametrize("seed", range(40))
def test_passes_are_those_of_the_plain_ones(seed: int) -> None:
    """The same starts, buffers, nodes and times, and the same notes; where notes are off, the same without them."""
    options, settings, data = world(seed)
    lines, replies = plain = played(PlainSlurm(**options), settings, data, explain=True)
    assert played(SlurmBackfill(**options), settings, data, explain=True) == plain
    if not seed % 2:
        happened = [line for line in lines if len(line) > 2]
        assert played(SlurmBackfill(**options), settings, data, explain=False) == [happened, replies]


@pytest.mark.parametrize("seed", range(12))
def test_jobs_with_gpus_are_planned_on_nodes_that_have_them(seed: int) -> None:
    """As all others are, on nodes of their partition with as many GPUs; expected ends by themselves or in windows."""
    rng = Random(seed)
    options, settings, data = world(seed)
    settings |= {"site": site_text(GPUS), "maintenance": ""}
    for job in data["jobs"]:
        job.pop("licenses", None)
        job["partition"] = rng.choice(("a", "b", "all", "a,b", "all,a"))
        if rng.random() < 0.5:
            job |= {"gpus": rng.choice((1, 1, 2, 4)), "res": rng.choice((1, 1, 2, 3))}
    options["bf_window_linear"] = rng.choice((0.0, 1.0, 60.0))
    explain = bool(seed % 2)
    assert played(SlurmBackfill(**options), settings, data, explain=explain) == played(
        PlainSlurm(**options), settings, data, explain=explain
    )
