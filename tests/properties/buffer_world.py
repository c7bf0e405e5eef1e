"""Small worlds of burst buffers, one for each case: machine, jobs, outages, options, and the way to play them."""

import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

from spillway.platforms.description.generate import build
from spillway.platforms.description.machine import read_description
from spillway.platforms.model import Platform
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.batsim5.codec import Batsim5, Batsim5Simulator, is_hello
from spillway.protocol.drains import STORAGE_DRAINED
from spillway.protocol.format import SchedulerSide, SimulatorSide
from spillway.protocol.messages import CallMeLater, Event, JobSubmitted, Message, Reply, Request, SetJobMetadata
from spillway.schedulers.assembly import SessionSpec
from spillway.simulator.engines.native import FluidEngine
from spillway.simulator.errors import SchedulerRefusal
from spillway.simulator.options import BATSIM_4, SimulationOptions
from spillway.simulator.options import BATSIM_5 as BATSIM_5_RULES
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.handshake import shake_hands
from spillway.simulator.wire.links import InProcessLink, Link
from spillway.simulator.wire.zmq_link import ZmqLink
from spillway.workloads.batsim.batsim5 import to_batsim5
from spillway.workloads.batsim.json_file import format_batsim, parse_batsim
from tests.kit.specs import session_spec
from tests.properties.buffer_account import Account
from tests.properties.buffer_cases import (
    APART,
    BATSIM_5,
    BY_ITS_CLOCK,
    GB,
    KINDS,
    MACHINES,
    MIXED,
    PERSISTENT,
    Case,
)
from tests.properties.small_world import NODES
from tests.simulator.peers import decoded, listening

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "with-nodes": ("",),
    "slurm": ("", "", ":overtake=false", ":order=sjf", ":stage_in_timeout=9,stage_out_timeout=8"),
    "standby": (":bound=0", ":bound=5", ":bound=5", ":bound=20,stage_in_timeout=9"),
    "two-reservations": ("", "", ":margin=1.5", ":rate=5e8,stage_out_timeout=8"),
}
"""Options of lives."""

RACKS = """
name = "small"
summary = "nodes in racks with a storage node each"
topology = "tree"
node = {{ prefix = "n", loopback = "1000MBps" }}
storage = {{ per = "rack", capacity = "{size}GB", bandwidth = "1GBps", granule = {granule} }}
pfs = {{ bandwidth = "1GBps" }}

[[cluster]]
name = "small"
uplink = {{ name = "core", bandwidth = "2GBps" }}
levels = [
  {{ name = "rack", count = {racks}, bandwidth = "2GBps" }},
  {{ name = "node", count = {nodes}, bandwidth = "1GBps", duplex = true }},
]
"""


