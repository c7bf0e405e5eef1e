"""The specification that executes: holdings as rows of one table, the fit over it, and each policy as its paper has it.

Plain data in, decisions out; nothing is imported from the product, and nothing is fast. A machine is a list of columns
with capacities: its nodes (1 each), the bytes of its storage nodes, the rates of its links, its counted pools. A row of
the table says that an amount of a column is taken over a half-open interval; jobs, reservations, windows, outages and
burst buffers held alone are rows and nothing else. Free is what the rows of an instant leave of the capacities.

References
----------
Kopanski's thesis 2020 (Euro-Par version DOI 10.1007/978-3-030-85665-6_8), Algorithms 1-8; Mu'alem, Feitelson, IEEE TPDS
12(6), 2001, section 2.2 (EASY, conservative); Herbein et al., HPDC 2016, section 3.4 (rates on all links above a node).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from tests.reference.placement_rules import place

NODES, BYTES, RATES, POOLS = "nodes", "bytes", "rates", "pools"
ALL = frozenset({NODES, BYTES, RATES, POOLS})


class Machine(NamedTuple):
    """A machine and its two rules of placement.

    ``links``: capacity (bytes/s) and the link above (-1: none); ``node_link``: innermost link of each node;
    ``nearest``: for each node all storage nodes, nearest first, of which the first ``own`` are in its rack.
    """

    nodes: int
    storages: tuple[int, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    node_link: tuple[int, ...] = ()
    nearest: tuple[tuple[int, ...], ...] = ()
    own: tuple[int, ...] = ()
    pools: tuple[int, ...] = ()
    partitions: tuple[frozenset[int], ...] = ()
    node_order: str = "first-fit"
    storage_order: str = "nearest"

    def above(self, node: int) -> Iterator[int]:
        """Links above a node, innermost first."""
        link = self.node_link[node] if self.links else -1
        while link >= 0:
            yield link
            link = self.links[link][1]


class Lives(NamedTuple):
    """Bytes are held ``lead_s`` before the nodes and ``tail_s`` after them, rates ``rate_tail_s`` after them."""

    lead_s: float = 0.0
    tail_s: float = 0.0
    rate_tail_s: float = 0.0

    def spans(self, start_s: float, end_s: float) -> dict[str, tuple[float, float]]:
        """Interval of each kind for a job that starts (with its bytes) then and has nodes for ``end_s - start_s``."""
        on_s, off_s = start_s + self.lead_s, end_s + self.lead_s
        bytes_s, rates_s = max(off_s + self.tail_s, start_s), max(off_s + self.rate_tail_s, on_s)
        return {NODES: (on_s, off_s), BYTES: (start_s, bytes_s), RATES: (on_s, rates_s), POOLS: (on_s, off_s)}


class Job(NamedTuple):
    """A waiting job. ``stripes`` 0: a request of ``bb_bytes`` for each node; else so many, on different storages."""

    id: str
    number: int
    nodes: int
    duration_s: float
    walltime_s: float = math.inf
    submit_s: float = 0.0
    bb_bytes: int = 0
    stripes: int = 0
    io_rate: int = 0
    pools: tuple[int, ...] = ()
    partitions: tuple[int, ...] = ()
    lives: Lives = Lives()
    tier: int = 0

    @property
    def size(self) -> int:
        """Burst-buffer bytes of the whole job."""
        return (self.stripes or self.nodes) * self.bb_bytes


class Given(NamedTuple):
    """What a job gets: nodes (ascending), a storage node for each request, bytes per request, rate per node, pools."""

    nodes: tuple[int, ...]
    storages: tuple[int, ...] = ()
    bb_bytes: int = 0
    io_rate: int = 0
    pools: tuple[int, ...] = ()
    lives: Lives = Lives()


class Row(NamedTuple):
    """An amount of a column of a kind, taken from ``start_s`` until just before ``end_s``."""

    kind: str
    column: int
    amount: int
    start_s: float
    end_s: float


Start = tuple[str, Given]
Fit = tuple[float, Given]


class Table:
    """Rows from now on, and the step function of what they leave free: ``steps[k]`` from ``times[k]`` on."""

    def __init__(self, machine: Machine, now_s: float, rows: Iterable[Row] = ()) -> None:
        self.machine, self.now_s, self.rows, self.times = machine, now_s, list[Row](), [now_s]
        rates = [rate for rate, _ in machine.links]
        self.steps = [{NODES: [1] * machine.nodes, BYTES: [*machine.storages], RATES: rates, POOLS: [*machine.pools]}]
        self.add(rows)

    def copy(self) -> Table:
        """An independent copy."""
        return Table(self.machine, self.now_s, self.rows)

    def add(self, rows: Iterable[Row], sign: int = 1) -> None:
        """Take more (``sign`` -1: give back); the time before now does not count."""
        for row in rows:
            if row.amount and max(row.start_s, self.now_s) < row.end_s:
                self.rows.append(row._replace(amount=sign * row.amount))
                for k in range(self._cut(max(row.start_s, self.now_s)), self._cut(row.end_s)):
                    self.steps[k][row.kind][row.column] -= sign * row.amount

    def _cut(self, time_s: float) -> int:
        """Let a step begin at a time; return its index."""
        k = bisect_left(self.times, time_s)
        if time_s < math.inf and (k == len(self.times) or self.times[k] > time_s):
            self.times.insert(k, time_s)
            self.steps.insert(k, {kind: [*left] for kind, left in self.steps[k - 1].items()})
        return k

    def rows_of(self, given: Given, start_s: float, end_s: float, covering: Iterable[str] = ALL) -> list[Row]:
        """Rows of an allocation: nodes, pools, bytes, and rates on all links above the nodes, each in its own span."""
        amounts = {
            NODES: [(node, 1) for node in given.nodes],
            BYTES: [(storage, given.bb_bytes) for storage in given.storages],
            RATES: [(link, given.io_rate) for node in given.nodes for link in self.machine.above(node)],
            POOLS: [*enumerate(given.pools)],
        }
        spans = given.lives.spans(start_s, end_s)
        return [Row(kind, column, much, *spans[kind]) for kind in covering for column, much in amounts[kind]]

    def least(self, kind: str, start_s: float, end_s: float) -> list[int]:
        """What stays free of each column over an interval; of an empty one: at its start."""
        first = max(bisect_right(self.times, start_s) - 1, 0)
        steps = self.steps[first : max(bisect_left(self.times, end_s), first + 1)]
        return [max(0, min(column)) for column in zip(*(step[kind] for step in steps), strict=True)]

    def has_free(self, rows: Iterable[Row]) -> bool:
        """Whether rows take no more of a column than is free."""
        wanted = Counter[Row]()
        for row in rows:
            wanted[row._replace(amount=0)] += row.amount if row.start_s < row.end_s else 0
        return all(much <= self.least(one.kind, *one[3:])[one.column] for one, much in wanted.items())

    def bytes_at(self, time_s: float) -> list[tuple[int, float]]:
        """Free bytes of each storage node at a time, and since when there have been just as many."""
        found = list[tuple[int, float]]()
        for storage in range(len(self.machine.storages)):
            free = [max(0, step[BYTES][storage]) for step in self.steps[: bisect_right(self.times, time_s)]]
            same = next((k for k in range(len(free) - 1, 0, -1) if free[k - 1] != free[-1]), 0)
            found.append((free[-1], self.times[same]))
        return found


def fit_at(table: Table, job: Job, start_s: float, covering: frozenset[str] = ALL) -> Given | None:
    """What a job gets if it starts then, of the covered kinds only; ``None`` if it does not fit."""
    machine, spans = table.machine, job.lives.spans(start_s, start_s + job.duration_s)
    size, rate = job.bb_bytes if BYTES in covering else 0, job.io_rate if RATES in covering else 0
    job = job._replace(bb_bytes=size, io_rate=rate, pools=job.pools if POOLS in covering else ())
    least = {kind: table.least(kind, *span) for kind, span in spans.items()}
    later = table.bytes_at(spans[BYTES][1])
    if any(amount > left for amount, left in zip(job.pools, least[POOLS], strict=False)):
        return None
    for allowed in [machine.partitions[partition] for partition in job.partitions] or [frozenset(range(machine.nodes))]:
        free = [node for node in sorted(allowed) if least[NODES][node] or NODES not in covering]
        found = place(machine, job, free, least[BYTES], least[RATES], later)
        if found is not None:
            return Given(*found, job.bb_bytes, job.io_rate, job.pools, job.lives)
    return None


def starts_from(table: Table, lives: Lives, not_before_s: float) -> list[float]:
    """A time, and the later starts with which the bytes or the nodes of a job begin at a change of what is free."""
    found = {max(not_before_s, table.now_s)}
    for time_s, lead_s in [(time_s, lead_s) for time_s in table.times for lead_s in (0.0, lives.lead_s)]:
        start_s = time_s - lead_s
        while start_s + lead_s < time_s:  # rounding
            start_s = math.nextafter(start_s, math.inf)
        found.add(start_s)
    return sorted(start_s for start_s in found if start_s >= max(not_before_s, table.now_s))


def earliest_fit(
    table: Table, job: Job, covering: frozenset[str] = ALL, not_before_s: float = -math.inf, latest_s: float = math.inf
) -> Fit | None:
    """The earliest start of a job, and what it gets there; ``None`` if there is none."""
    for start_s in starts_from(table, job.lives, not_before_s):
        given = fit_at(table, job, start_s, covering) if start_s <= latest_s else None
        if given is not None:
            return start_s, given
    return None


ORDERS: dict[str, Callable[[Job], float]] = {
    "fcfs": lambda job: job.number,
    "wide": lambda job: -job.nodes,
    "large-node-bb": lambda job: -job.size / job.nodes,
    "high-ratio": lambda job: -job.size / job.nodes / job.nodes,
    "low-ratio": lambda job: job.size / job.nodes / job.nodes,
    "narrow": lambda job: job.nodes,
    "small-node-bb": lambda job: job.size / job.nodes,
    "sjf": lambda job: min(job.walltime_s, 1e9),
    "longest": lambda job: -min(job.walltime_s, 1e9),
}
"""Orders of the queue by keys, ties by number; the nine are the thesis's starts of a search (end of section 3.2)."""


