"""Windows around any policy: nodes, counted pools and burst buffers kept free of other jobs over known intervals.

During a window of maintenance no job runs: in the policy's view its resources are taken, so no job starts that would
run into it by its expected duration, and plans and reservations avoid it. An advance reservation is a window that jobs
may name: these get only its nodes, within its intervals, and come first; for all others it is a window of maintenance.

References
----------
SchedMD, *Slurm Advanced Resource Reservation Guide*.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from spillway.base.errors import DecisionRefused
from spillway.core import Fit, Resource, Timeline
from spillway.schedulers.model.decisions import Decision, Evict, Hold, Reject, Start, WakeAt
from spillway.schedulers.model.job import Job, sized_as
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.holds import book
from spillway.schedulers.policykit.reservations import AHEAD, SAME_S, Window, reservation_of
from spillway.schedulers.policykit.user_limit import held_bytes
from spillway.schedulers.policykit.view import PolicyWrapper, Running, TakenNodes, View

_CALLED, _IDLE = "maintenance.called_s", "maintenance.idle"
"""Keys of the notebook: the last requested call; the state while no job ran, and its begin."""


class _Occurrence(NamedTuple):
    """One occurrence of a window: begin and end (s), its nodes."""

    start_s: float
    end_s: float
    nodes: frozenset[int]
    window: Window

    def taken_from_s(self, now_s: float, late_s: float) -> float:
        """Time from which jobs are kept out (s): one that begins later allows jobs to be late; infinite: from none."""
        from_s = now_s if self.start_s <= now_s else self.start_s + late_s
        return from_s if from_s < self.end_s else math.inf


@dataclass(frozen=True)
class Windows(PolicyWrapper):
    """A policy that keeps windows, itself a policy.

    Attributes
    ----------
    windows
        The windows; at least one.
    whole_seconds
        Whether the policy compares times in whole seconds, as Slurm does: a job that starts in a second counts from its
        begin, so it may end within the second in which a window begins.
    """

    windows: Sequence[Window]
    whole_seconds: bool = False

    @property
    def late_s(self) -> float:
        """Time that a job may run into a window (s)."""
        return 1.0 - SAME_S if self.whole_seconds else 0.0

    def __call__(self, view: View) -> Iterator[Decision]:
        """Run a pass for the jobs of each reservation, then one for all others.

        Request a call for the next end of a window, or begin of a reservation for which jobs wait.
        """
        coming = self._coming(view)
        inside, outside = self._divided(view.queue)
        stalled = self._stalled(view)
        if not stalled:
            yield from self._calls(view, coming, inside)
        never = dict(_never(view, self.windows, inside, outside))
        if stalled and not _away(view):
            never |= dict.fromkeys((job for job in view.queue if job not in never), stalled)
        if never:
            yield from (Reject(job, reason) for job, reason in never.items())
            inside, outside = self._divided([job for job in view.queue if job not in never])
        for window, jobs in inside.items():
            yield from self._within(view, window, jobs, coming)
        if inside or never:
            view = view.showing(outside, view.held)
        late_s = self.late_s
        shown_view = view.without(lambda timeline: _take(timeline, coming, late_s), _taken(coming))
        for decision in self.policy(shown_view):
            if type(decision) is Start:
                _check(view, decision, coming, late_s)
            yield decision

    def keeping(self, keep: Callable[[View], None]) -> Callable[[View], None]:
        """Bookings that precede a pass, made as within it: outside of windows, or in those of a job's reservation.

        They are :attr:`~spillway.schedulers.lives.persistent.PersistentBufferPolicy.keep`, and are booked in the whole
        timeline, too.
        """

        def kept(view: View) -> None:
            coming = self._coming(view)
            inside, outside = self._divided(view.queue)
            for window, jobs in (*inside.items(), (None, outside)):
                before = set(view.reservations)
                others, gaps = _excluding(view, window, coming)
                keep(_outside(view.showing(jobs, view.held), others, gaps, self.late_s))
                for job in jobs:
                    if job.id in view.reservations and job.id not in before:
                        book(view, job, view.reservations[job.id], view.estimate_s(job))

        return kept

    def _coming(self, view: View) -> list[_Occurrence]:
        """The next occurrences of all windows."""
        found: list[_Occurrence] = []
        for window in self.windows:
            nodes = frozenset(window.indices(view.machine.width))
            found += [_Occurrence(start_s, end_s, nodes, window) for start_s, end_s in window.coming(view.now_s)]
        return found

    def warnings(self, notebook: Mapping[str, Any], machine: Machine, now_s: float) -> Iterator[str]:
        """Warnings of the inner policy, and of windows with nodes beyond the machine."""
        yield from super().warnings(notebook, machine, now_s)
        for window in self.windows:
            last = max((last for _, last in window.nodes or ()), default=0)
            if last >= machine.width:
                name = f"reservation {window.name}" if window.name else "a window of maintenance"
                yield f"{name} is for node {last}, the machine has the nodes 0 to {machine.width - 1}"

    def _divided(self, queue: Sequence[Job]) -> tuple[dict[Window, list[Job]], Sequence[Job]]:
        """Jobs of each reservation, and jobs without one."""
        named = {window.name: window for window in self.windows if window.name}
        if not named:
            return {}, queue
        inside: dict[Window, list[Job]] = {}
        outside = []
        for job in queue:
            window = named.get(reservation_of(job))
            if window is None:
                outside.append(job)
            else:
                inside.setdefault(window, []).append(job)
        return inside, outside

    def _within(
        self, view: View, window: Window, jobs: Sequence[Job], coming: Sequence[_Occurrence]
    ) -> Iterator[Decision]:
        """Run a pass for the jobs of a reservation, with other resources taken; book its starts for the other jobs."""
        others, gaps = _excluding(view, window, coming)
        own = _outside(view.showing(jobs, view.held), others, gaps, self.late_s)
        own.notebook = view.notebook.setdefault(f"reservation {window.name}", {})
        own.reservations, own.reserved = dict(view.reservations), []
        own.vacate = None  # jobs of reservations preempt no other jobs
        for decision in self.policy(own):
            if type(decision) is Start:
                _check(view, decision, [*others, *gaps], self.late_s)
                length_s = view.estimate_s(decision.job)
                if decision.job.id not in view.reservations:  # else it is booked already, from now on
                    book(view, decision.job, Fit(view.now_s, decision.allocation), length_s)
                started = Running(decision.job, view.now_s, view.now_s + length_s, decision.allocation)
                view.running = (*view.running, started)  # also counts in limits on the other jobs of this pass
            elif type(decision) is Evict:
                holding = view.held[decision.job.id]
                view.timeline.release(view.now_s, holding.end_s, holding.allocation, Resource.BURST_BUFFERS)
            elif type(decision) is Hold:
                view.timeline.reserve(view.now_s, decision.until_s, decision.allocation, Resource.BURST_BUFFERS)
            yield decision

    def _calls(
        self, view: View, coming: Iterable[_Occurrence], inside: Mapping[Window, Sequence[Job]]
    ) -> Iterator[WakeAt]:
        called_s = view.notebook.get(_CALLED, -math.inf)
        times = [occurrence.end_s for occurrence in coming] + [
            window.start_s for window in coming if window.window in inside
        ]
        following = min((time_s for time_s in times if time_s > view.now_s + SAME_S), default=math.inf)
        if view.queue and following < math.inf and following != called_s:
            view.notebook[_CALLED] = following
            yield WakeAt(following)

    def _stalled(self, view: View) -> str:
        """Reason to reject all waiting jobs: no job has run and nothing changed in many periods of windows; else "".

        For cases that :func:`_never` does not detect: windows of different periods, buffers held before nodes.
        """
        every_s = max((window.every_s for window in self.windows if window.every_s < math.inf), default=0.0)
        if not every_s or not view.queue or view.running:
            view.notebook.pop(_IDLE, None)
            return ""
        seen = (view.finished.total, view.unavailable, [job.id for job in view.queue], sorted(view.held))
        before, since_s = view.notebook.get(_IDLE, (None, math.nan))
        if before != seen:
            view.notebook[_IDLE] = seen, view.now_s
            return ""
        last_s = max(
            (window.start_s + window.length_s for window in self.windows if window.every_s == math.inf), default=since_s
        )
        if view.now_s < max(since_s, last_s) + AHEAD * every_s:
            return ""
        return f"it did not start in {AHEAD} periods of windows of {every_s:g} s in which nothing ran"


def _excluding(
    view: View, window: Window | None, coming: Sequence[_Occurrence]
) -> tuple[list[_Occurrence], list[_Occurrence]]:
    """Occurrences of windows that exclude the jobs of a reservation, or those of none, and the gaps that do."""
    others = [occurrence for occurrence in coming if occurrence.window is not window]
    own = [occurrence for occurrence in coming if occurrence.window is window]
    return others, _gaps(view, window, own) if window is not None and own and not window.flexible else []


def _outside(view: View, others: Sequence[_Occurrence], gaps: Sequence[_Occurrence], late_s: float) -> View:
    """The same pass without what these occurrences and gaps take."""
    return view.without(
        lambda timeline: _take(timeline.copy(), [*others, *gaps], late_s), (*_taken(others), *_taken(gaps, gap=True))
    )


def _gaps(view: View, window: Window, own: Sequence[_Occurrence]) -> list[_Occurrence]:
    """Intervals that exclude a reservation's jobs: on other nodes always, on its own between its occurrences."""
    width = view.machine.width
    inside = own[0].nodes or frozenset(range(width))
    nothing = Window(0.0, 1.0, nodes=())
    found = []
    outside = frozenset(range(width)) - inside
    if outside:
        found.append(_Occurrence(view.now_s, math.inf, outside, nothing))
    since_s = view.now_s
    for occurrence in own:
        if occurrence.start_s > since_s:
            found.append(_Occurrence(since_s, occurrence.start_s, inside, nothing))
        since_s = occurrence.end_s
    found.append(_Occurrence(since_s, math.inf, inside, nothing))
    return found


