"""Failures of compute nodes and storage nodes, by rate or by trace: a generator of external events.

``--events failures:node_mtbf=2.6e6,repair=3600`` takes the place of a file of events: the generator makes such a file,
with a copy among the run's inputs, and the run then reads it like any other file of events.

By rate, each host independently works for an exponential time of mean MTBF and is then out for the time of a repair.
Each host has its own stream of random numbers, named by the host: its failures do not depend on the other hosts. By
trace, a table of outages by the hosts' names is repeated.

References
----------
J. T. Daly, *A higher order estimate of the optimum checkpoint interval for restart dumps*, Future Generation Computer
Systems 22 (2006), section 2 (exponential failures, restart from the last checkpoint).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from spillway.base.errors import OptionError, shown
from spillway.base.files import read_file, text_of
from spillway.base.limits import InputError
from spillway.base.options import build, option
from spillway.base.plugins import split_spec
from spillway.experiments.run.errors import SpecError
from spillway.platforms.model import Platform
from spillway.protocol.drains import STORAGE_DRAINED
from spillway.protocol.messages import JsonObject
from spillway.simulator.reading.events import AVAILABLE, UNAVAILABLE
from spillway.simulator.world.machines import Machine, Machines
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.draws import Draws

NAME = "failures"
_TRACE_COLUMNS = ("host", "down_s", "up_s")
_PART_COLUMN = "drained_bytes"
"""A further column of traces: number of bytes of a storage node that are drained; empty: the host is out."""
_MOST_EVENTS = 5_000_000
_BATCH = 64


class _Outage(NamedTuple):
    """A host that is out from one time to another (s); ``up_s`` infinite: for good.

    ``drained_bytes``: number of bytes that a storage node loses; 0: the host is out.
    """

    down_s: float
    up_s: float
    host: int
    drained_bytes: int = 0

    def events(self) -> list[tuple[float, int, int, JsonObject]]:
        """Time, order among simultaneous events, host, and the rest of the event, for both ends of the outage."""
        ends = [(self.down_s, 1), (self.up_s, 0)]
        if self.drained_bytes:
            found: list[JsonObject] = [{"type": STORAGE_DRAINED, "resources": str(self.host), "bytes": size}
                                       for size in (self.drained_bytes, 0)]  # fmt: skip
        else:
            found = [{"type": kind, "resources": str(self.host)} for kind in (UNAVAILABLE, AVAILABLE)]
        both = zip(ends, found, strict=True)
        return [(time_s, place, self.host, event) for (time_s, place), event in both if time_s < math.inf]


@dataclass(frozen=True)
class Failures:
    """Options of the generator."""

    node_mtbf: float = option(
        0.0,
        unit="s",
        low=0.0,
        high=1e12,
        help="mean time between two failures of a compute node, without repairs; 0: no failures",
    )
    storage_mtbf: float = option(
        0.0, unit="s", low=0.0, high=1e12, help="the same of a storage node with burst buffers; 0: no failures"
    )
    storage_part: float = option(
        1.0,
        low=0.001,
        high=1.0,
        help="share of its capacity that a storage node loses by a failure; 1: the whole node is out",
    )
    repair: float = option(3600.0, unit="s", low=0.001, high=1e9, help="duration of an outage after a failure")
    until: float = option(
        0.0,
        unit="s",
        low=0.0,
        high=1e12,
        help="no failure begins later; 0: after the last submission and twice the time that all requested node-seconds "
        "take on the machine",
    )
    seed: int | None = option(None, low=0, high=2**63 - 1, help="seed of the failures; default: the run's")
    trace: str = option(
        "", help="CSV with the columns host, down_s, up_s (empty: for good), maybe drained_bytes, in place of rates"
    )

    def __post_init__(self) -> None:
        """Refuse a generator without failures, or with two sources of them."""
        rates = bool(self.node_mtbf or self.storage_mtbf)
        if rates == bool(self.trace):
            raise OptionError("expected rates (node_mtbf=SECONDS, storage_mtbf=SECONDS) or trace=FILE.csv, one of them")
        if self.storage_part < 1 and not self.storage_mtbf:
            raise OptionError("storage_part goes with storage_mtbf=SECONDS: without it no storage node fails")

    def outages(self, machines: Machines, workload: Workload, seed: int) -> list[_Outage]:
        """All outages on a machine, in order of their begin.

        Raises
        ------
        SpecError
            The trace is wrong, or there are more than five million events.
        """
        if self.trace:
            return _read_trace(Path(self.trace), {machine.name: number for number, machine in enumerate(machines.all)})
        until_s = self.until or horizon_s(workload, machines.compute_count)
        drawn = self.seed if self.seed is not None else seed
        found: list[_Outage] = []
        expected = sum(until_s / (mtbf_s + self.repair) for _, mtbf_s in self._failing(machines))
        if 2 * expected > _MOST_EVENTS:
            what = f"{NAME}: about {2 * expected:.3g} events until {until_s:g} s, more than {_MOST_EVENTS:,}"
            raise SpecError(f"{what}: give a longer MTBF, or until=SECONDS")
        for number, mtbf_s in self._failing(machines):
            part_bytes = self._part_bytes(machines.all[number]) if number >= machines.compute_count else 0
            found += [
                _Outage(down_s, up_s, number, part_bytes)
                for down_s, up_s in _failures_of(machines.all[number].name, mtbf_s, self.repair, until_s, drawn)
            ]
        return sorted(found)

    def _part_bytes(self, machine: Machine) -> int:
        """Bytes that a storage node loses by a failure; 0: the whole node is out."""
        return max(1, int(self.storage_part * _capacity(machine))) if self.storage_part < 1 else 0

    def _failing(self, machines: Machines) -> Iterator[tuple[int, float]]:
        """Hosts that fail, by id, with their MTBF."""
        for number, machine in enumerate(machines.all):
            if number < machines.compute_count:
                mtbf_s = self.node_mtbf
            else:
                mtbf_s = self.storage_mtbf if _holds_buffers(machine) else 0.0
            if mtbf_s:
                yield number, mtbf_s


def parse(text: str) -> Failures | None:
    """Read ``failures:key=value,...``; return ``None`` if the text names a file of events.

    Raises
    ------
    SpecError
        An option is unknown or out of its range.
    """
    if text.partition(":")[0] != NAME:
        return None
    try:
        return build(Failures, split_spec(text)[1])
    except OptionError as error:
        raise SpecError(f"{NAME}: {error}") from None


def events_text(failures: Failures, platform: Platform, workload: Workload, seed: int) -> str:
    """Contents of the file of events: a JSON object per line, in order of time.

    Raises
    ------
    SpecError
        As for :meth:`Failures.outages`, and if no host of the machine would ever fail.
    """
    machines = Machines(platform, {})
    outages = failures.outages(machines, workload, seed)
    if failures.storage_mtbf and not failures.node_mtbf and not any(map(_holds_buffers, machines.all)):
        raise SpecError(
            f"{NAME}: storage_mtbf={failures.storage_mtbf:g}: the machine has no storage nodes with buffers"
        )
    events = sorted((event for outage in outages for event in outage.events()), key=lambda event: event[:3])
    return "".join(json.dumps({"timestamp": time_s, **event}) + "\n" for time_s, _, _, event in events)


def summary(text: str) -> str:
    """Number and range of the failures in a file of events, as a sentence."""
    events = [json.loads(line) for line in text.splitlines()]
    down = [event["timestamp"] for event in events if event["type"] == UNAVAILABLE or event.get("bytes")]
    if not down:
        return "no host ever fails; give a shorter MTBF, or a later until=SECONDS"
    return f"{len(down)} failures of hosts, from {down[0]:g} s to {down[-1]:g} s"


def horizon_s(workload: Workload, nodes: int) -> float:
    """Default end of failures (s): the last submission, plus twice the time that all requested node-seconds take.

    The longest requested walltime replaces that time where it is longer.
    """
    last_s = max((float(job.subtime) for job in workload.jobs), default=0.0)
    requested = sum(job.res * float(job.walltime or 0.0) for job in workload.jobs)
    longest_s = max((float(job.walltime or 0.0) for job in workload.jobs), default=0.0)
    return last_s + 2.0 * max(requested / nodes, longest_s)


def _read_trace(path: Path, numbers: dict[str, int]) -> list[_Outage]:
    """Read a table of outages.

    Raises
    ------
    SpecError
        It cannot be read, or a line is not an outage of a host of the machine, or overlaps another one of its host.
    """
    try:
        rows = list(csv.reader(io.StringIO(text_of(read_file(path)))))
    except (InputError, csv.Error) as error:
        raise SpecError(f"{NAME}: trace: {error}") from None
    columns = tuple(rows[0]) if rows else ()
    if columns not in (_TRACE_COLUMNS, (*_TRACE_COLUMNS, _PART_COLUMN)):
        got = shown(",".join(columns))
        raise SpecError(f"{path}:1: expected the columns {','.join(_TRACE_COLUMNS)}[,{_PART_COLUMN}], got {got}")
    found = sorted(_outage(row, columns, f"{path}:{line}", numbers) for line, row in enumerate(rows[1:], 2) if row)
    last: dict[int, float] = {}
    names = {number: name for name, number in numbers.items()}
    for outage in found:
        if outage.down_s <= last.get(outage.host, -1.0):
            raise SpecError(
                f"{path}: host {names[outage.host]} goes out at {outage.down_s:g} s and is out until "
                f"{last[outage.host]:g} s already"
            )
        last[outage.host] = outage.up_s
    return found


def _outage(row: Sequence[str], columns: Sequence[str], where: str, numbers: dict[str, int]) -> _Outage:
    if len(row) != len(columns):
        raise SpecError(f"{where}: expected {','.join(columns)}, got {len(row)} fields")
    if row[0] not in numbers:
        raise SpecError(f"{where}: the machine has no host {shown(row[0])}")
    try:
        down_s, up_s = float(row[1]), float(row[2]) if row[2].strip() else math.inf
    except ValueError:
        down_s = up_s = math.nan
    if not 0 <= down_s < up_s:
        raise SpecError(f"{where}: expected 0 <= down_s < up_s in seconds, got {shown(row[1])} and {shown(row[2])}")
    part = row[3].strip() if len(row) > len(_TRACE_COLUMNS) else ""
    if part and not (part.isascii() and part.isdigit() and 0 < int(part) < 2**63):
        raise SpecError(f"{where}: expected a whole number of {_PART_COLUMN} above 0, or nothing, got {shown(part)}")
    return _Outage(down_s, up_s, numbers[row[0]], int(part or 0))


def _failures_of(name: str, mtbf_s: float, repair_s: float, until_s: float, seed: int) -> Iterator[tuple[float, float]]:
    """Begin and end of each outage of a host that begins before ``until_s``; times in whole microseconds."""
    draws = Draws(seed, f"failures of {name}")
    time_s = 0.0
    while True:
        for working in draws.exponential(_BATCH).tolist():
            time_s = round(time_s + max(working * mtbf_s, 1e-6), 6)
            if time_s >= until_s:
                return
            back_s = round(time_s + repair_s, 6)
            yield time_s, back_s
            time_s = back_s


def _holds_buffers(machine: Machine) -> bool:
    return _capacity(machine) > 0 and machine.info.properties.get("storage_kind") != "pfs"


def _capacity(machine: Machine) -> float:
    return float(machine.info.properties.get("capacity_bytes", "0"))
