"""Logs as parquet files: PM100 (Marconi100, CINECA) and F-DATA (Fugaku, RIKEN).

pyarrow reads them: the extra ``parquet``. A batch of rows at a time is in memory.

References
----------
F. Antici et al., *PM100: a job power consumption dataset of a large-scale production HPC system*, SC-W 2023, doi
10.1145/3624062.3624263; F. Antici et al., *F-DATA: a Fugaku workload dataset for job-centric predictive modelling in
HPC systems*, Scientific Data 2025.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from spillway.protocol.limits import LATEST_S
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.lines import Head, LogFile, shown
from spillway.workloads.logs.record import NODES_REQUESTED, LogRecord
from spillway.workloads.logs.slurm_jobs import NEVER_SUBMITTED, run_of
from spillway.workloads.logs.slurm_units import licenses_of, state_of
from spillway.workloads.logs.table import Intake, Repeated

_MAGIC = b"PAR1"
_BATCH = 65_536


@dataclass(frozen=True)
class _Schema:
    """Columns of one data set.

    Attributes
    ----------
    needed
        Columns by which it is recognised.
    record
        Makes a job of a row, from its values by column and its place in errors; ``None``: never submitted.
    optional
        Further columns, read where the file has them.
    """

    needed: tuple[str, ...]
    record: Callable[[Mapping[str, Any], str], LogRecord | None]
    optional: tuple[str, ...] = ()


def recognises(head: Head) -> bool:
    """Whether it is a parquet file."""
    return head.start.startswith(_MAGIC)


def read(log: LogFile, intake: Intake) -> Iterator[LogRecord]:
    """Yield the jobs.

    Raises
    ------
    WorkloadError
        pyarrow is missing, the file is damaged or packed, its columns are of no known data set, or a value is wrong:
        with the number of its row.
    """
    parquet, fault = _pyarrow(log.where)
    if log.data is not None or log.path.suffix in (".gz", ".xz"):
        raise WorkloadError("parquet files are read from a plain file: unpack it", log.where)
    intake.repeated = Repeated.TASKS
    try:
        file = parquet.ParquetFile(str(log.path))
        schema = _schema(file.schema_arrow.names, log.where)
        names = [name for name in (*schema.needed, *schema.optional) if name in file.schema_arrow.names]
        number = 0
        for batch in file.iter_batches(batch_size=_BATCH, columns=names):
            columns = [column.to_pylist() for column in batch.columns]
            for row in zip(*columns, strict=True):
                number += 1
                record = schema.record(dict(zip(batch.schema.names, row, strict=True)), f"{log.where}: row {number}")
                if record is None:
                    intake.dropped[NEVER_SUBMITTED] += 1
                else:
                    yield record
    except (fault, OSError, OverflowError) as error:
        reason = str(error).split("\n")[0][:120]
        raise WorkloadError(f"cannot be read as parquet: {reason}", log.where) from None


def _pyarrow(where: str) -> tuple[Any, type[Exception]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise WorkloadError(
            "parquet files need pyarrow, which the extra 'parquet' installs: pip install 'spillway[parquet]'", where
        ) from None
    return pyarrow.parquet, pyarrow.ArrowException


def _schema(names: list[str], where: str) -> _Schema:
    found = [name for name, schema in _SCHEMAS.items() if set(schema.needed) <= set(names)]
    if len(found) == 1:
        return _SCHEMAS[found[0]]
    known = "; ".join(f"{name} ({', '.join(schema.needed)})" for name, schema in _SCHEMAS.items())
    raise WorkloadError(
        f"the columns {shown(', '.join(names), 100)} are of {'several' if found else 'no'} known data sets: {known}",
        where,
    )


def _time(row: Mapping[str, Any], name: str, where: str) -> int:
    """Seconds since 1970 of a timestamp (without a time zone: as UTC) or a number; -1 for unknown."""
    value = row.get(name)
    if value is None or value == "":
        return -1
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise WorkloadError(
                f"{name} must be a time such as 2020-05-01 10:00:00, got {shown(str(value))}", where
            ) from None
    if isinstance(value, datetime):
        value = (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    return _whole({name: value}, name, where, LATEST_S)


def _whole(row: Mapping[str, Any], name: str, where: str, most: float = 2.0**53) -> int:
    """A number >= 0, rounded; -1 for unknown."""
    value = row.get(name)
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return -1
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not -1 <= number <= most:
        raise WorkloadError(f"{name} must be a number from 0 to {most:.0f}, got {shown(str(value))}", where)
    return round(number)


def _minutes(row: Mapping[str, Any], where: str) -> int:
    value = row.get("time_limit")
    if isinstance(value, str) and value.upper() in ("INFINITE", "UNLIMITED"):
        return -1
    minutes = _whole(row, "time_limit", where, LATEST_S / 60)
    return 60 * minutes if minutes > 0 else -1


def _pm100(row: Mapping[str, Any], where: str) -> LogRecord | None:
    submit_s, start_s, end_s = (_time(row, name, where) for name in ("submit_time", "start_time", "end_time"))
    if submit_s < 0:
        return None
    nodes, wanted = (_whole(row, name, where) for name in ("num_nodes_alloc", "num_nodes_req"))
    got, asked = (
        max(_whole(row, f"num_{unit}_{how}", where) for unit in ("cores", "cpus")) for how in ("alloc", "req")
    )
    return LogRecord(
        _whole(row, "job_id", where),
        submit_s,
        eligible_s=_time(row, "eligible_time", where),
        start_s=start_s,
        end_s=end_s,
        run_s=run_of(start_s, end_s, _whole(row, "run_time", where, LATEST_S), where),
        requested_s=_minutes(row, where),
        nodes=nodes if nodes > 0 else wanted,
        requested_processors=asked,
        allocated_processors=got,
        gpus=max(_whole(row, f"num_gpus_{how}", where) for how in ("alloc", "req")),
        marks=0 if nodes > 0 else NODES_REQUESTED,
        user=_text(row.get("user_id")),
        partition=_text(row.get("partition")),
        state=state_of(_text(row.get("job_state"))),
        account=_text(row.get("account")) or _text(row.get("group_id")),
        qos=_text(row.get("qos")),
        licenses=licenses_of(_text(row.get("licenses"))),
    )


def _fdata(row: Mapping[str, Any], where: str) -> LogRecord | None:
    submit_s, start_s, end_s = (_time(row, name, where) for name in ("adt", "sdt", "edt"))
    if submit_s < 0:
        return None
    nodes, wanted = _whole(row, "nnuma", where), _whole(row, "nnumr", where)
    number, part = _fugaku_id(row.get("jid"), where)
    ended = _text(row.get("exit state")).upper()
    return LogRecord(
        number,
        submit_s,
        eligible_s=_time(row, "qdt", where),
        start_s=start_s,
        end_s=end_s,
        run_s=run_of(start_s, end_s, _whole(row, "duration", where, LATEST_S), where),
        requested_s=_whole(row, "elpl", where, LATEST_S),
        nodes=nodes if nodes > 0 else wanted,
        requested_processors=_whole(row, "cnumr", where),
        allocated_processors=_whole(row, "cnumat", where),
        marks=0 if nodes > 0 else NODES_REQUESTED,
        part=part,
        user=_text(row.get("usr")),
        state=state_of(ended),
    )


def _fugaku_id(value: Any, where: str) -> tuple[int, str]:
    """Number of a job; a name that ends in digits (``jid_17``) is numbered by them."""
    text = _text(value)
    digits = text[len(text.rstrip("0123456789")) :]
    if not digits or len(digits) > 18:
        raise WorkloadError(f"jid must be a number, or end in one, got {shown(text)}", where)
    return int(digits), ""


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value)


_SCHEMAS = {
    "PM100": _Schema(
        ("job_id", "submit_time", "start_time", "end_time", "num_nodes_alloc", "time_limit"),
        _pm100,
        (
            "eligible_time", "run_time", "num_nodes_req", "num_cores_req", "num_cores_alloc", "num_cpus_req",
            "num_cpus_alloc", "num_gpus_req", "num_gpus_alloc", "user_id", "partition", "job_state", "account",
            "group_id", "qos", "licenses",
        ),
    ),
    "F-DATA": _Schema(
        ("jid", "adt", "sdt", "edt", "nnumr", "elpl"),
        _fdata,
        ("qdt", "duration", "nnuma", "cnumr", "cnumat", "usr", "exit state"),
    ),
}  # fmt: skip
"""Data sets by name."""
