"""Batsim's workload files: strict reader, deterministic writer.

The rules are those of Batsim 4: input that it refuses or crashes on is refused here, with its place in the file; fields
that it ignores are kept.
"""

from __future__ import annotations

import json
import math
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from spillway.base.files import number_fault, plain_json, refuse_halves, refuse_nesting
from spillway.base.limits import NESTING, InputError
from spillway.protocol.fields import AMOUNT, INSTANT, INT32, NUMBER, WHOLE, is_whole
from spillway.protocol.jobs import ID_STOPS, NO_WALLTIME, check_size, read_job
from spillway.protocol.limits import LONGEST_NAME
from spillway.workloads.batsim.batsim5 import READ_AS_4, from_batsim5
from spillway.workloads.batsim.profiles import LocatedMembers, are_plain, check_profile, check_references
from spillway.workloads.batsim.workload import BEGINS_FIELD, Workload, WorkloadJob
from spillway.workloads.errors import WorkloadError
from spillway.workloads.files import plain_name, read_bytes, write_bytes

_JOB_FIELDS = frozenset({"id", "subtime", "walltime", "res", "profile"})
_LATEST_S = 1e11
_ROWS = 10_000
_OWN_FIELDS = frozenset({"name", "description", "nb_res", "jobs", "profiles"})


def read_batsim(path: Path | str) -> Workload:
    """Read a workload file (``.json``, ``.json.xz``, ``.json.gz``).

    Raises
    ------
    WorkloadError
        The message states the file and the JSON path (or the line, where the text is not JSON), the expected and the
        given input.
    """
    path = Path(path)
    return parse_batsim(read_bytes(path), where=str(path), name=plain_name(path), folder=path.parent)


def parse_batsim(
    data: bytes | str, where: str = "<text>", name: str = "workload", folder: Path | None = None
) -> Workload:
    """Read a workload from its text.

    Parameters
    ----------
    data
        The JSON text.
    where
        Names the text in errors.
    name
        Name of the workload where the file does not state it.
    folder
        Folder of the trace files; ``None``: they are not searched for.
    """
    text = data if isinstance(data, bytes) else data.encode(errors="surrogatepass")
    usual = plain_json(text)
    top = usual or _decode(data, where)
    if not isinstance(top, dict):
        raise WorkloadError(f"a workload must be a JSON object, got {_shown(top)}", f"{where}: $")
    for key in ("nb_res", "jobs", "profiles"):
        if key not in top:
            raise WorkloadError(f"a workload needs the field {key!r}", f"{where}: $")
    if not is_whole(top["nb_res"]) or top["nb_res"] <= 0:
        raise WorkloadError(f"must be a whole number > 0, got {_shown(top['nb_res'])}", f"{where}: $.nb_res")
    of_batsim5 = from_batsim5(top["jobs"], top["profiles"], where)
    profiles, plain_profiles = _profiles(top["profiles"], f"{where}: $.profiles", folder)
    jobs, plain_jobs = _jobs(top["jobs"], profiles, f"{where}: $.jobs")
    stated = top.get("name")
    return Workload(
        name=stated if isinstance(stated, str) and stated else name,
        nb_res=top["nb_res"],
        jobs=jobs,
        profiles=profiles,
        description=str(top.get("description", "")),
        extras={key: value for key, value in top.items() if key not in _OWN_FIELDS},
        notes=(READ_AS_4,) if of_batsim5 else (),
        begins_s=_date(top.get(BEGINS_FIELD), f"{where}: $.{BEGINS_FIELD}"),
        plain=usual is not None and plain_profiles and plain_jobs,
    )


