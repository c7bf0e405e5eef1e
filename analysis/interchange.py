"""Other tools' formats: Batsim's ``jobs.csv`` (which evalys reads), logs (SWF), traces (Perfetto), parquet."""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spillway.analysis.errors import AnalysisError
from spillway.analysis.measures.metrics import SHORTEST_EXECUTION_S
from spillway.analysis.tables.holdings import node_spans, storage_spans
from spillway.analysis.tables.jobs import JobTable, read_run
from spillway.analysis.tables.timelines import queue_length
from spillway.base import durable
from spillway.base.arguments import Parser

HELP = "a run's schedule for other tools (SWF, Perfetto, CSV, parquet)"
DESCRIPTION = (
    "Write a run's schedule for other tools: Batsim's jobs.csv; a log (.swf) as it really ran, with a header, which is "
    "read again as any log; a trace (.json) that Perfetto (ui.perfetto.dev) and chrome://tracing show; or its table of "
    "jobs (.parquet)."
)
EXAMPLES = """
spillway export results/mine-1a2b3c4/mine_easy_fluid-rigid_s0_5d6e7f80 easy.swf
spillway export results/mine-1a2b3c4/mine_easy_fluid-rigid_s0_5d6e7f80 easy.json
"""

BATSIM_COLUMNS = (
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
)
"""Columns of Batsim 4, in its order."""

_SWF_STATUS = {"COMPLETED_SUCCESSFULLY": 1, "COMPLETED_FAILED": 0}


