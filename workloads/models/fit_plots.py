"""Pictures of a fit: the kinds of figures 2.5 to 2.12 of the thesis, one function each.

J. Kopanski, *Optimisation of job scheduling for supercomputers with burst buffers*, 2020, arXiv 2111.10200, section
2.5. Figures are drawn on their own canvas: nothing here touches a display or Matplotlib's global state.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from spillway.workloads.errors import WorkloadError
from spillway.workloads.models.fit import LARGE_PROCESSORS, FitResult, MemoryRequests, memory_requests
from spillway.workloads.swf import SwfLog

Floats = npt.NDArray[np.float64]
Draw = Callable[[Figure, MemoryRequests, FitResult], None]

_TAIL_QUANTILE = 0.98
_MOST_MARKS = 20_000
_BLUE, _GREY = "#2b6ca3", "#b7c4d1"
_MEMORY_LABEL = "requested memory per processor (GiB)"
_KIB_PER_GIB = 2.0**20
_COLOURS = {
    "log-normal": "#c1352b",
    "exponential": "#e08a1e",
    "logistic": "#3a8f5c",
    "half-logistic": "#7b55a3",
    "beta": "#1f7f9c",
}


def draw_all(log: SwfLog, result: FitResult, folder: Path) -> list[Path]:
    """Draw every figure into ``folder`` (made where it does not exist); returns the files."""
    requests = memory_requests(log, result.log_name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkloadError(f"cannot make the folder: {error.strerror}; name another with --out", str(folder)) from None
    paths: list[Path] = []
    for name, draw in FIGURES.items():
        figure = Figure(figsize=(8.0, 5.0), layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure, requests, result)
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=130, metadata={"Software": ""})
    return paths


def histogram(figure: Figure, requests: MemoryRequests, result: FitResult) -> None:
    """All memory requests (figure 2.5)."""
    axes = _axes(figure, f"Memory requests of {result.log_name}, all jobs", "jobs")
    axes.hist(_gib(requests), bins=60, color=_BLUE)


def _histogram_body(figure: Figure, requests: MemoryRequests, result: FitResult) -> None:
    """Memory requests without the tail (figure 2.6)."""
    body = _body(_gib(requests))
    axes = _axes(figure, f"Memory requests of {result.log_name}, tail cut off", "jobs")
    axes.hist(body, bins=80, color=_BLUE)
    axes.margins(x=0)


def _joint_scatter(figure: Figure, requests: MemoryRequests, result: FitResult) -> None:
    """Processors against memory per processor, with both marginal distributions (figure 2.7)."""
    grid = figure.add_gridspec(2, 2, width_ratios=(5, 1), height_ratios=(1, 4))
    axes = figure.add_subplot(grid[1, 0])
    step = max(1, len(_gib(requests)) // _MOST_MARKS)
    axes.scatter(requests.processors[::step], _gib(requests)[::step], s=6, alpha=0.3, color=_BLUE, linewidths=0)
    axes.set_xlabel("requested processors")
    axes.set_ylabel(_MEMORY_LABEL)
    above = figure.add_subplot(grid[0, 0], sharex=axes)
    above.hist(requests.processors, bins=60, color=_GREY, log=True)
    beside = figure.add_subplot(grid[1, 1], sharey=axes)
    beside.hist(_gib(requests), bins=60, color=_GREY, orientation="horizontal", log=True)
    for marginal in (above, beside):
        marginal.tick_params(labelbottom=marginal is beside, labelleft=marginal is above)
    above.set_title(f"Processors and memory of {result.log_name} (margins: jobs, logarithmic)")


def _joint_heatmap(figure: Figure, requests: MemoryRequests, result: FitResult) -> None:
    """The same as a map of hexagons, both tails cut off (figure 2.8)."""
    memory = _gib(requests)
    inside = (memory <= _limit(memory)) & (requests.processors <= LARGE_PROCESSORS)
    if not inside.any():  # a log of large jobs only
        inside = np.ones_like(inside)
    axes = figure.add_subplot()
    drawn = axes.hexbin(
        requests.processors[inside],
        memory[inside],
        gridsize=(32, 20),
        bins="log",
        cmap="Blues",
        mincnt=1,
    )
    figure.colorbar(drawn, ax=axes, label="jobs")
    axes.set_title(f"Processors and memory of {result.log_name}, tails cut off")
    axes.set_xlabel("requested processors")
    axes.set_ylabel(_MEMORY_LABEL)


def _ecdf_by_powers(figure: Figure, requests: MemoryRequests, result: FitResult) -> None:
    """Empirical distribution functions by powers of two of the processors (figure 2.9)."""
    power = np.floor(np.log2(requests.processors)).astype(np.int64)
    groups = {
        f"{2**p}" if p == 0 else f"{2**p} to {2 ** (p + 1) - 1}": _gib(requests)[power == p]
        for p in np.unique(power).tolist()
    }
    _ecdfs(figure, groups, requests, f"Memory requests of {result.log_name} by processors")


def _ecdf_by_class(figure: Figure, requests: MemoryRequests, result: FitResult) -> None:
    """Empirical distribution functions of serial, small and large jobs (figure 2.10)."""
    serial, large = requests.processors == 1, requests.processors >= LARGE_PROCESSORS
    groups = {
        "serial": _gib(requests)[serial],
        f"2 to {LARGE_PROCESSORS - 1}": _gib(requests)[~serial & ~large],
        f"{LARGE_PROCESSORS} and more": _gib(requests)[large],
    }
    _ecdfs(figure, groups, requests, f"Memory requests of {result.log_name}, serial, small and large jobs")


def _densities(figure: Figure, requests: MemoryRequests, result: FitResult) -> None:
    """Histogram with the densities of the fitted distributions, both axes cut off (figure 2.11)."""
    axes = _axes(figure, f"Memory requests of {result.log_name} and fitted densities", "density per GiB")
    body = _body(_gib(requests))
    share = len(body) / len(_gib(requests))
    heights, edges = np.histogram(body, bins=80, density=True)
    heights = heights * share
    axes.stairs(heights, edges, fill=True, color=_GREY, label="log")
    at = np.linspace(max(float(body.min()), 1e-6), float(body.max()), 500)
    top = 0.0
    for row in result.table:
        density = np.asarray(row.frozen().pdf(at * _KIB_PER_GIB)) * _KIB_PER_GIB
        axes.plot(at, density, color=_COLOURS[row.name], label=f"{row.name} (D {row.ks_mean:.3f})")
        top = max(top, float(np.quantile(density, 0.95)))
    axes.set_ylim(0.0, 1.6 * max(top, float(np.sort(heights)[-3])))
    axes.margins(x=0)
    axes.legend(frameon=False)


def _distribution_functions(figure: Figure, requests: MemoryRequests, result: FitResult) -> None:
    """Empirical and fitted distribution functions (figure 2.12)."""
    axes = _axes(figure, f"Memory requests of {result.log_name} and fitted distributions", "share of jobs")
    limit = _limit(_gib(requests))
    axes.ecdf(_gib(requests), color="black", linewidth=2, label="log")
    at = np.linspace(0.0, limit, 500)
    for row in result.table:
        axes.plot(
            at, row.frozen().cdf(at * _KIB_PER_GIB), color=_COLOURS[row.name], label=f"{row.name} (D {row.ks_mean:.3f})"
        )
    axes.set_xlim(0.0, limit)
    axes.set_ylim(0.0, 1.02)
    axes.legend(frameon=False, loc="lower right")


FIGURES: dict[str, Draw] = {
    "memory-histogram": histogram,
    "memory-histogram-body": _histogram_body,
    "processors-memory-scatter": _joint_scatter,
    "processors-memory-heatmap": _joint_heatmap,
    "memory-ecdf-by-powers-of-two": _ecdf_by_powers,
    "memory-ecdf-serial-small-large": _ecdf_by_class,
    "fitted-densities": _densities,
    "fitted-distribution-functions": _distribution_functions,
}
"""Functions that draw figures, by file name without suffix, in the order of the thesis's figures 2.5 to 2.12."""


def _gib(requests: MemoryRequests) -> Floats:
    return requests.memory_kib / _KIB_PER_GIB


def _axes(figure: Figure, title: str, y_label: str) -> Axes:
    axes = figure.add_subplot()
    axes.set_title(title)
    axes.set_xlabel(_MEMORY_LABEL)
    axes.set_ylabel(y_label)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _ecdfs(figure: Figure, groups: dict[str, Floats], requests: MemoryRequests, title: str) -> None:
    axes = _axes(figure, title, "share of jobs")
    shown = {label: values for label, values in groups.items() if len(values)}
    for colour, (label, values) in zip(np.linspace(0.05, 0.9, len(shown)), shown.items(), strict=True):
        axes.ecdf(values, label=f"{label} ({len(values):,} jobs)", color=mpl.colormaps["viridis"](colour))
    axes.set_xlim(0.0, _limit(_gib(requests)))
    axes.set_ylim(0.0, 1.02)
    axes.legend(frameon=False, title="processors", loc="lower right")


def _limit(memory: Floats) -> float:
    return float(np.quantile(memory, _TAIL_QUANTILE))


def _body(memory: Floats) -> Floats:
    return memory[memory <= _limit(memory)]
