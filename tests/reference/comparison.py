"""Passes of the product beside the specification: while a comparison is on, every policy's pass is decided twice.

:func:`compared` puts subclasses into :data:`spillway.schedulers.policies.POLICIES` that ask the specification before
each pass, and compare the decisions: same starts in the same order, same nodes, same storage nodes. Only public faces
are used: the view, methods of its timeline, decisions.

The specification's table comes from one of two sources. In a *plain* world it is a ledger of the starts decided so
far, each until its job's walltime, a millisecond more whenever that has passed; the running jobs that the session shows
must be those of the ledger. Elsewhere (windows, outages, lives of burst buffers ...) it is read from the view's
timeline, at each of its changes.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any, NamedTuple

from spillway.core import Placement, PublishedTimeline, Resource, Timeline
from spillway.schedulers.model import job as product
from spillway.schedulers.model.decisions import Decision, Start
from spillway.schedulers.model.machine import Machine, common_length
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.backfill import Backfill
from spillway.schedulers.policies.conservative import PROMISES, Conservative
from spillway.schedulers.policies.maxutil import ALL_ORDERS_JOBS, MaxUtil
from spillway.schedulers.policies.plan import EXHAUSTIVE_JOBS, Plan
from spillway.schedulers.policies.window import Window
from spillway.schedulers.policykit.view import View
from tests.reference import specification as spec
from tests.reference.windows import windows

OVERDUE_S = 1e-3
"""A job that outlives its walltime is expected to end so much later than the pass (s)."""

LEDGER = "specification: ledger"
"""Key of the notebook: starts of the conversation so far."""

COVERED = {
    "nodes": frozenset({spec.NODES}),
    "nodes+bb": frozenset({spec.NODES, spec.BYTES}),
    "all": spec.ALL,
}

FEW = 4
"""Jobs of which all orders, or all sets, are tried."""


class Outside(Exception):
    """A pass that the specification does not describe; the text says why."""


# ---------------------------------------------------------------------------- values


def machine_of(machine: Machine, placement: Placement) -> spec.Machine:
    """A machine and its rules of placement as plain data, all of which it says."""
    if machine.rows > 1 or any(pool.layer is not None for pool in machine.pools):
        raise Outside("rows, layers of resources")
    return shape_of(machine, placement)


def shape_of(machine: Machine, placement: Placement) -> spec.Machine:
    """The same without rows and layers of resources."""
    nearest = tuple(tuple(row) for row in machine.nearest_storages.tolist())
    own = []
    for node, near in zip(machine.nodes, nearest, strict=True):
        common = [common_length(node.location, machine.storages[storage].location) for storage in near]
        most = max(common, default=0)
        own.append(0 if node.location and not most else common.count(most))
    return spec.Machine(
        len(machine.nodes),
        tuple(storage.capacity_bytes for storage in machine.storages),
        tuple((link.capacity_bytes_per_s, link.parent) for link in machine.links),
        tuple(machine.node_link.tolist()),
        nearest,
        tuple(own),
        tuple(pool.count for pool in machine.pools),
        tuple(partition.nodes for partition in machine.partitions),
        placement.node_order.value,
        placement.storage_order.value,
    )


def lives_of(lives: product.Lives | None) -> spec.Lives:
    """Lives as plain data."""
    if lives is None:
        return spec.Lives()
    return spec.Lives(lives.storage_lead_s, lives.storage_tail_s, lives.bandwidth_tail_s)


def job_of(job: product.Job, duration_s: float, tiers: Sequence[int] = ()) -> spec.Job:
    """A job as plain data, expected to last for a duration; ``tiers`` are those of the machine's partitions."""
    return spec.Job(
        job.id, job.number, job.nodes, duration_s, job.walltime_s, job.submit_time_s, job.bb_bytes, job.stripes,
        job.io_rate, tuple(job.pools), tuple(job.partitions), lives_of(job.lives),
        max((tiers[place] for place in job.partitions), default=0) if tiers else 0,
    )  # fmt: skip