def batsim_csv(table: JobTable) -> str:
    """Text of a ``jobs.csv`` with Batsim's columns. Fields that a table lacks (profile, energy) are empty or -1."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(BATSIM_COLUMNS)
    for row in range(len(table)):
        limit = table.walltime_s[row]
        head = [
            table.job_id[row],
            table.workload[row],
            "",
            f"{table.submit_s[row]:.6f}",
            int(table.nodes[row]),
            f"{limit if math.isfinite(limit) else -1:.6f}",
            int(table.state[row] == "COMPLETED_SUCCESSFULLY"),
            table.state[row],
        ]
        writer.writerow([*head, *_times(table, row), table.allocated[row], "-1.000000", ""])
    return text.getvalue()


def swf(table: JobTable, comment: str = "") -> str:
    """Text of a log (SWF) of the schedule: submissions with actual starts and ends.

    Jobs that never ran have status 5 (cancelled) and no times. Unless all job ids are distinct numbers, jobs are
    numbered by their place in the table; users are numbered in order of first occurrence. Times are whole seconds.

    References
    ----------
    Feitelson, *The Standard Workload Format*, Parallel Workloads Archive, version 2.2.
    """
    users: dict[str, int] = {}
    header = {"Version": "2.2", "MaxJobs": len(table), "MaxRecords": len(table), "UnixStartTime": 0}
    if table.machine.nodes:
        header |= {"MaxNodes": len(table.machine.nodes), "MaxProcs": len(table.machine.nodes)}
    note = "a schedule that was computed; a processor is a compute node, burst buffers are left out (SWF has none)"
    lines = [f"; {name}: {value}" for name, value in (header | {"Note": note}).items()]
    lines += [f"; {line}" for line in comment.splitlines()]
    numbers = [job if job.isdecimal() else "" for job in table.job_id]
    unique = all(numbers) and len(set(numbers)) == len(numbers)
    for row in table.submit_s.argsort(kind="stable").tolist():
        ran = bool(table.executed[row])
        fields = [-1] * 18
        fields[0] = int(numbers[row]) if unique else row + 1
        fields[1] = round(table.submit_s[row])
        if ran:  # instants are rounded, not differences, so that no overlaps of jobs arise
            start_s, finish_s = round(table.start_s[row]), round(table.finish_s[row])
            fields[2], fields[3] = start_s - fields[1], finish_s - start_s
            if table.turns is not None:  # the time that was received is processor time
                fields[5] = round(table.execution_s[row])
        fields[4] = int(table.nodes[row]) if ran else -1
        fields[7] = int(table.nodes[row])
        fields[8] = round(table.walltime_s[row]) if math.isfinite(table.walltime_s[row]) else -1
        fields[10] = _SWF_STATUS.get(table.state[row], 5)
        if table.user[row]:
            fields[11] = users.setdefault(table.user[row], len(users) + 1)
        lines.append(" ".join(map(str, fields)))
    return "\n".join(lines) + "\n"


def _chrome_trace(table: JobTable) -> str:
    """Text of a trace for Perfetto or ``chrome://tracing``: a row for each compute node and each storage node.

    A job is a slice on each of its nodes, from start to end. The held bytes of each storage node and the number of
    waiting jobs are counters. Times are microseconds of simulated time.

    References
    ----------
    Google, *Trace Event Format* (complete events, counters, metadata).
    """
    ran = table.ran()
    names = {node.id: node.name for node in table.machine.nodes}
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
        for pid, name in enumerate(("compute nodes", "burst buffers", "queue"))
    ]
    spans = [(node, span) for span in node_spans(ran) for node in span.nodes]
    events += [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": node, "args": {"name": names.get(node, f"node {node}")}}
        for node in sorted({node for node, _ in spans})
    ]
    for node, span in spans:
        job = span.job
        about = {
            "user": ran.user[job],
            "nodes": int(ran.nodes[job]),
            "waited_s": round(float(ran.wait_s[job]), 6),
            "state": ran.state[job],
        }
        begin, end = _microseconds(span.start_s), _microseconds(span.end_s)
        name = f"job {ran.job_id[job]}"
        events.append({"ph": "X", "name": name, "pid": 0, "tid": node, "ts": begin, "dur": end - begin, "args": about})
    lanes = {storage.id: storage.name for storage in table.machine.storages}
    for storage, steps in sorted(_held_bytes(ran).items()):
        name = lanes.get(storage, f"storage {storage}")
        events += [{"ph": "C", "name": name, "pid": 1, "ts": at, "args": {"bytes": held}} for at, held in steps]
    queue = queue_length(ran)
    events += [
        {"ph": "C", "name": "jobs waiting", "pid": 2, "ts": _microseconds(at), "args": {"jobs": int(length)}}
        for at, length in zip(queue.time_s.tolist(), queue.value.tolist(), strict=True)
    ]
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, separators=(",", ":")) + "\n"


def _microseconds(seconds: float) -> int:
    return round(1e6 * seconds)


def _held_bytes(ran: JobTable) -> dict[int, list[tuple[int, int]]]:
    """Changes of held bytes by storage node (resource id): instants (microseconds), and the bytes from then on."""
    changes: dict[int, dict[int, int]] = {}
    for span in storage_spans(ran):
        of = changes.setdefault(span.storage, {})
        for at, size in ((_microseconds(span.start_s), span.size), (_microseconds(span.end_s), -span.size)):
            of[at] = of.get(at, 0) + size
    return {
        storage: list(zip(sorted(of), itertools.accumulate(of[at] for at in sorted(of)), strict=True))
        for storage, of in changes.items()
    }


def write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write a table of columns as parquet.

    Raises
    ------
    AnalysisError
        pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise AnalysisError(f"{path}: parquet needs pyarrow: pip install 'spillway[parquet]'") from None
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(dict(columns)), stream)
    durable.write_bytes(path, stream.getvalue())


def _jobs_parquet(table: JobTable, path: Path) -> None:
    names = ("job_id", "workload", "user", "state", "allocated", "nodes", "submit_s", "start_s", "finish_s")
    columns = {name: list(getattr(table, name)) for name in (*names, "walltime_s", "wait_s", "execution_s", "bb_bytes")}
    write_parquet(path, columns)


FORMATS = {"csv": batsim_csv, "swf": swf, "json": _chrome_trace}
"""Writers of text by the suffix of the file."""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run, or of the results of a real Batsim")
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="file to write, ending in .csv, .swf, .json or .parquet"
    )


def command(options: argparse.Namespace) -> int:
    """Write the file."""
    export(read_run(options.run), options.file)
    return 0


def export(table: JobTable, path: Path) -> None:
    """Write a table in the format that the file's suffix names (``.csv``, ``.swf``, ``.json``, ``.parquet``).

    Raises
    ------
    AnalysisError
        For another suffix, or where the file cannot be written.
    """
    kind = path.suffix.removeprefix(".")
    if kind not in (*FORMATS, "parquet"):
        raise AnalysisError(
            f"{path}: expected a file ending in {', '.join('.' + name for name in FORMATS)} or .parquet"
        )
    try:
        if kind == "parquet":
            _jobs_parquet(table, path)
        else:
            durable.write_text(path, FORMATS[kind](table))
    except OSError as error:
        raise AnalysisError(str(error)) from None


def _times(table: JobTable, row: int) -> list[str]:
    if not table.executed[row]:
        return [""] * 6
    run_s, turnaround_s = table.execution_s[row], table.turnaround_s[row]
    stretch = turnaround_s / max(run_s, SHORTEST_EXECUTION_S)
    values = (table.start_s[row], run_s, table.finish_s[row], table.wait_s[row], turnaround_s, stretch)
    return [f"{value:.6f}" for value in values]
