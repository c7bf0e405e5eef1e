"""Replacement of profiles that 5.0.0-rc2 plays wrongly by equivalent ones that it plays correctly.

Its data staging aborts at the first transfer, and its access to a storage moves the bytes to read in the place of those
to write. Both become a ``ParallelTaskProfile`` whose executors, storage hosts included, are placed one by one. A
``parallel_homogeneous_total`` profile with communications has another meaning there, and becomes one with each node's
share. The number of nodes is known only with a job: such a profile is registered with its first job of each number of
nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from spillway.base.errors import LocalProtocolError, shown
from spillway.protocol.messages import ExecuteJob, JsonObject, RegisterJob, RegisterProfile, Request


def _staging(profile: JsonObject, nodes: int) -> JsonObject:
    return {"type": "parallel", "cpu": [0.0, 0.0], "com": [0.0, float(profile["nb_bytes"]), 0.0, 0.0]}


def _access(profile: JsonObject, nodes: int) -> JsonObject:
    """An access to a storage; the storage host is the last executor."""
    read, write = float(profile.get("bytes_to_read", 0)), float(profile.get("bytes_to_write", 0))
    com = ([0.0] * nodes + [write]) * nodes + [read] * nodes + [0.0]
    return {"type": "parallel", "cpu": [0.0] * (nodes + 1), "com": com}


def _share(profile: JsonObject, nodes: int) -> JsonObject:
    return {"type": "parallel_homogeneous", "cpu": profile["cpu"] / nodes, "com": profile["com"] / nodes}


def _ends(profile: JsonObject, hosts: Sequence[int], storage: Mapping[str, int]) -> list[int]:
    return [storage[profile["from"]], storage[profile["to"]]]


def _hosts_and_storage(profile: JsonObject, hosts: Sequence[int], storage: Mapping[str, int]) -> list[int]:
    label = str(profile.get("storage", profile.get("host", "pfs")))
    return [*hosts, storage[label]]


_MADE: Mapping[str, Callable[[JsonObject, int], JsonObject]] = {
    "data_staging": _staging,
    "parallel_homogeneous_pfs": _access,
    "parallel_homogeneous_total": _share,
}
_PLACED: Mapping[str, Callable[[JsonObject, Sequence[int], Mapping[str, int]], list[int]]] = {
    "data_staging": _ends,
    "parallel_homogeneous_pfs": _hosts_and_storage,
}


class Transfers:
    """Replaces requests of one conversation by requests that rc2 plays correctly."""

    def __init__(self) -> None:
        self._profiles: dict[tuple[str, str], JsonObject] = {}
        self._registered: set[tuple[str, str]] = set()
        self._jobs: dict[str, JsonObject] = {}

    def replaced(self, request: Request) -> list[Request]:
        """Requests to send in the place of one; empty for a profile whose number of nodes is not known yet.

        Raises
        ------
        LocalProtocolError
            A return code, for which Batsim 5 has no field, or an execution without a mapping of its storage.
        """
        if isinstance(request, RegisterProfile):
            if request.profile.get("type") not in _MADE:
                return [request]
            if request.profile.get("ret"):
                code = shown(request.profile["ret"])
                raise LocalProtocolError(f"Batsim 5 has no field for the return code {code} of a profile")
            self._profiles[request.workload_name, request.profile_name] = request.profile
            return []
        if isinstance(request, RegisterJob):
            return self._registration(request)
        if isinstance(request, ExecuteJob) and request.job_id in self._jobs:
            return [self._execution(request, self._jobs.pop(request.job_id))]
        return [request]

    def _registration(self, request: RegisterJob) -> list[Request]:
        workload, name = request.job_id.partition("!")[0], request.job["profile"]
        profile = self._profiles.get((workload, name))
        if profile is None:
            return [request]
        kind, nodes = profile["type"], request.job["res"]
        made, sized = _MADE[kind](profile, nodes), f"{name}-of-{nodes}"
        if kind in _PLACED:
            self._jobs[request.job_id] = profile
        job = request.job | {"profile": sized, "res": len(made["cpu"]) if made["type"] == "parallel" else nodes}
        found: list[Request] = [replace(request, job=job)]
        if (workload, sized) not in self._registered:
            self._registered.add((workload, sized))
            found.insert(0, RegisterProfile(request.timestamp, workload, sized, made))
        return found

    def _execution(self, request: ExecuteJob, profile: JsonObject) -> ExecuteJob:
        try:
            executors = _PLACED[profile["type"]](profile, request.alloc, request.storage_mapping or {})
        except KeyError as missing:
            raise LocalProtocolError(
                f"job {shown(request.job_id)}: expected a storage mapping for the label {missing} of its profile"
            ) from None
        hosts = sorted({*request.alloc, *executors})
        mapping = {number: hosts.index(host) for number, host in enumerate(executors)}
        return ExecuteJob(request.timestamp, request.job_id, tuple(hosts), mapping)
