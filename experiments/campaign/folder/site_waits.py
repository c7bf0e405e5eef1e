"""Waiting times beside the site's own, from the files of a campaign and from its log."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from spillway.analysis.answers import site_waits
from spillway.analysis.document.terminal import show
from spillway.analysis.tables.campaign import read_campaign
from spillway.analysis.tables.jobs import JobTable, read_eligible, read_run
from spillway.base import durable
from spillway.base.files import read_file
from spillway.experiments.run import sessions
from spillway.experiments.run.spec import RunSpec
from spillway.schedulers.policies.replay import SITE_WAIT
from spillway.workloads.batsim.json_file import parse_batsim


def write(unchanged: Sequence[RunSpec], root: Path, console: Console) -> list[Path]:
    """Print and write a comparison of waiting times with the site's own; return the files that were written.

    Parameters
    ----------
    unchanged
        The runs, the site's own schedule among them; of a what-if question those without a change.
    """
    results = read_campaign(root)
    by_name = {run.id: run for run in unchanged}
    results = dataclasses.replace(results, rows=tuple(row for row in results.rows if row.run in by_name))
    found = site_waits.rows_of(results, {row.run: as_stated(by_name[row.run], root) for row in results.rows})
    if not found:
        return []
    durable.write_text(root / site_waits.CSV, site_waits.csv_of(found))
    table = site_waits.table_of(found)
    names = len(table.headings) - len(site_waits.COLUMNS)
    show(console, table, "waits beside the site's own", names=names)
    return [root / site_waits.CSV]


def _waits_s(run: RunSpec, root: Path) -> Mapping[str, float]:
    """Waiting time of each job according to the log, by name (s); from its eligible time where other jobs held it."""
    jobs = parse_batsim(read_file(root / run.workload.path), run.workload.path).jobs
    eligible_s = {job: time_s for (_, job), time_s in read_eligible(root / run.id).items()}
    return {
        job.name: max(job.extras[SITE_WAIT] - max(0.0, eligible_s.get(job.name, 0.0) - job.subtime), 0.0)
        for job in jobs
    }


def as_stated(run: RunSpec, root: Path) -> JobTable:
    """The jobs of a run; for the site's own schedule with the starts of the log, which may not fit the machine."""
    table = read_run(root / run.id)
    if run.policy.policy != sessions.REPLAY:
        return table
    waits_s = _waits_s(run, root)
    table = table.only(np.array([name in waits_s for name in table.job_id], dtype=bool))  # no log states attempts
    start_s = table.submit_s + np.array([waits_s[name] for name in table.job_id])
    return dataclasses.replace(table, start_s=np.where(table.executed, start_s, np.nan))