def _away(view: View) -> bool:
    """Whether nodes or storage are out or drained, and may come back."""
    storages = view.machine.storages
    there = sum(view.timeline.free_storage_now()) + sum(held_bytes(view).values())
    return bool(view.unavailable) or there < sum(storage.capacity_bytes for storage in storages)


def _check(view: View, start: Start, coming: Sequence[_Occurrence], late_s: float) -> None:
    """Refuse a start that would run into a window, as of a policy that ignores its timeline."""
    end_s = view.now_s + view.estimate_s(start.job)
    for occurrence in coming:
        begin_s, over_s, nodes, window = occurrence
        if occurrence.taken_from_s(view.now_s, late_s) < end_s and not nodes.isdisjoint(start.allocation.nodes):
            kind = f"the reservation {window.name}" if window.name else "a window of maintenance"
            raise DecisionRefused(start.job.id, f"it would run into {kind}, {begin_s:g} to {over_s:g} s, on its nodes")


def _never(
    view: View, windows: Sequence[Window], inside: Mapping[Window, Sequence[Job]], outside: Sequence[Job]
) -> Iterator[tuple[Job, str]]:
    """Jobs that can never start, with reasons."""
    for window, jobs in inside.items():
        for job in jobs:
            reason = _never_within(job, window, view)
            if reason is not None:
                yield job, reason
    recurring: dict[float, list[Window]] = {}
    for window in windows:
        if window.every_s < math.inf:
            recurring.setdefault(window.every_s, []).append(window)
    for every_s, several in recurring.items():
        for job in _never_between(view, several, every_s, outside):
            yield job, _why_between(job, view, several, every_s)


