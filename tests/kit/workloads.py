"""Workloads of Batsim."""

from collections.abc import Iterable, Mapping
from typing import Any


def delays(nodes: int, jobs: Iterable[Mapping[str, Any]], *, first: int = 1, **every: Any) -> dict[str, Any]:
    """A workload of jobs ``first``, ... that run for a time, ``seconds``, of one node if no field says otherwise.

    ``every`` are fields that the jobs have unless they state them.
    """
    listed, profiles = [], {}
    for number, job in enumerate(jobs, start=first):
        given = {"id": str(number), "subtime": 0, "res": 1, **every, **job}
        given["profile"] = f"{given.pop('seconds'):g}"
        profiles[given["profile"]] = {"type": "delay", "delay": float(given["profile"])}
        listed.append(given)
    return {"nb_res": nodes, "jobs": listed, "profiles": profiles}
