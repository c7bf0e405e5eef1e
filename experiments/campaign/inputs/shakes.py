"""Runs with shaken input (:mod:`spillway.workloads.conversion.shake`), in a folder of their own beside the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from spillway.base import durable
from spillway.base.files import read_file
from spillway.experiments.campaign.grid import run_id
from spillway.experiments.campaign.inputs.input_files import write_input
from spillway.experiments.run import manifest
from spillway.experiments.run.folders import INPUTS
from spillway.experiments.run.provenance import site_copy
from spillway.experiments.run.sessions import REPLAY, SITE
from spillway.experiments.run.spec import PreparedInput, RunSpec
from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.workloads.batsim.json_file import batsim_bytes, parse_batsim
from spillway.workloads.conversion.machine_facts import MachineFacts
from spillway.workloads.conversion.shake import shaken

SHAKES = "shakes"
"""Folder of shaken inputs and their runs."""

Shaken = Mapping[str, Sequence[RunSpec]]
"""Runs with shaken input below :data:`SHAKES`, one per shake, in order, by id of the original run."""


def shaken_runs(runs: Iterable[RunSpec], root: Path, shakes: int) -> dict[str, list[RunSpec]]:
    """Prepare shaken inputs, and list the runs that play them.

    Recorded schedules are not shaken: they are facts.

    Parameters
    ----------
    runs
        Runs with inputs that are prepared in ``root``.
    shakes
        Number of shakes of each run.
    """
    folder = root / SHAKES
    (folder / INPUTS).mkdir(parents=True, exist_ok=True)
    files: dict[str, PreparedInput] = {}
    found: dict[str, list[RunSpec]] = {}

    def copied(one: PreparedInput) -> PreparedInput:
        if one.path not in files:
            path = root / one.path
            files[one.path] = write_input(folder, one.name, path.suffix, read_file(path))
        return files[one.path]

    def inputs(run: RunSpec) -> list[PreparedInput]:
        key = f"{run.workload.path} {run.seed}"
        if key not in shaken_inputs:
            workload = parse_batsim(read_file(root / run.workload.path), run.workload.path)
            speed = MachineFacts.from_platform(load_platform(root / run.platform.path)).node_speed_flops
            shaken_inputs[key] = [
                write_input(
                    folder,
                    f"{run.workload.name}, shake {number}",
                    ".json",
                    batsim_bytes(shaken(workload, number, run.seed, speed)),
                )
                for number in range(1, shakes + 1)
            ]
        return shaken_inputs[key]

    shaken_inputs: dict[str, list[PreparedInput]] = {}
    for run in runs:
        if run.policy.policy == REPLAY:
            continue
        events = None if run.events is None else copied(run.events)
        again = [
            msgspec.structs.replace(run, workload=workload, platform=copied(run.platform), events=events)
            for workload in inputs(run)
        ]
        if site := str(run.settings.get(SITE) or ""):
            durable.write_text(folder / site_copy(site), site)
        found[run.id] = [msgspec.structs.replace(run_spec, id=run_id(run_spec)) for run_spec in again]
    return found


def seal_shaken(root: Path, shaken: Shaken) -> None:
    """List the shaken runs in their folder's manifest, when all have finished."""
    folder = root / SHAKES
    if shaken:
        manifest.unseal(folder)
        names = sorted(str(path.relative_to(folder)) for path in (folder / INPUTS).iterdir())
        manifest.seal(folder, names, [run.id for runs in shaken.values() for run in runs])
