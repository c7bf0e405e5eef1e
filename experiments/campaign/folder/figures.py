"""The figures of a campaign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from matplotlib.axes import Axes

from spillway.analysis.answers.story import first_promises
from spillway.analysis.plots.style import drawing, plain, save
from spillway.analysis.tables.campaign import read_campaign
from spillway.analysis.tables.jobs import Floats, JobTable, read_run
from spillway.analysis.tables.names import slug
from spillway.analysis.tables.traffic import file_system_rate, read_transfers
from spillway.experiments.campaign.folder.paper import Paper
from spillway.experiments.run import folders, manifest
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.reasons import REASONS
from spillway.experiments.run.spec import RunSpec

GANTT_JOBS = 20_000
"""Runs with more jobs get no Gantt chart: it would not be legible."""


def draw(runs: Sequence[RunSpec], root: Path) -> Iterator[list[Path]]:
    """Draw the figures of all finished runs into ``plots``; yield the files of each figure when they are written.

    Comparisons are over all workloads and seeds together; Gantt charts and timelines show the first workload and seed.
    """
    from spillway.analysis.plots.distributions import bars, boxen
    from spillway.analysis.plots.points import pareto
    from spillway.analysis.plots.timelines import queue_timeline

    done = [run for run in runs if folders.is_finished(root / run.id)]
    kinds = {(run.platform.name, run.model.label): None for run in done}
    for platform, model in kinds:
        chosen = [run for run in done if (run.platform.name, run.model.label) == (platform, model)]
        folder = root / "plots"
        if len(kinds) > 1:
            folder /= slug(f"{platform}-{model}")
        tables = {run.id: read_run(root / run.id).ran() for run in chosen}
        runs_of = _waits(chosen, tables)
        waits = {label: np.concatenate(found) for label, found in runs_of.items()}
        first = [run for run in chosen if (run.workload, run.seed) == (chosen[0].workload, chosen[0].seed)]
        name = plain(first[0].workload.name)
        shown = {plain(run.policy.label): tables[run.id] for run in first}
        axes = {
            "waiting-time": bars(runs_of, title="Mean waiting time"),
            "waiting-time-distribution": boxen(waits, title="Waiting time of all jobs"),
            "queue": queue_timeline(shown, title=f"Jobs waiting ({name})"),
        }
        if len(waits) > 2:
            axes["trade-off"] = pareto(
                {label: (float(w.mean()), float(w.max())) for label, w in waits.items() if w.size}
            )
        for stem, ax in axes.items():
            yield save(ax, folder / stem)
        for run in first:
            for stem, ax in _of_run(run, tables[run.id], root / run.id).items():
                yield save(ax, folder / stem)


def draw_again(root: Path, paper: Paper) -> None:
    """Draw the figures of a campaign's folder beside those that it has; its manifest covers them.

    Raises
    ------
    SpecError
        A run was made by a version with another description of runs.
    AnalysisError
        The folder is not a campaign's.
    """
    runs = [_described(root / row.run) for row in read_campaign(root).rows]
    with drawing(paper.width_mm, paper.style, paper.figures):
        for paths in draw(runs, root):
            for path in paths:
                manifest.add(root, str(path.relative_to(root)))


def _described(folder: Path) -> RunSpec:
    try:
        return msgspec.convert(folders.read_json(folder / folders.RUN_FILE)["configuration"], RunSpec)
    except (KeyError, msgspec.ValidationError) as error:
        raise SpecError(
            f"{folder}: its {folders.RUN_FILE} is of another version ({error}): repeat the command"
        ) from None


def _of_run(run: RunSpec, table: JobTable, files: Path) -> dict[str, Axes]:
    from spillway.analysis.plots.gantt import gantt
    from spillway.analysis.plots.points import promises
    from spillway.analysis.plots.timelines import file_system_timeline

    label = slug(run.policy.label)
    axes: dict[str, Axes] = {}
    title = plain(f"{run.policy.label} on {run.workload.name}")
    if 0 < len(table) <= GANTT_JOBS:
        axes[f"gantt-{label}"] = gantt(table, title=title)
    if run.model.name == "io":
        rate = file_system_rate(read_transfers(files))
        axes[f"file-system-{label}"] = file_system_timeline(rate, title=f"Traffic of the file system ({title})")
    if (files / REASONS).exists():
        axes[f"promises-{label}"] = promises(*first_promises(files), title=title)
    return axes


def _waits(runs: Sequence[RunSpec], tables: dict[str, JobTable]) -> dict[str, list[Floats]]:
    """Waiting times of each policy's runs, each in order of submission."""
    found: dict[str, list[Floats]] = {}
    for run in runs:
        table = tables[run.id]
        waits = table.wait_s[np.argsort(table.submit_s, kind="stable")]
        found.setdefault(plain(run.policy.label), []).append(waits)
    return found
