"""Starvation for a second resource: small sites on which a job that needs all of a pool is first in the queue.

Compute nodes are never scarce: there are five, and no job needs more than one. Jobs 1 and 2 hold half of a pool each,
job 3, the *large* job, needs all of it, and the later jobs need half of it each. A reservation that covers the pool
keeps it free for the large job; without one the later jobs take each half as soon as it is free.

References
----------
Slurm, *slurm.conf*, ``SchedulerParameters``, ``bf_licenses``; Kopanski, master's thesis 2020, section 3.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from spillway.base.errors import OptionError
from spillway.base.options import Value
from spillway.base.plugins import split_spec
from spillway.experiments.trials.disciplines import SAFETY
from spillway.experiments.trials.play import simulate
from spillway.experiments.trials.subject import Command
from spillway.experiments.trials.world import LICENSE, TrialJob, World
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.description import ModelSpec, PolicySpec
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.site import License, Site, site_text
from spillway.schedulers.policies import find_policy
from spillway.simulator.wire.links import InProcessLink

LARGE = 3
"""Number of the job that needs all of the pools."""

POOL = 4
"""Licences, or GB of burst buffer, of a site; other jobs need half of them."""

DELAYED_S = 5.0
"""A start that is later by more than this counts as delayed: a real Slurm has passes, staging and daemons."""


Starts = Mapping[int, float]
"""Start of each job, by its number: s after the first submission."""


@dataclass(frozen=True)
class StarvationCase:
    """A site and its jobs.

    Attributes
    ----------
    name, words
        Its name, and the resources that the large job needs.
    world
        Nodes, the buffer and the jobs; jobs in order of submission.
    licenses
        Licences of the site's only pool.
    covered_s
        Start of the large job if its reservation covers all that it needs, s after the first submission: as soon as
        jobs 1 and 2 have ended.
    """

    name: str
    words: str
    world: World
    licenses: int = 0
    covered_s: float = 36.0

    def from_first(self, at_s: Mapping[int, float]) -> Starts:
        """Starts relative to the first submission, from starts in the world's time."""
        return {number: start_s - self.world.jobs[0].submit_s for number, start_s in at_s.items()}

    @property
    def settings(self) -> dict[str, str]:
        """Settings of a session at the site."""
        return {"site": site_text(Site(licenses=(License(LICENSE, self.licenses),)))} if self.licenses else {}


def _case(name: str, words: str, needs: Sequence[tuple[int, int]], licenses: int, gb: int) -> StarvationCase:
    """A case from the needs of each job: licences, GB."""
    jobs = tuple(
        TrialJob(at_s, 1, run_s, gb_each, walltime_s=60, licenses=each)
        for (at_s, run_s), (each, gb_each) in zip(_TIMES, needs, strict=True)
    )
    return StarvationCase(name, words, World(jobs, nodes=5, storages=int(gb > 0), gb=gb), licenses)


_TIMES = ((1, 20), (2, 35), (8, 10), *((10 + number, 30) for number in range(5)))
"""Submission and run time of each job, s; all have a time limit of a minute, the shortest that Slurm accepts.

By the limits job 3 can start at 62 s, and a job that starts after 2 s does not end before. In fact jobs 1 and 2 end at
21 and 37 s: job 3 then starts if its reservation covers all that it needs.
"""

_HALF, _ALL = POOL // 2, POOL

CASES = (
    # Without a reservation of licences jobs 4 to 8 take halves at 21, 37, 51, 67 and 81 s; the last ends at 111 s.
    _case("licence", "all 4 licences", [(_HALF, 0)] * 2 + [(_ALL, 0)] + [(_HALF, 0)] * 5, POOL, 0),
    # The same with a burst buffer.
    _case("buffer", "all 4 GB of the burst buffer", [(0, _HALF)] * 2 + [(0, _ALL)] + [(0, _HALF)] * 5, 0, POOL),
    # Jobs 4, 6 and 8 need licences, 5 and 7 buffers. If neither is reserved, licences are free at 81 s, when job 8 has
    # ended; if only licences are, job 5 takes half of the buffer at 21 s, job 7 at 37 s, and all of it is free at 67 s.
    _case(
        "two pools", "all 4 licences and all 4 GB", [(_HALF, _HALF)] * 2 + [(_ALL, _ALL)]
        + [(_HALF, 0) if number % 2 == 0 else (0, _HALF) for number in range(5)], POOL, POOL,
    ),
)  # fmt: skip


class LargeJobDelay(NamedTuple):
    """Start and delay of the large job.

    Attributes
    ----------
    start_s
        Its start, s after the first submission; infinite: never.
    later_s
        Its delay against a reservation of all that it needs, s.
    passed
        Number of later jobs that started before it.
    """

    start_s: float
    later_s: float
    passed: int

    @property
    def delayed(self) -> bool:
        """Whether it waited for later jobs."""
        return self.later_s > DELAYED_S

    def __str__(self) -> str:
        return (
            f"{self.start_s:.0f} s ({self.later_s:+.0f} s, {self.passed} pass)"
            if self.delayed
            else f"{self.start_s:.0f} s"
        )


