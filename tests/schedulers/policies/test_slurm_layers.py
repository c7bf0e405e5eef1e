"""Plans of a backfill pass for jobs that need hierarchical resources or GPUs, by hand; such jobs never starve."""

from collections.abc import Mapping
from random import Random
from types import MappingProxyType
from typing import Any

import pytest

from spillway.experiments.slurm.replay import MACHINE
from spillway.platforms.catalogue import builtin_files
from spillway.platforms.description.generate import build
from spillway.platforms.description.machine import read_description
from spillway.schedulers.model.site import License, Site, site_text
from spillway.schedulers.model.site_parts import Gpus, Layer, Resource
from spillway.simulator.engines.native import FixedEngine
from tests.kit.play import converse
from tests.kit.specs import session_spec
from tests.kit.story import Story
from tests.kit.workloads import delays

MACHINE_OF_12 = build(read_description(MACHINE.format(nodes=12, capacity=8 * 10**9), "slurm", builtin_files()))
ON_THE_SECOND = {"bf_interval": 1.0, "bf_resolution": 1.0, "batch_sched_delay": 0.0, "release": "24.11"}


def job(number: int, at_s: float, nodes: int, runs_s: float, **more: Any) -> dict[str, Any]:
    """A job that runs as long as it states."""
    return {"id": number, "subtime": at_s, "res": nodes, "walltime": runs_s + 1, "seconds": runs_s, **more}


def starts(
    site: Site, jobs: list[dict[str, Any]], settings: Mapping[str, str] = MappingProxyType({}), **options: Any
) -> dict[int, tuple[float, tuple[int, ...]]]:
    """Start in whole seconds and nodes of each job on twelve nodes."""
    data = delays(12, jobs)
    story = Story()
    spec = session_spec("slurm-backfill", ON_THE_SECOND | options, settings={"site": site_text(site), **settings})
    converse(spec.session(story), MACHINE_OF_12, data, spec=spec, engine=FixedEngine, check=False)
    started = [line for line in story.lines if line[1] == "started"]
    return {int(line[2].rpartition("!")[2]): (round(line[0]), line[3].nodes) for line in started}


RACKS = Site(resources=(Resource("nvme", 2, (Layer("left", "0-5", 4), Layer("right", "6-11", 4))),))
"""Four units in each half of the machine; a job is charged in every half in which it has a node."""


@pytest.mark.parametrize(
    ("licensed", "second", "third"), [(True, (101, (0, 1)), (101, (6,))), (False, (101, (6, 7)), (2, (4,)))]
)
def test_a_layer_is_planned_for(licensed: bool, second: tuple[int, Any], third: tuple[int, Any]) -> None:
    """Jobs 0 and 1 hold three units of the left and of the right half for 100 s; job 2 needs four units for 10 s.

    It is expected when a half is left, and reserves two nodes of it from then on. Job 3 needs a unit for 200 s. Without
    ``bf_licenses`` nothing of a layer is kept: it starts at once on a free node of the left half, and has a unit there,
    so that job 2 gets the right half at the first pass after 100 s. With ``bf_licenses`` the left half's four units are
    kept for job 2, and the right half has a node for job 3 at 101 s.
    """
    jobs = [
        job(0, 0.0, 4, 100, licenses="nvme:3"),
        job(1, 0.0, 6, 100, licenses="nvme:3"),
        job(2, 1.0, 2, 10, licenses="nvme:4"),
        job(3, 2.0, 1, 200, licenses="nvme:1"),
    ]
    found = starts(RACKS, jobs, bf_licenses=licensed)
    assert (found[2], found[3]) == (second, third)


def test_a_node_with_gpus_is_planned_for() -> None:
    """Nodes 10 and 11 have a GPU each; job 0 holds node 10 for 100 s. Job 1 needs both, and reserves them
    from 101 s on.

    Job 2 (eleven nodes for 50 s) is over by then, and starts with the pass after its submission. Job 3, which needs a
    GPU for 200 s, waits for job 1: node 11 is left at 53 s, but reserved. Job 4 needs no GPU, and starts when job 2 has
    ended.
    """
    site = Site(gpus=(Gpus(1, "10-11"),))
    jobs = [
        job(0, 0.0, 1, 100, gpus=1),
        job(1, 1.0, 2, 10, gpus=1),
        job(2, 2.0, 11, 50),
        job(3, 3.0, 1, 200, gpus=1),
        job(4, 3.0, 1, 200),
    ]
    found = starts(site, jobs)
    assert found == {0: (0, (10,)), 2: (3, (*range(10), 11)), 4: (54, (0,)), 1: (101, (10, 11)), 3: (112, (10,))}


SITE = Site(
    licenses=(License("x", 3),),
    resources=(
        Resource("one", 1, (Layer("all", "0-11", 2), Layer("left", "0-5", 3), Layer("right", "6-11", 2))),
        Resource("each", 2, (Layer("all", "0-11", 5), Layer("left", "0-5", 3), Layer("right", "6-10", 4))),
        Resource("node", 3, (Layer("all", "", 7), Layer("left", "0-5", 5, "all"), Layer("right", "6-11", 5, "all"))),
    ),
    gpus=(Gpus(1, "2-8"), Gpus(4, "6-8")),
)


@pytest.mark.parametrize("seed", range(16))
def test_the_first_job_never_starves(seed: int) -> None:
    """The first that waits starts when all have ended that ran when it became first, at the latest: passes that plan
    the resources that it lacks (``bf_licenses``) start no job in its way, whether it lacks layers, licenses, GPUs or
    nodes.
    """
    rng = Random(seed)
    jobs = []
    for number in range(rng.randint(8, 16)):
        more: dict[str, Any] = {"gpus": rng.choice((0, 0, 1, 3))}
        wanted = rng.choice(
            ("", "", "x:3", "x:1", "one:1", "one:3", "each:2", "each:3", "node:1", "node:2", "one:1,x:2")
        )
        most = 2 if "node:2" in wanted else 3
        jobs.append(
            job(
                number,
                float(rng.randint(0, 40)),
                rng.randint(1, most),
                rng.choice((5, 20, 60)),
                licenses=wanted,
                **more,
            )
        )
    jobs.sort(key=lambda one: (one["subtime"], one["id"]))
    found = starts(SITE, jobs, bf_licenses=True)
    ends = {
        each_job["id"]: found[each_job["id"]][0] + each_job["walltime"] for each_job in jobs if each_job["id"] in found
    }
    first_s = 0.0
    for each_job in jobs:
        if each_job["id"] not in found:
            continue  # it can never run, and was rejected
        first_s = max(first_s, each_job["subtime"])
        running = [
            ends[other] for other, (start_s, _) in found.items() if other != each_job["id"] and start_s <= first_s + 2
        ]
        assert found[each_job["id"]][0] <= max([first_s, *running]) + 2, (each_job, found)
        first_s = max(first_s, found[each_job["id"]][0])
