"""Tables of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from spillway.analysis.campaign import NAMES, CampaignResults
from spillway.analysis.colours import colour_of
from spillway.analysis.compare import Paired
from spillway.analysis.document.blocks import Column, Section, Table, Terms, Words
from spillway.base.units import NONE


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


def class_table(comparisons: Mapping[str, Mapping[str, Paired]]) -> Table:
    """Waiting time by policy and class of jobs, as ratio to the baseline with its interval."""
    classes = list(dict.fromkeys(name for pairs in comparisons.values() for name in pairs))
    rows = [
        [_policy_name(policy), *(_ratio(pairs[name]) if name in pairs else "" for name in classes)]
        for policy, pairs in comparisons.items()
    ]
    return Table(["policy", *classes], rows)


def _ratio(paired: Paired) -> Words:
    ratio = paired.ratio
    if not ratio.is_known:  # or no job waited under the baseline
        return Words(NONE if math.isnan(ratio.value) else f"{ratio.value:.2f}", value=ratio.value)
    mark = "better" if ratio.high < 1 else "worse" if ratio.low > 1 else ""
    return Words(f"{ratio.value:.2f}", mark, ratio.value, f"[{ratio.low:.2f}, {ratio.high:.2f}]")