def _date(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LATEST_S:
        raise WorkloadError(
            f"must be seconds since 1970, a number from 0 to {_LATEST_S:.0f}, got {_shown(value)}", where
        )
    return float(value)


def format_batsim(workload: Workload) -> str:
    """Text of a workload file: one line per job and per profile, always the same text for the same workload."""
    return batsim_bytes(workload).decode()


def batsim_bytes(workload: Workload) -> bytes:
    """The same as UTF-8, made in parts: the lines of a million jobs take twice the memory of their text."""
    head: dict[str, Any] = {"name": workload.name, "description": workload.description, "nb_res": workload.nb_res}
    lines = "".join(f"{_dump(key)}: {_dump(value)},\n" for key, value in (head | workload.extras).items())
    profiles = (f"{_dump(name)}: {_dump(profile)}" for name, profile in workload.profiles.items())
    text = bytearray(f'{{\n{lines}"jobs": ['.encode())
    for rows, end in ((map(job_text, workload.jobs), '\n],\n"profiles": {'), (profiles, "\n}\n}\n")):
        between = "\n"
        while part := ",\n".join(islice(rows, _ROWS)):
            text += f"{between}{part}".encode()
            between = ",\n"
        text += (end if between != "\n" else f"\n{end}").encode()
    return bytes(text)


def job_text(job: WorkloadJob) -> str:
    """Text of a job, equal to that of its JSON object."""
    walltime = "" if job.walltime is None else f'"walltime": {_number(job.walltime)}, '
    head = f'{{"id": {_number(job.id)}, "subtime": {_number(job.subtime)}, {walltime}"res": {_number(job.res)}, '
    further = f", {_dump(job.extras)[1:]}" if job.extras else "}"
    return f'{head}"profile": {_dump(job.profile)}{further}'


def write_batsim(workload: Workload, path: Path | str) -> None:
    """Write a workload file under a temporary name, then rename it; ``.xz`` and ``.gz`` are compressed."""
    write_bytes(Path(path), batsim_bytes(workload))


class _RepeatedKey(dict[str, Any]):
    """An object with a repeated key."""

    key = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    repeated = _RepeatedKey(result)
    seen: set[str] = set()
    repeated.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return repeated


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _decode(data: bytes | str, where: str) -> Any:
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        top = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite)
        if isinstance(top, dict | list):
            refuse_nesting(top)
        refuse_halves(text, top)
        _refuse_repeated(top, f"{where}: $")
    except json.JSONDecodeError as error:
        raise WorkloadError(f"not a JSON text: {error.msg} (column {error.colno})", f"{where}:{error.lineno}") from None
    except UnicodeDecodeError as error:
        raise WorkloadError(f"not a UTF-8 text (byte {error.start})", where) from None
    except RecursionError:
        raise WorkloadError(f"the JSON text {NESTING.text()}", where) from None
    except InputError as error:
        raise WorkloadError(f"the JSON text {error}", where) from None
    except WorkloadError:
        raise
    except ValueError as error:
        raise WorkloadError(f"not a JSON text: {number_fault(error)}", where) from None
    return top


