"""A whole machine (not in the paper): a log with 0 to 100 % malleable jobs, under a queue policy."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from spillway.experiments.run.io_phases import PHASES
from spillway.experiments.run.spec import WorkloadSpec
from spillway.experiments.studies.claims import Claim, at_least, at_most
from spillway.experiments.studies.figures import Lines
from spillway.experiments.studies.measures import difference, ratio
from spillway.experiments.studies.points import Grid, Point, Value, Values
from spillway.experiments.studies.product import Product, summary_of
from spillway.experiments.studies.study import SEEDS, Study
from spillway.workloads.batsim_json import write_batsim
from spillway.workloads.burst_buffer import THESIS_MODEL
from spillway.workloads.convert import ConvertOptions, convert
from spillway.workloads.load import load_log
from spillway.workloads.machine_facts import THESIS_MACHINE
from spillway.workloads.malleable import MalleableOptions, make_malleable
from spillway.workloads.workload import Workload

_LOCAL_LOG = "data/kth/KTH-SP2-1996-2.1-cln.swf.xz"
GENERATOR = "kth-like"

RIGID, SHIFTING, EXPANSION, BOTH = (
    "malleable",
    "malleable:interference=phase-shifting",
    "malleable:expansion=io",
    "malleable:interference=phase-shifting,expansion=io",
)
NAMES: Mapping[Value, str] = {SHIFTING: "shifting", EXPANSION: "expansion", BOTH: "both"}


def log() -> str:
    """KTH's log below ``SPILLWAY_DATA``; without it the generator."""
    local = Path(os.environ.get("SPILLWAY_DATA", "")) / _LOCAL_LOG
    return str(local) if os.environ.get("SPILLWAY_DATA") and local.is_file() else GENERATOR


def workload_of(point: Point, folder: Path) -> WorkloadSpec:
    """Draw the applications of a point: by seed, the next window of the log, or a new draw of the generator."""
    seed, share, jobs = point.whole("seed"), point.number("share"), point.whole("jobs")
    path = folder / f"{Path(point.text('log')).name}-{jobs}-{share:g}-{seed}.json"
    if not path.exists():
        workload = _rigid(point.text("log"), jobs, seed)
        write_batsim(make_malleable(workload, THESIS_MACHINE, MalleableOptions(share=share, seed=seed)), path)
    return WorkloadSpec(source=str(path))


def _rigid(source: str, jobs: int, seed: int) -> Workload:
    options = ConvertOptions(seed=seed, burst_buffers=THESIS_MODEL, oversized="drop")
    if source == GENERATOR:
        return convert(load_log(f"{GENERATOR}:jobs={jobs},seed={seed}")[0], THESIS_MACHINE, options, GENERATOR)[0]
    loaded, name = load_log(source)
    first = loaded.records[seed % max(1, len(loaded.records) // jobs) * jobs].number
    chosen = ConvertOptions(seed=seed, burst_buffers=THESIS_MODEL, oversized="drop", from_job=first, first=jobs)
    return convert(loaded, THESIS_MACHINE, chosen, name)[0]


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


def _grid(shares: Sequence[Value], models: Sequence[Value]) -> Grid:
    fixed: dict[str, Sequence[Value]] = {
        "log": [log()],
        "jobs": [300],
        "policy": ["easy"],
        "platform": ["thesis"],
        "io_control": ["exclusive"],
    }
    return fixed | {"share": shares, "model": models, "seed": SEEDS}


NONE: Mapping[str, Value] = {"share": 0.0, "model": RIGID}
ALL: Mapping[str, Mapping[str, Value]] = {
    model: {"share": 1.0, "model": model} for model in (SHIFTING, EXPANSION, BOTH)
}

STUDY = Study(
    name="malleable-machine",
    title="A whole machine with 0 to 100 % malleable jobs",
    play=Product(workload=workload_of, measure=measure, own=("log", "jobs", "share")),
    grids=[_grid([0.0], [RIGID]), _grid([0.5, 1.0], [SHIFTING, EXPANSION, BOTH])],
    claims=[
        Claim("wait", "our question", "expansion onto idle nodes shortens the mean wait", at_most(1),
              ratio("mean_waiting_time_s", ALL[EXPANSION], NONE)),
        Claim("held", "our question", "expansion holds more of the nodes", at_least(0),
              difference("held_percent", ALL[EXPANSION], NONE), "points"),
        Claim("delay", "our question", "shifting shortens the delay of an I/O phase", at_most(1),
              ratio("io_delay_s", ALL[SHIFTING], NONE)),
        Claim("both", "our question", "both together shorten the mean wait", at_most(1),
              ratio("mean_waiting_time_s", ALL[BOTH], NONE)),
    ],
    quick={"jobs": [60], "seed": [0]},
    figures=[
        Lines(metric, words, x="share", x_words="share of malleable jobs", by="model", names=NAMES)
        for metric, words in (("mean_waiting_time_s", "mean wait (s)"), ("held_percent", "nodes held (%)"),
                              ("io_delay_s", "I/O delay per phase (s)"))
    ],
)  # fmt: skip
