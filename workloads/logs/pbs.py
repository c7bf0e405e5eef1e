"""Columns of the accounting logs of PBS (PBS Professional, OpenPBS, Torque): a line per event of a job.

A line is ``DATE TIME;TYPE;ID;KEY=VALUE ...``. Those of type E, the end of a job, state all that is read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from spillway.workloads.logs.columns import Column, NoJobError, name, whole
from spillway.workloads.logs.layouts import pairs
from spillway.workloads.logs.lines import LogHead, shown
from spillway.workloads.logs.record import COMPLETED, FAILED, TIMEOUT
from spillway.workloads.logs.slurm_units import UNKNOWN, UnitError, duration_of, size_of, time_of

_LINE = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d(?:\.\d+)?;[A-Za-z];[^;]*;")
_KEY = re.compile(r"(?:^|\s)([A-Za-z_][\w.]*)=")
_ID = re.compile(r"(\d{1,18})(?:\[(\d*)\])?(?:\.([^;@]+))?", re.ASCII)
_CHUNK = re.compile(r"([^/+(),]+)/")
_TIMEOUTS = {"271", "-29", "143"}
"""Exit statuses of jobs that were ended by a signal at their limit."""


def is_pbs(head: LogHead) -> bool:
    """Whether the first line is one of such a log."""
    return bool(_LINE.match(head.first))


def pbs_cells(line: str) -> Mapping[str, str] | str:
    """Cells of a line, or a sentence on its fault."""
    if not _LINE.match(line):
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
    return int(found[1]), f"_{found[2]}" if found[2] else "", found[3] or ""


def _length(text: str) -> int:
    """Seconds of ``hours:minutes:seconds``, or a number of seconds."""
    return whole(text) if text.isdecimal() else duration_of(text)


def _bytes(text: str) -> int:
    return -1 if text.lower() in UNKNOWN else size_of(text, 1)


def _state(text: str) -> str:
    return "" if not text else COMPLETED if text == "0" else TIMEOUT if text in _TIMEOUTS else FAILED


def _hosts(text: str) -> str:
    """Names of nodes of ``n1/0*16+n2/0*16``."""
    return ",".join(dict.fromkeys(_CHUNK.findall(text)))


def _nodes(text: str) -> int:
    """Nodes of ``4:ppn=8``, ``2:ncpus=4+1:ncpus=8`` or names between ``+``."""
    if text.lower() in UNKNOWN:
        return -1
    counts = [part.partition(":")[0] for part in text.split("+")]
    return sum(int(count) if count.isdecimal() and len(count) < 10 else 1 for count in counts)


def _time(field: str, *names: str, played: bool = True) -> Column:
    return Column(names, (field,), time_of, played)


PBS = (
    Column(("id",), ("number", "part", "cluster"), _id, played=True),
    _time("submit_s", "ctime", "qtime"),
    _time("eligible_s", "etime", played=False),
    _time("start_s", "start"),
    _time("end_s", "end"),
    Column(("resources_used.walltime",), ("elapsed_s",), _length, played=True),
    Column(("resource_list.walltime",), ("requested_s",), _length, played=True),
    Column(("resource_list.nodect",), ("nodes",), whole, played=True),
    Column(("resource_list.nodes", "resource_list.select"), ("wanted_nodes",), _nodes, played=True),
    Column(("resource_list.ncpus",), ("requested_processors",), whole),
    Column(("resource_list.mem",), ("memory_bytes",), _bytes),
    Column(("resource_list.ngpus",), ("gpus",), whole),
    Column(("exec_host",), ("node_list",), _hosts),
    Column(("exit_status",), ("state",), _state),
    *(
        Column((key,), (field,), name)
        for key, field in (("user", "user"), ("queue", "partition"), ("account", "account"))
    ),
    Column(("group",), ("account",), name),
)
