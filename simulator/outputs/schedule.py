"""``_schedule.csv``: one row of figures about the whole simulation, columns in alphabetical order."""

from __future__ import annotations

from spillway.core import Totals
from spillway.simulator.options import BATSIM_VERSION
from spillway.simulator.world.machines import Machines, State

_TIME_COLUMNS = {
    "time_computing": State.COMPUTING,
    "time_idle": State.IDLE,
    "time_sleeping": State.SLEEPING,
    "time_switching_off": State.SWITCHING_OFF,
    "time_switching_on": State.SWITCHING_ON,
    "time_unavailable": State.UNAVAILABLE,
}


def schedule_figures(
    totals: Totals, machines: Machines, joules: float, switches: tuple[int, int], seconds: tuple[float, float]
) -> dict[str, str]:
    """The columns and their values, as printed.

    Parameters
    ----------
    totals
        Sums over the jobs.
    machines
        For the times per state.
    joules
        Energy between the first static submission and the last end of a job.
    switches
        Number of requests to change power states, and of machines concerned.
    seconds
        Real time spent waiting for the scheduler, and altogether.
    """
    jobs = totals.jobs
    real: dict[str, float] = {
        "consumed_joules": joules,
        "makespan": totals.makespan,
        "max_slowdown": totals.max_slowdown,
        "max_turnaround_time": totals.max_turnaround,
        "max_waiting_time": totals.max_waiting,
        "mean_slowdown": _ratio(totals.slowdown, jobs),
        "mean_turnaround_time": _ratio(totals.turnaround, jobs),
        "mean_waiting_time": _ratio(totals.waiting, jobs),
        "scheduling_time": seconds[0],
        "simulation_time": seconds[1],
        "success_rate": _ratio(totals.success, jobs),
        **{name: machines.states.time_in[state] for name, state in _TIME_COLUMNS.items()},
    }
    whole: dict[str, int] = {
        "nb_computing_machines": len(machines),
        "nb_grouped_switches": switches[0],
        "nb_jobs": jobs,
        "nb_jobs_finished": totals.finished,
        "nb_jobs_killed": totals.killed,
        "nb_jobs_rejected": totals.rejected,
        "nb_jobs_success": totals.success,
        "nb_machine_switches": switches[1],
    }
    figures = {"batsim_version": BATSIM_VERSION}
    figures.update((name, "-nan" if value != value else f"{value:.6f}") for name, value in real.items())
    figures.update((name, str(number)) for name, number in whole.items())
    return dict(sorted(figures.items()))


def _ratio(total: float, count: int) -> float:
    """Mean over all jobs; not a number without jobs, as in Batsim, which prints it as ``-nan``."""
    return total / count if count else float("nan")
