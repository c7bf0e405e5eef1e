"""A whole machine (not in the paper): a log with 0 to 100 % malleable jobs, under a queue policy."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from spillway.experiments.run.io_phases import PHASES
from spillway.experiments.run.spec import WorkloadSpec
from spillway.experiments.studies.description import read_study
from spillway.experiments.studies.local_logs import Log, at_hand_on
from spillway.experiments.studies.points import Point, Values
from spillway.experiments.studies.product import Product, drawn_once, summary_of
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.conversion.convert import ConvertOptions, convert
from spillway.workloads.conversion.machine_facts import THESIS_MACHINE
from spillway.workloads.load import load_log
from spillway.workloads.models.burst_buffer import THESIS_MODEL
from spillway.workloads.models.malleable import MalleableOptions, make_malleable

LOGS = {
    "kth": Log(96, "KTH-SP2-1996-2.1-cln", "data/kth/KTH-SP2-1996-2.1-cln.swf.xz"),
    "kth-like": Log(96, "kth-like:jobs={jobs},seed={seed}"),
}


def workload(point: Point, folder: Path) -> WorkloadSpec:
    """Draw the applications of a point: by seed, the next window of the log, or a new draw of the generator."""
    name, jobs, seed, share = point.text("log"), point.whole("jobs"), point.whole("seed"), point.number("share")
    options = MalleableOptions(share=share, seed=seed)
    return drawn_once(
        folder,
        f"{name}-{jobs}-{share:g}-{seed}",
        lambda: make_malleable(_rigid(name, jobs, seed), THESIS_MACHINE, options),
    )


def _rigid(name: str, jobs: int, seed: int) -> Workload:
    log, options = LOGS[name], ConvertOptions(seed=seed, burst_buffers=THESIS_MODEL, oversized="drop")
    if log.generated:
        return convert(load_log(log.source.format(jobs=jobs, seed=seed))[0], THESIS_MACHINE, options, name)[0]
    loaded, read = load_log(log.place)
    first = loaded.records[seed % max(1, len(loaded.records) // jobs) * jobs].number
    return convert(loaded, THESIS_MACHINE, replace(options, from_job=first, first=jobs), read)[0]


def measure(folder: Path) -> Values:
    """The run's summary, the nodes held (including extra ones), and delays of I/O phases."""
    summary = summary_of(folder)
    with (folder / "jobs.csv").open(encoding="utf-8", newline="") as stream:
        jobs = [row for row in csv.DictReader(stream) if float(row["finish_time"]) > float(row["starting_time"])]
    with (folder / PHASES).open(encoding="utf-8", newline="") as stream:
        delays = [float(row["begin_s"]) - float(row["asked_s"]) for row in csv.DictReader(stream)]
    span_s = max(float(row["finish_time"]) for row in jobs) - min(float(row["submission_time"]) for row in jobs)
    held = sum(float(row["node_seconds"]) for row in jobs) / (THESIS_MACHINE.nodes * span_s)
    return summary | {
        "held_percent": 100 * held,
        "io_delay_s": sum(delays) / max(1, len(delays)),
        "delayed_percent": 100 * sum(delay > 1e-3 for delay in delays) / max(1, len(delays)),
        "resizes": sum(float(row["resizes"]) for row in jobs),
    }


STUDY = read_study(
    Path(__file__).with_name("machine.toml"),
    Product(workload=workload, measure=measure, own=("log", "jobs", "share")),
    has=at_hand_on("log", LOGS),
)
