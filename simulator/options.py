"""Options of a simulation, and the rules by which the two versions of Batsim differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

BATSIM_VERSION = "v4.2.1"
"""The simulated version of Batsim, as spelt in ``_schedule.csv``."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Behaviour of a version of Batsim.

    Attributes
    ----------
    decimals
        Decimals of the times in its messages.
    by_number
        Whether compute hosts are numbered in the order of the numbers in their names (``n2`` before ``n10``), else in
        text order, as storage hosts always are.
    reprints
        Whether jobs and profiles are printed with six decimals and read again before use.
    sized
        Whether an allocation must have as many hosts as the job requests; else its hosts share the executors.
    late_calls
        Whether a call requested for a past moment comes at once; else it is refused.
    kills_again
        Whether another kill of a job is confirmed while the first one is under way.
    links
        Whether a registered job may name a profile of another workload, and a registered ``composed`` profile any.
    old_words
        Whether workload files have Batsim 4's types of profiles, and event files unavailable and available machines.
    old_rows
        Whether ``_jobs.csv`` names profiles without their workload, has metadata in quotes, and -1 for the energy of
        registered jobs where none is measured; else ``w0!profile``, no metadata, and 0.
    submits_now
        Whether a registered job is submitted at the moment of its registration; else at the one that it states.
    """

    decimals: int
    by_number: bool
    reprints: bool
    sized: bool
    late_calls: bool
    kills_again: bool
    links: bool
    old_words: bool
    old_rows: bool
    submits_now: bool


BATSIM_4 = Rules(
    6,
    by_number=False,
    reprints=True,
    sized=True,
    late_calls=False,
    kills_again=False,
    links=False,
    old_words=True,
    old_rows=True,
    submits_now=False,
)
"""Batsim 4.2.1."""
BATSIM_5 = Rules(
    12,
    by_number=True,
    reprints=False,
    sized=False,
    late_calls=True,
    kills_again=True,
    links=True,
    old_words=False,
    old_rows=False,
    submits_now=True,
)
"""Batsim 5.0.0-rc2."""


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """Options of a simulation; the defaults are Batsim's, except that nothing is written.

    Attributes
    ----------
    export
        Prefix of the files written (``out/run1`` gives ``out/run1_jobs.csv``); ``None`` writes no file.
    roles
        Extra roles by host name (``-r``).
    master
        Name of the host that is the master if it states no role (``-m``).
    energy
        Whether energy is measured and power states can be changed (``-E``).
    machine_limit
        Number of compute hosts to keep, the first ones; 0: all (``--mmax``).
    machine_limit_from_workload
        Keep as many as the largest ``nb_res`` of the workloads (``--mmax-workload``).
    events
        Files of external events, called ``we0``, ``we1``, ...
    forward_profiles
        Attach the profile to JOB_SUBMITTED.
    dynamic_jobs, acknowledge_dynamic_jobs, profile_reuse
        Registration by the scheduler; whether it is answered with JOB_SUBMITTED; whether profiles of ended jobs stay
        usable.
    compute_sharing, storage_sharing
        Whether several jobs may be on one host.
    forward_unknown_events
        Send external events of unknown type to the scheduler as they are.
    sched_config
        Text given to the scheduler.
    arguments, context
        Batsim's command line of this simulation, and its endpoint and prefix, for Batsim 5's first message.
    trace_schedule, trace_machine_states
        Whether ``_schedule.trace`` (Paje) and ``_machine_states.csv`` are written.
    no_scheduler
        Start every job at once on the first hosts, without any scheduler.
    fail_on_deadlock
        Raise :class:`spillway.simulator.errors.Deadlock` in a deadlock, in which Batsim ends silently.
    wall_clock
        Whether ``_schedule.csv`` states the real time of the run; without it, two equal runs give equal files.
    progress_every
        Number of ended jobs after which the progress hook is called again; 0: never.
    rules
        Rules of Batsim 4 or of Batsim 5.
    """

    export: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    master: str = "master_host"
    energy: bool = False
    machine_limit: int = 0
    machine_limit_from_workload: bool = False
    events: tuple[Path, ...] = ()
    forward_profiles: bool = False
    dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool = False
    profile_reuse: bool = False
    compute_sharing: bool = False
    storage_sharing: bool = True
    forward_unknown_events: bool = False
    sched_config: str = ""
    arguments: tuple[str, ...] = ()
    context: Mapping[str, str] = field(default_factory=dict)
    trace_schedule: bool = False
    trace_machine_states: bool = False
    no_scheduler: bool = False
    fail_on_deadlock: bool = False
    wall_clock: bool = False
    progress_every: int = 0
    rules: Rules = BATSIM_4