def ordered(jobs: Iterable[Job], order: str = "fcfs") -> list[Job]:
    """Jobs in an order of the queue, those of higher tiers first."""
    return sorted(jobs, key=lambda job: (-job.tier, ORDERS[order](job), job.number))


def hold(table: Table, job: Job, fit: Fit, covering: Iterable[str] = ALL, sign: int = 1) -> None:
    """Book a job from its start on (``sign`` -1: give it back)."""
    table.add(table.rows_of(fit[1], fit[0], fit[0] + job.duration_s, covering), sign)


def fill(table: Table, jobs: Iterable[Job], strict: bool = False) -> list[Start]:
    """Start every job that fits now (Algorithm 2), in ``strict`` order those before the first misfit (Algorithm 1)."""
    starts: list[Start] = []
    for job in jobs:
        given = fit_at(table, job, table.now_s)
        if given is not None:
            hold(table, job, (table.now_s, given))
            starts.append((job.id, given))
        elif strict:
            break
    return starts


def serve_first(table: Table, jobs: Iterable[Job], covering: frozenset[str] = ALL) -> list[Start]:
    """Start each job that fits now, and reserve for each other one; starts."""
    starts: list[Start] = []
    for job in jobs:
        started = fill(table, [job])
        fit = None if started else earliest_fit(table, job, covering)
        if fit is not None:
            hold(table, job, fit, covering)
        starts += started
    return starts


