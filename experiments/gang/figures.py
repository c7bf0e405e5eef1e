"""Figures 4, 6, 8, 9 and 10 of the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.axes import Axes

from analysis.colours import colour_of
from analysis.plots.interval_lines import interval_lines
from analysis.plots.panels import panels
from analysis.plots.style import save, set_title
from experiments.gang.grid import CLASSES
from experiments.gang.measure import Estimate, Table, geometric
from experiments.gang.run import LABELS, MIGRATE, MIXED_NAME, POLICY_NAMES

_MEASURES = (("slowdown", "mean slowdown"), ("wait_s", "mean wait (s)"))
_LEAST_WAIT_S = 1.0
"""Shorter mean waits are drawn as this, for a logarithmic axis has no zero."""


def draw(table: Table, figures: Sequence[int], folder: Path) -> list[Path]:
    """Draw the figures whose runs are there; return the files."""
    paths: list[Path] = []
    for figure in figures:
        axes = _DRAWERS[figure](table)
        if axes is not None:
            paths += save(axes, folder / f"figure{figure}")
    return paths


def _compare(table: Table, policies: Sequence[str], mixes: Sequence[str]) -> Axes | None:
    """A row of panels per measure, a column per intensity, a line per policy."""
    times = table.grid.times_s
    if not all(table.has(policy, time, mix) for policy in policies for time in times for mix in mixes):
        return None
    width = 4.1 * len(mixes) + 0.6 if len(mixes) > 1 else 10.0
    columns = len(mixes) if len(mixes) > 1 else len(_MEASURES)
    axes = panels(2 if len(mixes) > 1 else 1, columns, width=width, height=6.4 if len(mixes) > 1 else 3.9)
    places = [(metric, label, mix) for metric, label in _MEASURES for mix in mixes]
    for ax, (metric, label, mix) in zip(axes, places, strict=True):
        interval_lines(
            {LABELS[policy]: [(time, *_bounds(_mean(table, metric, policy, time, mix))) for time in times]
             for policy in policies},
            colours={LABELS[policy]: colour_of(policy) for policy in policies}, log=True, ax=ax,
        )  # fmt: skip
        set_title(ax, "mixed intensities" if mix == MIXED_NAME else f"I/O intensity {mix}")
        ax.set_ylabel(label)
        ax.set_xlabel("mean execution time, all blocks local (s)")
    axes[0].legend(frameon=False, fontsize=9)
    return axes[0]


def _mean(table: Table, metric: str, policy: str, time: int, mix: str, **others: float | int) -> Estimate:
    return geometric([max(value, _LEAST_WAIT_S) for value in table.values(metric, policy, time, mix, **others)])


def _bounds(found: Estimate) -> tuple[float, float, float]:
    return found.value, found.low, found.high


def _figure_8(table: Table) -> Axes | None:
    """Slowdown over the cost, and over the limit, relative to no cost and to no migration."""
    time, grid = table.grid.times_s[-1], table.grid
    wanted = [{"cost_s": cost} for cost in grid.costs_s] + [{"limit": limit} for limit in grid.limits]
    if not all(table.has(MIGRATE, time, mix, **others) for mix in CLASSES for others in wanted):
        return None
    axes = panels(1, 2, width=10.5, height=4.0)
    sides = (
        ("cost_s", grid.costs_s, "cost of a migration C (s)"),
        ("limit", grid.limits, "most tasks migrated in a slice, Q"),
    )
    for ax, (name, values, label) in zip(axes, sides, strict=True):
        lines = {}
        for mix in CLASSES:
            base = table.values("slowdown", MIGRATE, time, mix, **{name: values[0]})
            lines[f"I/O intensity {mix}"] = [
                (value, *_bounds(geometric([one / first for one, first in zip(found, base, strict=True)])))
                for value in values
                for found in [table.values("slowdown", MIGRATE, time, mix, **{name: value})]
            ]
        interval_lines(lines, ax=ax)
        ax.set_xlabel(label)
        ax.set_ylabel(f"slowdown / slowdown at {'C' if name == 'cost_s' else 'Q'} = 0")
        ax.set_ylim(0.0, 1.05 * ax.get_ylim()[1])
        set_title(ax, f"Migrate-IOGS at {time:,} s")
    axes[1].legend(frameon=False, fontsize=9)
    return axes[0]


_DRAWERS: dict[int, Callable[[Table], Axes | None]] = {
    4: lambda table: _compare(table, POLICY_NAMES[:2], CLASSES),
    6: lambda table: _compare(table, POLICY_NAMES[:3], CLASSES),
    8: _figure_8,
    9: lambda table: _compare(table, POLICY_NAMES, CLASSES),
    10: lambda table: _compare(table, POLICY_NAMES, (MIXED_NAME,)),
}
