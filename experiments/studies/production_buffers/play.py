"""Workload and policy of a point: place and life of buffers, time of staging."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from spillway.base.options import Value
from spillway.base.plugins import split_spec
from spillway.experiments.campaign.inputs import machines
from spillway.experiments.run.sessions import parse_policy
from spillway.experiments.run.spec import PlatformSpec, PolicySpec, WorkloadSpec
from spillway.experiments.studies.points import Point
from spillway.experiments.studies.product import drawn_once
from spillway.experiments.studies.production_buffers.jobs import draw
from spillway.workloads.conversion.machine_facts import MachineFacts

BASELINE = "with-nodes"
MACHINE = PlatformSpec(source="tuolumne")


PLACES: Mapping[str, tuple[int, str]] = {"striped": (8, "least-loaded"), "rack": (0, "rack"), "nearest": (0, "nearest")}
"""Storage nodes that a job's buffer is striped over (0: a request per node), and the setting ``storage_order``: a
buffer per job on 8 rabbits; one per node on its rack's rabbit, or the job waits; one per node on the nearest."""


def policy(point: Point) -> PolicySpec:
    """The policy with the life and the place of buffers."""
    order = PLACES[point.text("place")][1]
    settings: dict[str, Value] = {"bb_life": point.text("life"), "storage_order": order}
    label = f"{point['policy']} {point['life']} {point['place']}"
    return parse_policy(point.text("policy"), session=settings, label=label)


def workload(point: Point, folder: Path) -> WorkloadSpec:
    """The point's jobs: the same under every life, except that requested times may cover staging."""
    covers = split_spec(point.text("life"))[0] == BASELINE
    stripes, jobs, minutes = PLACES[point.text("place")][0], point.whole("jobs"), point.number("minutes")
    seed = point.whole("seed")
    name = f"n{jobs}-s{seed}-{minutes:g}min" + f"-k{stripes}" * bool(stripes) + "-covered" * covers
    return drawn_once(folder, name, lambda: draw(jobs, seed, minutes, _facts(), covers_staging=covers, stripes=stripes))


@lru_cache(maxsize=1)
def _facts() -> MachineFacts:
    return machines.load(MACHINE).facts
