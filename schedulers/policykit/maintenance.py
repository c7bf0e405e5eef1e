"""Windows of maintenance, around any policy: nodes on which nothing may run over known intervals.

A policy sees these nodes as taken over each window, so that it starts nothing that its job's expected duration would
carry into one, and plans and reserves around it.

References
----------
SchedMD, *Slurm Advanced Resource Reservation Guide*: reservations with the flag MAINT, for all nodes or some.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spillway.base.errors import DecisionRefused, OptionError, shown
from spillway.base.units import TIME
from spillway.schedulers.model.decisions import Decision, Reject, Start, WakeAt
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.view import Around, View
from spillway.schedulers.timeline import Timeline

_FORM = re.compile(
    r"(?P<start>\S+)\s+(?P<length>\S+)(?:\s+every\s+(?P<every>\S+))?(?:\s+nodes\s+(?P<nodes>[\d-]+(?:\s+[\d-]+)*))?"
)
_AHEAD = 12
"""Occurrences of a recurring window that passes look ahead to."""

_CALLED = "maintenance.called_s"

_Taken = tuple[float, float, Sequence[int]]
"""Begin and end of one occurrence of a window, and its nodes."""


@dataclass(frozen=True)
class Window:
    """Nodes on which nothing may run over an interval.

    Attributes
    ----------
    start_s
        Its begin in simulated time, at least 0.
    length_s
        Above 0.
    every_s
        Time from one begin to the next, above its length; infinite for a single window.
    nodes
        Ranges of nodes by their place in the machine, first and last; () for all nodes.
    """

    start_s: float
    length_s: float
    every_s: float = math.inf
    nodes: tuple[tuple[int, int], ...] = ()

    def indices(self, nodes: int) -> list[int]:
        """The nodes of a machine with so many."""
        if not self.nodes:
            return list(range(nodes))
        return sorted({one for first, last in self.nodes for one in range(first, min(last + 1, nodes))})

    def coming(self, now_s: float) -> Iterator[tuple[float, float]]:
        """Begin and end of its occurrences that have not ended, as far as passes look ahead."""
        if self.every_s == math.inf:
            if now_s < self.start_s + self.length_s:
                yield self.start_s, self.start_s + self.length_s
            return
        first = max(0, math.floor((now_s - self.start_s - self.length_s) / self.every_s) + 1)
        for number in range(first, first + _AHEAD):
            start_s = self.start_s + number * self.every_s
            yield start_s, start_s + self.length_s


def parse_windows(text: str) -> tuple[Window, ...]:
    """Read ``START LENGTH [every PERIOD] [nodes 0-15 20]``, several separated by ``;``.

    Raises
    ------
    OptionError
        It has another form, or a time that is none.
    """
    return tuple(_parse(part.strip()) for part in text.split(";"))


def _parse(text: str) -> Window:
    found = _FORM.fullmatch(text)
    try:
        if found is None:
            raise ValueError("it has another form")
        start_s, length_s = TIME.read(found["start"]), TIME.read(found["length"])
        every_s = TIME.read(found["every"]) if found["every"] else math.inf
        nodes = tuple(_range(one) for one in (found["nodes"] or "").split())
        if not 0 < length_s < every_s:
            raise ValueError("its length must be above 0, and below the time from one to the next")
    except ValueError as error:
        raise OptionError(
            "setting maintenance must be START LENGTH [every PERIOD] [nodes 0-15 20], times since the begin of the "
            f"simulation, such as '3d 12h' or '3d 4h every 14d nodes 0-15', several separated by ';'; got {shown(text)}"
            f": {error}"
        ) from None
    return Window(start_s, length_s, every_s, nodes)


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not first or ("-" in text and not last) or (last and int(last) < int(first)):
        raise ValueError(f"{text!r} is no range of nodes")
    return int(first), int(last or first)


@dataclass(frozen=True)
class Maintenance(Around):
    """A policy that keeps windows of maintenance: itself a policy.

    Attributes
    ----------
    windows
        The windows; at least one.
    """

    windows: Sequence[Window]

    def __call__(self, view: View) -> Iterator[Decision]:
        """Run one pass around the windows, and have the next one when a window ends."""
        width = view.machine.width
        taken: list[_Taken] = []
        for window in self.windows:
            nodes = window.indices(width)
            taken += [(start_s, end_s, nodes) for start_s, end_s in window.coming(view.now_s)]
        yield from self._calls(view, taken)
        recurring = [window for window in self.windows if window.every_s < math.inf]
        jobs = view.queue if recurring else ()
        never = {job: reason for job in jobs if (reason := _never(job, recurring, view.machine)) is not None}
        if never:
            yield from (Reject(job, reason) for job, reason in never.items())
            view = view.showing([job for job in view.queue if job not in never], view.held)
        first_s = min((start_s for start_s, _, _ in taken), default=math.inf)
        shown_view = view.without(lambda timeline: _take(timeline, taken), self._ended(view.now_s), first_s)
        for decision in self.policy(shown_view):
            if type(decision) is Start:
                self._check(view, decision, taken)
            yield decision

    def _calls(self, view: View, taken: Iterable[_Taken]) -> Iterator[WakeAt]:
        called_s = view.notebook.get(_CALLED, -math.inf)
        following = min((end_s for _, end_s, _ in taken if end_s > view.now_s), default=math.inf)
        if view.queue and following < math.inf and following != called_s:
            view.notebook[_CALLED] = following
            yield WakeAt(following)

    def _ended(self, now_s: float) -> int:
        """How many windows have ended: each may let jobs start that could not before."""
        ended = 0
        for one in self.windows:
            past = now_s - one.start_s - one.length_s
            ended += 0 if past < 0 else 1 if one.every_s == math.inf else 1 + math.floor(past / one.every_s)
        return ended

    def _check(self, view: View, start: Start, taken: Sequence[_Taken]) -> None:
        """Refuse what a policy starts without a look at its timeline."""
        end_s = view.now_s + view.estimate_s(start.job)
        for begin_s, over_s, nodes in taken:
            if view.now_s < over_s and begin_s < end_s and not set(nodes).isdisjoint(start.allocation.nodes):
                raise DecisionRefused(
                    start.job.id,
                    f"it would run into a window of maintenance, {begin_s:g} to {over_s:g} s, on its nodes",
                )


def _never(job: Job, recurring: Iterable[Window], machine: Machine) -> str | None:
    """Why a job can never start on a machine, in none of its partitions; ``None`` where it can."""
    own = [machine.partitions[place].nodes for place in job.partitions] or [frozenset(range(machine.width))]
    for window in recurring:
        between_s = window.every_s - window.length_s
        outside = max(len(nodes.difference(window.indices(machine.width))) for nodes in own)
        if job.walltime_s > between_s and job.nodes > outside:
            return (
                f"walltime {job.walltime_s:g} s > {between_s:g} s between two windows of maintenance, and "
                f"{job.nodes} nodes > {outside} outside of them"
            )
    return None


def _take(timeline: Timeline, taken: Sequence[_Taken]) -> Timeline:
    for start_s, end_s, nodes in taken:
        timeline.take(max(start_s, timeline.now_s), end_s, nodes)
    return timeline
