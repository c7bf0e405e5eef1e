"""Columns of the report's tables: their headings, the formats of their figures, and their meanings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spillway.analysis.document.blocks import Column
from spillway.base.units import duration, number, share, size


def explained(columns: Sequence[Column], tau_s: float | None) -> list[Column]:
    """Columns with the bound of the bounded slowdown (s) in their words."""
    tau = duration(tau_s) if tau_s is not None else "a bound"
    return [replace(column, words=column.words.replace("{tau}", tau)) for column in columns]


SERVICE = (
    Column("jobs", "jobs a run", number, "Jobs that ran, in one run of the policy."),
    Column("rejected", "rejected", number, "Jobs of a run that were refused because they can never fit the machine."),
    Column("killed", "killed", number, "Jobs of a run that were killed, mostly at their walltime."),
    Column("mean_waiting_time_s", "mean wait", duration, "Time from submission to start, mean over jobs."),
    Column("median_waiting_time_s", "median wait", duration, "Half of the jobs wait no longer than this."),
    Column("p95_waiting_time_s", "95 % wait", duration, "95 % of the jobs wait no longer than this."),
    Column("max_waiting_time_s", "longest wait", duration, "The longest wait of a run."),
    Column("mean_turnaround_time_s", "mean turnaround", duration, "Time from submission to end, mean over jobs."),
    Column(
        "mean_bounded_slowdown",
        "bounded slowdown",
        number,
        "Turnaround time over run time, but shorter runs count as {tau} and no value is below 1; mean over jobs. "
        "1: no job waited noticeably.",
    ),
    Column(
        "mean_slowdown",
        "slowdown",
        number,
        "Turnaround time over run time, mean over jobs. A few jobs of some seconds can dominate it.",
    ),
    Column(
        "mean_pp_bounded_slowdown",
        "per-node slowdown",
        number,
        "Bounded slowdown over the number of the job's nodes, at least 1; mean over jobs: wide jobs count less.",
    ),
    Column("compute_utilisation", "node use", share, "Share of the node-hours until the last end that jobs held."),
    Column(
        "storage_utilisation",
        "buffer use",
        share,
        "Share of the burst buffers' byte-hours until the last end that jobs held.",
    ),
    Column("makespan_s", "makespan", duration, "From time 0 of the log to the end of the last job."),
)
"""Figures of service, for users and operators."""

LOST = Column(
    "lost_node_h",
    "lost to failures",
    lambda hours: f"{number(hours)} node-h",
    "Node-hours lost by jobs that failures killed: held, but of no use to a later attempt.",
)
"""Only where external events were played."""

FURTHER = (
    Column("cancelled", "cancelled", number, "Jobs of a run that their users cancelled while they waited."),
    Column("p99_waiting_time_s", "99 % wait", duration, "99 % of the jobs wait no longer than this."),
    Column(
        "storage_hot_spot",
        "buffer hot spot",
        number,
        "Byte-hours held on the storage node with most of them, over the mean of all storage nodes; 1: all alike.",
    ),
    Column("scheduler_cpu_s", "scheduler CPU", duration, "Processor time of the policy on the computer that ran this."),
    Column("simulator_cpu_s", "simulator CPU", duration, "Processor time of the simulator there."),
    Column("decision_p50_s", "decision, median", duration, "Real time of one scheduling pass, median."),
    Column("decision_p99_s", "decision, 99 %", duration, "99 % of the passes took no longer than this."),
    Column("wall_s", "wall time", duration, "Real time of the whole run."),
    Column("peak_rss_bytes", "memory", size, "Largest memory of the process."),
)
"""Figures of rare interest, and the cost of computing them; in the table of all runs."""

LOSSES = (
    Column(
        "loss_of_capacity",
        "lost capacity",
        share,
        "Share of the node-hours in which nodes were idle although waiting jobs requested them.",
    ),
    Column(
        "idle_while_queued",
        "idle with a queue",
        share,
        "Share of the node-hours in which nodes idled while any job waited.",
    ),
    Column("mean_overtaken", "overtaken, mean", number, "Later jobs that started before a job, mean over jobs."),
    Column("max_overtaken", "overtaken, most", number, "Jobs that overtook the job overtaken most often."),
    Column("starved", "starved", number, "Jobs of a run that waited for more than a week."),
    Column(
        "later_than_fcfs",
        "later than fcfs",
        share,
        "Share of jobs that start later than in strict first-come-first-served.",
    ),
    Column(
        "fairness_of_users",
        "users' fairness",
        number,
        "Jain's index of the users' mean waiting times: 1 if all wait alike, near 0 if few users wait for all.",
    ),
    Column("io_share", "I/O share", share, "Share of staging and checkpoints in the jobs' time."),
    Column(
        "transfer_stretch",
        "transfer stretch",
        number,
        "Time per byte over that of the fastest transfer of its kind, mean over transfers.",
    ),
    Column(
        "mean_contention_slowdown",
        "slowdown by contention, mean",
        number,
        "A job's time over its uncontended time on the same nodes (the stretch of Jeannot et al. 2023).",
    ),
    Column(
        "max_contention_slowdown",
        "slowdown by contention, most",
        number,
        "The same for the job with the largest value.",
    ),
)
"""Lost capacity, fairness, and contention."""
