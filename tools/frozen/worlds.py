"""Worlds of the frozen runs: jobs with something to play for each model, life and site, and outages and drains.

More jobs and bytes are requested than the machine has, so that jobs wait; some walltimes are too short.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tools.frozen.draws import Draws
from tools.frozen.recipe import Recipe

HERE = Path(__file__).parent
GB = 10**9


class Size(NamedTuple):
    """Compute nodes of a machine, its storage nodes, and the bytes of each."""

    nodes: int
    storages: int
    capacity: int


MACHINES: Mapping[str, Size] = {
    "two": Size(8, 2, 10 * GB),
    "four": Size(8, 4, 4 * GB),
    "wide": Size(72, 9, 40 * GB),
}
"""Machines, each described by a file of ``machines/``."""

KINDS: Mapping[str, Callable[[Draws, int], dict[str, Any]]] = {
    "none": lambda draws, size: {},
    "per-node": lambda draws, size: {"bb": size},
    "one": lambda draws, size: {"bb_total": size * draws.whole(1, 2)},
    "striped": lambda draws, size: {"bb_total": size * draws.whole(1, 3), "bb_stripes": draws.whole(2, 3)},
}
"""Fields of a job with a burst buffer, by kind, from a size that fits on a storage node."""

FEATURES = (*KINDS, "mixed", "persistent", "waiting", "profiles", "outages", "drains")
"""Features of worlds: kind of buffers (else per node), persistent buffers, jobs that wait for others, further kinds of
profiles, machines that go out, drained parts of storage nodes."""

NAMES = ("a", "b", "c")
"""Persistent buffers."""


def machine_file(recipe: Recipe) -> Path:
    """Description of a recipe's machine."""
    return HERE / "machines" / f"{recipe.machine}.toml"


def site_file(name: str) -> Path:
    """File of a site, by its name in recipes."""
    return HERE / "sites" / f"{name}.toml"


def workload(recipe: Recipe) -> dict[str, Any]:
    """The jobs of a recipe, as a workload of Batsim."""
    draws, size = Draws(f"jobs {recipe.seed}"), MACHINES[recipe.machine]
    site = tomllib.loads(site_file(recipe.site).read_text(encoding="utf-8")) if recipe.site else {}
    profiles: dict[str, Any] = {}
    jobs: list[dict[str, Any]] = []
    time_s = 0.0
    for number in range(recipe.jobs):
        time_s += draws.one_of((0.0, 0.0, float(draws.whole(0, 30)), draws.between(0, 30)))
        profile = _work(draws, recipe, size, profiles)
        job: dict[str, Any] = {
            "id": str(number),
            "subtime": round(time_s, 3),
            "res": _nodes(draws, size),
            "profile": f"p{number}",
            "user": draws.one_of(("ada", "bob", "cy")),
            "requested_s": draws.one_of((5, 30.0, 120)),
            "site_wait_s": 13 * draws.whole(0, 5),
        }
        if draws.chance(0.9):
            job["walltime"] = draws.one_of((12, 60, 150, 400, 400))
        if draws.chance(0.15):
            job["io_rate"] = draws.one_of((4 * 10**6, 10**8))
        (job if draws.chance(0.5) else profile).update(_buffer(draws, recipe, size))
        if draws.chance(0.5):
            profile |= {"stage_in_s": draws.one_of((0.0, 3.0, 15.0)), "stage_out_s": draws.one_of((0.0, 2.0, 11.0))}
        MODEL_FIELDS.get(recipe.model, _no_fields)(draws, job, profile, size)
        _site_fields(draws, job, site)
        if "waiting" in recipe.features:
            _wait(draws, job, number)
        profiles[job["profile"]] = profile
        jobs.append(job)
    if "persistent" in recipe.features:
        _persistent(draws, jobs, profiles, size)
    return {"nb_res": size.nodes, "jobs": jobs, "profiles": profiles}