def easy(
    table: Table, queue: Iterable[Job], depth: int = 1, order: str = "fcfs", fill_order: str = "fcfs",
    covering: frozenset[str] = ALL,
) -> list[Start]:  # fmt: skip
    """EASY: start in order, reserve for the first ``depth`` jobs that wait, fill with the others.

    ``covering`` nodes only is Algorithm 3, everything is Algorithm 4, with ``fill_order`` sjf Algorithm 5.
    """
    starts = fill(table, ordered(queue, order), strict=True) if depth else []
    waiting = ordered(queue, order)[len(starts) :]
    starts += serve_first(table, waiting[:depth], covering)
    return starts + fill(table, ordered(waiting[depth:], fill_order))


def conservative(
    table: Table, queue: Sequence[Job], promises: dict[str, Fit], order: str = "fcfs"
) -> tuple[list[Start], dict[str, Fit]]:
    """Conservative backfilling: promises stand or come earlier; starts, and the promises of jobs that wait on.

    Promises are booked in order of the starts of their nodes, each as early as its own nodes and storage nodes are
    free; then each job in the order of the queue gives its promise back and takes its earliest start.
    """
    booked, starts, kept = dict[str, Fit](), list[Start](), dict[str, Fit]()
    standing = [(job, *promises[job.id]) for job in queue if job.id in promises]
    for job, promised_s, given in sorted(standing, key=lambda one: (one[1] + one[2].lives.lead_s, one[0].number)):
        for start_s in starts_from(table, given.lives, promised_s):
            if table.has_free(table.rows_of(given, start_s, start_s + job.duration_s)):
                booked[job.id] = start_s, given
                hold(table, job, booked[job.id])
                break
    for job in ordered(queue, order):
        if job.id in booked:
            hold(table, job, booked[job.id], sign=-1)
        fit = earliest_fit(table, job)
        if fit is not None:
            hold(table, job, fit)
            if fit[0] <= table.now_s:
                starts.append((job.id, fit[1]))
            else:
                kept[job.id] = fit
    return starts, kept


