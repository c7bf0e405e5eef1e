"""The workload of Zhang et al. 2003: hyper-Erlang arrivals, sizes and times, files on the nodes, an I/O intensity.

The paper fits Jann's model to the ASCI Blue-Pacific system at Livermore and gives no parameters. Here the model is
fitted to the log of Atlas, a later machine of the same laboratory: jobs of at most 320 of its nodes, in classes of
sizes up to each power of two. Every class has a hyper-Erlang distribution of times between submissions and one of
execution times. Mean time between submissions and mean execution time are then set, as in the paper.

References
----------
Zhang, Yang, Sivasubramaniam, Moreira, *Gang scheduling extensions for I/O intensive workloads*, JSSPP 2003, section 2;
Jann et al., *Modeling of workload in MPPs*, JSSPP 1997. Log: LLNL-Atlas-2006-2.1-cln of the Parallel Workloads Archive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.base.options import check, option
from spillway.workloads.batsim.workload import Profile, Workload, WorkloadJob
from spillway.workloads.draws import Draws, Floats
from spillway.workloads.errors import WorkloadError
from spillway.workloads.models.hyper_erlang import HyperErlang, fit_hyper_erlang
from spillway.workloads.swf import SwfLog

NODES = 320
"""Nodes of the paper's machine."""

MEAN_GAP_S = 583.0
"""Mean time between submissions of the workloads that the paper shows (section 3.4.1)."""

FACTORS = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8)
"""Nine equal steps of the load."""

LONGEST_S = 3102.0
"""The last of the nine mean execution times (section 3.6); the paper rounds some of the others."""

MEAN_TIMES_S = tuple(round(LONGEST_S * factor / FACTORS[-1]) for factor in FACTORS)
"""Nine mean execution times: steps of a tenth of the first, as the group's cited papers on this machine have them."""

MEAN_GAPS_S = tuple(round(MEAN_GAP_S * factor / FACTORS[4]) for factor in reversed(FACTORS))
"""Nine mean times between submissions around the only one that the paper states."""

INTENSITIES = (0.1, 0.15, 0.2, 0.25, 0.33, 0.4, 0.5)
"""Seven I/O intensities (section 2.3)."""

MIXED = (0.1, 0.33, 0.5)
"""Intensities of the mixed workload, equally likely (section 4)."""

LARGEST = 256
"""Nodes of the largest job where sizes are powers of two, as the group's cited papers have them."""

MICRO = 1_000_000
_SHORTEST_S = 1e-3


@dataclass(frozen=True, slots=True)
class _SizeClass:
    """Jobs of similar size.

    Attributes
    ----------
    least, most
        Nodes, both included.
    weight
        Jobs of the log in this class.
    top_share
        Share of them that have ``most`` nodes; the others are spread evenly over the smaller sizes.
    gaps
        Times between submissions in this class, s.
    times
        Execution times, s.
    """

    least: int
    most: int
    weight: int
    top_share: float
    gaps: HyperErlang
    times: HyperErlang


