"""Size of a log's machine: as stated, and as its jobs need it, by nodes and burst buffers in use at once.

One rule for all formats and for all commands that play a log (:mod:`spillway.experiments.campaign.inputs.machines`): a
smaller machine could not have produced the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spillway.workloads.conversion.convert import (
    ConvertOptions,
    buffers_of,
    nodes_of,
    per_node_of,
    usable_jobs,
    used_of,
    walltimes_of,
)
from spillway.workloads.conversion.machine_facts import THESIS_MACHINE, MachineFacts
from spillway.workloads.logs.nodes import held, most_at_once
from spillway.workloads.logs.omissions import partitions_of
from spillway.workloads.logs.table import Ints, JobTable

_UNBOUNDED = MachineFacts(nodes=2**40, storage_nodes=1, storage_bytes=2**60)
"""A machine that serves every request."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Least resources that jobs need.

    Attributes
    ----------
    nodes
        Most compute nodes in use at once; 0: the log does not state when jobs started.
    widest
        Compute nodes of the widest job.
    buffer_jobs
        Jobs that request burst buffers.
    largest_buffer
        The largest request of a job, bytes.
    buffers
        Most bytes of burst buffers in use at once; 0: no requests, or the log does not state when jobs started.
    drawn
        Whether requests for burst buffers are drawn, because the log states no requests.
    partitions
        Most nodes in use at once in each of several partitions, the one with the most jobs first.
    """

    nodes: int
    widest: int
    buffer_jobs: int = 0
    largest_buffer: int = 0
    buffers: int = 0
    drawn: bool = False
    partitions: Mapping[str, int] | None = None

    @property
    def all_buffers(self) -> int:
        """Bytes that a machine needs for the largest request and for all that were in use at once."""
        return max(self.largest_buffer, self.buffers)


@dataclass(frozen=True, slots=True)
class StatedSize:
    """Size of a machine, by its workload.

    Attributes
    ----------
    nodes
        Compute nodes that the workload states; 0: not stated.
    needs
        Needs of its jobs by the log's own times; ``None``: not a log of a site.
    part
        Conditions that choose a part of the machine (``partition=batch``): the stated size of the whole does not count.
    processors
        Processors of a node where jobs and machine are counted in them; 0: the log counts nodes.
    """

    nodes: int = 0
    needs: Needs | None = None
    part: str = ""
    processors: int = 0

    def nodes_and_why(self, needs: Needs) -> tuple[int, str]:
        """Compute nodes of the machine, and their source in words; 0: only the widest job indicates a number."""
        if self.nodes and not self.part:
            more = (
                f", though {needs.nodes} were in use at once by the log's own times" if needs.nodes > self.nodes else ""
            )
            return self.nodes, f"the workload states so many{more}"
        if needs.nodes:
            in_use = needs.nodes >= needs.widest
            why = "most in use at once by the log's own times" if in_use else "as its widest job requests"
            return max(needs.nodes, needs.widest), f"{why}{f', {self.part}' if self.part else ''}"
        widest = f"its widest job requests {needs.widest}"
        return 0, f"because the workload states neither its size nor its starts, and {widest}"


def stated_of(table: JobTable, options: ConvertOptions) -> StatedSize:
    """Size of a machine by the log of its site, with processors counted as the options state.

    Parameters
    ----------
    table
        All jobs of the machine, or of some of its partitions.
    options
        As for :func:`needs_of`.
    """
    intake, per_node = table.intake, per_node_of(table, options)
    nodes = intake.machine_nodes or -(-intake.machine_processors // per_node)
    counted = 0 if intake.machine_nodes or table.known("nodes").any() else per_node
    return StatedSize(nodes, needs_of(table, options), " or ".join(intake.parts), counted)


def fitting_nodes(sizes: Sequence[int], few: int = 0) -> int:
    """Compute nodes for jobs of these sizes: the thesis's 96, or as many as the widest job requests.

    Parameters
    ----------
    few
        Number of jobs that may be wider than the thesis's machine.
    """
    thesis = THESIS_MACHINE.nodes
    return thesis if sum(size > thesis for size in sizes) <= few else max(sizes)


def rounded_up(size: int) -> float:
    """A size with two digits, not below the given one."""
    step = 10 ** max(len(str(size)) - 2, 0)
    return float(-(-size // step) * step)


def needs_of(table: JobTable, options: ConvertOptions | None = None) -> Needs:
    """Least resources that the jobs of a log need.

    Parameters
    ----------
    table
        The log.
    options
        Options of the conversion: processors of a node, and the model of burst-buffer requests that the log does not
        state.
    """
    options = replace(options or ConvertOptions(), from_job=0, first=None, site_wait=False, cancelled="leave")
    jobs = usable_jobs(table, _UNBOUNDED, options)
    nodes, used = nodes_of(jobs, options), used_of(jobs, options)
    named = held(jobs)
    total = nodes * buffers_of(jobs, nodes, walltimes_of(jobs, options), _UNBOUNDED, options)
    stated = bool((jobs["burst_buffer_bytes"] > 0).any())
    return Needs(
        nodes=_most_in_use(jobs, used) if named is None else named.most,
        widest=int(nodes.max(initial=0)),
        buffer_jobs=int((total > 0).sum()),
        largest_buffer=int(total.max(initial=0)),
        buffers=_most_in_use(jobs, total),
        drawn=not stated and options.burst_buffers is not None,
        partitions=_partitions(jobs, used),
    )


def _most_in_use(table: JobTable, amounts: Ints) -> int:
    """Largest sum of jobs' amounts held at a time, by the log's own starts; 0: it states no starts."""
    ran = (table["start_s"] >= 0) & (table["run_s"] > 0) & (amounts > 0)
    start = table["start_s"][ran]
    return most_at_once(start, start + table["run_s"][ran], amounts[ran])


def _partitions(table: JobTable, nodes: Ints) -> Mapping[str, int] | None:
    names = partitions_of(table)
    if len(names) < 2:
        return None
    codes = {str(name): code for code, name in enumerate(table.names["partition"])}
    return {name: _most_in_use(table.chosen(mask := table["partition"] == codes[name]), nodes[mask]) for name in names}
