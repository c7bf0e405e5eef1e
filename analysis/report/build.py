"""Builds the report of a campaign: reads files, writes one file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from analysis.campaign import CampaignResults, RunRow, baseline_of, read_campaign
from analysis.classes import compare_by_class
from analysis.compare import Paired, comparable, compare_runs, in_order
from analysis.findings import Finding, by_class, finding, no_comparison
from analysis.insights import insights
from analysis.markup import Html, fill, fill_page, join
from analysis.metrics import bounded_slowdown
from analysis.names import slug
from analysis.report import tables
from analysis.report.packing import compress, pack_run
from analysis.tables import JobTable, read_run
from schedulers import durable

CHART_JOBS = 300_000
"""Jobs in the interactive charts at most; further runs only have their rows in the tables."""

MANY_ASSUMPTIONS = 12
"""More of them are folded."""

INSIGHT_WORDS = Html(
    "<p>Loss of capacity: share of node-seconds idle although waiting jobs request them. Overtaken: later jobs that "
    "started before a job. Starved: jobs that waited for more than a week.</p>"
)

FIGURES = (
    ("waiting-time", "Mean waiting time by policy, with its 95 % interval where there is one"),
    ("waiting-time-distribution", "Waiting time of all jobs: nested boxes hold the middle half, then half of the rest"),
    ("queue", "Number of waiting jobs over simulated time"),
)


def build_report(folder: Path, out: Path | None = None) -> Path:
    """Write the report of a campaign.

    Parameters
    ----------
    folder
        The campaign's folder.
    out
        File to write; default: ``report.html`` in the folder.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    AnalysisError
        The folder holds no campaign, or a damaged one.
    """
    results = read_campaign(folder)
    loaded = {row.run: read_run(results.path(row)) for row in results.rows}
    parts = [_group(results, key, rows, loaded) for key, rows in results.groups.items()]
    page = fill_page(
        _asset("page.html"),
        title=f"Scheduling experiment: {folder.resolve().name}",
        style=_asset("page.css"),
        script=_asset("page.js"),
        subject=_subject(results),
        groups=join([_assumed(results), *parts], "\n"),
        runs=tables.run_table(results),
        repeat=_repeat(results),
        data=compress(_chart_data(results, loaded)),
    )
    path = out or folder / "report.html"
    durable.write_text(path, page.text)
    return path


def _asset(name: str) -> str:
    return resources.files("analysis.report").joinpath(name).read_text(encoding="utf-8")


def _subject(results: CampaignResults) -> Html:
    workloads = list(dict.fromkeys(row.workload for row in results.rows))
    inputs = {(row.workload, row.seed): int(row.figures["jobs"]) for row in results.rows}
    names = ", ".join(workloads[:4]) + (" ..." if len(workloads) > 4 else "")
    text = (
        f"{len(results.rows)} runs of {len(results.policies)} policies on {len(workloads)} "
        f"workload{'s' if len(workloads) > 1 else ''} ({names}), {len({row.seed for row in results.rows})} seed(s): "
        f"{sum(inputs.values()):,} jobs, each under every policy."
    )
    old = [row.policy for row in results.rows if row.of_other_code]
    if not old:
        return join([text])
    return fill(
        "{text} <strong>{count} of the runs (marked *: {policies}) were made by other code than was there when the "
        "table was written: their figures may hold no more.</strong>",
        text=text,
        count=len(old),
        policies=", ".join(dict.fromkeys(old)),
    )


def _assumed(results: CampaignResults) -> Html:
    """What the figures rest on, besides the workloads as they are."""
    if not results.assumptions:
        return Html("")
    items = join((fill("<li>{text}</li>", text=line) for line in results.assumptions), "\n")
    opened = Html(" open") if len(results.assumptions) <= MANY_ASSUMPTIONS else Html("")
    return fill(
        "<h2>What was assumed</h2>\n<details{opened}><summary>{count} notes on workloads and machines</summary>\n"
        "<ul>\n{items}\n</ul></details>",
        opened=opened,
        count=len(results.assumptions),
        items=items,
    )


Group = tuple[str, str, str]
"""Platform, engine and model of runs that can be compared."""


def _group(results: CampaignResults, key: Group, rows: list[RunRow], loaded: dict[str, JobTable]) -> Html:
    platform, engine, model = key
    policies = list(dict.fromkeys(row.policy for row in rows))
    baseline = baseline_of(policies)
    findings: list[Finding] = []
    comparisons: dict[str, dict[str, Paired]] = {}
    for policy in policies:
        if policy == baseline:
            continue
        both = _same_inputs(rows, policy, baseline, loaded)
        pairs = [in_order(ours, theirs) for ours, theirs in both if comparable(ours, theirs)]
        if len(pairs) < len(both):
            findings.append(
                no_comparison(policy, baseline, [pair for pair in both if not comparable(*pair)], len(both))
            )
        if pairs:
            findings += _findings(policy, baseline, pairs)
            comparisons[policy] = compare_by_class(pairs)
            findings += by_class(policy, baseline, comparisons[policy])
    sections = [fill("<h2>{title}</h2>", title=f"Platform {platform}, engine {engine}, model {model}")]
    if findings:
        sections += [Html("<h3>Findings</h3>"), tables.finding_list(findings)]
    sections.append(Html("<h3>Policies</h3>\n<p>Means over all workloads and seeds. Click a heading to sort.</p>"))
    sections.append(tables.policy_table(rows))
    sections += [
        Html("<h3>What is lost, and which jobs pay</h3>"),
        INSIGHT_WORDS,
        _insights(results, rows, loaded),
    ]
    if comparisons:
        words = fill(
            "<h3>Waiting time by class of jobs</h3>\n"
            "<p>Mean waiting time of the same jobs in relation to {baseline}; below 1 is better. 95 % intervals are "
            "over runs, or over long periods of a run that show no correlation; without such there is no interval. "
            "Short: at most an hour requested; narrow: at most 8 nodes.</p>",
            baseline=baseline,
        )
        sections += [words, tables.class_table(comparisons)]
    return join([*sections, *_figures(results, key)], "\n")


def _insights(results: CampaignResults, rows: Sequence[RunRow], loaded: dict[str, JobTable]) -> Html:
    """Further figures of each policy: means over workloads and seeds."""
    strict = {(row.workload, row.seed): loaded[row.run] for row in rows if row.policy == "fcfs"}
    found: dict[str, list[dict[str, float]]] = {}
    for row in rows:
        fcfs = strict.get((row.workload, row.seed))
        figures = insights(loaded[row.run], results.path(row), fcfs if row.policy != "fcfs" else None)
        found.setdefault(row.policy, []).append(figures.as_dict())
    means = {
        policy: {name: float(np.mean([figures[name] for figures in runs])) for name in runs[0]}
        for policy, runs in found.items()
    }
    names = [
        name for name in next(iter(means.values())) if any(np.isfinite(figures[name]) for figures in means.values())
    ]
    lines = [[policy, *(figures[name] for name in names)] for policy, figures in means.items()]
    return tables.table(["policy", *(name.replace("_", " ") for name in names)], lines)


def _same_inputs(
    rows: Sequence[RunRow], policy: str, baseline: str, loaded: dict[str, JobTable]
) -> list[tuple[JobTable, JobTable]]:
    """Runs of two policies on the same workload and seed."""
    base = {(row.workload, row.seed): row.run for row in rows if row.policy == baseline}
    return [
        (loaded[row.run], loaded[base[row.workload, row.seed]])
        for row in rows
        if row.policy == policy and (row.workload, row.seed) in base
    ]


def _findings(policy: str, baseline: str, pairs: Sequence[tuple[JobTable, JobTable]]) -> list[Finding]:
    metrics = (("waits", lambda table: table.wait_s), ("is slowed down", bounded_slowdown))
    found = []
    for verb, metric in metrics:
        paired = compare_runs([metric(ours) for ours, _ in pairs], [metric(theirs) for _, theirs in pairs])
        found.append(finding(policy, baseline, verb, paired))
    return found


def _figures(results: CampaignResults, key: Group) -> list[Html]:
    """The campaign's figures, as far as they were drawn."""
    folder = results.folder / "plots"
    if len(results.groups) > 1:
        folder /= slug(f"{key[0]}-{key[2]}")
    found = []
    for stem, words in FIGURES:
        path = folder / f"{stem}.png"
        if path.exists():
            data = base64.b64encode(path.read_bytes()).decode()
            found.append(
                fill(
                    '<figure><img alt="{words}" src="data:image/png;base64,{data}">'
                    "<figcaption>{words}</figcaption></figure>",
                    words=words,
                    data=data,
                )
            )
    return [Html("<h3>Figures</h3>"), *found] if found else []


