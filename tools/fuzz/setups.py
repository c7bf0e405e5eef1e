"""Random set-ups: a policy, a job model and their options, and a world with something to play for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

from spillway.base.options import OptionInfo, describe
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.batsim5.codec import Batsim5, Batsim5Simulator
from spillway.protocol.format import SchedulerSide, SimulatorSide
from spillway.protocol.messages import JsonObject, NotifyKind, ResourceInfo
from spillway.schedulers.assembly import SessionSpec, Settings
from spillway.schedulers.core.terms import Cadence
from spillway.schedulers.description import ModelSpec, PolicySpec
from spillway.schedulers.jobmodels import MODELS
from spillway.schedulers.jobmodels.base import FileSystem
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.timesharing.sharing import NodeSharingPolicy
from tools.fuzz.peer import World

GB = 10**9
CHEAP: Mapping[str, Any] = {"steps": 20, "evaluations": 60}
"""Short searches, because the conversation is tested."""

LIVES = (
    *("slurm", "slurm:overtake=false,order=sjf", "slurm:stage_in_timeout=5,stage_out_timeout=4"),
    *("standby:bound=0", "standby:bound=6,stage_in_timeout=9"),
    *("two-reservations", "two-reservations:rate=5e8,margin=1.5,stage_out_timeout=4"),
)
"""Lives of burst buffers besides the default."""

GANG = {name for name, entry in POLICIES.items() if issubclass(entry.cls, NodeSharingPolicy)}
PAIRS = tuple((policy, model) for model in MODELS for policy in POLICIES if policy not in GANG or model == "timeshared")
"""Every policy with every model that it can be combined with."""


@dataclass(frozen=True)
class Setup:
    """A set-up: the parts of the session, and the world.

    ``protocol``: messages are bytes of Batsim 4 or 5; 0: objects.
    """

    spec: SessionSpec
    world: World
    protocol: int

    def codecs(self) -> tuple[SchedulerSide, SimulatorSide]:
        """Codecs of both sides of one conversation, in Batsim 5 after the handshake."""
        if self.protocol != 5:
            return batsim4, batsim4
        ours, theirs = Batsim5(dynamic_jobs=self.world.dynamic), Batsim5Simulator()
        hello = ours.greet(theirs.first_frame(""))
        assert hello is not None
        theirs.read_hello(hello)
        return ours, theirs

    @property
    def may_stall(self) -> bool:
        """Whether the published scheduler's rules hold: a job that its last pass leaves waiting waits for ever."""
        return self.spec.policy.literal or bool(self.spec.policy.options.get("literal_depth"))


def draw(rng: Random, policy: str, model: str, *, outages: bool = True) -> Setup:
    """Draw a set-up; OptionError if the drawn options exclude each other."""
    needs = MODELS[model].needs
    dynamic = needs.dynamic_jobs or rng.random() < 0.5
    objects = needs.dynamic_jobs and rng.random() < 0.3
    own = _options(rng, _infos(POLICIES[policy].cls), 0.12, preset=POLICIES[policy].preset)
    chosen = ModelSpec(model, _options(rng, _infos(MODELS[model]), 0.3))
    spec = SessionSpec(
        PolicySpec(policy, options=own, session=_settings(rng), literal=rng.random() < 0.1),
        chosen,
        cadence=rng.choice((None, None, *Cadence)),
        seed=rng.randrange(1 << 30),
    )
    protocol = 0 if objects or rng.random() < 0.4 else rng.choice((4, 5))
    if protocol == 5 and model == "stream":  # Batsim 5 has no I/O jobs beside others
        protocol = 4
    jobs = rng.choice((rng.randint(1, 12), rng.randint(12, 80)))
    drawn = world(rng, model, dynamic=dynamic, outages=outages, jobs=jobs)
    if spec.make_settings().on_outage.requeues:
        drawn = replace(drawn, dynamic=True, reuse=True)
    return Setup(spec, _of_batsim_5(drawn) if protocol == 5 else drawn, protocol)


_OWN = frozenset({"id", "subtime", "res", "walltime", "profile", "type", "delay", "cpu", "com"})
"""Fields that Batsim 5 has."""


def _of_batsim_5(world: World) -> World:
    """A world as Batsim 5 has it: no outages and drains, profiles with their jobs, all else in a job's extra data."""

    def only(members: JsonObject, own: bool) -> JsonObject:
        return {key: value for key, value in members.items() if (key in _OWN) is own}

    jobs = [
        only(job, own=True) | {"extra_data": only(world.profiles[job["profile"]], own=False) | only(job, own=False)}
        for job in world.jobs
    ]
    profiles = {name: only(profile, own=True) for name, profile in world.profiles.items()}
    return replace(
        world, jobs=tuple(jobs), profiles=profiles, outages=(), drains=(), reuse=world.dynamic, acknowledged=False,
        forwarded=True,
    )  # fmt: skip


