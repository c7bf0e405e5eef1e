"""The submissions of a recording in the simulator: policy ``slurm-backfill`` under ``--bb-life slurm``.

The jobs are submitted as recorded, with their durations; the policy decides when each starts and gets its buffer. The
pool is one storage node.
"""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import msgspec
import numpy as np

from spillway.base import limits
from spillway.base.files import parse_toml
from spillway.base.options import describe
from spillway.core import Resource
from spillway.experiments.site.site_import import imported_texts
from spillway.experiments.slurm.recording import TIE_S, RecordedJob, Recording
from spillway.experiments.studies.simulation import simulate
from spillway.platforms.catalogue import builtin_files
from spillway.platforms.description.generate import generate
from spillway.platforms.description.machine import read_description
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.protocol.messages import JsonObject
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.jobmodels.base import Compute, GiveBack, Granted, JobModel, Program, Submitted
from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.model.job import LICENSES_FIELD, Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.site import License, Site, site_text
from spillway.schedulers.policies.slurm_backfill import RecordedPasses, SlurmBackfill
from spillway.schedulers.policykit.slurm.nodespace import EXACT_S
from spillway.schedulers.policykit.slurm.priority import priorities_of
from spillway.schedulers.policykit.view import View
from spillway.schedulers.site_file import site_of
from spillway.simulator.engines.native import FixedEngine

LIFE = "slurm"

_LONGEST_PASS_S = 0.5
"""Longest time from the begin of a pass to a log line of that pass, s: 0.11 on a loaded machine."""

_CONFIGURED_S = 0.016
"""Time to configure a job with a buffer at its start, s: the median of 81 in a run. In recordings without extensions of
limits, limits are extended by this."""


class _Starts(Observer):
    def __init__(self) -> None:
        self.at_s: dict[int, float] = {}

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        self.at_s[int(job.name)] = now_s


def starts(recording: Recording, *, passes: bool) -> list[float]:
    """Simulated start of each job, s, in the order of the recording; NaN for a job that never started.

    Parameters
    ----------
    passes
        Whether the schedulers have their passes at the recorded times; else in their regular intervals, from the first
        recorded ones on.
    """
    return replayed(recording, passes=passes).starts


class _ReplayResult(NamedTuple):
    """Simulated starts (s), and for each instant of the recording priorities of waiting jobs by job and partition."""

    starts: list[float]
    priorities: list[dict[tuple[int, str], int]]


def replayed(recording: Recording, *, passes: bool) -> _ReplayResult:
    """As :func:`starts`, with the priorities at the instants of the recording."""
    seen, looked = _Starts(), _PriorityProbe(recording)
    site = site_text(looked.site) if looked.site is not None else ""
    settings = Settings(bb_life=LIFE, site=site, begins=recording.begins if site else "")
    session = assemble(policy(recording, looked, passes=passes), settings, CompletingModel(), observer=seen)
    text = MACHINE.format(nodes=recording.settings.nodes, capacity=recording.settings.pool_units)
    machine = parse_platform(generate(read_description(text, "slurm", builtin_files())), "slurm")
    simulate(session, submissions(recording), machine, FixedEngine(machine), dynamic_jobs=True, profile_reuse=True)
    found = [seen.at_s.get(number + 1, math.nan) for number in range(len(recording.jobs))]
    return _ReplayResult(found, looked.priorities)


def site_of_recording(recording: Recording) -> Site | None:
    """The site as imported from the output of its Slurm, with the time of Slurm's first calculation of priorities.

    For a Slurm without a site: its licenses, if any.
    """
    if not recording.site:
        pools = tuple(License(name, count) for name, count in recording.settings.licenses.items())
        return Site(licenses=pools) if pools else None
    site = site_of(parse_toml(imported_texts(recording.site).text, limits.SITE_BYTES), "the recording's site")
    # Slurm charges a job until its end, the simulator until its nodes are idle, some ms later.
    ended = [(job.ended or 0.0, job.idle or 0.0) for job in recording.jobs]
    late_s = [idle - at + TIE_S for at in recording.calculated for end, idle in ended if end <= at < idle]
    phase_s = (recording.calculated[0] + max(late_s, default=0.0)) % site.weights.period_s
    return msgspec.structs.replace(site, weights=msgspec.structs.replace(site.weights, phase_s=phase_s))


class _PriorityProbe:
    """Records the priorities of waiting jobs, at the first pass at or after each instant."""

    def __init__(self, recording: Recording) -> None:
        self.site = site_of_recording(recording)
        self.priorities: list[dict[tuple[int, str], int]] = []
        self._instants = [instant.at_s for instant in recording.instants]

    def __call__(self, view: View) -> None:
        while len(self.priorities) < len(self._instants) and self._instants[len(self.priorities)] <= view.now_s:
            pairs = [(at, place) for at, job in enumerate(view.waiting) for place in job.partitions]
            at, numbers = np.array([at for at, _ in pairs], np.intp), np.array([job.number for job in view.waiting])
            found, _ = priorities_of(view).in_partitions(view.waiting, numbers, at)
            names = [(int(view.waiting[at].name), view.machine.partitions[place].name) for at, place in pairs]
            self.priorities.append(dict(zip(names, found.astype(int).tolist(), strict=True)))


@dataclass(frozen=True)
class _WatchedPolicy(SlurmBackfill):
    """The policy, with a look at each of its passes."""

    look: Callable[[View], None] = lambda view: None

    def with_buffers_first(self, view: View) -> Iterable[Decision]:
        self.look(view)
        return super().with_buffers_first(view)


