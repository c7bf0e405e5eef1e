"""Builds the report of a campaign: reads files, writes one file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from spillway.analysis.answers import site_waits, whatif
from spillway.analysis.answers.comparison import answer
from spillway.analysis.answers.findings import Finding, by_class, finding, no_comparison
from spillway.analysis.document.blocks import (
    Block,
    Code,
    Column,
    Heading,
    Image,
    Listing,
    Paragraph,
    Section,
    Table,
    Terms,
    Words,
)
from spillway.analysis.document.html import shown, to_html
from spillway.analysis.measures.classes import compare_by_class
from spillway.analysis.measures.compare import PairedComparison, comparable, compare_runs, in_order
from spillway.analysis.measures.insights import insights
from spillway.analysis.measures.metrics import bounded_slowdown
from spillway.analysis.plots.colours import BUFFER, NOTHING, PALETTE, RAMP, SIZE, WAIT, colour_of
from spillway.analysis.report.assumptions import assumptions, load_warnings, tau_of
from spillway.analysis.report.columns import FURTHER, LOSSES, SERVICE, explained
from spillway.analysis.report.packing import compress, pack_run
from spillway.analysis.tables.campaign import NAMES, CampaignResults, RunRow, baseline_of, read_campaign
from spillway.analysis.tables.jobs import Floats, JobTable, read_run
from spillway.analysis.tables.names import slug
from spillway.base import durable
from spillway.base.links import refuse_links
from spillway.base.units import NONE, many

PAGE = "report.html"
"""Name of the report in a folder of results."""

CHART_JOBS = 300_000
"""Jobs in the interactive charts at most; further runs only have their rows in the tables."""

FIGURES = {
    "waiting-time": "Mean waiting time by policy, with its 95 % interval where there is one",
    "waiting-time-distribution": "Waiting time of all jobs: nested boxes hold the middle half, then half of the rest",
    "trade-off": "Mean against longest waiting time; on the dotted line are policies that no other beats in both",
    "queue": "Number of waiting jobs over simulated time, in the first workload and seed",
}
"""Files in ``plots`` and their captions."""


def build_report(folder: Path, out: Path | None = None) -> Path:
    """Write the report of a campaign.

    Parameters
    ----------
    folder
        The campaign's folder.
    out
        File to write; default: :data:`PAGE` in the folder.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    AnalysisError
        The folder holds no campaign, or a damaged one.
    InputError
        It holds a link.
    """
    refuse_links(folder)
    results = read_campaign(folder)
    loaded = {row.run: read_run(results.path(row)) for row in results.rows}
    tau_s = tau_of(results.path(results.rows[0]))
    columns = [column for column in explained((*SERVICE, *FURTHER), tau_s) if column.name in results.rows[0].figures]
    blocks = [
        Heading(f"Scheduling experiment: {folder.resolve().name}", 1),
        *_subject(results),
        whatif.answer_of(folder) or _answer(results, loaded, tau_s),
        *site_waits.section(results),
        *assumptions(results, {run: table.machine for run, table in loaded.items()}),
        *(block for key, rows in results.groups.items() for block in _group(results, key, rows, loaded, tau_s)),
        Markup(_asset("schedules.html")),
        Section([run_table(results, columns), glossary(columns)], "runs"),
        *_repeat(results),
    ]
    page = to_html(blocks, contents=False, script=_asset("page.js"), data=compress(_chart_data(results, loaded)))
    path = out or folder / PAGE
    durable.write_text(path, page)
    return path


def _asset(name: str) -> str:
    return resources.files("spillway.analysis.report").joinpath(name).read_text(encoding="utf-8")


def _subject(results: CampaignResults) -> list[Block]:
    """Numbers of jobs, factors and runs; jobs are counted once, however many policies played them."""
    workloads = list(dict.fromkeys(row.workload for row in results.rows))
    names = ", ".join(workloads[:4]) + (" ..." if len(workloads) > 4 else "")
    inputs: dict[tuple[str, str], int] = {}
    for row in results.rows:
        others = [np.nan_to_num(row.figures.get(name, 0.0)) for name in ("rejected", "cancelled")]
        count = int(row.figures["jobs"]) + int(sum(others))
        inputs[row.workload, row.seed] = max(count, inputs.get((row.workload, row.seed), 0))
    counts = sorted(set(inputs.values()))
    jobs = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    seeds = len({row.seed for row in results.rows})
    factors = [f"{many(len(results.policies), 'policy', 'policies')}"]
    factors += [many(len(workloads), "workload", "workloads")] if len(workloads) > 1 else []
    factors += [many(seeds, "seed", "seeds")] if seeds > 1 else []
    groups = len(results.groups)
    factors += [f"{groups} machines or models"] if groups > 1 else []
    text = (
        f"{jobs} jobs of {names} under {' × '.join(factors)}: {many(len(results.rows), 'run', 'runs')}. Every policy "
        "plays the same jobs."
    )
    old = [row.policy for row in results.rows if row.of_other_code]
    names = ", ".join(dict.fromkeys(old))
    warning = (
        f"{len(old)} of the runs (marked *: {names}) were made by other code than the one that wrote "
        "this table: their figures may be out of date."
    )
    return [Paragraph(Words(text)), *([Paragraph(Words(warning), "warning")] if old else [])]


def _answer(results: CampaignResults, loaded: Mapping[str, JobTable], tau_s: float) -> Section:
    """The answer for each machine, engine and model, with warnings of overload."""
    blocks: list[Block] = [Heading("Answer")]
    for key, rows in results.groups.items():
        runs: dict[str, dict[tuple[str, str], JobTable]] = {}
        for row in rows:
            runs.setdefault(row.policy, {})[row.workload, row.seed] = loaded[row.run]
        lines = [*answer(runs, tau_s), *load_warnings(results.record(row) for row in rows)]
        if len(results.groups) > 1:
            lines[0] = f"{_name(key)}: {lines[0]}"
        blocks += [Paragraph(Words(line)) for line in lines]
    return Section(blocks, "answer")


Group = tuple[str, str, str]
"""Platform, engine and model of runs that can be compared."""


def _name(key: Group) -> str:
    platform, engine, model = key
    return f"platform {platform}, engine {engine}, model {model}"


def _group(
    results: CampaignResults, key: Group, rows: list[RunRow], loaded: dict[str, JobTable], tau_s: float
) -> list[Block]:
    policies = list(dict.fromkeys(row.policy for row in rows))
    baseline = baseline_of(policies)
    findings: list[Finding] = []
    comparisons: dict[str, dict[str, PairedComparison]] = {}
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
            findings += _findings(policy, baseline, pairs, tau_s)
            comparisons[policy] = compare_by_class(pairs)
            findings += by_class(policy, baseline, comparisons[policy])
    service, losses = explained(SERVICE, tau_s), explained(LOSSES, tau_s)
    marks = {row.policy: " *" for row in rows if row.of_other_code}
    service = [column for column in service if column.name in rows[0].figures]
    runs = len(rows) // max(len(policies), 1)
    of_runs = f"means over {runs} runs of each policy (workloads, seeds)" if runs > 1 else "one run of each policy"
    blocks: list[Block] = [
        Heading("Policies side by side"),
        Paragraph(Words(f"On {_name(key)}."), "hint"),
        Paragraph(f"Figures are {of_runs}. Click a heading to sort; the columns are explained below the table."),
        figures_table(service, _means(rows, service), marks),
        glossary(service),
    ]
    if findings:
        points = [Words(item.text, "" if item.certain else "hint") for item in findings]
        blocks += [Heading(f"Against {baseline}, one by one", 3), Listing(points)]
    further = _insights(results, rows, loaded)
    losses = [column for column in losses if any(np.isfinite(values[column.name]) for values in further.values())]
    blocks += [Heading("Lost capacity and fairness", 3)]
    blocks += [figures_table(losses, further, marks), glossary(losses)]
    if comparisons:
        words = (
            f"Mean waiting time relative to {baseline}, on the same jobs; below 1 is better. 95 % intervals are "
            "over runs, or over periods of a run long enough to be uncorrelated; without these, no interval is given. "
            "Short: at most an hour requested; narrow: at most 8 nodes."
        )
        blocks += [Heading("Waiting time by class of jobs", 3), Paragraph(Words(words))]
        blocks += [class_table(comparisons)]
    return [*blocks, *_figures(results, key)]


def _means(rows: Sequence[RunRow], columns: Sequence[Column]) -> dict[str, dict[str, float]]:
    """Figures of each policy, means over its runs."""
    return {
        policy: {
            column.name: float(np.mean([row.figures[column.name] for row in rows if row.policy == policy]))
            for column in columns
        }
        for policy in dict.fromkeys(row.policy for row in rows)
    }


def _insights(
    results: CampaignResults, rows: Sequence[RunRow], loaded: dict[str, JobTable]
) -> dict[str, dict[str, float]]:
    """Further figures of each policy: means over workloads and seeds."""
    strict = {(row.workload, row.seed): loaded[row.run] for row in rows if row.policy == "fcfs"}
    found: dict[str, list[dict[str, float]]] = {}
    for row in rows:
        fcfs = strict.get((row.workload, row.seed))
        figures = insights(loaded[row.run], results.path(row), fcfs if row.policy != "fcfs" else None)
        found.setdefault(row.policy, []).append(figures)
    return {
        policy: {name: float(np.mean([figures[name] for figures in runs])) for name in runs[0]}
        for policy, runs in found.items()
    }


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


def _findings(policy: str, baseline: str, pairs: Sequence[tuple[JobTable, JobTable]], tau_s: float) -> list[Finding]:
    metrics: tuple[tuple[str, Callable[[JobTable], Floats]], ...] = (
        ("mean wait", lambda table: table.wait_s),
        ("mean bounded slowdown", lambda table: bounded_slowdown(table, tau_s)),
    )
    found = []
    for name, metric in metrics:
        paired = compare_runs([metric(ours) for ours, _ in pairs], [metric(theirs) for _, theirs in pairs])
        found.append(finding(policy, baseline, name, paired))
    return found


def _figures(results: CampaignResults, key: Group) -> list[Block]:
    """The figures that the campaign has drawn."""
    folder = results.folder / "plots"
    if len(results.groups) > 1:
        folder /= slug(f"{key[0]}-{key[2]}")
    found = []
    for stem, words in FIGURES.items():
        found += [Image(path, words) for path in shown(sorted(folder.glob(f"{stem}.*")))]
    return [Heading("Figures", 3), Section(found, "figures")] if found else []


def _chart_data(results: CampaignResults, loaded: dict[str, JobTable]) -> dict[str, Any]:
    """Runs for the interactive charts: workload by workload, up to :data:`CHART_JOBS` jobs."""
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
        names = {"label": f"{row.policy} · {', '.join(parts)}", "group": "/".join(parts), "folder": row.run}
        names["colour"] = colour_of(row.policy)
        packed.append(pack_run(table, results.path(row), names))
    return {"runs": packed, "left": len(rows) - len(packed), "colours": _job_colours()}


def _job_colours() -> dict[str, Any]:
    """The scales of :mod:`spillway.analysis.plots.colours`, for the page."""
    scales = {"wait": WAIT, "size": SIZE, "buffer": BUFFER}
    return {
        "ramp": RAMP,
        "palette": PALETTE,
        "nothing": NOTHING,
        "scales": {
            name: {"borders": scale.borders, "names": scale.names, "zero": scale.zero} for name, scale in scales.items()
        },
    }


def _repeat(results: CampaignResults) -> list[Block]:
    record = results.record(results.rows[0])
    versions = ", ".join(f"{name} {version}" for name, version in record.get("versions", {}).items() if version)
    made = ", ".join(filter(None, (versions, f"commit {record['commit']}" if record.get("commit") else "")))
    return [
        Heading("Repeating the runs"),
        *([Paragraph(Words(f"Made with {made}."))] if made else []),
        Paragraph(
            "Every run's folder has its resolved configuration and the command that repeats it (`run.json`); the "
            "inputs are in `inputs`. The first run, in the campaign's folder:"
        ),
        Code(str(record.get("repeat", "not recorded"))),
    ]


def glossary(columns: Sequence[Column]) -> Section:
    """Meanings of the columns, for readers without a pointer and on paper."""
    return Section([Terms([(column.title, (column.words,)) for column in columns])], summary="Meanings of the columns")


def figures_table(
    columns: Sequence[Column], figures: Mapping[str, Mapping[str, float]], marks: Mapping[str, str]
) -> Table:
    """A row per policy, a column per figure; ``marks`` follow the names."""
    rows = [
        [_policy_name(policy, marks.get(policy, "")), *(column.cell(values[column.name]) for column in columns)]
        for policy, values in figures.items()
    ]
    return Table(["policy", *columns], rows)


def _policy_name(policy: str, mark: str = "") -> Words:
    """A policy's name behind its colour."""
    return Words(policy + mark, colour=colour_of(policy))


