"""HTML tables and lists of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from spillway.analysis.campaign import NAMES, CampaignResults
from spillway.analysis.colours import colour_of
from spillway.analysis.compare import Paired
from spillway.analysis.findings import Finding
from spillway.analysis.markup import Html, fill, join
from spillway.analysis.report.columns import Column
from spillway.base.units import NONE, number


def table(header: Sequence[object], rows: Sequence[Sequence[object]], *, kind: str = "") -> Html:
    """Sortable HTML table; numbers are right-aligned and sort as numbers, cells of :class:`Html` stay as they are.

    A heading is a name, or a :class:`Column`, whose explanation is shown when it is pointed at.
    """
    return fill(
        '<div class="scroll"><table class="sortable {kind}"><thead><tr>{head}</tr></thead>'
        "<tbody>\n{body}\n</tbody></table></div>",
        kind=kind,
        head=join(map(_heading, header)),
        body=join((fill("<tr>{cells}</tr>", cells=join(map(_cell, row))) for row in rows), "\n"),
    )


def glossary(columns: Sequence[Column]) -> Html:
    """What the columns mean, for readers without a pointer and on paper."""
    items = (fill("<dt>{title}</dt><dd>{words}</dd>", title=column.title, words=column.words) for column in columns)
    return fill(
        '<details class="glossary"><summary>What the columns mean</summary><dl>{items}</dl></details>',
        items=join(items, "\n"),
    )


def figures_table(
    columns: Sequence[Column], figures: Mapping[str, Mapping[str, float]], marks: Mapping[str, str]
) -> Html:
    """A row per policy, a column per figure; ``marks`` stand behind names."""
    lines = [
        [policy_name(policy, marks.get(policy, "")), *(_figure(column, values[column.name]) for column in columns)]
        for policy, values in figures.items()
    ]
    return table(["policy", *columns], lines, kind="figures")


def policy_name(policy: str, mark: str = "") -> Html:
    """A policy's name behind its colour."""
    return fill(
        '<svg class="swatch" viewBox="0 0 10 10"><rect width="10" height="10" rx="2" fill="{colour}"/></svg>{policy}',
        colour=colour_of(policy),
        policy=policy + mark,
    )


def run_table(results: CampaignResults, columns: Sequence[Column]) -> Html:
    """All runs, one row each."""
    rows = [
        [
            *(policy_name(row.policy) if name == "policy" else getattr(row, name) for name in NAMES),
            *(_figure(column, row.figures[column.name]) for column in columns),
        ]
        for row in results.rows
    ]
    return table([*NAMES, *columns], rows, kind="figures")


def class_table(comparisons: Mapping[str, Mapping[str, Paired]]) -> Html:
    """Waiting time by policy and class of jobs, as ratio to the baseline with its interval."""
    classes = list(dict.fromkeys(name for pairs in comparisons.values() for name in pairs))
    rows = []
    for policy, pairs in comparisons.items():
        rows.append([policy_name(policy), *(_ratio(pairs[name]) if name in pairs else "" for name in classes)])
    return table(["policy", *classes], rows)


def finding_list(findings: Sequence[Finding]) -> Html:
    """Findings as a list; what is not certain is set apart."""
    items = (
        fill('<li class="{kind}">{text}</li>', kind="certain" if one.certain else "open", text=one.text)
        for one in findings
    )
    return fill('<ul class="findings">\n{items}\n</ul>', items=join(items, "\n"))


def _heading(heading: object) -> Html:
    if not isinstance(heading, Column):
        return fill("<th>{name}</th>", name=heading)
    return fill('<th title="{words}">{title}</th>', title=heading.title, words=heading.words)


def _figure(column: Column, value: float) -> Html:
    if math.isnan(value):
        return fill('<span data-value="">{none}</span>', none=NONE)
    return fill('<span data-value="{exact}">{shown}</span>', exact=repr(float(value)), shown=column.shown(value))


def _ratio(paired: Paired) -> Html:
    ratio = paired.ratio
    if math.isnan(ratio.value):  # nothing waited under the baseline
        return fill('<span data-value="">{none}</span>', none=NONE)
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
        return fill('<td class="number" data-value="">{none}</td>', none=NONE)
    return fill('<td class="number" data-value="{exact}">{shown}</td>', exact=repr(value), shown=number(value))