def use(table: Table, queue: Sequence[Job], jobs: Sequence[Job], balance: float) -> tuple[float, float, float]:
    """Score of jobs that start now: nodes, bytes, mean wait; bytes first where the queue asks for more of these."""
    capacity, asked = sum(table.machine.storages), sum(job.size for job in queue)
    first = not capacity or asked / capacity <= balance * (sum(job.nodes for job in queue) / table.machine.nodes)
    nodes, size = sum(job.nodes for job in jobs), sum(job.size for job in jobs)
    wait_s = sum(table.now_s - job.submit_s for job in jobs) / len(jobs) if jobs else 0.0
    return (nodes, size, wait_s) if first else (size, nodes, wait_s)


def maxutil(table: Table, queue: Sequence[Job], depth: int = 1, balance: float = 1.0) -> list[Start]:
    """Algorithm 6 for few jobs: serve the first ``depth``, then fill in the first of all orders that uses most."""
    starts = fill(table, queue[:depth], strict=True)
    starts += serve_first(table, queue[len(starts) : depth])

    def score(order: tuple[Job, ...]) -> tuple[float, float, float]:
        begun = {name for name, _ in fill(table.copy(), order)}
        return use(table, queue, [job for job in order if job.id in begun], balance)

    best: tuple[Job, ...] = max(permutations(queue[depth:]), key=score)
    return starts + fill(table, best)


def plan(table: Table, order: Iterable[Job]) -> list[Fit]:
    """A plan (Algorithm 8): every job of the order at its earliest start beside those before it."""
    fits: list[Fit] = []
    for job in order:
        fits.append(earliest_fit(table, job) or (math.inf, Given(())))
        hold(table, job, fits[-1])
    return fits


def plan_score(order: Sequence[Job], fits: Iterable[Fit], alpha: float, beta: float, latest: bool = False) -> float:
    """Sum of waits to the power ``alpha``, divided by walltimes (at least 600 s) to ``beta``; or last start."""
    starts_s = [fit[0] for fit in fits]
    waits_s = [start_s + job.lives.lead_s - job.submit_s for job, start_s in zip(order, starts_s, strict=True)]
    weights = [max(min(job.walltime_s, 1e9), 600.0) ** -beta for job in order]
    every: float = sum(weight * wait_s**alpha for weight, wait_s in zip(weights, waits_s, strict=True))
    return max(starts_s) if latest else every
