"""Windows around any policy: nodes, counted pools and burst buffers kept free of other jobs over known intervals.

During a window of maintenance no job runs: in the policy's view its resources are taken, so no job starts that would
run into it by its expected duration, and plans and reservations avoid it. An advance reservation is a window that jobs
may name: these get only its nodes, within its intervals, and come first; for all others it is a window of maintenance.

References
----------
SchedMD, *Slurm Advanced Resource Reservation Guide*: reservations of nodes, licenses and burst buffers, for users and
accounts, recurring ones, the flags MAINT and FLEX.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from spillway.base.dates import date_of, seconds_of
from spillway.base.errors import DecisionRefused, OptionError, shown
from spillway.base.units import TIME
from spillway.core import Fit, Resource, Timeline
from spillway.protocol.intervals import parse_intervals
from spillway.schedulers.model.charging import Charging
from spillway.schedulers.model.decisions import Decision, Evict, Hold, Reject, Start, WakeAt
from spillway.schedulers.model.job import RESERVATION_FIELD, Job, sized_as
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.site import Site
from spillway.schedulers.model.site_parts import SHORTEST_S
from spillway.schedulers.policykit.holds import book
from spillway.schedulers.policykit.user_limit import held_bytes
from spillway.schedulers.policykit.view import PolicyWrapper, Running, TakenNodes, View

_FORM = re.compile(
    r"(?P<start>\S+)\s+(?P<length>\S+)(?:\s+every\s+(?P<every>\S+))?(?:\s+nodes\s+(?P<nodes>[\d-]+(?:\s+[\d-]+)*))?"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T.*)?", re.ASCII)
_AHEAD = 12
"""Number of next occurrences of a recurring window that passes consider."""

_SAME_S = 2e-6
"""Times nearer than this are the same: messages have six decimals, and no call comes sooner."""

_CALLED, _IDLE = "maintenance.called_s", "maintenance.idle"
"""Keys of the notebook: the last requested call; the state while no job ran, and its begin."""

FLEX = "FLEX"
"""Flag of a reservation with jobs that may also run outside of it."""


@dataclass(frozen=True)
class Window:
    """Resources kept over an interval, and the jobs allowed in it.

    Attributes
    ----------
    start_s
        Begin in simulated time; below 0 if before its origin.
    length_s
        Length, at least :data:`~spillway.schedulers.model.site_parts.SHORTEST_S`.
    every_s
        Time from one begin to the next, above its length; infinite for a single window.
    nodes
        Ranges of nodes by their place in the machine, first and last; ``None``: all nodes.
    name
        Name that jobs state (field ``reservation``); "": no job may use it.
    users, accounts
        Users and accounts (with the accounts below them) of the jobs that may name it; both must hold, (): all. A minus
        sign before a name excludes it.
    pools
        Amounts of counted pools, by their names in the machine.
    bb_bytes
        Bytes of burst buffers, of each storage node in proportion to its capacity.
    flexible
        Whether its jobs may also run outside of it.
    """

    start_s: float
    length_s: float
    every_s: float = math.inf
    nodes: tuple[tuple[int, int], ...] | None = None
    name: str = ""
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    pools: tuple[tuple[str, int], ...] = ()
    bb_bytes: int = 0
    flexible: bool = False

    def indices(self, nodes: int) -> list[int]:
        """Nodes of the window on a machine with this number of nodes."""
        if self.nodes is None:
            return list(range(nodes))
        return sorted({node for first, last in self.nodes for node in range(first, min(last + 1, nodes))})

    def coming(self, now_s: float) -> Iterator[tuple[float, float]]:
        """Begin and end of the next occurrences that have not ended (s), as many as passes consider.

        One whose rest is below the resolution of calls has ended.
        """
        now_s += _SAME_S
        if self.every_s == math.inf:
            if now_s < self.start_s + self.length_s:
                yield self.start_s, self.start_s + self.length_s
            return
        first = max(0, math.floor((now_s - self.start_s - self.length_s) / self.every_s) + 1)
        for number in range(first, first + _AHEAD):
            start_s = self.start_s + number * self.every_s
            yield start_s, start_s + self.length_s


def parse_windows(text: str, begins_s: float | None = 0.0) -> tuple[Window, ...]:
    """Read ``START LENGTH [every PERIOD] [nodes 0-15 20]``, several separated by ``;``.

    Parameters
    ----------
    begins_s
        Date of time 0 (s since 1970), for a date as START; ``None``: not known.

    Raises
    ------
    OptionError
        The text has another form, an invalid time, or a date while the date of time 0 is not known.
    """
    return tuple(_parse(part.strip(), begins_s) for part in text.split(";"))


_MOST_STARTS = 100
"""Most begins in a range."""


def starts_of(text: str) -> list[str]:
    """Begins of windows from the first to the last: ``3d..9d/1d``, ``2026-12-01T08:00..2026-12-07T08:00/1d``.

    Raises
    ------
    ValueError
        The text has another form, the last begin is before the first, or there are too many.
    """
    first, _, rest = text.partition("..")
    last, _, step = rest.partition("/")
    if not (first and last and step):
        raise ValueError("expected FIRST..LAST/STEP LENGTH, such as '3d..9d/1d 12h'")
    dated = bool(_DATE.fullmatch(first))
    if dated != bool(_DATE.fullmatch(last)):
        raise ValueError("expected FIRST and LAST both as times since the begin of the simulation, or both as dates")
    first_s, last_s = _start_s(first, 0.0), _start_s(last, 0.0)
    step_s = TIME.read(step)
    if not (last_s >= first_s and step_s > 0 and (last_s - first_s) / step_s < _MOST_STARTS):
        raise ValueError(f"expected LAST at or after FIRST, and at most {_MOST_STARTS} windows, a STEP above 0 apart")
    times = [first_s + number * step_s for number in range(math.floor((last_s - first_s) / step_s + 1e-9) + 1)]
    return [date_of(time_s) if dated else _written(float(f"{time_s:.10g}")) for time_s in times]


def _written(time_s: float) -> str:
    """Write a time in the largest unit in which it is whole: ``1d``, ``36h``, not ``86400s``."""
    units = (("d", 86_400), ("h", 3600), ("m", 60))
    unit, size_s = next((unit_of_time for unit_of_time in units if time_s and time_s % unit_of_time[1] == 0), ("s", 1))
    return f"{time_s / size_s:.10g}{unit}"


def has_date(text: str) -> bool:
    """Whether a text of windows states a date."""
    return any(_DATE.fullmatch(word) for word in text.split())


def _parse(text: str, begins_s: float | None) -> Window:
    found = _FORM.fullmatch(text)
    try:
        if found is None:
            raise ValueError("it has another form")
        start_s, length_s = _start_s(found["start"], begins_s), TIME.read(found["length"])
        every_s = TIME.read(found["every"]) if found["every"] else math.inf
        nodes = tuple(_range(word) for word in found["nodes"].split()) if found["nodes"] else None
        if every_s < 1:
            raise ValueError("the time from one to the next must be at least 1 s")
        if not SHORTEST_S <= length_s < every_s:
            raise ValueError(f"its length must be at least {SHORTEST_S:g} s, and below the time from one to the next")
        if begins_s is not None and every_s == math.inf and start_s + length_s <= 0:
            raise ValueError(f"it is over when the simulation begins, on {date_of(begins_s)}")
    except ValueError as error:
        raise OptionError(
            "setting maintenance must be START LENGTH [every PERIOD] [nodes 0-15 20], times since the begin of the "
            "simulation, such as '3d 12h' or '3d 4h every 14d nodes 0-15', or a date, '2026-12-01T08:00 12h', several "
            f"separated by ';'; got {shown(text)}: {error}"
        ) from None
    return Window(start_s, length_s, every_s, nodes)


def _start_s(text: str, begins_s: float | None) -> float:
    if not _DATE.fullmatch(text):
        return TIME.read(text)
    if begins_s is None:
        raise ValueError(_UNKNOWN_BEGIN)
    return seconds_of(text) - begins_s


_UNKNOWN_BEGIN = (
    "the date of the simulation's time 0 is not known: the workload does not state it, so set begins to it "
    "(--begins 2026-11-01T00:00:00)"
)
"""Error for a date without a known date of time 0."""


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not first or ("-" in text and not last) or (last and int(last) < int(first)):
        raise ValueError(f"{text!r} is no range of nodes")
    return int(first), int(last or first)


def reservations_of(site: Site, begins_s: float | None) -> tuple[Window, ...]:
    """The advance reservations of a site as windows.

    Parameters
    ----------
    begins_s
        Date of time 0 (s since 1970); ``None``: not known.

    Raises
    ------
    OptionError
        The date of time 0 is not known, and there are reservations.
    """
    found = []
    for reservation in site.reservations:
        if begins_s is None:
            raise OptionError(
                f"reservation {shown(reservation.name)} of the site begins at a date, and {_UNKNOWN_BEGIN}"
            )
        places = parse_intervals(reservation.nodes) if reservation.nodes else ()
        everything = not reservation.nodes and "ALL_NODES" in reservation.flags
        found.append(
            Window(
                reservation.start_s - begins_s,
                reservation.length_s,
                reservation.every_s or math.inf,
                None if everything else tuple((place, place) for place in places),
                reservation.name,
                reservation.users,
                reservation.accounts,
                tuple((f"license {name}", count) for name, count in reservation.licenses.items()),
                sum(size for name, size in reservation.tres.items() if name.startswith("bb/")),
                FLEX in reservation.flags,
            )
        )
    return tuple(found)


def admission(windows: Sequence[Window], site: Site | None) -> Callable[[Job], str | None]:
    """Make the check of jobs against their named reservations; without reservations the field has no effect."""
    named = {window.name: window for window in windows if window.name}
    charging = Charging(site or Site())

    def refuses(job: Job) -> str | None:
        name = _named(job)
        if not named or not name:
            return None
        window = named.get(name)
        if window is None:
            return f"reservation {shown(name)} is unknown; the site has {', '.join(named)}"
        account = charging.account(job.account, job.user)
        for what, given, own, listed in (
            ("user", job.user, {job.user}, window.users),
            ("account", account, {account, *charging.above(account)}, window.accounts),
        ):
            barred = own.intersection(word[1:] for word in listed if word.startswith("-"))
            if barred:
                return f"reservation {name} is not for the {what} {min(barred)}"
            allowed = [word for word in listed if not word.startswith("-")]
            if allowed and own.isdisjoint(allowed):
                several = "s" if len(allowed) > 1 else ""
                return f"reservation {name} is for the {what}{several} {', '.join(allowed)}, not for {shown(given)}"
        return None

    return refuses


def _named(job: Job) -> str:
    """The reservation that a job names, else ""."""
    return str(job.extras.get(RESERVATION_FIELD) or "")


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
        return 1.0 - _SAME_S if self.whole_seconds else 0.0

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
            window = named.get(_named(job))
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
        following = min((time_s for time_s in times if time_s > view.now_s + _SAME_S), default=math.inf)
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
        if view.now_s < max(since_s, last_s) + _AHEAD * every_s:
            return ""
        return f"it did not start in {_AHEAD} periods of windows of {every_s:g} s in which nothing ran"


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