def _chart_data(results: CampaignResults, loaded: dict[str, JobTable]) -> dict[str, Any]:
    """Runs for the interactive charts: workload by workload, until there are enough jobs."""
    order = list(dict.fromkeys((row.platform, row.model, row.workload, row.seed) for row in results.rows))
    rows = sorted(results.rows, key=lambda row: order.index((row.platform, row.model, row.workload, row.seed)))
    packed: list[dict[str, Any]] = []
    places = CHART_JOBS
    for row in rows:
        table = loaded[row.run]
        if len(table) > places:
            break
        places -= len(table)
        parts = [row.workload, f"seed {row.seed}"]
        parts += [row.model] if len({other.model for other in results.rows}) > 1 else []
        parts += [row.platform] if len({other.platform for other in results.rows}) > 1 else []
        names = {"label": f"{row.policy} · {', '.join(parts)}", "group": "/".join(parts)}
        packed.append(pack_run(table, results.path(row), names))
    return {"runs": packed, "left": len(rows) - len(packed)}


def _repeat(results: CampaignResults) -> Html:
    record = results.record(results.rows[0])
    versions = ", ".join(f"{name} {version}" for name, version in record.get("versions", {}).items() if version)
    lines = []
    if versions:
        lines.append(fill("<p>Made with {versions}.</p>", versions=versions))
    if record.get("commit"):
        lines.append(fill("<p>Commit <code>{commit}</code>.</p>", commit=record["commit"]))
    lines.append(
        Html(
            "<p>Every run's folder has its resolved configuration and the command that repeats it (<code>run.json"
            "</code>); the inputs are in <code>inputs</code>. The first run, in the campaign's folder:</p>"
        )
    )
    lines.append(fill("<pre>{command}</pre>", command=record.get("repeat", "not recorded")))
    return join(lines, "\n")
