"""``python -m tools.fuzz declared``: worlds drawn from the declarations of options, of a site's tables and of fields.

A policy, a job model and settings with values that their declarations allow; a site with values of the types of its
tables; jobs with fields for both, persistent buffers, dependencies, outages and drains. A declaration without a draw is
an error (:func:`undrawn`): a feature is fuzzed from the day on which it is declared. Each world is played by the
embedded simulator, its session is checked after every message, and must end; refused combinations are counted.
"""

from __future__ import annotations

import argparse
import json
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NoReturn

import msgspec

from spillway.base.errors import InputError
from spillway.base.options import OptionInfo, describe
from spillway.platforms.catalogue import resolve_platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.protocol.limits import TIME_LIMIT_FIELD
from spillway.protocol.messages import Message, Reply
from spillway.schedulers.assembly import SessionSpec, Settings
from spillway.schedulers.core.session import Session
from spillway.schedulers.description import ModelSpec, PolicySpec
from spillway.schedulers.jobmodels import MODELS
from spillway.schedulers.model.dependencies import DEPENDENCY_FIELDS
from spillway.schedulers.model.job import CANCELLED_FIELD
from spillway.schedulers.model.persistent import PERSISTENT_FIELDS
from spillway.schedulers.model.site import SITE_FIELDS, Association, License, Partition, Qos, Site
from spillway.schedulers.model.site_parts import Reservation, Resource
from spillway.schedulers.policies import POLICIES
from spillway.simulator.engines.native import FluidEngine
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink
from tools.frozen.recipe import Recipe
from tools.frozen.worlds import events, machine_file, workload
from tools.fuzz.setups import CHEAP, LIVES, PAIRS

TRIES = 40
"""Draws of a world until one is not refused."""

LONGEST_S = 60.0
"""CPU time that a world may take (s)."""

BEGINS = "1970-01-01T00:00:00"
NODES = 8
_USERS, _ACCOUNTS, _QOS, _PARTITIONS = ("ada", "bob", "cy"), ("root", "phys", "chem"), ("q0", "q1"), ("p0", "p1")
_LICENSES, _RESERVATIONS, _RESOURCES = ("lic", "few"), ("r0", "r1"), ("hres",)
_UNTRIED = {"literal_depth", "method"}
"""Options that are left alone: jobs may wait for ever by the published rule; a solver takes a second a pass."""

Draw = Callable[[Random], Any]


def _one(*values: Any) -> Draw:
    return lambda rng: rng.choice(values)


def _some(values: Sequence[str], most: int = 2) -> Draw:
    return lambda rng: rng.sample(values, rng.randint(0, min(most, len(values))))


def _rarely(values: Sequence[str]) -> Draw:
    return lambda rng: rng.sample(values, 1) if rng.random() < 0.2 else []


def _counts(*names: str) -> Draw:
    return lambda rng: {name: rng.choice((1, 2, 4, 6)) for name in rng.sample(names, rng.randint(1, len(names)))}


def _nodes(rng: Random) -> str:
    first = rng.randrange(NODES)
    return rng.choice(("", f"{first}-{rng.randint(first, NODES - 1)}", f"0-{NODES - 1}"))


_NAMED: Mapping[str, tuple[type[msgspec.Struct], Sequence[str]]] = {
    "partitions": (Partition, _PARTITIONS), "qos": (Qos, _QOS), "licenses": (License, _LICENSES),
    "resources": (Resource, _RESOURCES), "reservations": (Reservation, _RESERVATIONS),
}  # fmt: skip
"""Tables with names that others refer to, and those names."""

