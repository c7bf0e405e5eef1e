"""Fields that several of Batsim 4's events and requests share: their texts and their rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.base.errors import shown
from spillway.core import as_printed
from spillway.protocol.fields import is_number
from spillway.protocol.intervals import format_intervals
from spillway.protocol.jsontext import quote
from spillway.protocol.messages import AdditionalIoJob, JsonObject, RegisterJob
from spillway.protocol.table import Kind, LocatedError, resources


def _whole_number(text: str, path: str) -> int:
    """Read an integer in a string; raise :class:`LocatedError` at ``path``."""
    if not (text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 11):
        raise LocatedError(f"expected a whole number in a string, got {shown(text)}", path)
    return int(text)


def job_id(text: str, path: str) -> str:
    """Check a job id, ``workload!name``; repeated ``!`` count as one, as in Batsim. Raise :class:`LocatedError`."""
    if text.count("!") == 1:
        return text
    merged = text
    while "!!" in merged:
        merged = merged.replace("!!", "!")
    if merged.count("!") != 1:
        raise LocatedError(f"expected a job id of the form workload!name, got {shown(text)}", path)
    return merged


def some_resources(text: str, path: str) -> tuple[int, ...]:
    """Read an interval set that must not be empty; raise :class:`LocatedError` at ``path``."""
    found = resources(text, path)
    if not found:
        raise LocatedError("expected at least one resource id, got the empty set", path)
    return found


def text_member(data: JsonObject, member: str) -> str:
    """Look up a string in an object; raise :class:`LocatedError` if it is missing or no string."""
    value = data.get(member)
    if not isinstance(value, str):
        raise LocatedError(f"expected a string, got {_found(data, member)}", f".{member}")
    return value


def mapping(value: Any, hosts: int) -> dict[int, int]:
    """Check an executor mapping: executors 0 to n-1 without gap, each on a place within an allocation of ``hosts``."""
    place = ".mapping"
    if not isinstance(value, dict) or not value:
        raise LocatedError(f"expected an object executor -> place in the allocation, got {shown(value)}", place)
    found = {_whole_number(key, place): _whole(item, f"{place}.{key}") for key, item in value.items()}
    for executor, index in found.items():
        if not 0 <= index < hosts:
            raise LocatedError(
                f"expected a place from 0 to {hosts - 1} in the allocation, got {index}", f"{place}.{executor}"
            )
    if sorted(found) != list(range(len(found))):
        raise LocatedError(f"expected executors 0 to {len(found) - 1} without gap, got {shown(sorted(found))}", place)
    return found


def storage_mapping(value: Any) -> dict[str, int]:
    """Check a storage mapping: label to resource id, an integer."""
    place = ".storage_mapping"
    if not isinstance(value, dict):
        raise LocatedError(f"expected an object label -> resource id of a storage host, got {shown(value)}", place)
    for label, host in value.items():
        if type(host) is not int:
            raise LocatedError(f"expected a resource id as an integer, got {shown(host)}", f"{place}.{label}")
    return value


def additional_io_job(value: Any) -> AdditionalIoJob:
    """Read the I/O merged into a job: ``alloc``, ``profile_name`` and maybe a new ``profile``."""
    place = ".additional_io_job"
    if not isinstance(value, dict):
        raise LocatedError(f"expected an object, got {shown(value)}", place)
    try:
        alloc, name = text_member(value, "alloc"), text_member(value, "profile_name")
    except LocatedError as problem:
        raise LocatedError(problem.message, place + problem.path) from None
    profile = value.get("profile")
    if "profile" in value:
        if not isinstance(profile, dict):
            raise LocatedError(f"expected an object, got {shown(profile)}", f"{place}.profile")
        printable(profile, f"{place}.profile")
    return AdditionalIoJob(some_resources(alloc, f"{place}.alloc"), name, profile)


def printable(value: JsonObject, path: str) -> JsonObject:
    """Round an object as Batsim does, which prints registered objects and reads them again.

    Raises :class:`LocatedError` for a double that overflows its print buffer.
    """
    try:
        printed: JsonObject = as_printed(value)
    except ValueError as error:
        raise LocatedError(f"Batsim cannot print this: {error}", path) from None
    return printed


def check_job(request: RegisterJob) -> None:
    """Check the object of a registered job as Batsim does after printing it; raise :class:`LocatedError`."""
    full_id = request.job_id
    job = printable(request.job, ".job")
    for member, (expected, is_right) in _JOB_MEMBERS.items():
        if member not in job or not is_right(job[member]):
            raise LocatedError(f"expected {expected}, got {_found(job, member)}", f".job.{member}")
    walltime = job.get("walltime", -1)
    if not is_number(walltime) or not (walltime > 0 or walltime == -1):
        raise LocatedError(
            f"expected a number of seconds above 0, or -1 if none, got {shown(walltime)}", ".job.walltime"
        )
    workload = full_id.split("!", 1)[0]
    own = str(job["id"])
    # Batsim's rule: a text that contains the workload's name anywhere counts as a full id.
    if job_id(own if workload in own else f"{workload}!{own}", ".job.id") != full_id:
        raise LocatedError(f"expected the id of {shown(full_id)}, got {shown(own)}", ".job.id")


def _whole(value: Any, path: str) -> int:
    if type(value) is int:
        return value
    if not isinstance(value, str):
        raise LocatedError(f"expected an integer or an integer in a string, got {shown(value)}", path)
    return _whole_number(value, path)


def _found(data: JsonObject, member: str) -> str:
    return shown(data[member]) if member in data else f"no member {shown(member)}"


_JOB_MEMBERS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "id": ("the job's id as a string or an integer", lambda value: type(value) in (str, int)),
    "subtime": ("the time of submission as a number (mandatory although undocumented)", is_number),
    "res": ("a whole number of hosts, at least 0", lambda value: type(value) is int and value >= 0),
    "profile": ("the name of a profile as a string", lambda value: type(value) is str),
}

JOB_ID = Kind(str, job_id, quote)
SOME_IDS = Kind(str, some_resources, lambda ids: f'"{format_intervals(ids)}"')
STATE_NUMBER = Kind(str, _whole_number, lambda number: f'"{number}"')