def given_of(allocation: product.Allocation) -> spec.Given:
    """An allocation as plain data."""
    return spec.Given(
        tuple(allocation.nodes), tuple(allocation.storages), allocation.bb_bytes, allocation.io_rate,
        tuple(allocation.pools), lives_of(allocation.lives),
    )  # fmt: skip


def table_of(timeline: Timeline) -> spec.Table:
    """A table with the same free amounts as a timeline at all times, read through its public methods."""
    machine = machine_of(timeline.machine, timeline.placement)
    other, times = timeline.copy(), [*timeline.breakpoints(), math.inf]
    rows = []
    for start_s, end_s in pairwise(times):
        other.advance(start_s)
        anything = product.Job("free", 0, 0.0, math.inf, other.free_nodes_now())
        found = other.fit_now(anything, 0.0, Resource.NODES) if anything.nodes else None
        free = set() if found is None else set(found.nodes)
        assert len(free) == other.free_nodes_now(), "as many nodes are free as there are free nodes"
        rows += [spec.Row(spec.NODES, node, 1, start_s, end_s) for node in range(machine.nodes) if node not in free]
        rates, pools = [rate for rate, _ in machine.links], other.free_pools_now()
        for kind, capacities, left in (
            (spec.BYTES, machine.storages, other.free_storage_now()),
            (spec.RATES, rates, other.free_bandwidth_now()),
            (spec.POOLS, machine.pools, pools),
        ):
            pairs = enumerate(zip(capacities, left, strict=True))
            rows += [spec.Row(kind, column, size - free_now, start_s, end_s) for column, (size, free_now) in pairs]
    return spec.Table(machine, timeline.now_s, rows)


# ---------------------------------------------------------------------------- the table of a plain world


class Begun(NamedTuple):
    """A start of the ledger: what the job got, from when, until when it is expected to."""

    given: spec.Given
    start_s: float
    end_s: float


class Ledger:
    """Starts of a plain world, until their jobs are gone."""

    def __init__(self) -> None:
        self.begun: dict[str, Begun] = {}
        self.until_s: dict[str, float] = {}

    def table(self, view: View, placement: Placement) -> spec.Table:
        """The table of a pass; asserts that the session shows the same jobs, on the same nodes."""
        running = {run.job.id: run for run in view.running}
        self.begun = {name: one for name, one in self.begun.items() if name in running}
        table = spec.Table(machine_of(view.machine, placement), view.now_s)
        for name, one in self.begun.items():
            shown = Begun(given_of(running[name].allocation), running[name].start_s, running[name].end_s)
            assert shown == one, f"{name} is shown with {shown}, and was given {one}"
            until_s = self.until_s.get(name, one.end_s)
            if until_s <= view.now_s:
                until_s = self.until_s[name] = view.now_s + OVERDUE_S
            table.add(table.rows_of(one.given, one.start_s, until_s))
        assert running.keys() == self.begun.keys(), "a job runs that was never started"
        return table


# ---------------------------------------------------------------------------- policies


Judge = Callable[[Sequence[spec.Start], View], None]
"""Compares a pass's starts with the specification's, after the pass."""


def _exactly(expected: Sequence[spec.Start]) -> Judge:
    def judge(starts: Sequence[spec.Start], view: View) -> None:
        assert [*starts] == [*expected], f"expected {expected}, got {starts}"

    return judge


def _order(name: str) -> str:
    if name not in spec.ORDERS:
        raise Outside(f"order {name}")
    return name


def _backfill(policy: Backfill, view: View, table: spec.Table, queue: list[spec.Job]) -> Judge:
    if policy.by_number or (policy.literal_depth and policy.depth > 1) or not policy.spare:
        raise Outside("backfilling: nodes by number, literal depth, no spare nodes")
    if not policy.backfilling:
        return _exactly(spec.fill(table, spec.ordered(queue, _order(policy.order)), strict=True))
    starts = spec.easy(
        table, queue, policy.depth, _order(policy.order), _order(policy.fill_order), COVERED[policy.covered]
    )  # fmt: skip
    return _exactly(starts)


