"""HTML tables and lists of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from analysis.campaign import NAMES, CampaignResults, RunRow
from analysis.compare import Paired
from analysis.findings import Finding

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


def table(header: Sequence[str], rows: Sequence[Sequence[object]], *, sortable: bool = True) -> str:
    """HTML table; numbers are right-aligned and sort as numbers, cells that are HTML start with ``<``."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "\n".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    kind = ' class="sortable"' if sortable else ""
    return f'<div class="scroll"><table{kind}><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def policy_table(rows: Sequence[RunRow]) -> str:
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


def run_table(results: CampaignResults) -> str:
    """All runs, one row each."""
    names = [name for name in SHOWN if name in results.rows[0].figures]
    rows = [[*(getattr(row, name) for name in NAMES), *(row.figures[name] for name in names)] for row in results.rows]
    return table([*NAMES, *map(_title, names)], rows)


def class_table(comparisons: Mapping[str, Mapping[str, Paired]]) -> str:
    """Waiting time by policy and class of jobs, as ratio to the baseline with its interval."""
    classes = list(dict.fromkeys(name for pairs in comparisons.values() for name in pairs))
    rows = []
    for policy, pairs in comparisons.items():
        rows.append([policy, *(_ratio(pairs[name]) if name in pairs else "" for name in classes)])
    return table(["policy", *classes], rows)


def finding_list(findings: Sequence[Finding]) -> str:
    """Findings as a list; what is not certain is set apart."""
    items = "\n".join(
        f'<li class="{"certain" if finding.certain else "open"}">{escape(finding.text)}</li>' for finding in findings
    )
    return f"<ul class='findings'>\n{items}\n</ul>"


def _ratio(paired: Paired) -> str:
    ratio = paired.ratio
    kind = "better" if ratio.high < 1 else "worse" if ratio.low > 1 else ""
    text = f"{ratio.value:.2f} <small>[{ratio.low:.2f}, {ratio.high:.2f}]</small>"
    return f'<span class="{kind}" data-value="{ratio.value:.6g}">{text}</span>'


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        if math.isnan(value):
            return '<td class="number" data-value="">–</td>'
        return f'<td class="number" data-value="{value!r}">{number(value)}</td>'
    text = str(value)
    return f"<td>{text}</td>" if text.startswith("<") else f"<td>{escape(text)}</td>"


def number(value: float) -> str:
    """A figure to be read: no digits without meaning."""
    size = abs(value)
    if size >= 1000 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.2f}" if size >= 1 else f"{value:.3g}"


def _title(name: str) -> str:
    return name.removesuffix("_s").replace("_time", "").replace("_", " ") + (" (s)" if name.endswith("_s") else "")
