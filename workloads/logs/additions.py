"""Burst buffers of job scripts and bytes of Darshan for a table of jobs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from spillway.workloads.logs.darshan_totals import read_totals
from spillway.workloads.logs.directives import read_scripts
from spillway.workloads.logs.table import JobTable


def with_scripts(table: JobTable, folder: str) -> JobTable:
    """The table with burst buffers that the job scripts of a folder request; "": as it is."""
    if not folder:
        return table
    scripts = read_scripts(Path(folder))
    buffers = table["burst_buffer_bytes"].copy()
    found = stage_in = stage_out = persistent = guessed = 0
    parts = table.names["part"]
    asked = table["requested_processors"]
    processors = np.where(asked > 0, asked, table["allocated_processors"])
    nodes, number_of, part_of = table["nodes"], table["number"], table["part"]
    sizes = np.where(nodes > 0, nodes, processors)
    if len(table):
        numbers = {int(text.partition("_")[0].partition("+")[0]) for text in scripts.by_job}
        for row in np.flatnonzero(np.isin(number_of, np.array(sorted(numbers), dtype=np.int64))).tolist():
            part = parts[part_of[row]]
            number = str(number_of[row])
            script = scripts.by_job.get(f"{number}{part}") or scripts.by_job.get(number)
            if script is not None:
                found += 1
                buffers[row] = script.total_bytes(max(int(sizes[row]), 1))
                stage_in += bool(script.stage_in)
                stage_out += bool(script.stage_out)
                persistent += bool(script.uses or script.creates or script.destroys)
                guessed += script.per_node and nodes[row] <= 0
    table.intake.notes.append(
        f"{found:,} of {len(table):,} jobs have a script in {folder} ({len(scripts.by_job):,} scripts, "
        f"{scripts.unnamed} files without a job's number)"
    )
    if stage_in or stage_out or persistent:
        table.intake.notes.append(
            f"scripts of {stage_in:,} jobs stage in, of {stage_out:,} stage out, of {persistent:,} name persistent "
            "buffers: this is not played; 'spillway workload scripts' plays it on the converted workload"
        )
    if guessed:
        table.intake.notes.append(
            f"scripts of {guessed:,} jobs request a buffer on each node, and the log states no nodes: each processor "
            "counts as one"
        )
    return table.with_column("burst_buffer_bytes", buffers)


def with_darshan(table: JobTable, source: str) -> JobTable:
    """The table with bytes that Darshan recorded, of a file or folder; "": as it is."""
    if not source:
        return table
    moved = read_totals(Path(source))
    read, written = table["read_bytes"].copy(), table["written_bytes"].copy()
    numbers = table["number"]
    rows = np.flatnonzero(np.isin(numbers, np.array(sorted(moved), dtype=np.int64))).tolist()
    incomplete = 0
    for row in rows:
        total = moved[int(numbers[row])]
        read[row], written[row] = total.read_bytes, total.written_bytes
        incomplete += total.incomplete
    table.intake.notes.append(f"Darshan's totals of {len(moved):,} jobs: {len(rows):,} of them are in the log")
    if incomplete:
        table.intake.notes.append(
            f"Darshan's data of {incomplete:,} jobs are incomplete (its memory was full): they moved at least so much"
        )
    return table.with_column("read_bytes", read).with_column("written_bytes", written)
