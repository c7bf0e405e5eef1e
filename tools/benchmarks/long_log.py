"""Logs of any length from one log: repeated, and beside itself on a machine that is larger by as much."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from spillway.workloads.swf import SwfLog, SwfRecord

DAY_S = 86_400


def long_log(log: SwfLog, jobs: int, beside: int = 1) -> SwfLog:
    """A log of ``jobs`` jobs in order of submission.

    Parameters
    ----------
    log
        The log to repeat; the machine in its header is left out. Each repetition begins a day after the last submission
        of the one before.
    jobs
        Number of jobs, at least 1.
    beside
        Number of such logs that run at a time. They begin at different places of the log, so that equal jobs are
        not submitted at the same instants.

    Raises
    ------
    ValueError
        The log has no jobs.
    """
    records = sorted(log.records, key=lambda record: record.submit_s)
    if not records:
        raise ValueError("expected a log with jobs")
    rows = [
        row
        for copy in range(beside)
        for row in _repeated(records, copy * len(records) // beside, -(-(jobs - copy) // beside))
    ]
    rows.sort(key=lambda row: row.submit_s)
    return SwfLog(
        records=tuple(
            msgspec.structs.replace(row, number=number, wait_s=-1, preceding_job=-1, think_s=-1)
            for number, row in enumerate(rows, 1)
        )
    )


def _repeated(records: Sequence[SwfRecord], first: int, jobs: int) -> list[SwfRecord]:
    """``jobs`` records from a place in the log on, over its end as often as necessary; the first is at 0 s."""
    period_s = records[-1].submit_s - records[0].submit_s + DAY_S
    found = []
    for place in range(first, first + jobs):
        times, row = divmod(place, len(records))
        submit_s = records[row].submit_s + times * period_s - records[first].submit_s
        found.append(msgspec.structs.replace(records[row], submit_s=submit_s))
    return found