def run_table(results: CampaignResults, columns: Sequence[Column]) -> Table:
    """All runs, one row each."""
    rows = [
        [
            *(_policy_name(row.policy) if name == "policy" else Words(getattr(row, name)) for name in NAMES),
            *(column.cell(row.figures[column.name]) for column in columns),
        ]
        for row in results.rows
    ]
    return Table([*NAMES, *columns], rows)


def class_table(comparisons: Mapping[str, Mapping[str, PairedComparison]]) -> Table:
    """Waiting time by policy and class of jobs, as ratio to the baseline with its interval."""
    classes = list(dict.fromkeys(name for pairs in comparisons.values() for name in pairs))
    rows = [
        [_policy_name(policy), *(_ratio(pairs[name]) if name in pairs else "" for name in classes)]
        for policy, pairs in comparisons.items()
    ]
    return Table(["policy", *classes], rows)


def _ratio(paired: PairedComparison) -> Words:
    ratio = paired.ratio
    if not ratio.is_known:  # or no job waited under the baseline
        return Words(NONE if math.isnan(ratio.value) else f"{ratio.value:.2f}", value=ratio.value)
    mark = "better" if ratio.high < 1 else "worse" if ratio.low > 1 else ""
    return Words(f"{ratio.value:.2f}", mark, ratio.value, f"[{ratio.low:.2f}, {ratio.high:.2f}]")