SITE_DRAWS: Mapping[str, Draw] = {
    "Site.name": _one("", "s"), "Site.nodes": _one(NODES, 0), "nodes": _nodes, "Partition.name": _one(*_PARTITIONS),
    "Partition.qos": _one("", "", *_QOS), "Partition.accounts": _rarely(_ACCOUNTS), "Partition.only_qos": _rarely(_QOS),
    "Partition.accepting": _one(True, True, True, True, False), "Partition.default": _one(True, False),
    "Partition.not_accounts": _rarely(_ACCOUNTS), "Partition.not_qos": _rarely(_QOS),
    "Partition.most_nodes": _one(None, 2, 8), "Partition.fewest_nodes": _one(1, 1, 2),
    "Association.account": _one(*_ACCOUNTS), "Association.user": _one("", *_USERS), "Association.parent": _one("", ""),
    "Association.qos": _some(_QOS), "Association.default_qos": _one("", *_QOS),
    "Qos.name": _one(*_QOS), "Qos.preempt": _some(_QOS, 1), "Qos.flags": _some(("DenyOnLimit", "NoReserve")),
    "License.name": _one(*_LICENSES), "License.count": _one(1, 2, 4),
    "Resource.name": _one(*_RESOURCES), "Layer.name": _one("l0", "l1"), "Layer.parent": _one("", ""),
    "Layer.count": _one(-1, 2, 6), "Layer.base": _one(0, 0, 1), "Resource.variables": lambda rng: {},
    "Gpus.count": _one(1, 2), "Reservation.name": _one(*_RESERVATIONS), "Reservation.start_s": _one(0.0, 40.0, 133.5),
    "Reservation.length_s": _one(10.0, 60.0), "Reservation.every_s": _one(0.0, 0.0, 90.0, 130.0),
    "Reservation.licenses": _counts(*_LICENSES), "Reservation.users": _some(_USERS),
    "Reservation.accounts": _some(_ACCOUNTS, 1),
    "Reservation.flags": _some(("MAINT", "FLEX", "ALL_NODES", "IGNORE_JOBS")),
    "Reservation.tres": lambda rng: {"bb/pool": rng.choice((10**9, 6 * 10**9))},
    "preempts": _one("", "", "requeue", "cancel", "off"), "Scheduler.preempt": _one("", "partition_prio", "qos"),
    "Scheduler.select": _one("", "linear", "cons_tres"),
    "Scheduler.enforce": _one([], ["limits"], ["limits", "qos"]), "Scheduler.others": _one([]),
    "Scheduler.over_time_limit_s": _one(0.0, 0.0, 60.0, "unlimited"), "Scheduler.kill_wait_s": _one(0.0, 30.0),
    "Weights.tres": lambda rng: {"node": 100}, "Weights.billing": lambda rng: {"node": 1.0},
    "Weights.flags": _some(("ACCRUE_ALWAYS", "FAIR_TREE")), "Buffers.kind": _one("", "datawarp", "generic"),
    "Buffers.default_pool": _one("", "pool"), "Buffers.flags": _one([]),
    "group_tres": _counts("node"), "user_tres": _counts("node"), "account_tres": _counts("node"),
    "job_tres": _counts("node"), "job_least_tres": lambda rng: {}, "job_longest_s": _one(None, 100.0, 400.0),
}  # fmt: skip
"""Draws of a site's fields whose type does not say enough, by field, or by table and field."""

JOB_DRAWS: Mapping[str, Draw] = {
    "partition": lambda rng: ",".join(rng.sample(_PARTITIONS, rng.choice((1, 1, 2)))),
    "account": _one(*_ACCOUNTS), "qos": _one(*_QOS), "licenses": _one("lic:1", "few:2", "hres:1", "lic:1,few:1"),
    "reservation": _one(*_RESERVATIONS), "gpus": _one(1, 2), "cpus": _one(1, 2),
    "site_factor": _one(0, 5), "nice": _one(0, 50, -50), "bb_fails": _one(True, False),
}  # fmt: skip
"""Draws of the fields of jobs that belong to a site."""

_BY_WORLD = frozenset(field.name for field in (*DEPENDENCY_FIELDS, *PERSISTENT_FIELDS))
"""Fields that the worlds of the frozen runs have."""


@dataclass(frozen=True)
class World:
    """A drawn world: what a session is made of, and the jobs and events."""

    spec: SessionSpec
    recipe: Recipe
    jobs: dict[str, Any]


def undrawn() -> list[str]:
    """Declarations without a draw."""
    fields = [field.name for field in SITE_FIELDS if field.name not in JOB_DRAWS]
    fields += [name for name in _BY_WORLD if name not in json.dumps(_every_feature())]
    for table in _tables(Site):
        for field in msgspec.structs.fields(table):
            try:
                _of_type(Random(1), table.__name__, field.name, msgspec.inspect.type_info(field.type), 0.5)
            except KeyError:
                fields.append(f"{table.__name__}.{field.name}")
    return fields


def _every_feature() -> dict[str, Any]:
    return workload(Recipe("", "two", 200, "1", frozenset({"mixed", "persistent", "waiting"}), "", ()))


