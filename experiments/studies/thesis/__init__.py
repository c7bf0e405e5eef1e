"""The evaluation of Kopański's thesis, repeated with its own rules: every published value, and its six conclusions."""

from collections.abc import Sequence

from spillway.experiments.studies.claims import Parameter
from spillway.experiments.studies.points import Grid
from spillway.experiments.studies.product import Product
from spillway.experiments.studies.study import SEEDS, Study
from spillway.experiments.studies.tables import Means
from spillway.experiments.studies.thesis.claims import VALUES
from spillway.experiments.studies.thesis.conclusions import CONCLUSIONS, DEEPER
from spillway.experiments.studies.thesis.figures import FIGURES
from spillway.experiments.studies.thesis.inputs import ARCHIVE, DRAWS, FULL, PARTS, SAMPLE
from spillway.experiments.studies.thesis.play import lacks, measure, policy, workload
from spillway.experiments.studies.thesis.published import METRICS, UNSOUND
from spillway.experiments.studies.thesis.schedules import CORRECTED, SPLIT, is_random
from spillway.experiments.studies.thesis.schedules import FULL as FULL_SCHEDULES

_ANNEALED = tuple(name for name in SPLIT if is_random(name))
DETERMINED = tuple(name for name in SPLIT if not is_random(name) and name != "window-1")
"""Deterministic schedules; ``window-1`` takes a minute for a part."""

FURTHER = (*DEEPER, *(name + CORRECTED for name in DEEPER), "plan-sum-0", "plan-start" + CORRECTED)
"""Further schedules for the conclusions."""

WHOLE = {
    "rigid": ("fcfs", "no-future-1", "backfill-1", "filler"),
    "io": ("fcfs", "no-future-1", "backfill-sjf-1", "plan-square-0"),
}
"""Schedules of the whole log in the conclusions, or in Figures 4.2 to 4.7."""

MEASURED = ("fcfs", "no-future-1", "backfill-1", "filler", "backfill-sjf-1")


def _grid(
    scale: str, model: str, workloads: Sequence[str], policies: Sequence[str], seeds: Sequence[int] = (0,)
) -> Grid:
    axes = {"data": ("",), "scale": (scale,), "model": (model,), "workload": workloads, "policy": policies}
    return {**axes, "seed": seeds}


STUDY = Study(
    name="thesis",
    title="Kopański's thesis, repeated",
    source="J. Kopański, Optimisation of job scheduling for supercomputers with burst buffers, 2020",
    play=Product(workload=workload, policy=policy, measure=measure, own=("scale", "data")),
    grids=(
        _grid("part", "rigid", PARTS, DETERMINED),
        _grid("part", "rigid", PARTS, ("plan-square-0",), SEEDS),
        _grid("part", "rigid", PARTS, FURTHER),
        _grid("part", "io", PARTS, (*DETERMINED, "plan-square-0")),
        _grid("sample", "io", (SAMPLE,), MEASURED),
        *(_grid(FULL, model, DRAWS, policies) for model, policies in WHOLE.items()),
    ),
    more=(
        *(_grid("part", model, PARTS, (*DETERMINED, "window-1")) for model in FULL_SCHEDULES),
        *(_grid("part", model, PARTS, _ANNEALED, SEEDS) for model in FULL_SCHEDULES),
        *(_grid(FULL, model, DRAWS, policies) for model, policies in FULL_SCHEDULES.items()),
    ),
    claims=(*CONCLUSIONS, *VALUES),
    quick={
        "scale": ("part",),
        "model": ("rigid", "io"),
        "workload": ("part-4", "part-9"),
        "policy": SPLIT,
        "seed": (0,),
    },
    parameters=(
        Parameter("PRECISION", "0.1 %", "tolerance of schedules that their input determines: figures are read to 1e-4"),
        Parameter(
            "SPREAD",
            "1 to 7.5 %",
            "deviation of an annealed mean over the parts, from three of our seeds; its tolerance "
            "is two of them, that of a single part twelve",
        ),
        Parameter("OF_MEDIANS", "0.005, 0.05", "tolerance of medians of ratios without and with chance"),
        Parameter(
            "whole log",
            "five draws of its burst buffers",
            "the original ones are lost; a published value is judged "
            "against the interval of a single draw, if that is no wider than the value",
        ),
        Parameter("EQUAL", "0.1 s", "tolerance against the published scheduler's own run under the real Batsim"),
    ),
    figures=FIGURES,
    tables=(
        Means("Means", METRICS, ("scale", "model", "policy")),
        Means(
            "CPU seconds of a run",
            {"scheduler_cpu_s": "scheduler", "simulator_cpu_s": "simulator"},
            ("scale", "model", "policy"),
        ),
    ),
    unit="workload",
    notes=(
        "Published names of schedules: the number at the end is the reservation depth; all follow the published code "
        "to the letter but those called corrected. Parts are counted from 0 as in the files, from 1 in the thesis.",
        "Equal numbers need the published inputs (--data FOLDER, or below SPILLWAY_DATA). Of the "
        "whole log, whose original files are lost, five draws of burst buffers are played.",
        *(
            f"{policy}, {model}, {part} is left out on both sides: {why}"
            for (model, part, policy), why in UNSOUND.items()
        ),
        "Conclusions have intervals over parts of the log; published values of annealed schedules, over seeds.",
        "Diamonds in figures are published values of the same workload (of the same parts in figures of ratios).",
        "Not compared: seconds spent in the scheduler, which are those of another machine.",
    ),
    data=f"the published inputs ({ARCHIVE} and others)",
    lacks=lacks,
)