# fmt: off
_ATLAS = (
    ((1, 1, 10080, 1.0), (1, 0.9872360061144493, 848.6943582311652, 63294.72679554494),
     (1, 0.9987162179709986, 862.196141473749, 200832.0832529512)),
    ((2, 2, 3015, 1.0), (1, 0.9536407135874212, 2127.605239728062, 74912.05540697211),
     (1, 0.9932487289948072, 1109.5292050873234, 71996.22182289466)),
    ((3, 4, 2397, 0.886107634543179), (1, 0.9299042751727685, 2146.395882331818, 70296.14466242866),
     (2, 0.8188847496044158, 5.132664199015746, 8635.601440898165)),
    ((5, 8, 5238, 0.8258877434135166), (1, 0.9822767586598667, 1990.4777535964527, 68241.81660229921),
     (1, 0.9633908706973077, 3917.8790126035065, 55727.45486842197)),
    ((9, 16, 5041, 0.7204919658797858), (1, 0.9763698972210864, 1893.5742986015111, 60923.29973936345),
     (1, 0.9811594548426945, 8134.355334549886, 95278.92351913833)),
    ((17, 32, 3809, 0.8477290627461276), (1, 0.9692079672577533, 2417.584786601827, 65216.95813891477),
     (1, 0.6340476105863084, 2235.6816081571583, 24600.94655210792)),
    ((33, 64, 2327, 0.9157713794585303), (1, 0.9673414111153226, 4157.532796190041, 94940.49333886594),
     (4, 0.5920072062592113, 30.863415726573205, 11070.256264381538)),
    ((65, 128, 1772, 0.781038374717833), (1, 0.9598555220032843, 5860.242707735257, 92883.03486554656),
     (1, 0.4992567804448956, 318.87991927722646, 21611.00562105349)),
    ((129, 256, 1402, 0.5955777460770328), (1, 0.8824054999657015, 4539.720768704756, 66470.21384145592),
     (1, 0.7814975769567932, 1402.9618187753126, 26155.19691964913)),
    ((257, 320, 102, 0.23529411764705882), (1, 0.7853277857398833, 37040.40740579415, 587467.6002524606),
     (3, 0.7589229046393857, 19.106927622466674, 15990.352820352755)),
)
# fmt: on
ATLAS = tuple(_SizeClass(*size, HyperErlang(*gaps), HyperErlang(*times)) for size, gaps, times in _ATLAS)
"""Own fit (:func:`fit_classes`) to LLNL-Atlas-2006-2.1-cln, jobs that ran on at most 320 nodes."""


@dataclass(frozen=True, slots=True)
class GangJob:
    """One job, in whole microseconds.

    Attributes
    ----------
    submit_us
        Submission.
    size
        Tasks; each needs a node.
    cpu_us
        Time of computing without other jobs.
    blocks
        Blocks that it reads and writes one after the other beside computing, evenly over its life.
    file_nodes
        Nodes that hold its file's partitions, ascending, as many as tasks; empty without a file.
    """

    submit_us: int
    size: int
    cpu_us: int
    blocks: int
    file_nodes: tuple[int, ...] = ()


