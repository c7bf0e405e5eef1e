"""The paper's pace: the time between submissions at which job states change every 31.7 s.

A job changes its state four times (section 5.4), so a test of ``n`` jobs has ``4 n`` changes, and their mean distance
is the time from the first submission to the last end over ``4 n``. It depends on the schedule, and is measured where
both schedulers agree: with a perfectly provisioned file system, under EASY.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from spillway.platforms.catalogue import platform_from
from spillway.platforms.model import Platform
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.jobmodels.rigid import Rigid
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.model.machine import MachineDefaults
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.estimates import Requested
from spillway.simulator.engines.native import FixedEngine
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import Exchange, InProcessLink
from spillway.workloads.herbein import CHANGES_PER_JOB, PAPER_STATE_CHANGE_S, HerbeinModel, HerbeinOptions, draw_herbein
from spillway.workloads.workload import Workload

TOLERANCE_S = 0.05
"""Half of the last digit that the paper prints."""

STEPS = 14
"""Most trials per workload."""

STEADY_GAP_S = CHANGES_PER_JOB * PAPER_STATE_CHANGE_S
"""Time between submissions at which a machine that keeps up changes states at the paper's pace, s."""


@dataclass(frozen=True)
class Pace:
    """A time between submissions, and the resulting time between state changes.

    Attributes
    ----------
    gap_s
        Mean time between submissions (:attr:`spillway.workloads.herbein.HerbeinOptions.mean_gap_s`), s.
    change_s
        Mean time between state changes with it, s.
    """

    gap_s: float
    change_s: float

    @property
    def reached(self) -> bool:
        """Whether this is the paper's pace."""
        return abs(self.change_s - PAPER_STATE_CHANGE_S) <= TOLERANCE_S


def pace_of(model: HerbeinModel, options: HerbeinOptions) -> Pace:
    """Find the time between submissions that gives the paper's pace.

    If no time does (the work fills the machine for longer, or one job lasts longer than the whole test may),
    submissions come every :data:`STEADY_GAP_S`. I/O rates do not matter: nothing is contended.
    """
    machine = platform_from("cts1")

    def change_s(gap_s: float) -> float:
        workload = draw_herbein(model, replace(options, mean_gap_s=gap_s))
        session = Session(
            POLICIES["easy"].build(),
            ProgramRuntime(Rigid()),
            terms=Terms(defaults=MachineDefaults(bandwidth=False), estimator=Requested()),
        )
        return play(session, workload, machine) / (CHANGES_PER_JOB * len(workload.jobs))

    return search(change_s)


def play(scheduler: Exchange, workload: Workload, machine: Platform) -> float:
    """Play a workload without contention; return the time from the first submission to the last end, s.

    Parameters
    ----------
    machine
        A machine with at least the workload's nodes, of 1e9 flop/s; the first of them are used.
    """
    data = {
        "nb_res": workload.nb_res,
        "jobs": [{**job.to_object(), "id": str(job.id)} for job in workload.jobs],
        "profiles": workload.profiles,
    }
    options = SimulationOptions(machine_limit=workload.nb_res, fail_on_deadlock=True)
    with FixedEngine(machine) as engine:
        result = Simulation(machine, [workload_from_object(data)], engine, InProcessLink(scheduler), options).run()
    return result.totals.makespan - workload.jobs[0].subtime


def search(change_s: Callable[[float], float]) -> Pace:
    """Search for the gap at which ``change_s`` is the paper's, by false position (Illinois); the function may jump.

    Returns
    -------
    Pace
        The best gap that was tried, or :data:`STEADY_GAP_S` if a quarter of it, or four times it, is not enough.
    """
    steady = Pace(STEADY_GAP_S, change_s(STEADY_GAP_S))
    if steady.reached:
        return steady
    too_slow = steady.change_s > PAPER_STATE_CHANGE_S
    other_gap_s = STEADY_GAP_S / 4 if too_slow else STEADY_GAP_S * 4
    other = Pace(other_gap_s, change_s(other_gap_s))
    if (other.change_s > PAPER_STATE_CHANGE_S) == too_slow:
        return other if other.reached else steady
    tried = [steady, other]
    low, high = sorted(tried, key=lambda pace: pace.gap_s)
    weights = [low.change_s - PAPER_STATE_CHANGE_S, high.change_s - PAPER_STATE_CHANGE_S]
    while len(tried) < STEPS and not tried[-1].reached:
        gap_s = (low.gap_s * weights[1] - high.gap_s * weights[0]) / (weights[1] - weights[0])
        tried.append(Pace(gap_s, change_s(gap_s)))
        miss = tried[-1].change_s - PAPER_STATE_CHANGE_S
        if miss > 0:
            high, weights = tried[-1], [weights[0] / 2, miss]
        else:
            low, weights = tried[-1], [miss, weights[1] / 2]
    return min(tried, key=lambda pace: abs(pace.change_s - PAPER_STATE_CHANGE_S))
