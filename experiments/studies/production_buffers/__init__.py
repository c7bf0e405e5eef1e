"""Idle time of nodes while burst buffers are staged, by the buffers' life: Tuolumne's 1,152 nodes and 72 rabbits."""

from __future__ import annotations

from spillway.experiments.studies.figures import Lines
from spillway.experiments.studies.points import Grid
from spillway.experiments.studies.product import Product
from spillway.experiments.studies.production_buffers.measures import measure
from spillway.experiments.studies.production_buffers.play import BASELINE, MACHINE, PLACES, STRIPED, policy, workload
from spillway.experiments.studies.study import SEEDS, Study
from spillway.experiments.studies.tables import Means

LIVES = (BASELINE, "slurm", "two-reservations", "standby")
POLICIES = ("easy", "conservative", "plan")
_MINUTES = (0.0, 10.0, 30.0, 60.0)
_HEADS = {
    "idle_node_h": "idle node-hours held",
    "idle_percent": "% of computing ones",
    "wait_h": "wait (h)",
    "turnaround_h": "turnaround to data out (h)",
    "buffer_tb_h": "buffer TB-hours",
    "hot_spot": "hot spot",
}
STAGING = "least time of a staging (min)"

_COMMON: Grid = {
    "platform": (MACHINE.source,),
    "model": ("io:max_phases=1",),  # one phase: checkpoints would be the same under every life
    "jobs": (120,),
    "seed": SEEDS,
}

STUDY = Study(
    name="production-buffers",
    title="Nodes that idle while data moves, by the life of burst buffers",
    play=Product(workload=workload, policy=policy, measure=measure),
    grids=(
        {"place": (STRIPED,), "life": LIVES, "policy": POLICIES, "minutes": _MINUTES, **_COMMON},
        {"place": tuple(PLACES)[1:], "life": (BASELINE,), "policy": POLICIES[:1], "minutes": _MINUTES[-1:], **_COMMON},
    ),
    quick={"jobs": (40,), "seed": (0, 1), "policy": POLICIES[:1], "minutes": (0.0, 30.0)},
    tables=(
        Means("Means, striped buffers", _HEADS, ("policy", "minutes", "life"), only={"place": STRIPED}),
        Means(
            f"Differences from {BASELINE}", _HEADS, ("policy", "minutes", "life"), {"life": BASELINE},
            {"place": STRIPED},
        ),
        Means(
            f"Where buffers lie, {BASELINE}", _HEADS, ("policy", "minutes", "place"),
            only={"life": BASELINE, "policy": POLICIES[0]},
        ),
    ),
    figures=(
        Lines("idle_node_h", "node-hours held idle", "minutes", STAGING, "life", "policy", only={"place": STRIPED}),
        *(
            Lines(
                metric, f"{words}, difference from {BASELINE}", "minutes", STAGING, "life", "policy",
                only={"place": STRIPED}, against={"life": BASELINE},
            )
            for metric, words in (("wait_h", "wait (h)"), ("buffer_tb_h", "buffer (TB-h)"))
        ),
    ),
    notes=(
        "ASSUMED: sizes and runtimes as of KTH's log with sizes times 12, requests of buffers by the thesis's "
        "distribution with a mean of 0.5 TB per node, times of staging as swept; bandwidths of the machine are chosen.",
        "idle: nodes held by a job that neither computes nor writes checkpoints; wait: from submission to the first "
        "computation; hot spot: byte-hours over capacity, the largest of all rabbits over the mean.",
        "The other places of buffers are compared with the longest staging, nodes and buffers given together: "
        "the rack of a buffer that is given first does not determine the place of its nodes.",
    ),
)  # fmt: skip
