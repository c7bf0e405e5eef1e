"""Comparisons as tables: how published and reproduced values are shown side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from experiments.studies.document import Table, to_csv
from experiments.thesis.checks import Check, Group, Verdict
from experiments.thesis.figures import MODEL_NAMES
from experiments.thesis.models import Model

COLUMNS = (
    "group", "model", "workload", "policy", "metric", "figure", "published", "reproduced", "deviation", "tolerance",
    "verdict",
)  # fmt: skip
"""Columns of ``comparison.csv``."""

_NAMED: Mapping[str, Callable[[Check], str]] = {
    "model": lambda check: MODEL_NAMES[Model(check.key.model)],
    "workload": lambda check: check.key.workload,
    "schedule": lambda check: check.key.policy,
    "metric": lambda check: check.key.metric.removeprefix("median_normalised_").removesuffix("_s").replace("_", " "),
}


def comparison_csv(checks: Sequence[Check]) -> str:
    """All comparisons, one per row."""
    return to_csv(
        COLUMNS,
        [
            (
                *(check.group.value, check.key.model, check.key.workload, check.key.policy, check.key.metric),
                *(check.figure, check.published, check.reproduced, f"{check.deviation:.6f}", check.tolerance),
                check.verdict.value,
            )
            for check in checks
        ],
    )


def tally(checks: Sequence[Check]) -> Table:
    """How many values of each group are as close as they should be."""
    rows = []
    groups = dict.fromkeys((group, model, judged) for group in Group for model in Model for judged in (True, False))
    for group, model, judged in groups:
        found = [c for c in checks if (c.group, c.key.model, c.judged) == (group, model.value, judged)]
        if found:
            close = sum(check.verdict in (Verdict.MET, Verdict.WITHIN) for check in found)
            share = f"{100 * close / len(found):.0f} %"
            wanted = "required" if judged else "only reported"
            names = group.value, MODEL_NAMES[model], _tolerances(found), wanted
            rows.append((*names, str(len(found)), str(close), share))
    return Table(("compared", "model", "tolerance", "judged", "values", "close", "share"), rows)


def listed(checks: Sequence[Check], names: Sequence[str]) -> Table:
    """One row per comparison; ``names`` of model, workload, schedule, metric lead it."""
    rows = [
        (
            *(_NAMED[name](check) for name in names),
            number(check.published),
            number(check.reproduced),
            _deviation(check),
            _tolerance(check),
            check.verdict.value,
            check.figure,
        )
        for check in checks
    ]
    return Table((*names, "published", "reproduced", "deviation", "tolerance", "verdict", "figure"), rows)


def pair(check: Check | None) -> str:
    """A comparison in one cell."""
    if check is None:
        return "-"
    return f"{number(check.reproduced)} / {number(check.published)} ({_deviation(check)})"


def number(value: float) -> str:
    """A value with three or more digits."""
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.3f}"


def _deviation(check: Check) -> str:
    return f"{check.deviation:+.4f}" if check.absolute else f"{100 * check.deviation:+.2f} %"


def _tolerance(check: Check) -> str:
    return f"{check.tolerance:g}" if check.absolute else f"{100 * check.tolerance:.0f} %"


def _tolerances(checks: Sequence[Check]) -> str:
    return "equal" if checks[0].group is Group.MEASURED else ", ".join(dict.fromkeys(map(_tolerance, checks)))
