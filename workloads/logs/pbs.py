"""Columns of the accounting logs of PBS (PBS Professional, OpenPBS, Torque): a line per event of a job.

A line is ``DATE TIME;TYPE;ID;KEY=VALUE ...``. Those of type E, the end of a job, state all that is read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from spillway.workloads.logs.columns import Column, NoJobError, name, of
from spillway.workloads.logs.layouts import pairs
from spillway.workloads.logs.lines import shown
from spillway.workloads.logs.record import COMPLETED, FAILED, TIMEOUT
from spillway.workloads.logs.slurm_units import UNKNOWN, UnitError, count_of, duration_of, size_of, time_of

PBS_LINE = r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d(?:\.\d+)?;[A-Za-z];[^;]*;"
"""Beginning of a line."""

_KEY = re.compile(r"(?:^|\s)([A-Za-z_][\w.]*)=")
_ID = re.compile(r"(\d{1,18})(?:\[(\d*)\]|-(\d{1,18}))?(?:\.([^;@]+))?", re.ASCII)
_CHUNK = re.compile(r"([^/+(),]+)/")
"""A node of ``n1/0*16+n2/0*16``."""

_TIMEOUTS = {"271", "-29", "143"}
"""Exit statuses of jobs that were ended by a signal at their limit."""


def pbs_cells(line: str) -> Mapping[str, str] | str:
    """Cells of a line, or a sentence on its fault."""
    if not re.match(PBS_LINE, line):
        return f"expected 'DATE TIME;TYPE;ID;KEY=VALUE ...' as PBS writes it, got {shown(line)}"
    _, kind, label, rest = line.split(";", 3)
    return pairs(rest, _KEY)[1] | {"id": f"{kind} {label}"}


def _id(text: str) -> tuple[int, str, str]:
    """Number, part and server of an ended job.

    Raises
    ------
    NoJobError
        The line is of another event.
    """
    kind, _, label = text.partition(" ")
    if kind != "E":
        what = "deletion or abort" if kind in ("A", "D") else "event other than the end"
        raise NoJobError(f"{what} of a job (the line of its end is used, if it ran)")
    found = _ID.fullmatch(label)
    if found is None:
        raise UnitError("like 12.server or 12[3].server")
    if found[2] == "":
        raise NoJobError("array as a whole (its tasks are jobs of their own)")
    task = found[2] or found[3]  # 12[3] and, of older Torque, 12-3
    return int(found[1]), f"_{task}" if task else "", found[4] or ""


def _seconds(text: str) -> int:
    """Seconds of ``HOURS:MINUTES:SECONDS``, shorter, or with the days that Torque allows before them."""
    days, _, rest = text.partition(":")
    return duration_of(f"{days}-{rest}" if text.count(":") == 3 else text, 1)


def _nodes(text: str) -> int:
    """Nodes of ``4:ppn=8``, ``2:ncpus=4+1:ncpus=8`` or names between ``+``."""
    if text.lower() in UNKNOWN:
        return -1
    counts = [part.partition(":")[0] for part in text.split("+")]
    return sum(int(count) if count.isdecimal() and len(count) < 10 else 1 for count in counts)


PBS = (
    Column("id", "number part cluster", _id, True),
    *of(time_of, submit_s="ctime|qtime", start_s="start", end_s="end"),
    *of(time_of, False, eligible_s="etime"),
    *of(_seconds, elapsed_s="resources_used.walltime", requested_s="resource_list.walltime"),
    *of(count_of, nodes="resource_list.nodect"),
    *of(_nodes, wanted_nodes="resource_list.nodes|resource_list.select"),
    *of(count_of, False, requested_processors="resource_list.ncpus", gpus="resource_list.ngpus"),
    *of(lambda text: -1 if text.lower() in UNKNOWN else size_of(text, 1), False, memory_bytes="resource_list.mem"),
    *of(lambda text: ",".join(dict.fromkeys(_CHUNK.findall(text))), False, node_list="exec_host"),
    *of(
        lambda text: "" if not text else COMPLETED if text == "0" else TIMEOUT if text in _TIMEOUTS else FAILED,
        False,
        state="exit_status",
    ),
    *of(name, False, user="user", partition="queue", account="account|group"),
)
