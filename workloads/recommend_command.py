"""``spillway workload recommend``: lists or packs for a workload of jobs that state their periods."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict
from pathlib import Path

from spillway.base.arguments import above_zero, tell
from spillway.workloads.batsim_json import read_batsim
from spillway.workloads.recommend import OBJECTIVES, bandwidth_for, measure_workload, shipped


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "workload", type=Path, metavar="FILE.json[.xz|.gz]", help="workload with profiles that state periods"
    )
    parser.add_argument(
        "--bandwidth",
        type=above_zero,
        metavar="B",
        help="bytes/s of the file system (default: that of the machine which periodic workloads are drawn for)",
    )


def command(options: argparse.Namespace) -> None:
    """Measure, predict, print."""
    workload = read_batsim(options.workload)
    features = measure_workload(workload, options.bandwidth or bandwidth_for(workload.nb_res))
    for name, value in asdict(features).items():
        tell(f"{name.replace('_', ' ')}: {value:.3f}")
    recommender = shipped()
    for objective in OBJECTIVES:
        predicted = recommender.predict(features, objective)
        choice = "pack" if predicted < 0 else "list"
        tell(f"for the {objective}: {choice} (packs over lists, predicted: {100 * math.expm1(predicted):+.1f} %)")