def _settings(rng: Random) -> dict[str, Any]:
    drawn = _options(rng, _infos(Settings), 0.25)
    if rng.random() < 0.6:
        drawn["bb_life"] = rng.choice(LIVES)
    if rng.random() < 0.15:
        drawn["bb_user_limit"] = rng.choice((4 * GB, 10 * GB))
    return drawn


@cache
def _infos(cls: type) -> tuple[OptionInfo, ...]:
    return tuple(describe(cls))


def _options(
    rng: Random, infos: tuple[OptionInfo, ...], chance: float, preset: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Values of choices and switches, drawn; searches cut short."""
    drawn: dict[str, Any] = {}
    for info in infos:
        if info.name in CHEAP:
            drawn[info.name] = CHEAP[info.name]
        elif rng.random() < chance and info.name not in (preset or {}):
            if info.choices:
                drawn[info.name] = getattr(choice := rng.choice(info.choices), "value", choice)
            elif info.type is bool:
                drawn[info.name] = rng.random() < 0.5
    return drawn


# --------------------------------------------------------------------------- worlds


def world(rng: Random, model: str, *, dynamic: bool, outages: bool, jobs: int) -> World:
    """Draw a machine, jobs with something to play for a model, and outages."""
    file_system = MODELS[model].needs.file_system
    nodes, buffers = rng.randint(2, 8), rng.choice((0, 1, 2, 3))
    rates = rng.random() < 0.7
    compute = tuple(
        ResourceInfo(
            number, f"n{number}", properties=_path(number) | {"location": f"g{number % 2}/c{number}"} if rates else {}
        )
        for number in range(nodes)
    )
    stated = {"capacity_bytes": str(10 * GB)} | rng.choice(({}, {}, {"granule_bytes": str(3 * 10**8)}))
    names = [(f"s{number}", stated | {"location": f"g{number % 2}"}) for number in range(buffers)]
    if file_system is not FileSystem.NO or rng.random() < 0.3:
        names.append(("pfs", {}))
    storage = tuple(ResourceInfo(nodes + rank, name, properties=found) for rank, (name, found) in enumerate(names))
    last = max(60, 6 * jobs)
    times = sorted(rng.choice((0.0, rng.uniform(0, last), float(rng.randint(0, last)))) for _ in range(min(jobs, 24)))
    times += sorted(rng.uniform(0, last) for _ in range(jobs - len(times)))
    profiles: dict[str, JsonObject] = {}
    made = [_job(rng, model, number, at, nodes, profiles) for number, at in enumerate(sorted(times))]
    if buffers and rng.random() < 0.4:
        _persistent(rng, made, profiles)
    return World(
        compute,
        storage,
        tuple(made),
        profiles,
        _outages(rng, nodes + len(storage)) if outages and rng.random() < 0.6 else (),
        _drains(rng, nodes, buffers) if outages and buffers and rng.random() < 0.4 else (),
        dynamic,
        rng.random() < 0.3,
        rng.random() < 0.4,
        rng.random() < 0.7,
    )


def _path(number: int) -> dict[str, str]:
    return {"io_path": f"pfs={400 * 10**6}/switch{number % 2}={300 * 10**6}"}


def _job(rng: Random, model: str, number: int, at: float, nodes: int, profiles: dict[str, JsonObject]) -> JsonObject:
    res = rng.randint(1, nodes) if rng.random() < 0.95 else nodes + 1
    profile: JsonObject = {"type": "delay", "delay": round(rng.choice((0.01, 1.0, 8.0, 30.0)) * (1 + rng.random()), 3)}
    if rng.random() < 0.4:
        profile = {"type": "parallel_homogeneous", "cpu": rng.choice((1e9, 4e13)), "com": rng.choice((0, 1e6))}
    job: JsonObject = {"id": str(number), "subtime": round(at, 6), "res": res, "profile": f"p{number}"}
    if rng.random() < 0.85:
        job["walltime"] = rng.choice((5, 20.5, 60, 300))
    if rng.random() < 0.5:
        (job if rng.random() < 0.5 else profile).update(_buffer(rng))
    if rng.random() < 0.25:
        job["io_rate"] = rng.choice((10**6, 10**8, 10**9))
    if rng.random() < 0.3:
        job["user"] = rng.choice((0, 1, "anna"))
    if rng.random() < 0.3:
        job["requested_s"] = rng.choice((1, 30.0))
    special = _SPECIAL.get(model)
    if special is not None and rng.random() < 0.6:
        special(rng, job, profile, nodes)
    profiles[job["profile"]] = profile
    return job


def _buffer(rng: Random) -> JsonObject:
    """A burst buffer of any kind, sometimes with a least time of staging."""
    size = rng.choice((1, 2 * GB, 4 * GB, 9 * GB, 11 * GB))
    kind = rng.choice(({"bb": size}, {"bb": size}, {"bb_total": size}, {"bb_total": size, "bb_stripes": 2}))
    staging = {"stage_in_s": rng.choice((0, 2.5, 8)), "stage_out_s": rng.choice((0, 3))}
    return kind | (staging if rng.random() < 0.3 else {})


def _persistent(rng: Random, jobs: list[JsonObject], profiles: dict[str, JsonObject]) -> None:
    """Let jobs use, create and destroy persistent buffers; jobs without nodes do nothing else."""
    names, last = ("a", "b", "c"), float(jobs[-1]["subtime"])

    def fields(name: str, chance: float) -> JsonObject:
        pieces = rng.choice((1, 1, 2))
        made = [{"name": name, "bytes": rng.choice((1, 3, 6, 9, 10, 11)) * GB * pieces, "stripes": pieces}]
        return {"bb_create": made} if rng.random() < chance else {"bb_destroy": [name]}

    for job in jobs:
        if rng.random() < 0.4:
            job["bb_use"] = rng.sample(names, rng.choice((1, 1, 2)))
        if rng.random() < 0.1:
            job.update(fields(rng.choice(names), 0.5))
    profiles["none"] = {"type": "delay", "delay": 1.0}
    for name in (*names, *rng.choices(names, k=rng.randint(0, 4))):
        at = rng.choice((0.0, 0.0, round(rng.uniform(0, last), 3)))
        job = {"id": str(len(jobs)), "subtime": at, "res": 0, "profile": "none", "walltime": 60}
        jobs.append(job | fields(name, 0.6 if at else 1.0))
    jobs.sort(key=lambda job: float(job["subtime"]))


def _stream(rng: Random, job: JsonObject, profile: JsonObject, nodes: int) -> None:
    job["io_bytes"] = rng.choice((10**6, 10**9))


def _operations(rng: Random, job: JsonObject, profile: JsonObject, nodes: int) -> None:
    if rng.random() < 0.5:
        profile["periods"] = {"count": rng.randint(1, 4), "compute_s": 3.0, "io_bytes": rng.choice((0, 10**9))}
    else:
        profile["operations"] = [{"compute_s": 2}, {"io_bytes": 5e8}, {"compute_s": 1.5}]


def _malleable(rng: Random, job: JsonObject, profile: JsonObject, nodes: int) -> None:
    description: JsonObject = {
        "iterations": rng.randint(1, 12), "minimum": rng.randint(1, job["res"]),
        "maximum": max(job["res"], rng.randint(1, nodes)), "overhead": rng.choice((0.0, 1.0)),
        "io_bytes": rng.choice((0, 2e9)), "model": {"work": 40.0, "io_node": rng.choice((0.0, 0.5))},
    }  # fmt: skip
    control = rng.choice((1, 2))
    description |= {"control_every": control, "io_every": control * rng.choice((0, 1, 2))}
    if rng.random() < 0.3 and description["iterations"] > 2 * control:
        nodes_then = rng.randint(description["minimum"], description["maximum"])
        description["requests"] = [{"iteration": control, "nodes": nodes_then}]
    (job if rng.random() < 0.5 else profile)["malleable"] = description


def _blocks(rng: Random, job: JsonObject, profile: JsonObject, nodes: int) -> None:
    if profile["type"] != "delay":
        return
    job["io_blocks"] = rng.randint(0, 60)
    if job["res"] <= nodes and rng.random() < 0.6:
        job["file_nodes"] = rng.sample(range(nodes), job["res"])


_SPECIAL = {"stream": _stream, "operations": _operations, "malleable": _malleable, "timeshared": _blocks}


def _outages(rng: Random, resources: int) -> tuple[tuple[float, NotifyKind, tuple[int, ...]], ...]:
    """Outages and returns of machines; each machine is available in the end."""
    found: list[tuple[float, NotifyKind, tuple[int, ...]]] = []
    for resource in rng.sample(range(resources), rng.randint(1, resources)):
        time_s = rng.uniform(0, 80)
        for _ in range(rng.randint(1, 2)):
            time_s = float(round(time_s, rng.choice((0, 3))))
            back_s = float(round(time_s + rng.choice((0.001, 5.0, 60.0)), 6))
            found.append((time_s, NotifyKind.MACHINE_UNAVAILABLE, (resource,)))
            found.append((back_s, NotifyKind.MACHINE_AVAILABLE, (resource,)))
            time_s = back_s + 1 + rng.uniform(0, 30)
    return tuple(sorted(found, key=lambda outage: outage[0]))


def _drains(rng: Random, first: int, buffers: int) -> tuple[tuple[float, int, int], ...]:
    """Drains of parts of storage nodes of 10 GB and their returns, independent of all other events."""
    return tuple(
        (round(rng.uniform(0, 120), 3), first + rng.randrange(buffers), rng.choice((0, 1, 3 * GB, 9 * GB, 10 * GB)))
        for _ in range(rng.randint(1, 6))
    )
