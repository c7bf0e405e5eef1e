"""From a log to a Batsim workload, for the Alloc-Only and for the IO-Aware job model.

References
----------
J. Kopanski, *Optimisation of job scheduling for supercomputers with burst buffers*, 2020, arXiv 2111.10200, section
2.4 (job models, kappa rule, network traffic). Both files of a log differ in the computing work only: the phases of an
IO-Aware job are made when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from spillway.base.options import check, option
from spillway.base.units import many
from spillway.workloads.batsim.job_columns import JobColumns
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.conversion.dependencies import Waits, waits_of
from spillway.workloads.conversion.machine_facts import MachineFacts
from spillway.workloads.draws import Draws
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.book import Book, Fate
from spillway.workloads.logs.omissions import Omission, omissions_of
from spillway.workloads.logs.record import CANCELLED, OF_PIECES, PIECE, RUNNING
from spillway.workloads.logs.shares import shares_line
from spillway.workloads.logs.table import CALENDAR_FROM_S, Ints, JobTable
from spillway.workloads.logs.tables import as_table
from spillway.workloads.models.burst_buffer import THESIS_MODEL, BurstBufferModel
from spillway.workloads.requests.staging import STAGING, JobStaging, StagingModel
from spillway.workloads.swf import SwfLog

_MANY_CUT = 0.05

OF_LOGS = ("first", "processors_per_node", "staging", "stripes")
"""Options of :class:`ConvertOptions` that every command and call with logs has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertOptions:
    """Options of the conversion of a log to a workload. The defaults are those of the thesis.

    Attributes
    ----------
    burst_buffers
        Request model; ``None``: jobs request no burst buffers.
    site_tables
        Tables of the site that the run plays (:data:`spillway.schedulers.site_file.PLAYED`): the log's fields for them
        do not count as omissions.
    site_cpus
        CPUs of each of the site's nodes: processors of a node where no other number is stated and the log does not
        count in processors; 0: not stated, or not the same for all nodes.
    """

    model: str = option(
        "alloc",
        choices=("alloc", "io"),
        help="alloc: the computing work fills the logged runtime; io: it is shortened by the kappa rule, because "
        "staging and checkpoints take time of their own",
    )
    seed: int = option(0, low=0, high=2**63 - 1, help="seed of all draws: same log, options and seed, same bytes")
    kappa: float = option(
        40.0, low=0.0, help="IO-Aware: transfers of the burst buffer's size over the network; 0: no shortening"
    )
    least_compute_share: float = option(
        0.05, low=0.0, high=1.0, help="IO-Aware: the computing work is at least this share of the runtime"
    )
    com_mean_bytes: float = option(
        100e6,
        unit="bytes",
        low=0.0,
        help="mean of the bytes that each node sends to each other node: a normal distribution, negative draws become "
        "0; one-node jobs send nothing",
    )
    com_sd_bytes: float = option(20e6, unit="bytes", low=0.0, help="its standard deviation")
    burst_buffers: BurstBufferModel | None = THESIS_MODEL
    processors_per_node: int = option(
        1, low=1, help="processors of a node of the logged machine: p processors become ceil(p / this) nodes"
    )
    missing_walltime: str = option(
        "scaled",
        choices=("scaled", "none", "drop"),
        help="jobs without a requested time in the log: walltime_factor x runtime, at least walltime_floor_s, rounded "
        "up to whole minutes; no walltime (reservations then have no end); or left out",
    )
    walltime_factor: float = option(2.0, low=1e-3, help="over-estimation for missing_walltime scaled")
    walltime_floor_s: float = option(300.0, unit="s", low=1.0, help="least walltime for it")
    oversized: str = option(
        "keep",
        choices=("keep", "drop"),
        help="jobs that request more nodes than the machine has: the scheduler rejects them, or they are left out",
    )
    from_job: int = option(0, low=0, help="first job number taken")
    first: int | None = option(
        None, low=1, help="most records taken, unusable ones included, as the thesis counts (of those from from_job on)"
    )
    first_submit_s: int = option(1, unit="s", low=0, help="submission of the first job of the workload")
    site_wait: bool = option(
        False,
        help="keep the waiting times of jobs at their site (field site_wait_s), for the policy replay; jobs without "
        "them in the log are left out",
    )
    site_fields: bool = option(
        False,
        help="keep the log's fields for a site's scheduler: partition, account, qos, licenses, nice, reservation, gpus "
        "and cpus",
    )
    site_tables: tuple[str, ...] = ()
    site_cpus: int = 0
    bytes_moved: str = option(
        "leave",
        choices=("leave", "stream"),
        help="bytes that a log (or Darshan) recorded: not played, or each job writes them over its whole life (field "
        "io_bytes), for the job model stream",
    )
    dependencies: str = option(
        "play",
        choices=("play", "leave"),
        help="jobs that depended on others, and tasks of arrays with a limit: they wait for these, or can start once "
        "they are submitted",
    )
    cancelled: str = option(
        "leave",
        choices=("play", "leave"),
        help="jobs that were cancelled while they waited: they wait until then (field cancelled_after_s, which "
        "spillway's session plays, and other schedulers do not), or are left out; runs of logs play them",
    )
    staging: str = option(
        "",
        form=STAGING,
        help="staging of jobs: share_in, share_out (share of the buffer, 1), minutes (least time of a staging, 0 to "
        "60, 0), spread (each is uniform between 1 - spread and 1 + spread times that, 0), volumes=measured (bytes "
        "that the log recorded, else the shares); such as minutes=30,spread=0.5; empty: jobs state no staging",
    )
    stripes: int = option(
        0,
        low=0,
        high=10**6,
        help="0: each node requests a buffer of its own (field bb); above: a job requests one (bb_total), striped over "
        "this many storage nodes (bb_stripes), over more where a stripe would not fit on a storage node",
    )

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class _ConversionReport:
    """Outcome of the conversion of a log.

    Attributes
    ----------
    records
        Records looked at.
    jobs
        Jobs written.
    book
        Fates of the lines and jobs of the log.
    remarks
        Assumptions made and further remarks, one sentence each.
    omissions
        Properties of jobs that the log states and no run plays; among the remarks, too.
    node_s
        Node-seconds of the jobs, by the log's run times.
    """

    records: int
    jobs: int
    book: Book
    remarks: tuple[str, ...] = ()
    omissions: tuple[Omission, ...] = ()
    node_s: float = 0.0

    def lines(self) -> list[str]:
        """Lines to print."""
        return [
            f"{many(self.jobs, 'job', 'jobs')} of {many(self.records, 'record', 'records')}",
            *self.book.said(Fate.REPAIRED, Fate.LEFT_OUT, Fate.UNREADABLE, node_s=self.node_s),
            *self.remarks,
        ]

    @property
    def dropped(self) -> dict[str, int]:
        """Number of lines and jobs left out, by reason."""
        return self.book.left_out()


