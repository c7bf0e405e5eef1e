"""Summary of a log: the rows of ``spillway workload info``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np

from spillway.base.units import duration, many
from spillway.base.units import size as size_text
from spillway.workloads.batsim.summary import Row, common_rows, quantiles
from spillway.workloads.conversion.convert import ConvertOptions, used_of, without_nodes
from spillway.workloads.conversion.dependencies import waits_of
from spillway.workloads.conversion.needs import Needs, needs_of
from spillway.workloads.logs.formats import FORMATS
from spillway.workloads.logs.omissions import omissions_of
from spillway.workloads.logs.record import MEMORY_REQUESTED, PIECE, Mark
from spillway.workloads.logs.shares import marks_of, percent, shares_of
from spillway.workloads.logs.table import CALENDAR_FROM_S, Ints, JobTable

DAY_S = 86_400

_SIZES = (1, 8, 64, 512, 4096)
"""Sizes of jobs up to which their waits are shown apart."""


def info_rows(table: JobTable, nodes: int | None = None) -> list[Row]:
    """Rows (name, value) about a log; ``nodes`` overrides the size of the machine that it states."""
    size = nodes or table.intake.machine_nodes or table.intake.machine_processors
    sizes = used_of(table, ConvertOptions())
    usable = (table["run_s"] > 0) & (sizes > 0) & (table["state"] != table.code("state", PIECE))
    rows: list[Row] = [
        ("format", f"{table.format} ({FORMATS[table.format].what})"),
        ("records", f"{len(table):,}"),
        ("with runtime and size", f"{int(usable.sum()):,}"),
    ]
    node_s = float(np.maximum(sizes, 0).astype(np.float64) @ np.maximum(table["run_s"], 0))
    rows += [("lines", line) for line in table.intake.book.said(node_s=node_s)]
    rows += [("note", note) for note in table.intake.notes]
    if len(table):
        rows.append(("period", period(table)))
    rows += [("computer", value) for value in table.intake.header.values("Computer")]
    rows.append((f"{_unit(table)} of the machine", f"{size:,}" if size else "not stated"))
    needs = needs_of(table, ConvertOptions(burst_buffers=None))
    rows += _need_rows(needs, _unit(table))
    rows += _omission_rows(table.chosen(usable), sizes[usable])
    if len(table):
        rows += _share_rows(table)
    if usable.any():
        peak = needs.nodes if needs.nodes >= needs.widest else 0
        rows += _usable_rows(table.chosen(usable), sizes[usable], size or peak, guessed=not size)
    return rows


def _omission_rows(table: JobTable, sizes: Ints) -> list[Row]:
    """Rows about the omissions of these jobs under the default conversion."""
    order = np.lexsort((table["number"], table["submit_s"]))
    jobs = table.chosen(order)
    found = omissions_of(
        jobs, sizes[order], depends=waits_of(jobs).depends, limits_are_played=True, counted=without_nodes(jobs)
    )
    return [("not played", omission.line) for omission in found]


def _need_rows(needs: Needs, unit: str) -> Iterator[Row]:
    """Rows about the least size of the machine, by the needs of its jobs."""
    if needs.nodes:
        yield "most in use at once", f"{needs.nodes:,} {unit}: the machine has at least as many"
    if needs.partitions:
        peaks = ", ".join(f"{name} {peak:,}" for name, peak in needs.partitions.items())
        yield "partitions, most in use at once", f"{peaks} {unit}"
    if needs.buffer_jobs:
        in_use = f"; {size_text(needs.buffers)} in use at once" if needs.buffers else ""
        largest = f"at most {size_text(needs.largest_buffer)} by one{in_use}: the machine has at least as much"
        yield "burst buffers requested", f"by {needs.buffer_jobs:,} jobs, {largest}"


def period(table: JobTable) -> str:
    """From the first submission to the last, with dates where the times are those of a calendar."""
    first, last = int(table["submit_s"].min()), int(table["submit_s"].max())
    offset = 0 if first > CALENDAR_FROM_S else table.intake.header.unix_start_time or 0
    days = f"{(last - first) / DAY_S:,.1f} days of submissions"
    if first + offset <= CALENDAR_FROM_S:
        return days
    begin, end = (f"{datetime.fromtimestamp(time + offset, UTC):%Y-%m-%d %H:%M:%S}" for time in (first, last))
    return f"{begin} to {end}: {days}"


def _unit(table: JobTable) -> str:
    return "nodes" if table.known("nodes").any() else "processors"


def _share_rows(table: JobTable) -> Iterator[Row]:
    """Rows about the kinds of knowledge of each field, with a remark where the default conversion imputes it."""
    imputed = shares_of(marks_of(table, buffers=True, walltimes=True))
    yield "fields", "share of the records in which each is ..."
    for name, share in shares_of(marks_of(table)).items():
        parts = [f"{mark.name.lower()} {percent(part)}" for mark, part in share.items()]
        made_up = " (the conversion imputes it)" if Mark.IMPUTED in imputed[name] else ""
        yield f"  {name}", ", ".join(parts[::-1]) + made_up


def _usable_rows(table: JobTable, sizes: Ints, size: int, *, guessed: bool) -> list[Row]:
    stated, requests = table["requested_s"] > 0, (table["marks"] & MEMORY_REQUESTED) > 0
    rows: list[Row] = [
        ("without requested time", f"{int((~stated).sum()):,}"),
        ("without requested memory", f"{len(table) - int((table.known('memory_bytes') & requests).sum()):,}"),
        *common_rows(table["submit_s"], sizes, table["requested_s"][stated]),
    ]
    run, wall = table["run_s"], table["requested_s"]
    rows += [("runtime s, mean", f"{run.mean():,.0f}"), ("runtime s, quantiles", quantiles(run))]
    rows += _wait_rows(table, sizes, _unit(table))
    if stated.any():
        share = run[stated] / wall[stated]
        rows.append(("runtime / requested, quantiles", quantiles(share, 3)))
        rows.append(("at or beyond the requested time", f"{int((share >= 1).sum()):,}"))
    for name, words in (("read_bytes", "bytes read"), ("written_bytes", "bytes written")):
        known = table[name][table[name] >= 0]
        if len(known):
            rows.append((words, f"{known.sum() / 1e9:,.1f} GB by {len(known):,} jobs"))
    span = int(np.ptp(table["submit_s"]))
    if size and span > 0:
        held = np.where(stated, np.minimum(run, wall), run) * sizes
        of = f" of the {size:,} {_unit(table)} that were in use at once" if guessed else ""
        rows.append(("offered load", f"{held[sizes <= size].sum() / (size * span):.4f}{of}"))
    return rows


def _wait_rows(table: JobTable, sizes: Ints, unit: str) -> Iterator[Row]:
    """Rows about the waits at the site of jobs that state their start, of all and by size."""
    waits = table["start_s"] - table["submit_s"]
    known = (table["start_s"] >= 0) & (waits >= 0)
    waits, sizes = waits[known], sizes[known]
    if not len(waits):
        return
    yield "waits at the site", _wait_of(waits)
    bounds = [0, *(bound for bound in _SIZES if bound < sizes.max()), int(sizes.max())]
    for low, high in pairwise(bounds):
        some = waits[(low < sizes) & (sizes <= high)]
        if len(some) and len(bounds) > 2:
            begin = f"{low + 1:,} to " if high > low + 1 else ""
            yield f"  of {begin}{many(high, unit.removesuffix('s'), unit)}", _wait_of(some)


def _wait_of(waits: Ints) -> str:
    median, most = np.quantile(waits, (0.5, 0.95))
    return f"median {duration(float(median))}, 95 % within {duration(float(most))}, {many(len(waits), 'job', 'jobs')}"