def policy(recording: Recording, look: _PriorityProbe, *, passes: bool) -> SlurmBackfill:
    """The policy with the settings of that Slurm."""
    settings = recording.settings
    stated = {re.sub("_(s|min)$", "", name): value for name, value in msgspec.structs.asdict(settings).items()}
    return _WatchedPolicy(
        **{info.name: stated[info.name] for info in describe(SlurmBackfill) if info.name in stated},
        look=look,
        order="multifactor" if recording.site else "fcfs",
        bf_phase=recording.backfill[0] % settings.bf_interval_s,
        sched_phase=recording.main[0] % settings.sched_interval_s,
        recorded=RecordedPasses(
            tuple(recording.main), tuple(recording.backfill), _extended_s(recording), _cut(recording)
        )
        if passes
        else None,
    )


def submissions(recording: Recording) -> dict[str, Any]:
    """The recorded jobs as a Batsim workload; a unit of the pool is a byte."""
    described: list[dict[str, Any]] = []
    profiles = {}
    either = _passes(recording)
    for number, job in enumerate(recording.jobs, start=1):
        assert job.ended is not None
        name = str(number)
        idle_s = max(job.ended, job.idle or 0.0)
        profiles[name] = {"type": "delay", "delay": job.ended - _start_s(recording, job)}
        one = {"id": name, "subtime": job.submitted, "res": job.request.nodes, "profile": name}
        described.append(one | {"walltime": 60 * job.request.limit_min})
        if idle_s > job.ended:
            described[-1][COMPLETING_FIELD] = idle_s - job.ended
        asked = {name: getattr(job.request, name) for name in ("partition", "user", "qos", "licenses", "depends")}
        described[-1] |= {name: value for name, value in asked.items() if value}
        if job.request.units:
            assert job.allocated is not None
            assert job.staged is not None
            assert job.freed is not None
            described[-1] |= {
                "bb_total": job.request.units,
                "stage_in_s": _before(job.staged, either) - _began_s(either, job.allocated),
                "stage_out_s": max(0.0, _before(job.freed, either) - idle_s),
            }
    return {"nb_res": recording.settings.nodes, "jobs": described, "profiles": profiles}


def _cut(recording: Recording) -> dict[float, tuple[str, str]]:
    """The last job and partition of each backfill pass that was cut, by the pass's time (s)."""
    named = bool(recording.site)
    return {at_s: (f"{job}", partition if named else "") for at_s, job, partition in recording.cut}


def _extended_s(recording: Recording) -> dict[str, float]:
    """Extension of the limit of each job with a buffer, by name, s."""
    return {
        f"{number}": _CONFIGURED_S if job.extended is None else job.extended
        for number, job in enumerate(recording.jobs, start=1)
        if job.request.units
    }


def _passes(recording: Recording) -> list[float]:
    """Times of the passes of both schedulers, s."""
    return sorted((*recording.main, *recording.backfill))


def _start_s(recording: Recording, job: RecordedJob) -> float:
    """Begin of the pass that started a job, s."""
    assert job.started is not None
    return _began_s(recording.backfill if job.backfilled else recording.main, job.started)


def _began_s(passes: Sequence[float], time_s: float) -> float:
    """Begin of the pass that logged something at a time, s: simulated passes act at their begin."""
    place = bisect.bisect_right(passes, time_s + EXACT_S)
    return passes[place - 1] if place and time_s - passes[place - 1] < _LONGEST_PASS_S else time_s


def _before(time_s: float, passes: Sequence[float]) -> float:
    """A time; earlier by a bit where a pass began in the same ms, and the recording does not show which was first."""
    place = bisect.bisect_left(passes, time_s - EXACT_S)
    return time_s - TIE_S if place < len(passes) and passes[place] <= time_s + EXACT_S else time_s


MACHINE = """
name = "slurm"
topology = "tree"
[[cluster]]
name = "slurm"
uplink = {{ name = "core", bandwidth = "100GBps" }}
levels = [{{ name = "machine" }}, {{ name = "node", count = {nodes}, bandwidth = "1GBps" }}]
[storage]
per = "machine"
capacity = "{capacity}B"
bandwidth = "100GBps"
[pfs]
bandwidth = "100GBps"
"""


COMPLETING_FIELD = "completing_s"
"""Field of a job: time from its end to the release of its nodes, s."""


@dataclass(frozen=True)
class CompletingModel(JobModel):
    """A job runs as submitted; after its end it holds its nodes and licenses for another ``completing_s`` seconds.

    Slurm's controller releases the counts of the job's account and QOS when it notes the job's end; of a job with
    licenses they are released with these here. Nodes are idle, and licenses are free, when all nodes have answered that
    nothing of the job is left there.
    """

    source: ClassVar[str] = "Slurm 22.05 and 24.11, slurmctld (job state COMPLETING)"
    job_fields: ClassVar[tuple[str, ...]] = (COMPLETING_FIELD,)
    stages: ClassVar[tuple[str, ...]] = ("compute", "completing")

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Compute, give back the counts of groups, wait for the nodes."""
        completing_s = job.extras.get(COMPLETING_FIELD)
        if not isinstance(completing_s, float):
            yield Submitted()
            return
        yield Compute(job.profile)
        if not job.extras.get(LICENSES_FIELD):
            yield GiveBack(covering=Resource.POOLS)
        delay: JsonObject = {"type": "delay", "delay": completing_s}
        yield Compute(delay, stage="completing")