def _never_within(job: Job, window: Window, view: View) -> str | None:
    """Reason why a job can never start within its reservation; ``None`` if it can."""
    longest_s = max((end_s - max(start_s, view.now_s) for start_s, end_s in window.coming(view.now_s)), default=0.0)
    if not longest_s:
        return f"reservation {window.name} has ended"
    if window.flexible:
        return None
    if job.walltime_s > longest_s:
        return f"walltime {job.walltime_s:g} s > {longest_s:g} s, the longest that is left of reservation {window.name}"
    every = frozenset(range(view.machine.width))
    own = frozenset(window.indices(view.machine.width)) or every
    sets = [view.machine.partitions[partition].nodes & own for partition in job.partitions] or [own]
    most = max(map(len, sets))
    if _fewest(job, view).nodes > most:
        return (
            f"{job.nodes} nodes > {most} of reservation {window.name}{' in its partitions' if job.partitions else ''}"
        )
    nodes = Timeline(view.machine, 0.0, view.timeline.placement)
    if own < every:
        nodes.take(0.0, math.inf, every - own)
    if nodes.fit_now(_fewest(job, view), 0.0) is None:
        return f"the nodes of reservation {window.name} cannot serve the job, even when all are free"
    return None


def _never_between(view: View, windows: Sequence[Window], every_s: float, jobs: Iterable[Job]) -> list[Job]:
    """Jobs that could not start even on an empty machine with these windows of the same period."""
    # windows in all periods: a job that cannot start within one never can
    always = [replace(window, start_s=window.start_s % every_s - every_s) for window in windows]
    never = _without_fit(view, _empty(view, always, 0.0), jobs, every_s)
    first_s = max(window.start_s for window in windows)
    if never and first_s > view.now_s:  # a job may start before the windows begin
        never = _without_fit(view, _empty(view, windows, view.now_s), never, first_s)
    return never