def convert(
    log: SwfLog | JobTable, machine: MachineFacts, options: ConvertOptions | None = None, name: str = "log"
) -> tuple[Workload, _ConversionReport]:
    """Make a Batsim workload of a log.

    One ``parallel_homogeneous`` profile per job, named by the job's id: ``cpu`` flop per node, ``com`` bytes from
    each node to each other node, ``bb`` burst-buffer bytes per node. Jobs are in order of submission.

    Raises
    ------
    WorkloadError
        If no usable record remains.
    """
    converted, report = convert_columns(log, machine, options, name)
    made = replace(converted.workload(), notes=tuple(report.lines()), omissions=report.omissions)
    return replace(made, book=tuple(report.book.rows()), node_h=report.node_s / 3600), report


def convert_columns(
    log: SwfLog | JobTable, machine: MachineFacts, options: ConvertOptions | None = None, name: str = "log"
) -> tuple[JobColumns, _ConversionReport]:
    """Make columns of jobs from a log: for logs of millions of jobs, to write the workload as a stream.

    Raises
    ------
    WorkloadError
        As for :func:`convert`.
    """
    options = options or ConvertOptions()
    table = as_table(log)
    chosen = _choose(table, options)
    book = table.intake.book.copy()
    if len(chosen) < len(table):
        book.move("not among the chosen numbers", len(table) - len(chosen))
    kept = _usable(chosen, machine, options, book)
    if not len(kept):
        reasons = (
            "; ".join(f"{many(count, 'line', 'lines')}: {reason}" for reason, count in book.left_out().items())
            or "it is empty"
        )
        raise WorkloadError(f"no usable job in the log {name!r}: {reasons}")
    kept = kept.chosen(np.lexsort((kept["number"], kept["submit_s"])))
    converted = _assemble(kept, machine, options, name)
    omissions = omissions_of(
        kept,
        converted.nodes,
        moved_is_played=options.bytes_moved == "stream",
        depends=converted.depends,
        limits_are_played=options.dependencies == "play",
        tables=options.site_tables,
        counted=without_nodes(kept) if per_node_of(kept, options) == 1 else None,
    )
    remarks = (
        *table.intake.notes,
        *_remarks(kept, machine, options),
        *_processors_remark(kept, options),
        *_multiplied_remark(kept, machine, options),
        *_storage_remark(kept, converted, machine),
        *_waits_remark(converted),
        *_cancelled_remark(converted),
        *(omission.line for omission in omissions),
        shares_line(kept, buffers=_buffers_from(machine, options), walltimes=options.missing_walltime == "scaled"),
    )
    node_s = float((converted.nodes.astype(np.float64) * np.maximum(kept["run_s"], 0)).sum())
    return converted, _ConversionReport(len(chosen), len(kept), book, remarks, omissions, node_s)


