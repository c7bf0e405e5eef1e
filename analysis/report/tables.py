"""HTML tables and lists of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from analysis.campaign import NAMES, CampaignResults, RunRow
from analysis.compare import Paired
from analysis.findings import Finding
from analysis.markup import Html, fill, join

SHOWN = (
    "jobs",
    "rejected",
    "killed",
    "mean_waiting_time_s",
    "median_waiting_time_s",
    "p95_waiting_time_s",
    "max_waiting_time_s",
    "mean_turnaround_time_s",
    "mean_slowdown",
    "mean_bounded_slowdown",
    "makespan_s",
    "compute_utilisation",
    "storage_utilisation",
    "scheduler_cpu_s",
    "wall_s",
    "peak_rss_bytes",
)
COUNTS = ("jobs", "rejected", "killed")


def table(header: Sequence[str], rows: Sequence[Sequence[object]], *, sortable: bool = True) -> Html:
    """HTML table; numbers are right-aligned and sort as numbers, cells of :class:`Html` stay as they are."""
    return fill(
        '<div class="scroll"><table{kind}><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>',
        kind=Html(' class="sortable"' if sortable else ""),
        head=join(fill("<th>{name}</th>", name=name) for name in header),
        body=join((fill("<tr>{cells}</tr>", cells=join(map(_cell, row))) for row in rows), "\n"),
    )


def policy_table(rows: Sequence[RunRow]) -> Html:
    """Figures of each policy: means over workloads and seeds, counts added up."""
    policies = list(dict.fromkeys(row.policy for row in rows))
    names = [name for name in SHOWN if name in rows[0].figures]
    lines = []
    for policy in policies:
        chosen = [row.figures for row in rows if row.policy == policy]
        values = [sum(f[name] for f in chosen) / (1 if name in COUNTS else len(chosen)) for name in names]
        mark = " *" * any(row.of_other_code for row in rows if row.policy == policy)
        lines.append([policy + mark, *values])
    return table(["policy", *map(_title, names)], lines)


def run_table(results: CampaignResults) -> Html:
    """All runs, one row each."""
    names = [name for name in SHOWN if name in results.rows[0].figures]
    rows = [[*(getattr(row, name) for name in NAMES), *(row.figures[name] for name in names)] for row in results.rows]
    return table([*NAMES, *map(_title, names)], rows)


def class_table(comparisons: Mapping[str, Mapping[str, Paired]]) -> Html:
    """Waiting time by policy and class of jobs, as ratio to the baseline with its interval."""
    classes = list(dict.fromkeys(name for pairs in comparisons.values() for name in pairs))
    rows = []
    for policy, pairs in comparisons.items():
        rows.append([policy, *(_ratio(pairs[name]) if name in pairs else "" for name in classes)])
    return table(["policy", *classes], rows)


def finding_list(findings: Sequence[Finding]) -> Html:
    """Findings as a list; what is not certain is set apart."""
    items = (
        fill('<li class="{kind}">{text}</li>', kind="certain" if one.certain else "open", text=one.text)
        for one in findings
    )
    return fill('<ul class="findings">\n{items}\n</ul>', items=join(items, "\n"))


def _ratio(paired: Paired) -> Html:
    ratio = paired.ratio
    if not ratio.is_known:
        return fill('<span data-value="{exact}">{value}</span>', exact=f"{ratio.value:.6g}", value=f"{ratio.value:.2f}")
    return fill(
        '<span class="{kind}" data-value="{exact}">{value} <small>[{low}, {high}]</small></span>',
        kind="better" if ratio.high < 1 else "worse" if ratio.low > 1 else "",
        exact=f"{ratio.value:.6g}",
        value=f"{ratio.value:.2f}",
        low=f"{ratio.low:.2f}",
        high=f"{ratio.high:.2f}",
    )


def _cell(value: object) -> Html:
    if not isinstance(value, int | float):
        return fill("<td>{value}</td>", value=value)
    if math.isnan(value):
        return Html('<td class="number" data-value="">–</td>')
    return fill('<td class="number" data-value="{exact}">{shown}</td>', exact=repr(value), shown=number(value))


def number(value: float) -> str:
    """A figure to be read: no digits without meaning."""
    size = abs(value)
    if size >= 1000 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.2f}" if size >= 1 else f"{value:.3g}"


def _title(name: str) -> str:
    return name.removesuffix("_s").replace("_time", "").replace("_", " ") + (" (s)" if name.endswith("_s") else "")
