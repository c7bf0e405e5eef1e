"""Inputs of the thesis: the published files if there is a copy, else drawn anew from the KTH log."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import WorkloadSpec
from spillway.experiments.studies.local_logs import VARIABLE as VARIABLE
from spillway.experiments.studies.local_logs import Log

LOG = "KTH-SP2-1996-2.1-cln"
PARTS = tuple(f"part-{number}" for number in range(16))
FULL = "full"
"""Name of the whole log in the results, and among published values."""

DRAWS = tuple(f"{FULL}-{seed}" for seed in range(5))
"""The whole log with its burst buffers drawn anew, by seed: its original files are lost."""

_LOG_FILE = "data/kth/KTH-SP2-1996-2.1-cln.swf.xz"

FOLDERS = {"rigid": "alloc-only", "io": "io-aware"}
"""Folders of the published files by job model; the thesis calls the two Alloc-Only and IO-Aware."""

_CONVERTED: Mapping[str, Literal["alloc", "io"]] = {"rigid": "alloc", "io": "io"}
"""The two models by their names in the conversion of logs."""

ARCHIVE = "kth-split-32-parts.tar.xz"
SAMPLE = "io-aware-1000"
_SAMPLE_JOBS = 1000
"""The first jobs of the log, IO-Aware: a further published input."""

_DRAW_SEED = 42
"""Seed of the burst buffers if the published inputs are missing."""


def find_inputs(model: str, folder: Path | None, work: Path) -> dict[str, WorkloadSpec]:
    """Find the published inputs, or draw our own from the KTH log (fetched by the catalogue) into ``work``.

    They are ``part-0`` to ``part-15``, ``full`` (joined from the parts), draws of it, and for the IO-Aware model the
    sample of 1,000 jobs.

    Parameters
    ----------
    model
        ``rigid`` or ``io``.
    folder
        Folder with the published files; ``None``: ``$SPILLWAY_DATA/data/kth`` if it is set and has them.
    work
        Folder for workloads that are drawn.

    Raises
    ------
    SpecError
        A folder was named and the files are not in it.
    WorkloadError
        The log is not available.
    """
    named = published_folder(folder)
    found = _drawn(model, work) if named is None else _published(model, named)
    log = Log(96, LOG, _LOG_FILE).place
    draws = {name: WorkloadSpec(source=log, name=name, seed=seed) for seed, name in enumerate(DRAWS)}
    return {**found, **draws}


def published_folder(folder: Path | None) -> Path | None:
    """Folder of the published files: the named one, else that of the environment; ``None``: they are not here.

    Raises
    ------
    SpecError
        A folder was named and the files are not in it.
    """
    data = os.environ.get(VARIABLE, "")
    if folder is None and not data:
        return None
    named = folder or Path(data) / "data" / "kth"
    wanted = (named / ARCHIVE, *(named / _full(model) for model in FOLDERS), named / _sample())
    missing = [path.name for path in wanted if not path.is_file()]
    if missing and folder is not None:
        raise SpecError(f"--data {folder}: expected the thesis's files there, {missing[0]} is missing")
    return None if missing else named


def _full(model: str) -> str:
    return f"{LOG}-{FOLDERS[model]}-from-parts.json.xz"


def _sample() -> str:
    return f"{LOG}-{SAMPLE}.json.xz"


def _published(model: str, folder: Path) -> dict[str, WorkloadSpec]:
    places = {name: f"{folder / ARCHIVE}!*{FOLDERS[model]}/{name}.json" for name in PARTS}
    places[FULL] = str(folder / _full(model))
    if model == "io":
        places[SAMPLE] = str(folder / _sample())
    return {name: WorkloadSpec(source=place, name=name) for name, place in places.items()}


def _drawn(model: str, work: Path) -> dict[str, WorkloadSpec]:
    """Convert the whole log once, cut it into 16 equal periods, and write them."""
    from spillway.workloads import THESIS_MACHINE, ConvertOptions, load_workload, write_batsim
    from spillway.workloads.conversion.split import SplitOptions, split_workload

    whole = load_workload(LOG, THESIS_MACHINE, ConvertOptions(model=_CONVERTED[model], seed=_DRAW_SEED))
    drawn = dict(zip(PARTS, split_workload(whole, SplitOptions(parts=len(PARTS))), strict=False)) | {FULL: whole}
    if model == "io":
        drawn[SAMPLE] = dataclasses.replace(whole, jobs=whole.jobs[:_SAMPLE_JOBS])
    target = work / f"drawn-{model}"
    target.mkdir(parents=True, exist_ok=True)
    for name, workload in drawn.items():
        write_batsim(workload, target / f"{name}.json")
    return {name: WorkloadSpec(source=str(target / f"{name}.json"), name=name) for name in drawn}
