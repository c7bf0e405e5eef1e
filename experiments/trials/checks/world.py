"""Small worlds with something to play for every job model: jobs, outages, and how they are drawn.

The tests of the house and ``spillway check-policy`` play the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

import msgspec

from spillway.experiments.run.errors import SpecError

GB = 10**9
NODES = 8
"""Nodes of the platform ``tiny``: two switches of four nodes with a burst buffer of 10 GB each, a file system."""

MALLEABLE = {
    "iterations": 6, "io_every": 4, "control_every": 2, "minimum": 1, "maximum": 8, "overhead": 1.0,
    "io_bytes": 2e9, "model": {"work": 40.0},
}  # fmt: skip

HOSTS = 11
"""Hosts that can be out, by Batsim's ids: nodes, two storage nodes, the file system."""

STORAGES = (8, 9)
"""Batsim's ids of the storage nodes."""

SPECIAL: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "rigid": ({}, {}),
    "stream": ({}, {"io_bytes": 10**9}),
    "io": ({}, {}),
    "operations": ({"periods": {"count": 2, "compute_s": 7.0, "io_bytes": 10**9}}, {}),
    "malleable": ({"malleable": MALLEABLE}, {}),
    "timeshared": ({}, {"io_blocks": 30}),
    "checkpointed": ({}, {}),
}
"""What a job of each model says in its profile and beside it."""


def profile(kind: str, seconds: float, bb_bytes: int) -> dict[str, Any]:
    """A time, or computation and communication, with a burst buffer."""
    own = {"type": "delay", "delay": seconds} if kind == "delay" else {
        "type": "parallel_homogeneous", "cpu": seconds * 1e9, "com": 1e6
    }  # fmt: skip
    return own | ({"bb": bb_bytes} if bb_bytes else {})


def workload(model: str, jobs: Sequence[tuple[int, int, float, int, int, int | None, bool]]) -> dict[str, Any]:
    """A Batsim workload from (submission, nodes, seconds, GB of burst buffer, I/O rate in MB/s, walltime, special)."""
    in_profile, in_job = SPECIAL[model]
    found: dict[str, Any] = {"nb_res": NODES, "jobs": [], "profiles": {}}
    for number, (submit_s, nodes, seconds, bb_gb, rate, walltime_s, special) in enumerate(jobs):
        kind = "delay" if model == "timeshared" or (special and in_profile) or number % 2 else "parallel_homogeneous"
        name = f"p{number}"
        found["profiles"][name] = profile(kind, seconds, bb_gb * GB) | (in_profile if special else {})
        job: dict[str, Any] = {
            "id": str(number),
            "subtime": submit_s,
            "res": nodes,
            "profile": name,
            "user": number % 2,
            "site_wait_s": 7 * (number % 3),
        }
        job |= {"io_rate": rate * 10**6} if rate else {}
        job |= {"walltime": walltime_s} if walltime_s is not None else {}
        stream = model == "stream" and kind == "delay"
        job |= in_job if special and not stream else {}
        found["jobs"].append(job)
    return found


class Change(NamedTuple):
    """Machines go away or come back: when (s), whether they come back, Batsim's ids of hosts."""

    time_s: float
    back: bool
    hosts: tuple[int, ...]


class Drain(NamedTuple):
    """A part of a storage node is drained from then on, in all: when (s), Batsim's id of the host, GB."""

    time_s: float
    host: int
    drained_gb: int


