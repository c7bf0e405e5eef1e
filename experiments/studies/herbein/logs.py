"""Logs in place of the paper's traces of Cab and Zin, which are not public, and the workloads drawn from them."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from msgspec import structs

from spillway.experiments.studies.local_logs import Log
from spillway.experiments.studies.points import Point
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.load import load_log
from spillway.workloads.models.herbein import (
    CHANGES_PER_JOB,
    PAPER_STATE_CHANGE_S,
    HerbeinModel,
    HerbeinOptions,
    draw_herbein,
    fit_herbein,
)
from spillway.workloads.swf import SwfLog

_ATLAS_NODES = 1152

STEADY_GAP_S = CHANGES_PER_JOB * PAPER_STATE_CHANGE_S
"""Time between submissions at which a machine that keeps up changes states at the paper's pace (s, section 5.4)."""

LOGS = {
    "atlas": Log(_ATLAS_NODES, "LLNL-Atlas-2006-2.1-cln", "data/swf/LLNL-Atlas-2006-2.1-cln.swf.xz"),
    "kth": Log(100, "KTH-SP2-1996-2.1-cln", "data/kth/KTH-SP2-1996-2.1-cln.swf.xz"),
    "lublin": Log(256, "", "data/swf/lublin_256.swf.xz"),
    "kth-like": Log(100, "kth-like:jobs=5000", ""),
}
"""Logs by name; ``lublin`` states no time limits, so that its elapsed times are taken as limits."""


@lru_cache(maxsize=len(LOGS))
def model_of(name: str) -> HerbeinModel:
    """The model of a log."""
    return fit_herbein(_with_limits(load_log(LOGS[name].place)[0]))


def _with_limits(log: SwfLog) -> SwfLog:
    if any(record.requested_s > 0 for record in log.records):
        return log
    return replace(log, records=tuple(structs.replace(record, requested_s=record.run_s) for record in log.records))


@lru_cache(maxsize=16)
def workload_of(log: str, jobs: int, seed: int, size: float) -> Workload:
    """Draw a workload.

    Parameters
    ----------
    size
        Factor for the sizes of Atlas; those of a log of a smaller machine grow in proportion.
    """
    factor = size * _ATLAS_NODES / LOGS[log].nodes
    options = HerbeinOptions(jobs=jobs, seed=seed, size_factor=factor, mean_gap_s=STEADY_GAP_S)
    return draw_herbein(model_of(log), options)


def drawn(point: Point) -> Workload:
    """The workload of a point."""
    return workload_of(point.text("log"), point.whole("jobs"), point.whole("seed"), point.number("size"))
