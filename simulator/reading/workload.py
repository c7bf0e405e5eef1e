"""Reading workload files as strictly as Batsim does."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

from spillway.base.errors import shown
from spillway.base.files import AT_A_TIME, parse_json, plain_parts, read_file, whole_parts
from spillway.base.limits import InputError
from spillway.core import StaticJobs, read_plain_profiles
from spillway.protocol.batsim5.profiles import PROFILES, from_file
from spillway.protocol.fields import Fields
from spillway.protocol.messages import JsonObject
from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.jobs.profiles import read_profile
from spillway.simulator.jobs.profiles.base import Origin
from spillway.simulator.jobs.profiles.linking import link_parts, with_parts
from spillway.simulator.options import BATSIM_4, Rules
from spillway.simulator.reading.registry import Workload

IN_ORDER_FIELD = "in_order"
"""Field of a file whose jobs of one instant come in the file's order; else in that of their names, as in Batsim."""


def load_workload(path: str | Path, name: str = "w0", rules: Rules = BATSIM_4) -> Workload:
    """Read a workload file (JSON, also packed as ``.xz`` or ``.gz``).

    Parameters
    ----------
    path
        The file.
    name
        Name of the workload; files are called ``w0``, ``w1``, ... in the order of the command line.
    rules
        Rules of the version of Batsim that it is made for.

    Raises
    ------
    SimulatorInputError
        The file cannot be read or is no valid workload; the message names the file, the job or profile, and the field.
    """
    file = Path(path)
    try:
        data = _parsed(read_file(file))
    except InputError as fault:
        raise SimulatorInputError(f"workload {str(path)!r}: {fault}") from None
    return _checked(data, name, str(file.absolute()), rules)


def _parsed(content: bytes) -> Any:
    """The object of a file; its jobs and profiles stay texts where that is the same."""
    found = plain_parts(content, "jobs", "profiles")
    return found or parse_json(content, object_pairs_hook=_object, parse_constant=_constant)


def workload_from_object(data: Any, name: str = "w0", file: str = "", rules: Rules = BATSIM_4) -> Workload:
    """Make a workload from the object that a workload file holds; as :func:`load_workload`.

    Raises
    ------
    SimulatorInputError
        It is no valid workload.
    """
    parts = {key: copy(data[key]) for key in ("jobs", "profiles") if key in data} if isinstance(data, dict) else {}
    return _checked({**data, **parts} if parts else data, name, file, rules)


def _checked(data: Any, name: str, file: str, rules: Rules) -> Workload:
    title = f"workload {file or name!r}"
    try:
        return _read(data, name, file, rules)
    except ValueError as fault:
        raise SimulatorInputError(f"{title}: {fault}") from None


def _read(data: Any, name: str, file: str, rules: Rules) -> Workload:
    """Read the object of a file; jobs and profiles are removed from it as they are read, to save memory."""
    if not isinstance(data, dict):
        raise ValueError("must be an object with the fields nb_res, jobs and profiles")
    fields = Fields(data, "the file")
    nb_res = fields.integer("nb_res")
    if nb_res <= 0:
        raise fields.wrong("nb_res", "a whole number above 0", nb_res)
    workload = Workload(name, file, nb_res, rules)
    _read_profiles(
        workload, fields.mapping("profiles"), Origin(str(Path(file).parent) if file else ".", rules.reprints)
    )
    workload.jobs = StaticJobs(data.get(IN_ORDER_FIELD) is True)
    _read_jobs(workload, fields.array("jobs"))
    _drop_unused(workload, workload.jobs.profile_names)
    return workload


def _read_profiles(workload: Workload, members: dict[str, Any], origin: Origin) -> None:
    """Read profiles; they are removed as they are read."""
    names = [*members]
    for begin in range(0, len(names), AT_A_TIME):
        part = names[begin : begin + AT_A_TIME]
        objects = whole_parts([members.pop(name) for name in part])
        if not workload.rules.old_words:
            objects = [*map(_in_old_words, part, objects)]
        place = 0
        while place < len(part):
            place += read_plain_profiles(part, objects, place, origin.reprinted, workload.profiles)
            if place < len(part):
                workload.profiles[part[place]] = read_profile(part[place], objects[place], origin)
                place += 1
    link_parts(workload.profiles)


def _read_jobs(workload: Workload, items: list[Any]) -> None:
    """Read jobs; they are removed as they are read."""
    number = 0
    items.reverse()
    while items:
        part = whole_parts(items[: -AT_A_TIME - 1 : -1])
        del items[-AT_A_TIME:]
        place = 0
        while place < len(part):
            place += workload.read_jobs(part, place)
            if place < len(part):
                workload.jobs.append(_job(workload, part[place], number + place))
                place += 1
        number += len(part)


def _in_old_words(name: str, profile: Any) -> Any:
    """A profile of a workload for Batsim 5 in the words of Batsim 4."""
    kind = profile.get("type") if isinstance(profile, dict) else None
    if kind in PROFILES:
        raise ValueError(
            f"profile {shown(name)}: the type {shown(kind)} is Batsim 4's, in Batsim 5 it is {PROFILES[kind].name}; "
            "spillway workload convert FILE --out FILE --batsim 5 translates a whole workload"
        )
    return from_file(profile) if isinstance(profile, dict) else profile


def _job(workload: Workload, item: Any, number: int) -> Any:
    def where() -> str:
        named = f" (id {shown(item['id'])})" if isinstance(item, dict) and "id" in item else ""
        return f"job number {number}{named}"

    if not isinstance(item, dict):
        raise ValueError(f"{where()} must be an object, got {shown(item)}")
    job = workload.read_job(item, where, printed=False, keep=True)
    mapping = item.get("smpi_ranks_to_hosts_mapping")
    if mapping is not None and not (
        isinstance(mapping, list) and all(type(host) is int and 0 <= host < job.res for host in mapping)
    ):
        raise ValueError(
            f"{where()}: field 'smpi_ranks_to_hosts_mapping' must be an array of whole numbers from 0 to {job.res - 1}"
        )
    workload.claim(job)
    return job


def _drop_unused(workload: Workload, named: set[str]) -> None:
    """Drop the profiles that no job names, nor one that a job names; their names stay taken."""
    used = with_parts(workload.profiles, named)
    for name in workload.profiles:
        if name not in used:
            workload.profiles[name] = None


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the name {key!r} occurs twice in one object")
            seen.add(key)
    return members


def _constant(text: str) -> float:
    raise ValueError(f"{text} is no JSON number")