def _without_fit(view: View, empty: Timeline, jobs: Iterable[Job], latest_s: float) -> list[Job]:
    """Jobs that cannot start on a timeline until a time (s)."""
    return [
        job for job in jobs if empty.earliest_fit(_fewest(job, view), view.estimate_s(job), latest_s=latest_s) is None
    ]


def _why_between(job: Job, view: View, windows: Sequence[Window], every_s: float) -> str:
    """Reason for a job that cannot start between windows of the same period."""
    width = view.machine.width
    own = [view.machine.partitions[place].nodes for place in job.partitions] or [frozenset(range(width))]
    for window in windows:
        between_s = every_s - window.length_s
        outside = max(len(nodes.difference(window.indices(width))) for nodes in own)
        if job.walltime_s > between_s and job.nodes > outside:
            kind = f"occurrences of reservation {window.name}" if window.name else "windows of maintenance"
            return (
                f"walltime {job.walltime_s:g} s > {between_s:g} s between two {kind}, and "
                f"{job.nodes} nodes > {outside} outside of them"
            )
    keeping = " and ".join(f"reservation {window.name}" if window.name else "maintenance" for window in windows)
    keep = "keep" if len(windows) > 1 else "keeps"
    return f"{job.walltime_s:g} s at no time have the job's resources free: every {every_s:g} s {keeping} {keep} them"


def _fewest(job: Job, view: View) -> Job:
    """A job with the fewest nodes on which it may start."""
    return job if view.fewest_nodes is None else sized_as(job, view.fewest_nodes(job))


def _empty(view: View, windows: Iterable[Window], now_s: float) -> Timeline:
    """A timeline with only windows, from a time on."""
    width = view.machine.width
    coming = [
        _Occurrence(start_s, end_s, frozenset(window.indices(width)), window)
        for window in windows
        for start_s, end_s in window.coming(now_s)
    ]
    return _take(Timeline(view.machine, now_s, view.timeline.placement), coming, 0.0)


def _taken(coming: Iterable[_Occurrence], *, gap: bool = False) -> tuple[TakenNodes, ...]:
    return tuple(TakenNodes(window.start_s, window.end_s, window.nodes, gap) for window in coming if window.nodes)


def _take(timeline: Timeline, coming: Sequence[_Occurrence], late_s: float) -> Timeline:
    machine = timeline.machine
    for occurrence in coming:
        start_s = occurrence.taken_from_s(timeline.now_s, late_s)
        if start_s == math.inf:
            continue
        timeline.take(
            start_s,
            occurrence.end_s,
            occurrence.nodes,
            _of_storages(machine, occurrence.window.bb_bytes),
            _of_pools(machine, occurrence.window.pools),
        )
    return timeline


def _of_storages(machine: Machine, bb_bytes: int) -> Sequence[int]:
    """Bytes of each storage node, in proportion to its capacity, rounded up; () for 0 bytes."""
    total = sum(storage.capacity_bytes for storage in machine.storages)
    if not bb_bytes or not total:
        return ()
    return [-(-min(bb_bytes, total) * storage.capacity_bytes // total) for storage in machine.storages]


def _of_pools(machine: Machine, amounts: Iterable[tuple[str, int]]) -> Sequence[int]:
    """Amounts of each pool of a machine; () for no amounts."""
    named = dict(amounts)
    return [named.get(pool.name, 0) for pool in machine.pools] if named else ()