def _conservative(policy: Conservative, view: View, table: spec.Table, queue: list[spec.Job]) -> Judge:
    promises = {} if policy.replan else view.notebook.get(PROMISES, {})
    before = {name: (fit.start_s, given_of(fit.allocation)) for name, fit in promises.items()}
    starts, kept = spec.conservative(table, queue, before, _order(policy.order))

    def judge(found: Sequence[spec.Start], view: View) -> None:
        assert [*found] == starts, f"expected {starts}, got {found}"
        after = {name: (fit.start_s, given_of(fit.allocation)) for name, fit in view.notebook.get(PROMISES, {}).items()}
        assert after == kept, f"expected promises {kept}, got {after}"

    return judge


def _maxutil(policy: MaxUtil, view: View, table: spec.Table, queue: list[spec.Job]) -> Judge:
    if policy.literal_depth or any(job.lives != spec.Lives() for job in queue):
        raise Outside("maxutil: literal depth, lives")
    if len(queue) - policy.depth > min(FEW, ALL_ORDERS_JOBS):
        raise Outside("maxutil: more jobs than all orders are tried of")
    return _exactly(spec.maxutil(table, queue, policy.depth, policy.balance))


def _plan(policy: Plan, view: View, table: spec.Table, queue: list[spec.Job]) -> Judge:
    if policy.guard_quantile:
        raise Outside("plan: guards")
    if policy.literal_depth or policy.limit is not None:
        raise Outside("plan: literal depth, limits")
    served = spec.fill(table, queue[: policy.depth], strict=True)
    served += spec.serve_first(table, queue[len(served) : policy.depth])
    waiting = queue[policy.depth :]
    if len(waiting) < 2:
        return _exactly(served + spec.fill(table, waiting))
    now_s, until_s = view.now_s, view.taken_from_s
    waiting = [
        job if now_s + job.duration_s > until_s else job._replace(duration_s=job.duration_s * policy.expected)
        for job in waiting
    ]

    def outcome(order: Sequence[spec.Job]) -> tuple[float, list[spec.Start]]:
        fits = spec.plan(table.copy(), order)
        score = spec.plan_score(order, fits, policy.alpha, policy.beta, policy.latest)
        return score, [(job.id, fit[1]) for job, fit in zip(order, fits, strict=True) if fit[0] <= now_s]

    def judge(starts: Sequence[spec.Start], view: View) -> None:
        found = [*starts]
        assert found[: len(served)] == served, f"expected {served} first, got {found}"
        found = found[len(served) :]
        if len(waiting) <= min(FEW, EXHAUSTIVE_JOBS):
            plans = [outcome(order) for order in permutations(waiting)]
            least = min(score for score, _ in plans)
            good = [planned for score, planned in plans if score <= least * (1 + 1e-12) or math.isinf(least)]
            assert found in good or not (found or any(good)), f"expected one of {good}, got {found}"
            return
        last = view.notebook.get("last plan")
        if not found and all(spec.fit_at(table, job, now_s) is None for job in waiting):
            return
        if last is None or {*last} != {job.id for job in waiting}:
            raise Outside("plan: no order is known")
        named = {job.id: job for job in waiting}
        score, planned = outcome([named[name] for name in last])
        assert found == planned, f"expected {planned}, got {found}"
        for name in spec.ORDERS:
            assert score <= outcome(spec.ordered(waiting, name))[0] * (1 + 1e-12), f"the order {name} is better"

    return judge


def _window(policy: Window, view: View, table: spec.Table, queue: list[spec.Job]) -> Judge:
    first = queue[: policy.size]
    if policy.method != "bb" or policy.placement != "nearest" or policy.reserve != "aged" or len(first) > 2 * FEW:
        raise Outside("window: other methods, many jobs")
    if len(table.machine.storages) > FEW:
        raise Outside("window: many storage nodes")
    if any(job.stripes or job.partitions or job.io_rate or job.pools or job.lives != spec.Lives() for job in first):
        raise Outside("window: jobs that not all nodes are alike to")
    ages = view.notebook.get("window ages", {})
    if any(ages.get(job.id, 0) + 1 >= policy.max_age for job in first[: policy.depth]):
        raise Outside("window: aged jobs")
    outcomes = []
    for chosen in windows(table, queue, first, policy.balance) if queue else ():
        trial, names = table.copy(), {job.id for job in chosen}
        starts = spec.fill(trial, chosen)
        if len(starts) < len(chosen):
            raise Outside("window: a set that only the search can place")
        waiting = [job for job in queue if job.id not in names]
        more = spec.fill(trial, waiting, strict=True)
        outcomes.append(starts + more + spec.fill(trial, spec.ordered(waiting[len(more) :], _order(policy.fill_order))))

    def judge(starts: Sequence[spec.Start], view: View) -> None:
        assert [*starts] in (outcomes or [[]]), f"expected one of {outcomes}, got {starts}"

    return judge


