"""Workload and policy of a point: place and life of buffers, time of staging."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from spillway.base.options import Value
from spillway.base.plugins import split_spec
from spillway.experiments.campaign.inputs import machines
from spillway.experiments.run.sessions import parse_policy
from spillway.experiments.run.spec import PlatformSpec, PolicySpec, WorkloadSpec
from spillway.experiments.studies.points import Point
from spillway.experiments.studies.production_buffers.jobs import draw
from spillway.workloads.batsim.json_file import write_batsim
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
    path = _drawn(folder, jobs, point.whole("seed"), minutes, covers, stripes)
    return WorkloadSpec(source=str(path), name=path.stem)


@cache
def _drawn(folder: Path, jobs: int, seed: int, minutes: float, covers: bool, stripes: int) -> Path:
    """Write the jobs, once in a process: a file that other code left there is replaced."""
    name = f"n{jobs}-s{seed}-{minutes:g}min" + f"-k{stripes}" * bool(stripes) + "-covered" * covers
    drawn = draw(jobs, seed, minutes, _facts(), covers_staging=covers, stripes=stripes)
    write_batsim(drawn, folder / f"{name}.json")
    return folder / f"{name}.json"


@lru_cache(maxsize=1)
def _facts() -> MachineFacts:
    return machines.load(MACHINE).facts
