"""Use cases A to D of Table 1, each under its scenarios: what was predicted, avoided, waited for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.malleable.jacobi import CASES, SLOTS, workload_of
from experiments.malleable.play import Played, play, slots
from schedulers.jobmodels.app_record import AppRecord

SCENARIOS: Mapping[str, Mapping[str, str]] = {
    "watch": {"io_control": "shared", "interference": "watch"},
    "baseline": {"io_control": "shared"},
    "blocking": {"io_control": "exclusive"},
    "shifting": {"io_control": "exclusive", "interference": "phase-shifting"},
    "coupling": {"io_control": "exclusive", "interference": "period-coupling"},
}
"""Section 5.1: the baseline has no control; I/O blocking is CLARISSE's; the others come on top of it. ``watch``
predicts and does nothing."""

SCENARIOS_OF: Mapping[str, tuple[str, ...]] = {
    "A": ("watch",),
    "B": ("baseline", "shifting"),
    "C": ("baseline", "blocking", "shifting"),
    "C drifting": ("baseline", "blocking", "shifting"),
    "D": ("baseline", "blocking", "shifting", "coupling"),
}


def run(case: str, scenario: str, seed: int) -> dict[str, Any]:
    """Run a use case; the result is plain data."""
    described = CASES[case]
    platform = slots(SLOTS, described.pfs_bytes_per_s)
    return _plain(play(platform, workload_of(described, seed), SCENARIOS[scenario]))


def _plain(played: Played) -> dict[str, Any]:
    return {
        "applications": [_application(played.records[name]) for name in sorted(played.records)],
        "conflicts": [
            {
                "time_s": conflict.time_s,
                "applications": [conflict.first.split("!")[-1], conflict.second.split("!")[-1]],
                "predicted_s": [conflict.start_s, conflict.other_s],
                "outcome": conflict.outcome,
                "chosen": conflict.chosen.split("!")[-1],
                "extra": conflict.extra,
                "shift_s": conflict.shift_s,
            }
            for conflict in played.conflicts
        ],
        "wall_s": played.wall_s,
    }


def _application(record: AppRecord) -> dict[str, Any]:
    transfer = [phase.end_s - phase.begin_s for phase in record.phases]
    delays = [phase.begin_s - phase.asked_s for phase in record.phases]
    return {
        "name": record.job.name,
        "start_s": record.start_s,
        "end_s": record.end_s,
        "iterations": record.iterations,
        "compute_s": record.compute_s,
        "resize_s": record.resize_s,
        "transfer_s": sum(transfer),
        "delay_s": sum(delays),
        "asked_s": [phase.asked_s for phase in record.phases],
        "ended_s": [phase.end_s for phase in record.phases],
        "predicted_s": [None if phase.predicted is None else phase.predicted.start_s for phase in record.phases],
        "error_s": [None if phase.predicted is None else phase.predicted.error_s for phase in record.phases],
        "delays_s": delays,
        "sizes": [list(pair) for pair in record.sizes],
    }