POLICY_RULES: dict[type, Callable[[Any, View, spec.Table, list[spec.Job]], Judge]] = {
    Backfill: _backfill,
    Conservative: _conservative,
    MaxUtil: _maxutil,
    Plan: _plan,
    Window: _window,
}
"""By class of policy."""


class Comparison:
    """Comparisons of passes, counted.

    Parameters
    ----------
    plain
        Whether worlds are plain: tables come from the ledger.
    placement
        Rules of placement in plain worlds.
    most
        Passes with more waiting jobs are left out.

    Attributes
    ----------
    passes
        Passes compared, by class of policy.
    starts
        Starts compared.
    outside
        Passes not compared, by reason.
    """

    def __init__(self, *, plain: bool = False, placement: Placement | None = None, most: int = 30) -> None:
        self.plain = plain
        self.placement = placement or Placement()
        self.most = most
        self.passes = Counter[str]()
        self.starts = 0
        self.outside = Counter[str]()

    def decided(
        self, rules: type, policy: Any, view: View, decide: Callable[[View], Iterable[Decision]]
    ) -> Iterator[Decision]:
        """Run a pass, and compare it."""
        try:
            judge = self._ask(rules, policy, view)
        except Outside as reason:
            self.outside[str(reason)] += 1
            judge = None
        starts: list[spec.Start] = []
        for decision in decide(view):
            if type(decision) is Start:
                starts.append((decision.job.id, given_of(decision.allocation)))
            yield decision
        if self.plain:
            begun = view.notebook[LEDGER].begun
            named = {job.id: job for job in view.queue}
            for name, given in starts:
                begun[name] = Begun(given, view.now_s, view.now_s + view.estimate_s(named[name]))
        if judge is not None:
            try:
                judge(starts, view)
            except Outside as reason:
                self.outside[str(reason)] += 1
            else:
                self.passes[rules.__name__] += 1
                self.starts += len(starts)

    def _ask(self, rules: type, policy: Any, view: View) -> Judge:
        if self.plain:
            table = view.notebook.setdefault(LEDGER, Ledger()).table(view, self.placement)
        if len(view.queue) > self.most:
            raise Outside("many jobs wait")
        if view.fewest_nodes is not None:
            raise Outside("moldable jobs")
        if any(job.id in view.held for job in view.queue):
            raise Outside("jobs that hold their buffers")
        if not self.plain:
            if isinstance(view.timeline, PublishedTimeline):
                raise Outside("the published timeline")
            table = table_of(view.timeline)
        tiers = [partition.tier for partition in view.machine.partitions]
        queue = [job_of(job, view.estimate_s(job), tiers) for job in view.queue]
        return POLICY_RULES[rules](policy, view, table, queue)


@contextmanager
def compared(comparison: Comparison) -> Iterator[Comparison]:
    """Compare all passes of policies that are made by their names in the meantime."""
    before = dict(POLICIES)
    for name, entry in before.items():
        if entry.cls in POLICY_RULES:
            POLICIES[name] = replace(entry, place=_watched(entry.cls, comparison))
    try:
        yield comparison
    finally:
        POLICIES.update(before)


def _watched(rules: Any, comparison: Comparison) -> type:
    def decide(self: Any, view: View) -> Iterator[Decision]:
        return comparison.decided(rules, self, view, lambda view: rules.__call__(self, view))

    return type(
        rules.__name__, (rules,), {"__call__": decide, "__doc__": rules.__doc__, "__module__": rules.__module__}
    )