def _tables(top: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    found = [top]
    for field in msgspec.structs.fields(top):
        info = msgspec.inspect.type_info(field.type)
        inner = getattr(info, "item_type", info)
        if isinstance(inner, msgspec.inspect.StructType) and inner.cls not in found:
            found += _tables(inner.cls)
    return found


def draw(rng: Random, number: int) -> World:
    """Draw a world; its session may be refused."""
    policy, model = PAIRS[number % len(PAIRS)]
    features = {rng.choice(("none", "per-node", "one", "striped", "mixed"))}
    features |= {name for name in ("persistent", "waiting", "outages", "drains", "profiles") if rng.random() < 0.4}
    options = ("--policy", policy, "--model", model)
    machine, jobs = rng.choice(("two", "four")), rng.choice((8, 16, 30))
    recipe = Recipe("", machine, jobs, str(rng.random()), frozenset(features), "", options)
    drawn = workload(recipe)
    settings = _options(rng, describe(Settings), 0.12)
    settings |= {"bb_life": rng.choice(LIVES)} if rng.random() < 0.5 else {}
    settings |= {"bb_user_limit": rng.choice((4e9, 1e10))} if rng.random() < 0.1 else {}
    if rng.random() < 0.3:
        settings["maintenance"] = rng.choice(("50s 10s nodes 0-6", "70s 20s", "100s 30s every 200s nodes 2 5-7"))
    if rng.random() < 0.6:
        settings |= {"site": json.dumps(_site(rng)), "begins": BEGINS}
        settings |= {"suspend": rng.choice(("suspend", "requeue", "cancel", "off"))} if rng.random() < 0.3 else {}
        for job in drawn["jobs"]:
            for name, value in JOB_DRAWS.items():
                if rng.random() < (0.8 if name == "partition" else 0.15):
                    job[name] = value(rng)
    for job in drawn["jobs"] if rng.random() < 0.3 else ():
        if rng.random() < 0.3:
            job[CANCELLED_FIELD] = rng.choice((0, 5, 20.5, 60, 300))
    for job in drawn["jobs"] if rng.random() < 0.3 else ():
        if rng.random() < 0.5 and job.get("walltime", -1) > 0:
            job[TIME_LIMIT_FIELD] = job["walltime"] * rng.choice((0.25, 0.5, 1))
    staged = model == "io" or "bb_life" in settings
    for profile in () if staged else drawn["profiles"].values():  # else such jobs are rejected
        profile.pop("stage_in_s", None)
        profile.pop("stage_out_s", None)
    own = _options(rng, describe(POLICIES[policy].cls), 0.1)
    own = {name: value for name, value in own.items() if name not in (POLICIES[policy].preset or {})}
    chosen = ModelSpec(model, _options(rng, describe(MODELS[model]), 0.2))
    spec = SessionSpec(PolicySpec(policy, options=own, session=settings), chosen, seed=number)
    return World(spec, recipe, drawn)


def _options(rng: Random, infos: Sequence[OptionInfo], chance: float) -> dict[str, Any]:
    """Values of choices, switches and numbers within their declared ranges; searches cut short."""
    drawn: dict[str, Any] = {}
    for info in infos:
        if info.name in CHEAP:
            drawn[info.name] = CHEAP[info.name]
        elif rng.random() >= chance or info.name in _UNTRIED or info.form is not None or info.several:
            continue
        elif info.choices:
            drawn[info.name] = getattr(choice := rng.choice(info.choices), "value", choice)
        elif info.type is bool:
            drawn[info.name] = rng.random() < 0.5
        elif (
            info.type in (int, float)
            and info.low is not None
            and isinstance(info.default, int | float)
            and info.default
        ):
            least, most = max(info.low, 0.5 * info.default), min(info.high or 1e9, max(2 * info.default, info.low + 10))
            drawn[info.name] = info.type(rng.uniform(min(least, most), most)) if most < 1e9 else info.default
    return drawn


def _site(rng: Random) -> dict[str, Any]:
    """A site of tables drawn by their types, with one entry for each name, and the accounts of all users."""
    site = _struct(rng, Site, 0.35)
    for name, (table, names) in _NAMED.items():
        if name in site:
            site[name] = [_struct(rng, table, 0.3) | {"name": one} for one in names]
    for resource in site.get("resources", ()):
        resource["layers"] = list({layer["name"]: layer for layer in resource["layers"]}.values())[
            : 2 - resource["mode"] // 3
        ]
    for place, one in enumerate(site.get("qos", ())):  # of a higher one only: no circles
        one["preempt"] = [name for name in one.get("preempt", ()) if name in _QOS[:place]]
    if "associations" in site:
        accounts = [association | {"user": "", "parent": ""} for association in site["associations"]]
        users = [
            _struct(rng, Association, 0.2) | {"account": rng.choice(accounts)["account"], "user": user, "parent": ""}
            for user in _USERS
        ]
        site["associations"] = list({account["account"]: account for account in accounts}.values()) + users
    return site


def _struct(rng: Random, table: type[msgspec.Struct], chance: float) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(table):
        if field.required or rng.random() < chance:
            info = msgspec.inspect.type_info(field.type)
            found[field.name] = _of_type(rng, table.__name__, field.name, info, 0.3)
    return found


def _of_type(rng: Random, table: str, name: str, info: Any, chance: float) -> Any:
    """Draw a value of a field; KeyError where neither its name nor its type has a draw."""
    given = SITE_DRAWS.get(f"{table}.{name}") or SITE_DRAWS.get(name)
    if given is not None:
        return given(rng)
    inspect = msgspec.inspect
    if isinstance(info, inspect.UnionType):
        arms = [one for one in info.types if not isinstance(one, inspect.NoneType)]
        return None if rng.random() < 0.3 else _of_type(rng, table, name, arms[0], chance)
    if isinstance(info, inspect.StructType):
        return _struct(rng, info.cls, chance)
    if isinstance(info, inspect.VarTupleType) and isinstance(info.item_type, inspect.StructType):
        return [_struct(rng, info.item_type.cls, chance) for _ in range(rng.randint(1, 2))]
    if isinstance(info, inspect.BoolType):
        return rng.random() < 0.5
    if isinstance(info, inspect.IntType):
        return rng.choice([one for one in (0, 1, 2, 3, 100) if (info.ge or 0) <= one <= (info.le or 100)])
    if isinstance(info, inspect.FloatType):
        return rng.choice([one for one in (0.0, 1.0, 30.0, 300.0) if (info.ge or 0) <= one])
    raise KeyError(f"{table}.{name}")


REFUSED = Counter(refused=1)


def play(world: World) -> Counter[str]:
    """Play a world; return what there was in it, or :data:`REFUSED` where its parts exclude each other."""
    try:
        session = world.spec.session()
    except InputError:
        return REFUSED
    return _play(world, session)


def _play(world: World, session: Session) -> Counter[str]:
    path = machine_file(world.recipe)
    platform = parse_platform(resolve_platform(str(path)))
    texts = events(world.recipe)
    began = False

    def handle(message: Message) -> Reply:
        nonlocal began
        reply = session.handle(message)
        began = True
        session.check()
        return reply

    with tempfile.TemporaryDirectory() as folder, FluidEngine(platform) as engine:
        (Path(folder) / "events.txt").write_text(texts, encoding="utf-8")
        options = SimulationOptions(
            dynamic_jobs=True,
            profile_reuse=True,
            fail_on_deadlock=True,
            events=(Path(folder) / "events.txt",) if texts else (),
            forward_unknown_events=True,
        )
        try:
            jobs = [workload_from_object(world.jobs, "w0")]
            result = Simulation(platform, jobs, engine, InProcessLink(handle), options).run()
        except InputError:
            if began:
                raise
            return REFUSED
    found = Counter(played=1, messages=result.messages, jobs=len(world.jobs["jobs"]))
    found.update(name for name in ("site", "maintenance", "bb_life") if world.spec.policy.session.get(name))
    return found + Counter(world.recipe.features)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz declared", description=__doc__.split("\n")[0])
    parser.add_argument("--worlds", type=int, default=300, metavar="N", help="number of worlds (300)")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="N", help="stop after so long")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of all that is drawn (1)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first world (0)")
    options = parser.parse_args(arguments)
    if missing := undrawn():
        print(f"declared, but not drawn: {', '.join(missing)}")
        return 1
    until_s = time.monotonic() + options.seconds
    counts, findings = Counter[str](), Counter[str]()
    number = options.first
    while number < options.first + options.worlds and time.monotonic() < until_s:
        signal.signal(signal.SIGVTALRM, _too_long)
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)
        try:
            for attempt in range(TRIES):
                outcome = play(draw(Random(f"{options.seed}/{number}/{attempt}"), number))
                counts += outcome
                if outcome != REFUSED:
                    break
        except Exception as error:
            findings[f"{type(error).__name__}: {str(error)[:100]}"] += 1
            command = f"python -m tools.fuzz declared --seed {options.seed} --first {number} --worlds 1"
            print("".join(traceback.format_exception(error, limit=-4)), f"play again: {command}\n", flush=True)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        number += 1
    found = sum(findings.values())
    print(f"{counts.pop('played', 0)} worlds played, {counts.pop('refused', 0)} draws refused; {found} findings")
    print(", ".join(f"{name} {counts[name]}" for name in sorted(counts)))
    for kind, count in findings.most_common():
        print(f"{count:>6} x {kind}")
    return 1 if findings else 0


def _too_long(number: int, frame: FrameType | None) -> NoReturn:
    raise AssertionError(f"the world did not end within {LONGEST_S:g} s of CPU time")
