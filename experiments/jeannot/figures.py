"""The kinds of the paper's Figures 4 to 9."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from analysis.colours import PALETTE
from analysis.plots.panels import panels
from analysis.plots.style import FAINT, save
from experiments.jeannot.claims import Cells
from experiments.jeannot.inference import interval
from experiments.jeannot.measures import PARTS, Outcome
from experiments.jeannot.run import STRATEGIES

COLOURS = dict(zip(STRATEGIES, (PALETTE[0], PALETTE[7], PALETTE[5], PALETTE[2]), strict=True))
MARKERS = dict(zip(STRATEGIES, "osD^", strict=True))
DASHES: Mapping[str, str] = dict(zip(STRATEGIES, ("-", ":", "--", "-."), strict=True))
SHOWN = 4
"""Loads shown in the figures over time; all others would only lie between them."""


def draw(cells: Cells, folder: Path) -> list[Path]:
    """Draw everything; return the files."""
    families = list(dict.fromkeys(family for family, *_ in sorted(cells)))
    paths: list[Path] = []
    for number, protocol, words in ((4, "M", "Mira"), (5, "U", "uniform")):
        chosen = [family for family in families if family[0] == protocol]
        if chosen:
            title = f"Utilisation during the execution, {words} protocol"
            paths += save(_courses(cells, chosen, title), folder / f"figure{number}-utilisation-{words.lower()}")
    for number, field, words in ((6, "max_stretch", "Maximum stretch"), (7, "mean_stretch", "Mean stretch")):
        paths += save(_stretch(cells, families, field, words), folder / f"figure{number}-{field.replace('_', '-')}")
    mira = [family for family in families if family[0] == "M"]
    if mira:
        paths += save(_resources(cells, mira), folder / "figure8-resources")
    for family in families:
        paths += save(_trade_off(cells, family), folder / f"figure9-idle-stretch-{family.lower()}")
    return paths


def _loads(cells: Cells) -> list[float]:
    return sorted({alpha for _, alpha, _ in cells})


def _spread(loads: Sequence[float]) -> list[float]:
    """A few of the loads, evenly spread, the first and the last among them."""
    if len(loads) <= SHOWN:
        return list(loads)
    return [loads[round(index * (len(loads) - 1) / (SHOWN - 1))] for index in range(SHOWN)]


def _outcomes(cells: Cells, family: str, alpha: float | None, name: str) -> list[Outcome]:
    return [
        result.outcomes[name]
        for (one, load, _), result in sorted(cells.items())
        if one == family and (alpha is None or load == alpha)
    ]


def _mean_course(found: Sequence[Outcome], course: str) -> np.ndarray:
    return np.asarray(np.mean([getattr(outcome, course) for outcome in found], axis=0))


def _legend(ax: Axes) -> None:
    figure = ax.get_figure(root=True)
    assert figure is not None
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)


def _title(ax: Axes, text: str) -> None:
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.suptitle(text, x=0.01, ha="left", fontsize=12, fontweight="bold")


def _courses(cells: Cells, families: Sequence[str], title: str) -> Axes:
    """Figures 4 and 5: one panel per family and load, mean of the draws."""
    loads = _spread(_loads(cells))
    grid = panels(len(families), len(loads), width=3.1 * len(loads), height=2.5 * len(families) + 0.8)
    progress = (np.arange(PARTS) + 0.5) / PARTS
    for row, family in enumerate(families):
        for column, alpha in enumerate(loads):
            ax = grid[row * len(loads) + column]
            for name in STRATEGIES:
                mean = 100 * _mean_course(_outcomes(cells, family, alpha, name), "computing")
                ax.plot(progress, mean, DASHES[name], color=COLOURS[name], label=name, linewidth=1.6)
            ax.set_title(f"{family}, load {alpha:g}", loc="left", fontsize=10)
            ax.set_ylim(0, 100)
            ax.set_xlim(0, 1)
            ax.grid(axis="y")
            if column == 0:
                ax.set_ylabel("processors computing (%)")
            if row == len(families) - 1:
                ax.set_xlabel("share of the execution")
    _title(grid[0], title)
    _legend(grid[0])
    return grid[0]


def _stretch(cells: Cells, families: Sequence[str], field: str, words: str) -> Axes:
    """Figures 6 and 7: a point per run, lines through the means with 95 % intervals."""
    grid = panels(1, len(families), width=3.3 * len(families), height=3.9)
    loads = _loads(cells)
    step = min(0.1, *np.diff(loads)) if len(loads) > 1 else 0.1
    for ax, family in zip(grid, families, strict=True):
        for place, name in enumerate(STRATEGIES):
            shift = (place - 1.5) * 0.12 * step
            means, lows, highs = [], [], []
            for alpha in loads:
                values = [getattr(outcome, field) for outcome in _outcomes(cells, family, alpha, name)]
                ax.plot(
                    [alpha + shift] * len(values), values, MARKERS[name], color=COLOURS[name], alpha=0.25, markersize=3,
                    markeredgewidth=0,
                )  # fmt: skip
                low, high = interval(values)
                means.append(float(np.mean(values)))
                lows.append(means[-1] - low)
                highs.append(high - means[-1])
            ax.errorbar(
                [alpha + shift for alpha in loads], means, [lows, highs], fmt=DASHES[name], marker=MARKERS[name],
                markersize=4.5, color=COLOURS[name], label=name, linewidth=1.5, elinewidth=1.2,
            )  # fmt: skip
        ax.set_title(family, loc="left", fontsize=10)
        ax.set_xlabel("I/O load")
        ax.grid(axis="y")
    grid[0].set_ylabel(words.lower())
    _title(grid[0], f"{words}: single runs, means and 95 % intervals")
    _legend(grid[0])
    return grid[0]


_RESOURCES: Mapping[str, tuple[str, float]] = {
    "running": ("jobs running", 1.0),
    "allocated": ("processors held (%)", 100.0),
    "transferring": ("bandwidth in use (%)", 100.0),
}


def _resources(cells: Cells, families: Sequence[str]) -> Axes:
    """Figure 8: running jobs, processors, bandwidth during the execution, mean of all loads and draws."""
    grid = panels(len(families), len(_RESOURCES), width=11.0, height=2.6 * len(families) + 0.8)
    progress = (np.arange(PARTS) + 0.5) / PARTS
    for row, family in enumerate(families):
        for column, (course, (words, factor)) in enumerate(_RESOURCES.items()):
            ax = grid[row * len(_RESOURCES) + column]
            for name in STRATEGIES:
                mean = factor * _mean_course(_outcomes(cells, family, None, name), course)
                ax.plot(progress, mean, DASHES[name], color=COLOURS[name], label=name, linewidth=1.6)
            ax.set_title(f"{family}: {words}", loc="left", fontsize=10)
            ax.set_xlim(0, 1)
            ax.set_ylim(0, 100 if factor > 1 else None)
            ax.grid(axis="y")
            if row == len(families) - 1:
                ax.set_xlabel("share of the execution")
    _title(grid[0], "Use of resources during the execution, mean of all loads")
    _legend(grid[0])
    return grid[0]


def _trade_off(cells: Cells, family: str) -> Axes:
    """Figure 9: stretch over idle time, a point per run coloured by utilisation, means and intervals per load."""
    grid = panels(1, len(STRATEGIES), width=13.0, height=3.6)
    everything = [outcome for name in STRATEGIES for outcome in _outcomes(cells, family, None, name)]
    scale = Normalize(*_range(everything, lambda outcome: 100 * outcome.utilisation))
    top = max(outcome.mean_stretch for outcome in everything)
    right = 100 * max(outcome.idle for outcome in everything)
    for ax, name in zip(grid, STRATEGIES, strict=True):
        found = _outcomes(cells, family, None, name)
        ax.scatter(
            [100 * one.idle for one in found], [one.mean_stretch for one in found], s=14, norm=scale, cmap="viridis",
            c=[100 * one.utilisation for one in found],
        )  # fmt: skip
        x, y, across, upright = [], [], [], []
        for alpha in _loads(cells):
            group = _outcomes(cells, family, alpha, name)
            x.append(100 * float(np.mean([one.idle for one in group])))
            y.append(float(np.mean([one.mean_stretch for one in group])))
            across.append([abs(100 * edge - x[-1]) for edge in interval([one.idle for one in group])])
            upright.append([abs(edge - y[-1]) for edge in interval([one.mean_stretch for one in group])])
        ax.errorbar(
            x, y, np.transpose(upright), np.transpose(across), fmt="-", color="#444444", linewidth=1.3, elinewidth=0.9
        )
        ax.annotate(f"load {_loads(cells)[-1]:g}", (x[-1], y[-1]), (4, 4), textcoords="offset points", fontsize=8)
        ax.set_title(STRATEGIES[name].label, loc="left", fontsize=10)
        ax.set_xlabel("idle time (%)")
        ax.set_xlim(0, 1.05 * right + 0.1)
        ax.set_ylim(0.99, 1.05 * (top - 1) + 1.01)
        ax.grid(color=FAINT)
    grid[0].set_ylabel("mean stretch")
    _title(grid[0], f"Stretch and idle time, {family}: runs, means per load with 95 % intervals")
    figure = grid[0].get_figure(root=True)
    assert figure is not None
    figure.colorbar(ScalarMappable(scale, "viridis"), ax=grid, label="utilisation (%)", pad=0.01)
    return grid[0]


def _range(outcomes: Sequence[Outcome], value: Callable[[Outcome], float]) -> tuple[float, float]:
    values = [value(outcome) for outcome in outcomes]
    return min(values), max(values)