def fit_classes(log: SwfLog, nodes: int = NODES, processors_per_node: int | None = None) -> tuple[_SizeClass, ...]:
    """Fit the model to a log: jobs that ran, on at most ``nodes`` nodes.

    Parameters
    ----------
    processors_per_node
        Default: that of the header (``MaxProcs / MaxNodes``), else 1.

    Raises
    ------
    WorkloadError
        No size class of the log has enough jobs to fit.
    """
    per_node = processors_per_node or log.header.processors_per_node
    rows = [
        (-(-max(record.processors, record.requested_processors) // per_node), record.run_s, record.submit_s)
        for record in log.records
        if record.run_s > 0 and max(record.processors, record.requested_processors) > 0
    ]
    table = np.array([row for row in rows if row[0] <= nodes], np.float64).reshape(-1, 3)
    found = []
    least, top = 1, 1
    while least <= nodes:
        top = min(top, nodes)
        chosen = table[(table[:, 0] >= least) & (table[:, 0] <= top)]
        if len(chosen) >= 4:
            gaps = fit_hyper_erlang(np.diff(np.sort(chosen[:, 2])))
            share = float((chosen[:, 0] == top).mean())
            found.append(_SizeClass(least, top, len(chosen), share, gaps, fit_hyper_erlang(chosen[:, 1])))
        least, top = top + 1, 2 * top
    if not found:
        raise WorkloadError(f"the log has no size class up to {nodes} nodes with at least 4 jobs that ran")
    return tuple(found)


def draw_gang(options: GangOptions | None = None, classes: tuple[_SizeClass, ...] = ATLAS) -> list[GangJob]:
    """Draw a workload in order of submission; the same options give the same jobs on every machine.

    Workloads that differ only in mean execution time or intensity have the same arrivals, sizes, files and relative
    times, so that they can be compared in pairs.
    """
    options = options or GangOptions()
    which, submits = _arrivals(options, classes)
    sizes = np.minimum(SIZES[options.sizes](_sizes(options, classes, which)), options.nodes)
    local_s = _times(options, classes, which)
    intensity = np.asarray(options.intensities)[
        Draws(options.seed, "gang/intensity").choose([1.0] * len(options.intensities), options.jobs)
    ]
    files = LAYOUTS[options.layout](Draws(options.seed, "gang/files"), sizes, options.nodes)
    request_s = options.blocks_per_request * options.local_block_s
    jobs = []
    for submit, size, time_s, share, nodes in zip(submits, sizes, local_s, intensity, files, strict=True):
        cpu_s = (1.0 - share) * time_s
        gap_s = request_s * (1.0 - share) / share if share else np.inf  # time between requests, from the intensity
        blocks = int(np.ceil(cpu_s / gap_s)) * options.blocks_per_request
        jobs.append(GangJob(round(submit * MICRO), int(size), max(round(cpu_s * MICRO), 1), blocks, nodes))
    return jobs


def as_workload(jobs: list[GangJob], nodes: int = NODES, name: str = "gang") -> Workload:
    """The jobs as a Batsim workload.

    A job's profile is a ``delay`` of its computing time; its field ``io_blocks`` is the number of blocks that it reads
    and writes besides, ``file_nodes`` lists the nodes of its file.
    """
    profiles: dict[str, Profile] = {}
    rows = []
    for number, job in enumerate(jobs):
        label = f"{job.cpu_us}us"
        profiles[label] = {"type": "delay", "delay": job.cpu_us / MICRO}
        extras = {"io_blocks": job.blocks, "file_nodes": list(job.file_nodes)}
        rows.append(WorkloadJob(number, job.submit_us / MICRO, job.size, label, None, extras))
    notes = ("jobs state no walltime; blocks are added to the computing time by the scheduler's execution",)
    return Workload(name, nodes, tuple(rows), profiles, "Zhang et al. 2003, section 2.3", {}, notes)


def _arrivals(options: GangOptions, classes: tuple[_SizeClass, ...]) -> tuple[npt.NDArray[np.int64], Floats]:
    """Class and submission of every job: each class submits on its own, all streams are merged."""
    total = sum(entry.weight for entry in classes)
    times, owners = [], []
    for index, entry in enumerate(classes):
        expected = options.jobs * entry.weight / total
        count = int(expected + 8 * np.sqrt(expected) + 64)
        while True:
            gaps = entry.gaps.draw(Draws(options.seed, f"gang/gaps {entry.most}"), count)
            found = np.cumsum(gaps / entry.gaps.mean * total / entry.weight)  # in mean gaps of all classes together
            if found[-1] > 1.5 * options.jobs:
                break
            count *= 2
        times.append(found)
        owners.append(np.full(count, index))
    when, owner = np.concatenate(times), np.concatenate(owners)
    order = np.lexsort((owner, when))[: options.jobs]
    when = when[order] - when[order[0]]
    scale = options.mean_gap_s * max(options.jobs - 1, 1) / when[-1] if when[-1] > 0 else 0.0
    return owner[order], when * scale


def _sizes(
    options: GangOptions, classes: tuple[_SizeClass, ...], which: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    draws = Draws(options.seed, "gang/sizes")
    kind, within = draws.uniform(options.jobs), draws.uniform(options.jobs)
    least = np.array([entry.least for entry in classes])[which]
    most = np.array([entry.most for entry in classes])[which]
    top = kind < np.array([entry.top_share for entry in classes])[which]
    spread = least + np.floor(within * (most - least)).astype(np.int64)
    return np.where(top, most, spread)


def _powers(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The next power of two, at most :data:`LARGEST`."""
    return np.minimum(_next_power(sizes), LARGEST)


def _next_power(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.array([1 << (size - 1).bit_length() for size in sizes.tolist()], np.int64)


def _times(options: GangOptions, classes: tuple[_SizeClass, ...], which: npt.NDArray[np.int64]) -> Floats:
    times = np.zeros(options.jobs)
    for index, entry in enumerate(classes):
        mine = which == index
        times[mine] = entry.times.draw(Draws(options.seed, f"gang/times {entry.most}"), int(mine.sum()))
    mean_s = np.cumsum(times)[-1] / options.jobs  # a sum in order: the same last digit everywhere
    return np.asarray(np.maximum(times * (options.mean_time_s / mean_s), _SHORTEST_S), np.float64)


def _spread(draws: Draws, sizes: npt.NDArray[np.int64], nodes: int) -> list[tuple[int, ...]]:
    found = []
    for size in sizes.tolist():
        keys = draws.uniform(nodes)
        found.append(tuple(sorted(np.argpartition(keys, size - 1)[:size].tolist())))
    return found


def _neighbours(draws: Draws, sizes: npt.NDArray[np.int64], nodes: int) -> list[tuple[int, ...]]:
    first = np.floor(draws.uniform(len(sizes)) * nodes).astype(np.int64)
    return [
        tuple(sorted((begin + step) % nodes for step in range(size)))
        for begin, size in zip(first.tolist(), sizes.tolist(), strict=True)
    ]


def _aligned(draws: Draws, sizes: npt.NDArray[np.int64], nodes: int) -> list[tuple[int, ...]]:
    steps = _next_power(sizes)
    places = (nodes - sizes) // steps + 1
    first = np.floor(draws.uniform(len(sizes)) * places).astype(np.int64) * steps
    return [tuple(range(begin, begin + size)) for begin, size in zip(first.tolist(), sizes.tolist(), strict=True)]


LAYOUTS: Mapping[str, Callable[[Draws, npt.NDArray[np.int64], int], list[tuple[int, ...]]]] = {
    "spread": _spread,
    "neighbours": _neighbours,
    "aligned": _aligned,
}
"""Placements of files on the nodes, by name."""

SIZES: Mapping[str, Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]]] = {
    "log": lambda sizes: sizes,
    "powers": _powers,
}
"""Rules for the sizes of jobs, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GangOptions:
    """Options of a drawn workload.

    Attributes
    ----------
    intensities
        I/O intensities, each at least 0 and below 1: share of the local execution time spent on blocks. One for all
        jobs, or several that are equally likely.
    """

    jobs: int = option(10_000, low=1, high=10_000_000, help="number of jobs")
    seed: int = option(0, low=0, high=2**63 - 1, help="seed of all draws")
    mean_gap_s: float = option(
        MEAN_GAP_S, unit="s", low=1e-9, high=1e9, help="mean time between submissions; drawn gaps are scaled to have it"
    )
    mean_time_s: float = option(
        float(MEAN_TIMES_S[-1]),
        unit="s",
        low=1e-9,
        high=1e9,
        help="mean execution time with all blocks local; drawn times are scaled to have it",
    )
    intensities: tuple[float, ...] = (0.5,)
    layout: str = option(
        "spread",
        choices=tuple(LAYOUTS),
        help="placement of a file: spread over any nodes, on neighbours (the last node's is the first), or aligned: on "
        "neighbours from a multiple of its size on (of the next power of two), so that two files meet wholly or not at "
        "all where sizes are powers of two",
    )
    sizes: str = option(
        "log", choices=tuple(SIZES), help="sizes as the log has them, or the next powers of two, at most 256"
    )
    blocks_per_request: int = option(1, low=1, high=1_000_000, help="blocks that one request reads")
    local_block_s: float = option(
        0.03, unit="s", low=1e-9, high=1e9, help="time of a local block, which turns intensities into blocks"
    )
    nodes: int = option(NODES, low=1, high=10_000_000, help="nodes of the machine; larger sizes are cut down to it")

    def __post_init__(self) -> None:
        check(self)
        if not self.intensities or not all(0 <= value < 1 for value in self.intensities):
            raise WorkloadError(f"'intensities' must be at least 0 and below 1, got {self.intensities!r}")
