"""Where the thesis's inputs come from: the published files where there is a copy, else drawn anew from the KTH log."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.errors import SpecError
from experiments.spec import Model, WorkloadSpec
from experiments.thesis.published import full_name

VARIABLE = "SPILLWAY_DATA"
"""Environment variable that names the folder of the reference data."""

FOLDERS = {Model.ALLOC: "alloc-only", Model.IO: "io-aware"}
LOG = "KTH-SP2-1996-2.1-cln"
PARTS = 16
DRAW_SEED = 42
"""Seed of the burst buffers where the published inputs are not there."""


@dataclass(frozen=True)
class ThesisInputs:
    """Sources of the split and full workloads of one model.

    Attributes
    ----------
    parts, full
        Sources by workload name (``part-4``, ``full``).
    original
        Whether they are the published files; else single values cannot be met, only their statistics.
    """

    parts: dict[str, WorkloadSpec]
    full: WorkloadSpec
    original: bool


def find_inputs(model: Model, parts: Sequence[int], folder: Path | None, work: Path) -> ThesisInputs:
    """Find the published inputs, or draw our own from the KTH log (fetched by the catalogue) into ``work``.

    Parameters
    ----------
    folder
        Folder with ``kth-split-32-parts.tar.xz``; ``None``: ``$SPILLWAY_DATA/data/kth`` where that is set.

    Raises
    ------
    SpecError
        A folder was named and the files are not in it.
    """
    named = folder if folder is not None else _from_environment()
    if named is not None:
        archive = named / "kth-split-32-parts.tar.xz"
        full = named / f"{full_name(model)}.json.xz"
        missing = [path for path in (archive, full) if not path.is_file()]
        if not missing:
            sources = {
                f"part-{part}": WorkloadSpec(source=f"{archive}!*{FOLDERS[model]}/part-{part}.json", name=f"part-{part}")
                for part in parts
            }
            return ThesisInputs(sources, WorkloadSpec(source=str(full), name="full"), True)
        if folder is not None:
            raise SpecError(f"--data {folder}: expected the thesis's files there, {missing[0].name} is missing")
    return _drawn(model, parts, work)


def _from_environment() -> Path | None:
    value = os.environ.get(VARIABLE, "")
    return Path(value) / "data" / "kth" if value else None


def _drawn(model: Model, parts: Sequence[int], work: Path) -> ThesisInputs:
    """Convert the whole log once, cut it into 16 equal periods, and write the parts that are wanted."""
    from workloads import THESIS_MACHINE, ConvertOptions, load_workload
    from workloads.split import split_workload

    whole = load_workload(LOG, THESIS_MACHINE, ConvertOptions(model=model.value, seed=DRAW_SEED))
    target = work / f"drawn-{model.value}"
    target.mkdir(parents=True, exist_ok=True)
    whole.write(target / "full.json")
    sources = {}
    for number, part in enumerate(split_workload(whole, PARTS)):
        if number in parts:
            part.write(target / f"part-{number}.json")
            sources[f"part-{number}"] = WorkloadSpec(source=str(target / f"part-{number}.json"))
    return ThesisInputs(sources, WorkloadSpec(source=str(target / "full.json")), False)