def suffered(starts: Starts, covered_s: float) -> LargeJobDelay:
    """Measure the delay of the large job.

    Parameters
    ----------
    starts
        Starts of the jobs.
    covered_s
        Start of the large job if its reservation covers all that it needs.
    """
    start_s = starts.get(LARGE, math.inf)
    passed = sum(number > LARGE and at_s < start_s for number, at_s in starts.items())
    return LargeJobDelay(start_s, start_s - covered_s, passed)


class NotPlayed(Exception):
    """A case does not apply to a scheduler, or could not be played with it; the message has the reason."""


class Scheduler(Protocol):
    """A scheduler of the comparison."""

    @property
    def name(self) -> str:
        """Name in tables."""

    def starts(self, case: StarvationCase) -> Starts:
        """Starts of the jobs of a case; raises :class:`NotPlayed`."""


class _LargeJobObserver(Observer):
    def __init__(self) -> None:
        self.at_s: dict[int, float] = {}

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        self.at_s[int(job.name)] = now_s


@dataclass(frozen=True)
class BuiltinPolicy:
    """A built-in policy in this process, with its name in tables."""

    name: str
    policy: PolicySpec

    @classmethod
    def of(cls, text: str) -> BuiltinPolicy:
        """Read a policy in the form of the command line; raise :class:`~spillway.base.errors.OptionError`."""
        name, options = split_spec(text)
        return cls(text, PolicySpec(name, options={**options}))

    def check(self) -> None:
        """Raise :class:`~spillway.base.errors.OptionError` if it cannot play the cases."""
        for case in CASES:
            self._spec(case).check()

    def _spec(self, case: StarvationCase) -> SessionSpec:
        session = {**self.policy.session, **case.settings}
        return SessionSpec(dataclasses.replace(self.policy, session=session), ModelSpec("rigid"))

    def starts(self, case: StarvationCase) -> Starts:
        """Play a case; return the starts of its jobs."""
        if fields := getattr(find_policy(self.policy.policy).cls, "needs_fields", ()):
            raise NotPlayed(f"jobs state no {', '.join(fields)}")
        spec, seen = self._spec(case), _LargeJobObserver()
        try:
            spec.check()
        except OptionError as error:
            raise NotPlayed(str(error)) from None
        simulate(case.world, InProcessLink(spec.session(seen)), needs=spec.needs())
        return case.from_first(seen.at_s)


@dataclass(frozen=True)
class OutsideScheduler:
    """A scheduler in a separate process that speaks Batsim's protocol, which has no licences."""

    name: str
    command: Command

    def starts(self, case: StarvationCase) -> Starts:
        """Play a case; return the starts of its jobs."""
        if case.licenses:
            raise NotPlayed("Batsim's protocol has no licences")
        played = self.command.play(case.world)
        for name, words in played.faults.items():
            if name in SAFETY:
                raise NotPlayed(words)
        return case.from_first(played.starts)


SLURM: dict[str, Value] = {
    "release": "24.11",
    "bf_interval": 1,
    "bf_resolution": 1,
    "sched_interval": 1,
    "batch_sched_delay": 0,
}
"""Options of Slurm's schedulers: passes every second, for jobs of seconds."""

_LIFE: dict[str, Value] = {"bb_life": "slurm"}

_OURS = PolicySpec("slurm-backfill", options=SLURM, session=_LIFE)
_PLANNED = dataclasses.replace(_OURS, options={**SLURM, "bf_licenses": True})

VARIANTS = (
    BuiltinPolicy("slurm-backfill", _OURS),
    BuiltinPolicy("slurm-backfill:bf_licenses=true", _PLANNED),
    *map(BuiltinPolicy.of, ("easy-no-bb", "easy:covered=nodes+bb", "easy", "easy:spare=false")),
    BuiltinPolicy("easy --bb-life slurm", PolicySpec("easy", session=_LIFE)),
)
"""Slurm's policy with a site's options, and EASY with the possible scopes of its reservations: the first rows."""


def compared(schedulers: Iterable[Scheduler]) -> dict[str, dict[str, LargeJobDelay | str]]:
    """Start and delay of the large job by scheduler and case, or the reason why the case was not played."""
    found: dict[str, dict[str, LargeJobDelay | str]] = {}
    for scheduler in schedulers:
        row = found[scheduler.name] = {}
        for case in CASES:
            try:
                row[case.name] = suffered(scheduler.starts(case), case.covered_s)
            except NotPlayed as reason:
                row[case.name] = str(reason)
    return found