def processors_of(table: JobTable) -> Ints:
    """Processors that jobs request, or got where the log does not record a request; <= 0 where not known."""
    requested = table["requested_processors"]
    return np.where(requested > 0, requested, table["allocated_processors"])


def nodes_of(table: JobTable, options: ConvertOptions) -> Ints:
    """Whole nodes of jobs: those that the log states, else enough for their processors; <= 0 where not known."""
    nodes = table["nodes"]
    return np.where(nodes > 0, nodes, -(-processors_of(table) // per_node_of(table, options)))


def per_node_of(table: JobTable, options: ConvertOptions) -> int:
    """Processors of a node of the logged machine."""
    if options.processors_per_node == 1 and options.site_cpus and table.format != "swf":
        return options.site_cpus
    return options.processors_per_node


def without_nodes(table: JobTable) -> npt.NDArray[np.bool_]:
    """Mask of the jobs that state processors and no number of nodes; none where the whole log counts in processors."""
    nodes = table.known("nodes")
    if table.format == "swf" and not nodes.any():
        return np.zeros(len(table), dtype=bool)
    return ~nodes & (processors_of(table) > 0)


def used_of(table: JobTable, options: ConvertOptions) -> Ints:
    """Whole nodes that jobs used: as allocated, else as requested; <= 0 where not known."""
    got = np.where(table["allocated_processors"] > 0, table["allocated_processors"], table["requested_processors"])
    return np.where(table["nodes"] > 0, table["nodes"], -(-got // per_node_of(table, options)))


def walltimes_of(table: JobTable, options: ConvertOptions) -> Ints:
    """Requested times of jobs, or their replacement by ``missing_walltime``; -1: no walltime."""
    requested = table["requested_s"]
    if options.missing_walltime != "scaled":
        return np.where(requested > 0, requested, -1)
    scaled = 60 * np.ceil(np.maximum(options.walltime_factor * table["run_s"], options.walltime_floor_s) / 60)
    return np.where(requested > 0, requested, scaled.astype(np.int64))


def compute_flops(
    run_s: int, bb_bytes: int, machine: MachineFacts, options: ConvertOptions, walltime_s: int | None
) -> int:
    """Flop per node of a job (thesis 2.4).

    ``alloc``: runtime x speed. ``io``: speed x max(runtime - kappa x bb / bandwidth, share x runtime); short jobs keep
    their runtime whole. Rounded to whole flop, halves to even.
    """
    seconds: float = run_s
    model = options.burst_buffers
    short = model is not None and (walltime_s or run_s) <= model.short_walltime_s
    if options.model == "io" and not short:
        seconds = max(
            run_s - options.kappa * bb_bytes / machine.network_bytes_per_s, options.least_compute_share * run_s
        )
    return round(machine.node_speed_flops * seconds)


def usable_jobs(table: JobTable, machine: MachineFacts, options: ConvertOptions) -> JobTable:
    """The jobs of a log that can be played, in order of submission."""
    jobs = _usable(_choose(table, options), machine, options)
    order = np.lexsort((jobs["number"], jobs["submit_s"]))
    return jobs if np.array_equal(order, np.arange(len(jobs))) else jobs.chosen(order)


def _choose(table: JobTable, options: ConvertOptions) -> JobTable:
    if options.from_job > 0:
        table = table.chosen(table["number"] >= options.from_job)
    most = options.first
    return table if most is None or most >= len(table) else table.chosen(np.arange(most))


def _usable(table: JobTable, machine: MachineFacts, options: ConvertOptions, book: Book | None = None) -> JobTable:
    """The records that become jobs; the book counts the others by reason, in order of their first occurrence."""
    reason = np.zeros(len(table), dtype=np.int8)
    words: list[str] = []
    for text, unusable in _reasons(table, machine, options):
        words.append(text)
        reason[unusable & (reason == 0)] = len(words)
    counts = np.bincount(reason, minlength=len(words) + 1)
    used = [number for number in range(1, len(words) + 1) if counts[number]]
    used.sort(key=lambda number: int(np.argmax(reason == number)))
    if book is not None and used:
        node_s = np.maximum(used_of(table, options), 0).astype(np.float64) * np.maximum(table["run_s"], 0)
        for number in used:
            book.move(words[number - 1], int(counts[number]), float(node_s[reason == number].sum()))
    return table.chosen(reason == 0) if used else table


def _reasons(
    table: JobTable, machine: MachineFacts, options: ConvertOptions
) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """Reasons to leave records out, and masks of these records; the first reason counts."""
    state, run_s, nodes = table["state"], table["run_s"], nodes_of(table, options)
    waited = (state == table.code("state", CANCELLED)) & (run_s <= 0)
    played = waited & (_cancelled_after_s(table) > 0) & (options.cancelled == "play")
    yield OF_PIECES, state == table.code("state", PIECE)
    yield "still running when the log was made", state == table.code("state", RUNNING)
    if options.cancelled == "play":
        yield (
            f"cancelled while waiting for more than the machine's {machine.nodes} nodes",
            (played & (nodes > machine.nodes)),
        )
        yield "cancelled while waiting, at a time that the log does not state", waited & ~played
    else:
        yield "cancelled while waiting", waited
    yield "runtime 0 or not known", (run_s <= 0) & ~played
    yield "number of processors not known", nodes <= 0
    if options.missing_walltime == "drop":
        yield "no requested time", table["requested_s"] <= 0
    if options.site_wait:
        start = table["start_s"]
        yield "the log does not state when it started", ((start < 0) | (start < table["submit_s"])) & ~played
    if options.oversized == "drop":
        yield f"requests more than the machine's {machine.nodes} nodes", nodes > machine.nodes


def _cancelled_after_s(table: JobTable) -> Ints:
    """Time from the submission of a job that never ran to its end (s); 0 for others, and where it is not known."""
    left_s = np.where(table["end_s"] >= 0, table["end_s"], table["start_s"])
    return np.where((table["run_s"] <= 0) & (left_s >= 0), np.maximum(left_s - table["submit_s"], 0), 0)


def _others_first(table: JobTable, draw: Callable[..., Ints], *columns: npt.NDArray[Any]) -> Ints:
    """Values drawn for each job; jobs that never ran come last, so that the values of others do not depend on them."""
    order = np.argsort(table["run_s"] <= 0, kind="stable")
    found = np.empty(len(order), dtype=np.int64)
    found[order] = draw(*(column[order] for column in columns))
    return found


def _assemble(table: JobTable, machine: MachineFacts, options: ConvertOptions, name: str) -> JobColumns:
    walltimes = walltimes_of(table, options)
    sizes = nodes_of(table, options)
    shift = options.first_submit_s - int(table["submit_s"][0])
    moved = None
    if options.bytes_moved == "stream":
        moved = -(-(np.maximum(table["read_bytes"], 0) + np.maximum(table["written_bytes"], 0)) // sizes)
    buffers = buffers_of(table, sizes, walltimes, machine, options)
    stripes = _stripes(buffers * sizes, machine, options) if options.stripes else None
    after_s = _cancelled_after_s(table)
    waits = waits_of(table) if options.dependencies == "play" else Waits()
    return JobColumns(
        depends=waits.depends,
        array_limit=waits.array_limit,
        table=table,
        name=name,
        nb_res=machine.nodes,
        submit_s=table["submit_s"] + shift,
        nodes=sizes,
        walltime_s=walltimes,
        bb_bytes=buffers,
        com_bytes=_others_first(table, lambda nodes: _communication(nodes, options), sizes),
        site_fields=options.site_fields,
        begins_s=_begin(table, shift),
        site_wait_s=np.where(after_s > 0, after_s, table["start_s"] - table["submit_s"]) if options.site_wait else None,
        cancelled_after_s=after_s if after_s.any() else None,
        io_bytes=moved,
        used=used_of(table, options),
        stripes=stripes,
        staged=_staged(table, buffers, sizes, stripes, options),
        moves=options.model == "io",
        flops=lambda run_s, bb, walltime: compute_flops(run_s, bb, machine, options, walltime),
    )


def _begin(table: JobTable, shift: int) -> float | None:
    """Date of time 0 (s since 1970) of a workload with the times of the log plus a shift."""
    if int(table["submit_s"][0]) >= CALENDAR_FROM_S:
        return float(-shift)
    start_s = table.intake.header.unix_start_time
    return None if start_s is None else float(start_s - shift)


def buffers_of(table: JobTable, sizes: Ints, walltimes: Ints, machine: MachineFacts, options: ConvertOptions) -> Ints:
    """Burst-buffer bytes per node: as the log states, else drawn."""
    stated = table["burst_buffer_bytes"]
    model = options.burst_buffers
    if model is None or bool((stated >= 0).all()):
        drawn: Ints = np.zeros(len(sizes), dtype=np.int64)
    else:
        requested = np.where(walltimes > 0, walltimes, table["run_s"]).astype(np.float64)
        drawn = _others_first(
            table,
            lambda nodes, wall: model.draw(nodes, wall, machine, options.seed, options.processors_per_node),
            sizes,
            requested,
        )
    return np.where(stated >= 0, -(-stated // sizes), drawn)


def _stripes(total: Ints, machine: MachineFacts, options: ConvertOptions) -> Ints:
    """Storage nodes that a job's buffer is striped over: as the options state, more where a stripe would not fit."""
    needed = -(-total // max(machine.storage_bytes, 1))
    return np.maximum(np.minimum(options.stripes, max(machine.storage_nodes, 1)), needed)


def _staged(
    table: JobTable, buffers: Ints, sizes: Ints, stripes: Ints | None, options: ConvertOptions
) -> JobStaging | None:
    """Staging of jobs, for each request of their buffers; ``None``: jobs state no staging."""
    if not options.staging:
        return None
    requests = sizes if stripes is None else np.maximum(stripes, 1)
    size = buffers if stripes is None else buffers * sizes // requests
    read, written = (
        np.where(table[name] >= 0, -(-np.maximum(table[name], 0) // requests), -1)
        for name in ("read_bytes", "written_bytes")
    )
    return StagingModel.parse(options.staging).draw(size, read, written, options.seed)


def _buffers_from(machine: MachineFacts, options: ConvertOptions) -> bool:
    """Whether burst buffers are drawn for jobs without a stated request."""
    return options.burst_buffers is not None and machine.storage_nodes > 0 and machine.storage_bytes > 0


def _communication(sizes: Ints, options: ConvertOptions) -> Ints:
    normal = Draws(options.seed, "communication").normal(len(sizes))
    drawn = np.maximum(np.rint(options.com_mean_bytes + options.com_sd_bytes * normal), 0.0).astype(np.int64)
    return np.where(sizes > 1, drawn, 0)


def _remarks(table: JobTable, machine: MachineFacts, options: ConvertOptions) -> Iterable[str]:
    missing = int((table["requested_s"] <= 0).sum())
    if missing:
        how = {
            "scaled": f"took {options.walltime_factor:g} x the runtime, at least {options.walltime_floor_s:g} s",
            "none": "they have no walltime",
        }[options.missing_walltime]
        yield f"{many(missing, 'job states', 'jobs state')} no requested time: {how}"
    large = int((nodes_of(table, options) > machine.nodes).sum())
    if large:
        who = many(large, "job requests", "jobs request")
        yield f"{who} more than the machine's {machine.nodes} nodes and will be rejected"


def _processors_remark(table: JobTable, options: ConvertOptions) -> Iterable[str]:
    """A remark on jobs whose nodes are computed from their processors."""
    per_node, count = per_node_of(table, options), int(without_nodes(table).sum())
    if per_node > 1 and count:
        who = many(count, "job states", "jobs state")
        yield f"{who} processors and no number of nodes: a node has {per_node}"


def _waits_remark(converted: JobColumns) -> Iterable[str]:
    """Remarks on jobs that wait for others, and on arrays with a limit."""
    if converted.depends is not None:
        number = sum(1 for text in converted.depends.tolist() if text)
        who = many(number, "job waits", "jobs wait")
        they, do = ("it", "does") if number == 1 else ("they", "do")
        yield f"{who} for those that {they} depended on (dependencies=leave: {they} {do} not)"
    if converted.array_limit is not None:
        number = int((converted.array_limit > 0).sum())
        who = many(number, "job is a task of an array", "jobs are tasks of arrays")
        yield f"{who} with a limit on tasks that wait or run at a time, as at the site"


def _cancelled_remark(converted: JobColumns) -> Iterable[str]:
    if converted.cancelled_after_s is not None:
        number = int((converted.cancelled_after_s > 0).sum())
        who = "job was cancelled while it waited: it holds its" if number == 1 else (
            "jobs were cancelled while they waited: they hold their")  # fmt: skip
        yield f"{number:,} {who} place until then (cancelled=leave: left out)"


def _multiplied_remark(table: JobTable, machine: MachineFacts, options: ConvertOptions) -> Iterable[str]:
    """A remark where the request of a node is a multiple of the request model's."""
    per_node = options.processors_per_node
    if per_node > 1 and _buffers_from(machine, options) and (table["burst_buffer_bytes"] < 0).any():
        yield (
            f"burst buffers were drawn for each processor: a node of {per_node} processors requests {per_node} times "
            "as much as one processor (storage of the machine should be in proportion)"
        )


def _storage_remark(table: JobTable, converted: JobColumns, machine: MachineFacts) -> Iterable[str]:
    """Remarks where the machine's storage, not the request model, decides requests."""
    stated = table["burst_buffer_bytes"] >= 0
    if machine.storage_nodes == 0:
        wanted = int((table["burst_buffer_bytes"] > 0).sum())
        if wanted:
            who, they = many(wanted, "job requests", "jobs request"), "it" if wanted == 1 else "they"
            yield f"{who} burst buffers, which this machine does not have: {they} will be rejected"
        return
    whole = machine.storage_bytes
    drawn = converted.bb_bytes[~stated]
    share = whole // -(-converted.nodes[~stated] // machine.storage_nodes)
    cut = int(((drawn == whole) | (drawn == share)).sum())
    if cut > _MANY_CUT * len(table):
        yield (
            f"{cut} jobs ({cut / len(table):.0%}) drew more burst buffer than the machine's "
            f"{machine.storage_nodes} x {whole / 1e9:g} GB can place and were cut"
        )
    too_large = int((converted.bb_bytes[stated] > whole).sum())
    if too_large:
        yield (
            f"{many(too_large, 'job requests', 'jobs request')} more burst buffer per node than a storage node of "
            f"{whole / 1e9:g} GB has and will be rejected"
        )
