"""Where the thesis's inputs come from: the published files where there is a copy, else drawn anew from the KTH log."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.errors import SpecError
from experiments.spec import WorkloadSpec
from experiments.thesis.models import Model

VARIABLE = "SPILLWAY_DATA"
"""Environment variable that names the folder of the reference data."""

LOG = "KTH-SP2-1996-2.1-cln"
PARTS = 16
FULL = "full"
"""Name of the whole log in the results; its parts are ``part-0`` to ``part-15``."""

FOLDERS = {Model.ALLOC: "alloc-only", Model.IO: "io-aware"}
ARCHIVE = "kth-split-32-parts.tar.xz"
SAMPLES = {Model.IO: ("io-aware-1000", f"{LOG}-io-aware-1000.json.xz")}
"""Further published inputs by model: name in the results, and file."""

DRAW_SEED = 42
"""Seed of the burst buffers where the published inputs are not there."""


@dataclass(frozen=True)
class ThesisInputs:
    """Sources of one model's workloads.

    Attributes
    ----------
    parts
        The split workload, by number of the part.
    full
        The whole log in one.
    samples
        Further published inputs (the first 1000 jobs of the IO-Aware model).
    original
        Whether they are the published files; else single values cannot be met, only their statistics.
    """

    parts: dict[int, WorkloadSpec]
    full: WorkloadSpec
    samples: tuple[WorkloadSpec, ...]
    original: bool


def find_inputs(model: Model, parts: Sequence[int], folder: Path | None, work: Path) -> ThesisInputs:
    """Find the published inputs, or draw our own from the KTH log (fetched by the catalogue) into ``work``.

    Parameters
    ----------
    model
        The job model.
    parts
        Numbers of the parts that are wanted, 0 to 15.
    folder
        Folder with the published files; ``None``: ``$SPILLWAY_DATA/data/kth`` where that is set and has them.
    work
        Where workloads that are drawn here are written.

    Raises
    ------
    SpecError
        A folder was named and the files are not in it.
    WorkloadError
        The log cannot be had.
    """
    named = folder if folder is not None else _from_environment()
    if named is not None:
        full = named / f"{LOG}-{FOLDERS[model]}-from-parts.json.xz"
        missing = [path.name for path in (named / ARCHIVE, full) if not path.is_file()]
        if not missing:
            return _published(model, parts, named, full)
        if folder is not None:
            raise SpecError(f"--data {folder}: expected the thesis's files there, {missing[0]} is missing")
    return _drawn(model, parts, work)


def _from_environment() -> Path | None:
    value = os.environ.get(VARIABLE, "")
    return Path(value) / "data" / "kth" if value else None


def _published(model: Model, parts: Sequence[int], folder: Path, full: Path) -> ThesisInputs:
    sources = {
        part: WorkloadSpec(source=f"{folder / ARCHIVE}!*{FOLDERS[model]}/part-{part}.json", name=f"part-{part}")
        for part in parts
    }
    found = [SAMPLES[model]] if model in SAMPLES else []
    samples = [WorkloadSpec(source=str(folder / file), name=name) for name, file in found if (folder / file).is_file()]
    return ThesisInputs(sources, WorkloadSpec(source=str(full), name=FULL), tuple(samples), True)


def _drawn(model: Model, parts: Sequence[int], work: Path) -> ThesisInputs:
    """Convert the whole log once, cut it into 16 equal periods, and write the parts that are wanted."""
    from workloads import THESIS_MACHINE, ConvertOptions, load_workload, write_batsim
    from workloads.split import SplitOptions, split_workload

    whole = load_workload(LOG, THESIS_MACHINE, ConvertOptions(model=model.value, seed=DRAW_SEED))
    target = work / f"drawn-{model.value}"
    target.mkdir(parents=True, exist_ok=True)
    write_batsim(whole, target / f"{FULL}.json")
    sources = {}
    for number, part in enumerate(split_workload(whole, SplitOptions(parts=PARTS))):
        if number in parts:
            write_batsim(part, target / f"part-{number}.json")
            sources[number] = WorkloadSpec(source=str(target / f"part-{number}.json"), name=f"part-{number}")
    return ThesisInputs(sources, WorkloadSpec(source=str(target / f"{FULL}.json"), name=FULL), (), False)