class SmallJob(NamedTuple):
    """A job of a small world; ``special``: it describes something for the job model."""

    submit_s: int
    nodes: int
    seconds: float
    bb_gb: int
    io_rate_mb_s: int
    walltime_s: int | None
    special: bool


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is played: all of it, so that its text repeats it.

    Attributes
    ----------
    model
        Name of a job model.
    jobs
        Jobs on the platform ``tiny`` (:data:`NODES` nodes).
    settings
        Settings of the session.
    changes
        Outages.
    drains
        Parts of storage nodes that are drained.
    options
        Options of the policy.
    seed
        Seed of the policy's generator.
    """

    model: str
    jobs: tuple[SmallJob, ...]
    settings: dict[str, str] = {}
    changes: tuple[Change, ...] = ()
    options: dict[str, Any] = {}
    seed: int = 0
    drains: tuple[Drain, ...] = ()

    def data(self) -> dict[str, Any]:
        """The workload as Batsim reads it."""
        return workload(self.model, self.jobs)

    def text(self) -> str:
        """One line of JSON; :func:`world_from` reads it."""
        defaults = {"settings": {}, "changes": [], "options": {}, "seed": 0, "drains": []}
        fields = msgspec.to_builtins(self)
        shown = {key: value for key, value in fields.items() if value != defaults.get(key)}
        return json.dumps(shown, separators=(",", ":"), default=list)


def world_from(text: str) -> World:
    """Read a world from its text; raise :class:`SpecError` for anything else."""
    try:
        world = msgspec.json.decode(text, type=World)
    except msgspec.MsgspecError as error:
        raise SpecError(f"--case: expected a world as a failed check prints it: {error}") from None
    if world.model not in SPECIAL:
        raise SpecError(f"--case: unknown job model {world.model!r}; known: {', '.join(SPECIAL)}")
    return world


def random_jobs(rng: Random, most: int = 8) -> tuple[SmallJob, ...]:
    """Draw a few jobs: some wide, some with burst buffers or I/O rates, some that exceed their walltimes."""
    return tuple(
        SmallJob(
            rng.randint(0, 40),
            rng.choice((1, 1, 2, 3, 4, 5, 8, 8)),
            rng.choice((1.0, 7.5, 20.0, 60.0)),
            rng.choice((0, 0, 1, 2, 3, 5)),
            rng.choice((0, 0, 0, 40)),
            rng.choice((12, 30, 200, 200)),
            rng.random() < 0.5,
        )
        for _ in range(rng.randint(2, most))
    )


def random_changes(rng: Random) -> tuple[Change, ...]:
    """Draw outages that Batsim accepts: each host goes away once, and all come back long after."""
    changes: list[Change] = []
    gone: set[int] = set()
    for begin_s in sorted(rng.randint(0, 80) for _ in range(rng.randint(1, 4))):
        fresh = {host for host in rng.sample(range(HOSTS), rng.randint(1, 5)) if host not in gone}
        gone |= fresh
        if fresh:
            hosts = tuple(sorted(fresh))
            back_s = begin_s + 700.0 if rng.random() < 0.5 else 1e4
            changes += [Change(float(begin_s), False, hosts), Change(back_s, True, hosts)]
    return tuple(sorted(changes, key=lambda change: change.time_s))


def random_drains(rng: Random) -> tuple[Drain, ...]:
    """Draw drained parts of storage nodes, also all of one; everything comes back long after."""
    drawn = sorted(rng.randint(0, 80) for _ in range(rng.randint(0, 4)))
    drains = [Drain(float(begin_s), rng.choice(STORAGES), rng.choice((0, 4, 8, 9, 10))) for begin_s in drawn]
    return (*drains, *(Drain(900.0, host, 0) for host in STORAGES)) if drains else ()


def random_world(
    rng: Random, model: str, bandwidth: str, options: Mapping[str, Any] | None = None, *, outages: bool = False
) -> World:
    """Draw a world for a job model, with bandwidth scheduled (``aware``) or not (``ignorant``)."""
    settings = {"bandwidth": bandwidth}
    if outages:
        settings["on_outage"] = rng.choice(("continue", "kill", "requeue"))
    changes = random_changes(rng) if outages else ()
    world = World(model, random_jobs(rng), settings, changes, dict(options or {}), rng.randrange(1000))
    if not outages:
        return world
    return msgspec.structs.replace(world, drains=random_drains(Random(f"drains {world.seed}")))


def simpler(world: World) -> Iterator[World]:
    """Worlds that are simpler by one step, the largest steps first."""
    change = msgspec.structs.replace
    jobs, outages = world.jobs, world.changes
    half = len(jobs) // 2
    if half > 1:
        yield change(world, jobs=jobs[:half])
        yield change(world, jobs=jobs[half:])
    if outages:
        yield change(world, changes=())
    if world.drains:
        yield change(world, drains=())
    for place in range(len(jobs)):
        if len(jobs) > 1:
            yield change(world, jobs=jobs[:place] + jobs[place + 1 :])
    for place, job in enumerate(jobs):
        plainer = [job._replace(special=False), job._replace(bb_gb=0), job._replace(io_rate_mb_s=0)]
        plainer += [job._replace(submit_s=0), job._replace(seconds=1.0), job._replace(walltime_s=200)]
        plainer += [job._replace(nodes=1), job._replace(nodes=job.nodes // 2)] if job.nodes > 1 else []
        for one in plainer:
            if one != job:
                yield change(world, jobs=(*jobs[:place], one, *jobs[place + 1 :]))
    for name in sorted(world.options):
        yield change(world, options={key: value for key, value in world.options.items() if key != name})