def _nodes(draws: Draws, size: Size) -> int:
    return draws.one_of((1, 1, 2, 3, 4, 5, 8)) * max(1, size.nodes // 12)


def _work(draws: Draws, recipe: Recipe, size: Size, profiles: dict[str, Any]) -> dict[str, Any]:
    """A kind of work of some seconds; parts of a composed one are added to the profiles."""
    seconds = draws.one_of((2.0, 7.5, 20.0, 40.0, 90.0))
    delay = {"type": "delay", "delay": seconds}
    parallel = {"type": "parallel_homogeneous", "cpu": seconds * 1e9, "com": 1e6}
    if recipe.model == "timeshared" or draws.chance(0.5):
        return delay
    if "profiles" in recipe.features:
        kind = draws.whole(0, 3)
        if kind == 0:
            return {"type": "parallel_homogeneous_total", "cpu": seconds * 2e9, "com": 1e8}
        if kind == 1:
            first = f"part{len(profiles)}"
            profiles[first], profiles[f"{first}b"] = delay, parallel | {"com": draws.one_of((0, 1e8))}
            return {"type": "composed", "repeat": draws.whole(1, 3), "seq": [first, f"{first}b"]}
        if kind == 2:
            return {"type": "delay", "delay": seconds, "ret": draws.whole(0, 1)}
    return parallel


def _buffer(draws: Draws, recipe: Recipe, size: Size) -> dict[str, Any]:
    if not draws.chance(0.75):
        return {}
    kind = next((name for name in KINDS if name in recipe.features), "per-node")
    if "mixed" in recipe.features:
        kind = draws.one_of(tuple(KINDS))
    share = draws.one_of((1, size.capacity // 10, size.capacity // 4 + 1, size.capacity // 3, size.capacity // 2))
    return KINDS[kind](draws, share)


def _no_fields(draws: Draws, job: dict[str, Any], profile: dict[str, Any], size: Size) -> None:
    """No fields of a model."""


def _stream(draws: Draws, job: dict[str, Any], profile: dict[str, Any], size: Size) -> None:
    if profile["type"] == "parallel_homogeneous":
        job["io_bytes"] = draws.one_of((10**7, 10**9, 2 * 10**10))


def _io(draws: Draws, job: dict[str, Any], profile: dict[str, Any], size: Size) -> None:
    if draws.chance(0.2):
        profile |= {"stage_in_bytes": draws.one_of((0, 1)), "stage_out_bytes": draws.one_of((0, 1))}


def _operations(draws: Draws, job: dict[str, Any], profile: dict[str, Any], size: Size) -> None:
    kind = draws.whole(0, 2)
    if kind == 0:
        profile["periods"] = {"count": draws.whole(1, 5), "compute_s": 5.0, "io_bytes": draws.one_of((0, 3 * GB))}
    if kind == 1:
        profile["operations"] = [{"compute_s": 2}, {"io_bytes": 5e9}, {"compute_s": 11.5}, {"io_bytes": 1e9}]


def _malleable(draws: Draws, job: dict[str, Any], profile: dict[str, Any], size: Size) -> None:
    if not draws.chance(0.7):
        return
    for field in ("bb_total", "bb_stripes"):  # a buffer of the whole job is not resized
        job.pop(field, None)
        profile.pop(field, None)
    control, nodes = draws.one_of((1, 2)), job["res"]
    application: dict[str, Any] = {
        "iterations": draws.whole(4, 20), "minimum": draws.whole(1, nodes), "maximum": draws.whole(nodes, size.nodes),
        "overhead": draws.one_of((0.0, 1.0)), "io_bytes": draws.one_of((0, 2e9)), "control_every": control,
        "io_every": control * draws.one_of((0, 1, 2)),
        "model": {"work": 20.0, "io_node": draws.one_of((0.0, 0.5)), "serial": draws.one_of((0.0, 0.7))},
    }  # fmt: skip
    if draws.chance(0.2):
        then = draws.whole(application["minimum"], application["maximum"])
        application["requests"] = [{"iteration": control, "nodes": then}]
    profile["malleable"] = application


def _timeshared(draws: Draws, job: dict[str, Any], profile: dict[str, Any], size: Size) -> None:
    if draws.chance(0.8):
        job["io_blocks"] = draws.whole(0, 200)
    if draws.chance(0.7):
        job["file_nodes"] = draws.some_of(range(size.nodes), min(job["res"], size.nodes))


MODEL_FIELDS: Mapping[str, Callable[[Draws, dict[str, Any], dict[str, Any], Size], None]] = {
    "stream": _stream,
    "io": _io,
    "operations": _operations,
    "malleable": _malleable,
    "timeshared": _timeshared,
}
"""Fields of a job and its profile, by the job model that plays them."""


def _site_fields(draws: Draws, job: dict[str, Any], site: Mapping[str, Any]) -> None:
    """Let a job name parts of its site."""

    def names(table: str) -> list[str]:
        return [entry["name"] for entry in site.get(table, ())]

    if names("partition") and draws.chance(0.85):
        job["partition"] = ",".join(draws.some_of(names("partition"), draws.one_of((1, 1, 1, 2))))
    if names("qos") and draws.chance(0.9):
        job["qos"] = draws.one_of(names("qos"))
    if "association" in site and draws.chance(0.3):
        mine = [entry["account"] for entry in site["association"] if entry.get("user") == job["user"]]
        job |= {"account": draws.one_of(mine), "nice": draws.one_of((0, 50, -50))}
    if names("license") and draws.chance(0.3):
        job["licenses"] = f"{draws.one_of(names('license'))}:{draws.whole(1, 2)}"
    if names("resource") and draws.chance(0.6):
        job["licenses"] = f"{draws.one_of(names('resource'))}:{draws.whole(1, 2)}"
    if "gpu" in site and draws.chance(0.3):
        job["gpus"] = draws.whole(1, 2)
    if names("reservation") and draws.chance(0.25):
        job["reservation"] = draws.one_of(names("reservation"))


def _wait(draws: Draws, job: dict[str, Any], number: int) -> None:
    """Let a job wait for one before it, for those of its name, or for tasks of its array."""
    if number and draws.chance(0.4):
        kind = draws.one_of(("after", "afterany", "afterok", "afternotok", "afterany"))
        later = "+1" if kind == "after" and draws.chance(0.5) else ""
        job["depends"] = f"{kind}:{draws.whole(max(0, number - 6), number - 1)}{later}"
    elif draws.chance(0.15):
        job |= {"job_name": draws.one_of(("x", "y")), "depends": "singleton"}
    elif draws.chance(0.3):
        job |= {"array": str(number // 8), "array_limit": 2}


def _persistent(draws: Draws, jobs: list[dict[str, Any]], profiles: dict[str, Any], size: Size) -> None:
    """Let jobs use, create and destroy persistent buffers; jobs without nodes do nothing else. Not all can be met."""

    def creation(name: str) -> list[dict[str, Any]]:
        pieces = draws.one_of((1, 1, 2, 2))
        share = draws.one_of((1, size.capacity // 3, size.capacity // 2, size.capacity * 4 // 5))
        return [{"name": name, "bytes": share * pieces, "stripes": pieces}]

    for job in jobs:
        if draws.chance(0.4):
            job["bb_use"] = draws.some_of(NAMES, draws.one_of((1, 1, 2)))
            if draws.chance(0.1):
                job["bb_destroy"] = [job["bb_use"][0]]
        if draws.chance(0.06):
            job["bb_create"] = creation(draws.one_of(NAMES))
    profiles["none"] = {"type": "delay", "delay": 1.0}
    last_s = jobs[-1]["subtime"]
    asked: list[tuple[float, dict[str, Any]]] = [
        (draws.one_of((0.0, 0.0, 10.0)), {"bb_create": creation(name)}) for name in NAMES
    ]
    for _ in range(len(jobs) // 5):
        name, make = draws.one_of(NAMES), draws.chance(0.6)
        asked.append((draws.between(0, last_s), {"bb_create": creation(name)} if make else {"bb_destroy": [name]}))
    for number, (at_s, fields) in enumerate(asked):
        job = {"id": f"none{number}", "subtime": at_s, "res": 0, "profile": "none", "user": "ada", "walltime": 60}
        jobs.append(job | {"site_wait_s": 0} | fields)
    jobs.sort(key=lambda job: float(job["subtime"]))


def events(recipe: Recipe) -> str:
    """Outages and drains of a recipe: text of a file of external events; "" without any. All machines return."""
    draws, size = Draws(f"events {recipe.seed}"), MACHINES[recipe.machine]
    last_s = 8.0 * recipe.jobs
    found: list[tuple[float, str, int, dict[str, int]]] = []
    if "outages" in recipe.features:
        hosts = draws.some_of(range(size.nodes + size.storages), max(3, (size.nodes + size.storages) // 5))
        for host in hosts:
            time_s = draws.between(5, last_s)
            found.append((time_s, "machine_unavailable", host, {}))
            back_s = round(time_s + draws.one_of((0.5, 9.0, 60.0, 200.0)), 3)
            found.append((back_s, "machine_available", host, {}))
    if "drains" in recipe.features:
        storages = range(size.nodes, size.nodes + size.storages)
        for _ in range(draws.whole(3, 7)):
            gone = draws.one_of((0, 1, size.capacity // 3, size.capacity))
            found.append((draws.between(0, last_s), "storage_drained", draws.one_of(storages), {"bytes": gone}))
        found += [(5000.0 + host, "storage_drained", host, {"bytes": 0}) for host in storages]
    lines = [
        json.dumps({"timestamp": time_s, "type": kind, "resources": str(host)} | more)
        for time_s, kind, host, more in sorted(found, key=lambda event: event[0])
    ]
    return "".join(line + "\n" for line in lines)
