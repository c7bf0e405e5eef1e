"""Errors of a schedule's waits against the site's own, job by job: over all jobs and by partition.

The site's waits are those in its log; the policy ``replay`` plays them within the limits of the machine. Slurm
simulators report the relative deviation of the mean; users would notice the errors of single jobs.

References
----------
Simakov et al., *A Slurm Simulator: Implementation and Parametric Analysis*, PMBS 2017 (waits of single jobs against the
site's).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spillway.analysis.document.blocks import Block, Column, Heading, Listing, Paragraph, Table, Words
from spillway.analysis.document.text import to_csv
from spillway.analysis.measures.compare import comparable, in_order
from spillway.analysis.plots.colours import colour_of
from spillway.analysis.tables.campaign import SITE_POLICY, CampaignResults
from spillway.analysis.tables.jobs import Floats, JobTable
from spillway.analysis.tables.rows import read_rows
from spillway.base.units import duration, number, share

CSV = "site-waits.csv"
"""File in a campaign's folder."""

HOUR_S = 3600.0
ALL = "all"
"""Name for the jobs of all partitions."""

NAMES = ("platform", "model", "policy", "partition")

COLUMNS = (
    Column("jobs", "jobs", number, "Jobs that ran in both, over all workloads and seeds."),
    Column("site_wait_s", "mean wait at the site", duration, "Mean waiting time of these jobs at the site."),
    Column("wait_s", "mean wait", duration, "Their mean waiting time under the policy."),
    Column(
        "deviation", "deviation", lambda value: f"{100 * value:+.1f} %", "The mean wait over that at the site, less 1."
    ),
    Column("median_error_s", "median error", duration, "Half of the jobs' waits differ from the site's by less."),
    Column("mean_error_s", "mean error", duration, "Mean absolute difference of a job's wait from that at the site."),
    Column("within_hour", "within an hour", share, "Share of the jobs with a wait within an hour of the site's."),
)
"""Figures of the jobs of a policy, over all jobs and in each partition."""


def errors(ours_s: Floats, site_s: Floats) -> dict[str, float]:
    """The figures of :data:`COLUMNS` for the waits (s) of the same jobs under a policy and at the site."""
    if not len(ours_s):
        return {column.name: math.nan for column in COLUMNS} | {"jobs": 0.0}
    off_s = np.abs(ours_s - site_s)
    mean_s, site_mean_s = float(ours_s.mean()), float(site_s.mean())
    return {
        "jobs": float(len(ours_s)),
        "site_wait_s": site_mean_s,
        "wait_s": mean_s,
        "deviation": mean_s / site_mean_s - 1.0 if site_mean_s else math.nan,
        "median_error_s": float(np.median(off_s)),
        "mean_error_s": float(off_s.mean()),
        "within_hour": float((off_s <= HOUR_S).mean()),
    }


def rows_of(results: CampaignResults, loaded: Mapping[str, JobTable]) -> list[dict[str, Any]]:
    """Rows of the table: each policy beside the site's own schedule, over all jobs and by partition.

    Without the site's own schedule there is no row.

    Parameters
    ----------
    loaded
        Tables of jobs by name of a run's folder.
    """
    found = []
    for (platform, _, model), rows in results.groups.items():
        site = {(row.workload, row.seed): loaded[row.run] for row in rows if row.policy == SITE_POLICY}
        for policy in dict.fromkeys(row.policy for row in rows if row.policy != SITE_POLICY):
            both = [
                in_order(loaded[row.run], site[row.workload, row.seed])
                for row in rows
                if row.policy == policy
                and (row.workload, row.seed) in site
                and comparable(loaded[row.run], site[row.workload, row.seed])
            ]
            for partition, ours_s, site_s in _by_partition(both):
                found.append(
                    dict(zip(NAMES, (platform, model, policy, partition), strict=True)) | errors(ours_s, site_s)
                )
    return found


def _by_partition(both: Sequence[tuple[JobTable, JobTable]]) -> Iterator[tuple[str, Floats, Floats]]:
    """Waits under a policy and at the site: of all jobs, then of those of each partition, where there are several."""
    if not both:
        return
    ours_s = np.concatenate([ours.wait_s for ours, _ in both])
    site_s = np.concatenate([site.wait_s for _, site in both])
    yield ALL, ours_s, site_s
    partitions = np.array([name for ours, _ in both for name in ours.partition or [""] * len(ours)])
    names = sorted(set(partitions.tolist()) - {""})
    for name in names if len(names) > 1 else ():
        chosen = partitions == name
        yield name, ours_s[chosen], site_s[chosen]


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a file."""
    names = [*NAMES, *(column.name for column in COLUMNS)]
    return to_csv(names, [[row[name] for name in names] for row in rows])


def read(path: Path) -> list[dict[str, Any]]:
    """Rows of a file; :class:`spillway.analysis.errors.AnalysisError` where it has another form."""
    return [
        {name: row[name] for name in NAMES} | {column.name: row.number(column.name) for column in COLUMNS}
        for row in read_rows(path, (*NAMES, *(column.name for column in COLUMNS)), "expected waits beside the site's")
    ]


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The rows as a table for readers."""
    several = [name for name in NAMES[:2] if len({row[name] for row in rows}) > 1]
    split = ["partition"] if any(row["partition"] != ALL for row in rows) else []
    lines = [
        [
            *(Words(row[name]) for name in several),
            Words(row["policy"], colour=colour_of(row["policy"])),
            *(Words(row[name]) for name in split),
            *(column.cell(row[column.name]) for column in COLUMNS),
        ]
        for row in rows
    ]
    return Table([*several, "policy", *split, *COLUMNS], lines)


def section(results: CampaignResults) -> list[Block]:
    """The table, and the parts of the site that are not played; empty where the site's own schedule is unknown."""
    if not (results.folder / CSV).exists():
        return []
    rows = read(results.folder / CSV)
    words = (
        "The same jobs' waits at the site and here, job by job. A simulation with all inputs and the policy of the "
        "site's scheduler would have errors of 0."
    )
    left = _unplayed(results)
    blocks: tuple[Block, ...] = (Paragraph("Not played:"), Listing([*map(Words, left)]))
    return [
        Heading("Errors against the site's own waits"),
        Paragraph(Words(words)),
        table_of(rows),
        *(blocks if left else ()),
    ]


def _unplayed(results: CampaignResults) -> list[str]:
    """Parts of the log and of the site's description that no run plays, each once."""
    found: dict[str, None] = {}
    for row in results.rows:
        assumed = results.record(row).get("assumed")
        if isinstance(assumed, dict):
            found |= dict.fromkeys(
                f"{omission['jobs']:,} jobs ({share(omission['share'])} of the node-hours) {omission['words']}"
                for omission in assumed.get("omissions", ())
            )
            found |= dict.fromkeys(f"of the site: {words}" for words in assumed.get("site", ()))
    return list(found)
