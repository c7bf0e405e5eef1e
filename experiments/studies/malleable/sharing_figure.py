"""Figures 17 to 19 of the paper in one: processes, delays and FLOPS by rule, means over the seeds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes

from spillway.analysis.colours import PALETTE, in_order
from spillway.analysis.plots.panels import panels
from spillway.analysis.plots.style import INK, save, set_title
from spillway.experiments.studies import statistics
from spillway.experiments.studies.malleable.four import RULES, TABLE_2
from spillway.experiments.studies.measures import change
from spillway.experiments.studies.points import Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample

WIDTH = 0.84 / len(RULES)
SHORT = {"fair": "FR", "speed-up": "SP", "I/O": "IO"}


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw all three figures; return their files."""
    totals = sorted({point.whole("processes") for point in results.values})
    if not totals:
        return []
    axes = panels(1, 3, width=12.0, height=3.8)
    _processes(axes[0], results, totals)
    for place, rule in enumerate(RULES):
        colour, delays = PALETTE[5 + place], []
        gains = []
        for total in totals:
            here = results.at({"processes": total})
            delays.append(_mean(here.mean("delay", {"rule": rule})))
            gains.append(_mean(change("flops", {"rule": rule}, {"rule": "fair"})(here)))
        places = [column + _shift(place) for column in range(len(totals))]
        axes[1].bar(places, delays, WIDTH * 0.9, color=colour, label=rule)
        axes[2].bar(places, gains, WIDTH * 0.9, color=colour, label=rule)
    axes[2].axhline(0, color=INK, linewidth=0.8)
    for ax, title in zip(axes, ("processes by application", "sum of the mean delays (s)", "FLOPS against fair (%)"),
                         strict=True):  # fmt: skip
        set_title(ax, title)
        ax.set_xticks(range(len(totals)), list(map(str, totals)))
        ax.set_xlabel("processes")
        ax.grid(axis="y")
    axes[0].legend(loc="upper left", frameon=False, fontsize="medium")
    axes[1].legend(loc="upper left", frameon=False, fontsize="medium")
    return save(axes[0], folder / "figures-17-18-19")


def _processes(ax: Axes, results: Results, totals: list[int]) -> None:
    palette: Mapping[str, str] = in_order([row.name for row in TABLE_2])
    for column, total in enumerate(totals):
        for place, rule in enumerate(RULES):
            at, bottom = column + _shift(place), 0.0
            for row in TABLE_2:
                axes: dict[str, Value] = {"processes": total, "rule": rule}
                height = row.processes + _mean(results.mean(f"gained_{row.name}", axes))
                label = "" if column or place else row.name
                ax.bar(at, height, WIDTH * 0.9, bottom=bottom, color=palette[row.name], label=label)
                bottom += height
            ax.annotate(SHORT[rule], (at, bottom), ha="center", va="bottom", fontsize="small")


def _shift(place: int) -> float:
    return (place - (len(RULES) - 1) / 2) * WIDTH


def _mean(sample: Sample) -> float:
    return statistics.estimate(sample).value
