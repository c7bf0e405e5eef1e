"""Whether the simulator can play a workload's profiles and the external events on a machine: known before a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spillway.base.errors import shown
from spillway.core import as_printed
from spillway.experiments.run.errors import SpecError
from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.protocol.drains import STORAGE_DRAINED, read_drain
from spillway.protocol.fields import INT32
from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.reading.events import ExternalEvent
from spillway.simulator.reading.workload import load_workload
from spillway.simulator.world.machines import Machines
from spillway.workloads.batsim.workload import Workload

_TRACES = {
    "smpi": "replays a trace of SimGrid's SMPI, which this simulator does not do: play it in a Batsim, with 'spillway "
    "serve' as its scheduler, or leave the profile out",
    "usage_trace": "reads trace files beside the workload, and a run plays a copy of the workload alone: 'spillway "
    "simulate' plays it where it lies",
}
"""Types of profiles that runs do not play, and why."""

_LABELS = {"parallel_homogeneous_pfs": ("storage",), "data_staging": ("from", "to")}
"""Fields that name storages for which a scheduler maps hosts (``storage_mapping``), by type of profile."""


class StorageUse(NamedTuple):
    """A job whose profile names storages.

    Attributes
    ----------
    place
        Index of the job.
    job, profile
        Its id and its profile.
    part
        The profile that names them: its own, or one that it is composed of.
    kind
        Type of that profile.
    labels
        The names.
    fields
        Fields of the job and of its profile.
    """

    place: int
    job: str
    profile: str
    part: str
    kind: str
    labels: tuple[str, ...]
    fields: frozenset[str]


def refuse_traces(workload: Workload, where: str) -> None:
    """Refuse profiles of types that runs do not play.

    Raises
    ------
    SpecError
        With the profile, its type, a job that has it, and the way to play it.
    """
    for name, profile in workload.profiles.items():
        if words := _TRACES.get(kind := str(profile["type"])):
            found = next(((at, job.id) for at, job in enumerate(workload.jobs) if job.profile == name), None)
            who = f" (of $.jobs[{found[0]}], job {shown(found[1])})" if found else ""
            raise SpecError(f"{where}: $.profiles[{shown(name)}].type{who}: {shown(kind)} {words}")


def refuse_unread(workload: Workload, path: Path, where: str) -> None:
    """Refuse a workload, in a file here, that the simulator does not read. Jobs and profiles of usual types it reads.

    Raises
    ------
    SpecError
        With its words on the job or profile.
    """
    if is_read(workload):
        return
    try:
        load_workload(path)
    except SimulatorInputError as error:
        raise SpecError(str(error).replace(str(path.absolute()), where).replace(str(path), where)) from None


_WORKLOAD = "w0"
"""The name that the simulator gives to the workload of a run."""


def is_read(workload: Workload) -> bool:
    """Whether it is known that the simulator reads all jobs and profiles."""
    if not workload.plain or workload.nb_res > INT32:
        return False
    jobs = workload.jobs
    if any(_WORKLOAD in job.id for job in jobs if isinstance(job.id, str)):  # Batsim takes it for a full id
        return False
    try:
        as_printed([[job.walltime for job in jobs], [job.extras for job in jobs], [*workload.profiles.values()]])
    except ValueError:
        return False
    return True


def storage_uses(workload: Workload) -> tuple[StorageUse, ...]:
    """Jobs whose profiles name storages."""
    profiles = workload.profiles
    if all(profile["type"] not in _LABELS for profile in profiles.values()):
        return ()
    parts = {name: next(_naming(name, profiles), "") for name in {job.profile for job in workload.jobs}}
    return tuple(
        StorageUse(
            place, str(job.id), job.profile, part, str(kind := profiles[part]["type"]),
            tuple(str(profiles[part].get(field, "pfs")) for field in _LABELS[kind]),
            frozenset({*job.extras, *profiles[job.profile]}),
        )
        for place, job in enumerate(workload.jobs)
        if (part := parts[job.profile])
    )  # fmt: skip


def _naming(name: str, profiles: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Profiles that name storages, among a profile and its parts."""
    todo, seen = [name], {name}
    while todo:
        profile = profiles[one := todo.pop()]
        if profile["type"] in _LABELS:
            yield one
        for part in profile.get("seq", ()) if profile["type"] == "composed" else ():
            if part not in seen:
                seen.add(part)
                todo.append(part)


class StorageHosts:
    """Numbers of machines and of storage hosts of platforms, each counted once."""

    def __init__(self) -> None:
        self._counted: dict[Path, tuple[int, int]] = {}

    def machines(self, path: Path) -> int:
        """Number of compute and storage hosts of a platform's file."""
        return self._of(path)[0]

    def refuse_drains(self, events: Iterable[ExternalEvent], path: Path, platform: str) -> None:
        """Refuse drains of hosts without a burst buffer, and of more bytes than one has.

        Raises
        ------
        SpecError
            With the time of the event, and the hosts that have burst buffers.
        """
        for event in events:
            if event.kind != STORAGE_DRAINED or event.data is None:
                continue
            drain, sizes = read_drain(event.data), self._buffers_of(path)
            for host in drain.resources:
                if host not in sizes or drain.drained_bytes > sizes[host]:
                    known = ", ".join(f"{one} ({size:,} bytes)" for one, size in list(sizes.items())[:4]) or "none"
                    more = ", ..." if len(sizes) > 4 else ""
                    raise SpecError(
                        f"storage_drained at {event.time:g} s: expected hosts with burst buffers of at least as many "
                        f"bytes, on {platform} {known}{more}; got host {host} and {drain.drained_bytes:,} bytes"
                    )

    def _buffers_of(self, path: Path) -> dict[int, int]:
        """Bytes of the burst buffers of a platform's hosts, by number."""
        platform = load_platform(path)
        hosts = enumerate(platform.hosts[machine.host] for machine in Machines(platform, {}).all)
        found = {
            number: int(float(host.properties.get("capacity_bytes", "0")))
            for number, host in hosts
            if host.properties.get("role") == "storage" and host.properties.get("storage_kind") != "pfs"
        }
        return {number: size for number, size in found.items() if size > 0}

    def refuse_unmapped(self, use: StorageUse, path: Path, where: str, platform: str) -> None:
        """Refuse a job whose storages no policy maps to hosts: without a mapping there must be one host.

        Raises
        ------
        SpecError
            With the job, its profile, and the expected number of storage hosts beside that of the platform.
        """
        count = self._of(path)[1]
        at = f"{where}: $.jobs[{use.place}].profile: the {use.kind} profile {shown(use.part)} of job {shown(use.job)}"
        names = " and ".join(map(shown, use.labels))
        if len(use.labels) > 1:
            raise SpecError(
                f"{at} moves data between the storages {names}, for which a scheduler must state hosts, and no policy "
                "here does: leave it out, or play it under a scheduler of your own ('spillway simulate')"
            )
        if count != 1:
            raise SpecError(
                f"{at} uses the storage {names}: expected a platform with exactly one storage host, as no policy here "
                f"states which of several it is, got {platform} with {count}: name another --platform, or describe the "
                "transfers for --model stream (field io_bytes)"
            )

    def _of(self, path: Path) -> tuple[int, int]:
        if path not in self._counted:
            found = Machines(load_platform(path), {})
            self._counted[path] = len(found), found.storage_count
        return self._counted[path]