def _refuse_repeated(value: Any, where: str) -> None:
    if isinstance(value, _RepeatedKey):
        raise WorkloadError(f"the name {value.key!r} occurs twice in this object", where)
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, dict | list):
                _refuse_repeated(item, f"{where}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                _refuse_repeated(item, f"{where}[{index}]")


def _profiles(value: Any, where: str, folder: Path | None) -> tuple[dict[str, dict[str, Any]], bool]:
    """The profiles, and whether all are plain."""
    if not isinstance(value, dict):
        raise WorkloadError(f"must be an object of profiles by name, got {_shown(value)}", where)
    if are_plain(value):
        return value, True
    for name, profile in value.items():
        check_profile(profile, f"{where}.{name}", folder)
    check_references(value, where)
    return value, False


def _jobs(value: Any, profiles: dict[str, dict[str, Any]], where: str) -> tuple[tuple[WorkloadJob, ...], bool]:
    """The jobs, and whether all are plain."""
    if not isinstance(value, list):
        raise WorkloadError(f"must be a list of jobs, got {_shown(value)}", where)
    plain = _plain_jobs(value, profiles)
    if plain is not None:
        return plain, True
    seen: dict[str, int] = {}
    jobs: list[WorkloadJob] = []
    for index, item in enumerate(value):
        job = _job(item, profiles, where, index)
        first = seen.setdefault(job.name, index)
        if first != index:
            raise WorkloadError(f"the id {job.name!r} is already that of $.jobs[{first}]", f"{where}[{index}].id")
        jobs.append(job)
    return tuple(jobs), False


_FORBIDDEN_IN_ID = f"!{ID_STOPS}"


class _Row(msgspec.Struct, gc=False):
    """A job whose members have the usual types and values; :func:`_job` words the faults of all others."""

    id: Annotated[str, Meta(min_length=1, pattern=f"^[^{_FORBIDDEN_IN_ID}]*$")] | WHOLE
    subtime: INSTANT
    res: Annotated[int, Meta(ge=0, le=INT32)]
    profile: str
    walltime: NUMBER = NO_WALLTIME
    bb: AMOUNT = 0


def _plain_jobs(value: list[Any], profiles: dict[str, dict[str, Any]]) -> tuple[WorkloadJob, ...] | None:
    """The jobs if all are plain and no profile asks for a number of nodes; else ``None``."""
    try:
        rows = msgspec.convert(value, list[_Row])
    except msgspec.ValidationError:
        return None
    names = {str(row.id) for row in rows}
    if max(map(len, names), default=0) * 4 > _LONGEST_ID:
        return None
    if len(names) < len(rows) or not profiles.keys() >= {row.profile for row in rows}:
        return None
    if any(profile["type"] == "parallel" for profile in profiles.values()):
        return None
    jobs = []
    for row, item in zip(rows, value, strict=True):
        walltime = None if row.walltime == NO_WALLTIME else row.walltime
        if walltime is not None and walltime <= 0:
            return None
        if item.keys() <= _JOB_FIELDS:
            jobs.append(WorkloadJob(row.id, row.subtime, row.res, row.profile, walltime))
        else:
            extras = {key: member for key, member in item.items() if key not in _JOB_FIELDS}
            jobs.append(WorkloadJob(row.id, row.subtime, row.res, row.profile, walltime, extras))
    return tuple(jobs)


_LONGEST_ID = LONGEST_NAME - len("w0!")
"""Longest id (bytes): in messages it comes after its workload's name."""


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        is_short = len(value.encode()) <= _LONGEST_ID
        return bool(value) and is_short and not any(sign in value for sign in _FORBIDDEN_IN_ID)
    return is_whole(value)


def _job(item: Any, profiles: dict[str, dict[str, Any]], where: str, index: int) -> WorkloadJob:
    if not isinstance(item, dict):
        raise WorkloadError(f"a job must be an object, got {_shown(item)}", f"{where}[{index}]")
    fields = LocatedMembers(item, f"{where}[{index}]")
    if not _is_id(fields.required("id")):
        without = " ".join(_FORBIDDEN_IN_ID)
        words = f"a whole number, or a text that is not empty, has at most {_LONGEST_ID} bytes and is without {without}"
        raise fields.wrong("id", words, item["id"])
    subtime, walltime, res, name = read_job(fields)
    if subtime < 0:
        raise fields.wrong("subtime", "a number of at least 0", item["subtime"])
    fields.amount("bb", 0)
    profile = profiles.get(name)
    if profile is None:
        raise WorkloadError(f"there is no profile named {name!r}", f"{where}[{index}].profile")
    check_size(fields, res, name, len(profile["cpu"]) if profile["type"] == "parallel" else None)
    return WorkloadJob(
        id=item["id"],
        subtime=item["subtime"],
        res=item["res"],
        profile=item["profile"],
        walltime=None if walltime == NO_WALLTIME else item["walltime"],
        extras={key: value for key, value in item.items() if key not in _JOB_FIELDS},
    )


_dump = json.JSONEncoder(allow_nan=False).encode  # made once: json.dumps makes one for each value


def _number(value: int | float | str) -> str:
    return repr(value) if type(value) is int else _dump(value)


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