@cache
def platform(machine: str, granule: int) -> Platform:
    """The platform of a case."""
    racks, size = MACHINES[machine]
    text = RACKS.format(racks=racks, nodes=NODES // racks, size=size, granule=granule)
    return build(read_description(text, "small.toml", {}))


def workload(case: Case, rng: Random) -> dict[str, Any]:
    """A few jobs with buffers of the case's kind, more than fit at once; some walltimes are too short."""
    largest = MACHINES[case.machine][1] * GB
    data: dict[str, Any] = {"nb_res": NODES, "jobs": [], "profiles": {}}
    for number in range(rng.randint(3, 8)):
        seconds = rng.choice((2.0, 7.5, 20.0, 40.0))
        sure = case.model == "timeshared" or (case.model == "operations" and number % 3 == 0)
        profile: dict[str, Any] = (
            {"type": "delay", "delay": seconds}
            if sure or rng.random() < 0.5
            else {"type": "parallel_homogeneous", "cpu": seconds * 1e9, "com": 1e6}
        )
        job: dict[str, Any] = {
            "id": str(number),
            "subtime": rng.choice((0, 0, rng.randint(0, 30), round(rng.uniform(0, 30), 3))),
            "res": rng.choice((1, 1, 2, 3, 4, 5, 8)),
            "profile": f"p{number}",
            "user": number % 2,
            "walltime": rng.choice((12, 30, 200, 200, 400)),
            "site_wait_s": 7 * (number % 3),
        }
        if rng.random() < 0.8:
            kind = rng.choice(list(KINDS)) if case.kind == MIXED else case.kind
            share = rng.choice((1, largest // 10, largest // 4 + 1, largest // 3, largest // 2))
            (job if rng.random() < 0.5 else profile).update(KINDS[kind](rng, share))
        if rng.random() < 0.1:
            job["io_rate"] = 40 * 10**6
        _stages(case, rng, profile)
        _special(case, rng, number, profile)
        data["profiles"][job["profile"]] = profile
        data["jobs"].append(job)
    if case.kind in (PERSISTENT, MIXED):
        _persistent(case, rng, data)
    data["jobs"].sort(key=lambda job: job["subtime"])
    return data


def _persistent(case: Case, rng: Random, data: dict[str, Any]) -> None:
    """Jobs name persistent buffers, and jobs without nodes create and destroy some; not all of it can be met."""
    largest = MACHINES[case.machine][1] * GB
    names = ("a", "b", "c")

    def creation(name: str) -> list[dict[str, Any]]:
        pieces = rng.choice((1, 1, 2, 2, 3))
        size = rng.choice((1, largest // 3, largest // 2, largest * 4 // 5, largest, 2 * largest + 1)) * pieces
        return [{"name": name, "bytes": size, "stripes": pieces}]

    for job in data["jobs"]:
        if rng.random() < 0.5:
            job["bb_use"] = rng.sample(names, rng.choice((1, 1, 1, 2)))
            if rng.random() < 0.2:
                job["bb_destroy"] = [job["bb_use"][0]]
        if rng.random() < 0.1:
            job["bb_create"] = creation(rng.choice(names))
    data["profiles"]["none"] = {"type": "delay", "delay": 1.0}
    asked = [(rng.choice((0, 0, rng.randint(0, 20))), {"bb_create": creation(name)}) for name in names]
    for _ in range(rng.randint(0, 4)):
        name = rng.choice(names)
        at = rng.randint(0, 60)
        asked.append((at, {"bb_create": creation(name)} if rng.random() < 0.4 else {"bb_destroy": [name]}))
    for number, (at, fields) in enumerate(asked):
        data["jobs"].append(
            {"id": f"none{number}", "subtime": at, "res": 0, "profile": "none"}
            | {"user": rng.choice((0, 0, 1)), "walltime": 60, "site_wait_s": 0}
            | fields
        )


def _stages(case: Case, rng: Random, profile: dict[str, Any]) -> None:
    """Times and volumes of staging, where they are played."""
    if case.life not in APART and case.model != "io":
        return
    if rng.random() < 0.7:
        profile |= {"stage_in_s": rng.choice((0.0, 3.0, 7.0, 15.0)), "stage_out_s": rng.choice((0.0, 2.0, 11.0))}
    if case.model == "io" and rng.random() < 0.3:
        profile |= {"stage_in_bytes": 0, "stage_out_bytes": 1}


def _special(case: Case, rng: Random, number: int, profile: dict[str, Any]) -> None:
    """Add the fields of a job's model to its profile."""
    if case.model == "operations" and number % 3 == 0:
        profile["periods"] = {"count": 2, "compute_s": rng.choice((2.0, 7.0)), "io_bytes": GB}
    if case.model == "malleable" and rng.random() < 0.6 and not {"bb_total"} & profile.keys():
        profile["malleable"] = {
            "iterations": 4, "io_every": 2, "control_every": 2, "minimum": 1, "maximum": 8, "overhead": 1.0,
            "io_bytes": 2e9, "model": {"work": 20.0},
        }  # fmt: skip


def events(case: Case, rng: Random) -> str:
    """Storage nodes, and sometimes nodes, that go out and come back, and drains: the text of an event file."""
    storages, size = MACHINES[case.machine]
    changes: list[tuple[float, str, int, dict[str, int]]] = []
    if case.outage:
        hosts = [NODES + storage for storage in rng.sample(range(storages), rng.randint(1, storages))]
        hosts += rng.sample(range(NODES), rng.choice((0, 0, 2)))
        for host in hosts:
            time_s = rng.uniform(0, 40)  # never at the instant of a call: Batsim aborts on a start unheard of
            back_s = time_s + rng.choice((0.5, 9.0, 60.0, 2000.0))
            changes += [(time_s, "machine_unavailable", host, {}), (back_s, "machine_available", host, {})]
    if case.drained:
        drains = [(rng.uniform(0, 60), rng.choice((0, 1, size * GB // 3, size * GB))) for _ in range(rng.randint(1, 5))]
        for time_s, gone in drains:
            changes.append((time_s, STORAGE_DRAINED, NODES + rng.randrange(storages), {"bytes": gone}))
        changes += [(2500.0 + at, STORAGE_DRAINED, NODES + at, {"bytes": 0}) for at in range(storages)]
    lines = [
        json.dumps({"timestamp": round(time_s, 6), "type": kind, "resources": str(host)} | more)
        for time_s, kind, host, more in sorted(changes, key=lambda change: change[0])
    ]
    return "".join(line + "\n" for line in lines)


def spec_of(case: Case, rng: Random) -> tuple[SessionSpec, int]:
    """Session of a case, and the limit of a user in bytes (0: no limit)."""
    limit = rng.choice((4 * GB, 9 * GB)) if case.limited else 0
    settings: dict[str, Any] = {
        "bb_life": case.life + rng.choice(OPTIONS[case.life] if case.policy != "slurm-backfill" else ("",)),
        "storage_order": case.rule,
        "bb_user_limit": limit,
        "bandwidth": rng.choice(("aware", "ignorant")),
    }
    if case.outage:
        settings["on_outage"] = case.outage
        if case.outage == "requeue" and case.model in ("io", "checkpointed"):
            settings["restart"] = rng.choice(("beginning", "checkpoint"))
    if case.model == "io" and rng.random() < 0.3:
        settings["io_control"] = "exclusive"
    options: dict[str, Any] = {}
    if case.model == "io":
        options["phase_target"] = 5e9
    if case.model == "checkpointed":
        options |= {"interval": 6.0, "checkpoint": 1.0}
    return session_spec(case.policy, model=case.model, model_options=options, settings=settings, seed=case.seed), limit


class Played(NamedTuple):
    """Result of a world: number of messages, counts of events, and the story (time, event, job or machine)."""

    messages: int
    counts: Counter[str]
    story: tuple[tuple[float, str, str], ...] = ()


def play(case: Case) -> Played:
    """Play a case, checked after every message; :class:`OptionError` where it is refused."""
    rng = Random(repr(case._replace(way="")))  # the same world, however it is played
    spec, limit = spec_of(case, rng)
    return play_jobs(case, spec, workload(case, rng), events(case, rng), limit=limit)


def play_jobs(case: Case, spec: SessionSpec, data: dict[str, Any], text: str = "", *, limit: int = 0) -> Played:
    """Play jobs and outages on a case's machine, with everything proven after every message."""
    account = Account(case, limit)
    needs = spec.needs()
    session = spec.session(account)
    account.session = session
    messages = 0

    def handle(message: Message) -> Reply:
        nonlocal messages
        messages += 1
        account.heard(message)
        reply = session.handle(message)
        account.check()
        return reply

    machine = platform(case.machine, case.granule)
    with tempfile.TemporaryDirectory() as folder, FluidEngine(machine) as engine:
        files = (Path(folder) / "events.txt",) if text else ()
        for file in files:
            file.write_text(text, encoding="utf-8")
        options = SimulationOptions(
            dynamic_jobs=needs.dynamic_jobs,
            profile_reuse=needs.profile_reuse,
            events=files,
            forward_unknown_events=True,
        )
        with _linked(case.way, handle, options) as (link, options):
            if options.rules is BATSIM_5_RULES:
                data = json.loads(format_batsim(to_batsim5(parse_batsim(json.dumps(data)))))
            read = workload_from_object(data, rules=options.rules)
            Simulation(machine, [read], engine, link, options).run()
    account.check_end()
    return Played(messages, account.counts, tuple(account.story))


@contextmanager
def _linked(
    way: str, handle: Callable[[Message], Reply], options: SimulationOptions
) -> Iterator[tuple[Link, SimulationOptions]]:
    """A way from the simulator to a session, of :data:`tests.properties.buffer_cases.WAYS` or one of Batsim 5's, and
    the options in force.
    """
    if way in IN_PROCESS:
        yield InProcessLink(IN_PROCESS[way](handle)), options
        return
    if way == BY_ITS_CLOCK:
        rules = replace(BATSIM_4, decimals=BATSIM_5_RULES.decimals, reprints=False)
        yield InProcessLink(_as_batsim_5(handle)), replace(options, rules=rules)
        return
    errors: list[Exception] = []
    ours: SchedulerSide = Batsim5(dynamic_jobs=options.dynamic_jobs) if way == BATSIM_5 else batsim4

    def answer(frame: bytes) -> bytes:
        try:
            return (way == BATSIM_5 and is_hello(frame) and ours.greet(frame)) or decoded(handle, ours)(frame)
        except Exception as error:
            errors.append(error)
            return ours.encode_refusal(str(error))

    theirs: SimulatorSide = Batsim5Simulator() if way == BATSIM_5 else batsim4
    with listening(answer) as endpoint, closing(ZmqLink(endpoint, codec=theirs)) as link:
        try:
            yield link, shake_hands(link, theirs, options) if isinstance(theirs, Batsim5Simulator) else options
        except SchedulerRefusal:
            raise errors[0] from None


def _as_text(handle: Callable[[Message], Reply]) -> Callable[[Message], Reply]:
    """A scheduler whose messages and replies are written and read."""
    answered = decoded(handle)
    return lambda message: batsim4.decode_reply(answered(batsim4.encode_message(message)))


def _as_batsim_5(handle: Callable[[Message], Reply]) -> Callable[[Message], Reply]:
    """A scheduler under Batsim 5: calls at whole milliseconds, no metadata, jobs submitted at the message's time."""

    def answered(message: Message) -> Reply:
        reply = handle(Message(message.now, tuple([_submitted_now(event) for event in message.events])))
        return Reply(reply.now, tuple([_later(event) for event in reply.events if type(event) is not SetJobMetadata]))

    return answered


def _submitted_now(event: Event) -> Event:
    if type(event) is not JobSubmitted:
        return event
    return msgspec.structs.replace(event, job=event.job | {"subtime": event.timestamp})


def _later(request: Request) -> Request:
    if type(request) is not CallMeLater:
        return request
    return msgspec.structs.replace(request, at=math.ceil(round(request.at * 1000, 6)) / 1000)


IN_PROCESS: Mapping[str, Callable[[Callable[[Message], Reply]], Callable[[Message], Reply]]] = {
    "whole": lambda handle: handle,
    "single": lambda handle: handle,
    "bytes": _as_text,
}
"""The scheduler that the simulator calls, by way."""
