"""Whole sites in random worlds: everything that a site's file may state, beside windows, outages, models and lives."""

import dataclasses
import math
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from spillway.base.errors import OptionError
from spillway.protocol.messages import Message, Reply
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.session import Session
from spillway.schedulers.description import ModelSpec
from spillway.schedulers.lives import LIVES
from spillway.schedulers.model.preemption import Preemption
from spillway.schedulers.model.site import Association, License, Partition, Qos, Site, Weights, site_text
from spillway.schedulers.model.site_parts import Limits, Reservation, Scheduler
from spillway.schedulers.policies import POLICIES
from tests.kit.play import converse
from tests.kit.story import Story
from tests.properties.buffer_cases import ON_NODES, SHARING
from tests.properties.outage_world import Change, write_events
from tests.properties.sites import GPUS, RESOURCES, WEIGHTS, nodes_of
from tests.properties.small_world import NODES, workload
from tests.properties.test_outages import as_events
from tests.properties.test_passes import TINY, jobs, spec_of

USER_BYTES = 12e9
BEGINS = "1970-01-01T00:00:00"
MODELS = ("rigid", "rigid", "io", "checkpointed", "stream", "operations", "malleable")

TIMES = (0.0, 0.0, 4.0, 15.0)
MODES = ("cancel", "requeue", "requeue", "off", "")
LIMITS = (
    *(Limits(), Limits(), Limits(user_jobs=2), Limits(group_tres={"node": 6}), Limits(group_jobs=0)),
    *(Limits(group_jobs=3, user_submitted=6), Limits(job_longest_s=50.0)),
    Limits(account_tres={"node": 4, "gres/gpu": 3}),
)
WINDOWS = ("30s 20s", "50s 10s every 100s nodes 0-2", "0s 10s", "20s 15s every 16s nodes 6-7")


class World(NamedTuple):
    """The session, the jobs, the site, and the outages."""

    spec: SessionSpec
    data: dict[str, Any]
    of: Site
    changes: list[Change]


def partitions(rng: Random, modes: Sequence[str], times: Sequence[float]) -> Iterator[Partition]:
    """One for all nodes, and some on one to all of them; a few that take next to nothing."""
    qos, own = ("", "", "part"), {"preempts": rng.choice(modes), "grace_s": rng.choice(times)}
    longest_s, default_s = rng.choice((None, None, 50.0)), rng.choice((None, 30.0))
    yield Partition("p0", default=rng.random() < 0.9, longest_s=longest_s, default_s=default_s, **own)
    for number in range(1, rng.randint(2, 4)):
        first, most = rng.randint(0, NODES - 2), rng.choice((None, None, 3, 0))
        nodes = rng.choice(("", f"{first}-{rng.randint(first, NODES - 1)}", f"0 {first + 1}"))
        yield Partition(
            f"p{number}", nodes, tier=rng.randint(0, 3), factor=rng.randint(0, 3), most_nodes=most,
            fewest_nodes=0 if most == 0 else rng.choice((0, 1, 2)), longest_s=rng.choice((None, None, 40.0)),
            qos=rng.choice(qos), not_qos=rng.choice(((), (), ("low",))), accepting=rng.random() < 0.95,
            preempts=rng.choice(modes), grace_s=rng.choice(times),
        )  # fmt: skip


def site(rng: Random) -> Site:
    """Most keys of a site's file, each in some of the sites."""
    preempts = rng.random() < 0.6
    modes, times = (MODES, TIMES) if preempts else (("",), (0.0,))
    qos = (
        Qos("normal", 5, preempts=rng.choice(modes), exempt_s=rng.choice(times), limits=rng.choice(LIMITS)),
        Qos("low", 1, preempts=rng.choice(modes), grace_s=rng.choice(times), limits=rng.choice(LIMITS)),
        Qos("high", 9, preempt=rng.choice((("low",), ("low", "normal"))), limits=rng.choice(LIMITS)),
        Qos("top", 9, preempt=("high", "low"), exempt_s=rng.choice(times)),
        Qos("part", limits=rng.choice(LIMITS)),
    )
    scheduler = Scheduler(
        preempt=rng.choice(("partition_prio", "qos")), preempts=rng.choice(("cancel", "requeue", "requeue", "")),
        exempt_s=rng.choice(times), others=rng.choice(((), ("preempt_youngest_first",))),
    )  # fmt: skip
    kept = Reservation(
        "r", rng.choice((0.0, 20.0, 33.0)), 40.0, rng.choice((0.0, 40.0, 90.0)), rng.choice(("0-1", "2", "", "0-7")),
        rng.choice(({}, {"few": 1}, {"few": 2})), rng.choice(({}, {"bb/pool": 7 * 10**9})),
        rng.choice(((), (), ("ann",), ("-bob",))), flags=rng.choice(((), (), ("FLEX",), ("ALL_NODES",))),
    )  # fmt: skip
    accounts = (
        *(Association("lab", shares=2, limits=rng.choice(LIMITS)), Association("sub", parent="lab", shares=0)),
        Association("lab", "ann", default=True, limits=rng.choice(LIMITS), default_qos=rng.choice(("", "low"))),
        *(Association("sub", "bob", limits=rng.choice(LIMITS)), Association("lab", "bob", shares=0)),
    )
    return Site(
        partitions=tuple(partitions(rng, modes, times)) if rng.random() < 0.9 else (),
        qos=qos,
        scheduler=scheduler if preempts else Scheduler(),
        licenses=(License("few", 2), License("many", rng.choice((5, 0)))) if rng.random() < 0.8 else (),
        resources=RESOURCES if rng.random() < 0.4 else (),
        gpus=GPUS if rng.random() < 0.4 else (),
        reservations=(kept,) if rng.random() < 0.4 else (),
        associations=accounts if rng.random() < 0.5 else (),
        weights=WEIGHTS if rng.random() < 0.6 else Weights(),
    )


def state_fields(rng: Random, data: dict[str, Any], of: Site) -> None:
    """Add fields about the site and about other jobs to the jobs."""
    names, ids = [partition.name for partition in of.partitions], [str(job["id"]) for job in data["jobs"]]
    pools = [entry.name for entry in (*of.licenses, *of.resources)]
    for place, job in enumerate(data["jobs"]):
        stated = {
            "qos": rng.choice(("", "normal", "low", "high", "top")), "user": rng.choice(("", "ann", "bob", "eve")),
            "account": rng.choice(("", "", "lab", "sub", "x")),
        }  # fmt: skip
        job |= {name: value for name, value in stated.items() if value}
        if names and rng.random() < 0.8:
            job["partition"] = ",".join(rng.sample(names, rng.choice((1, 1, 1, min(2, len(names))))))
        if rng.random() < 0.1:
            job.pop("walltime", None)
        if pools and rng.random() < 0.35:
            chosen = rng.sample(pools, min(len(pools), rng.choice((1, 1, 2))))
            job["licenses"] = ",".join(f"{name}:{rng.choice((0, 1, 1, 2))}" for name in chosen)
        if rng.random() < 0.3:
            job["gpus"] = rng.choice((0, 1, 2))
        if of.reservations and rng.random() < 0.3:
            job["reservation"] = "r"
        conditions = []
        if rng.random() < 0.3:  # some on later jobs and on themselves, in circles
            before = ids if place == 0 or rng.random() < 0.1 else ids[:place]
            for other in rng.sample(before, min(len(before), rng.choice((1, 1, 2)))):
                kind = rng.choice(("after", "afterany", "afterok", "afternotok"))
                conditions.append(f"{kind}:{other}{rng.choice(('', '', '+5s'))}")
        if rng.random() < 0.15:
            job["job_name"] = "n"
            conditions.insert(0, "singleton")
        if conditions:
            job["depends"] = rng.choice((",", ",", "?")).join(conditions)
        if rng.random() < 0.2:
            job |= {"array": "a", "array_limit": rng.choice((1, 2))}


def draw(seed: int) -> World:
    """A world of any policy, life and model that go together."""
    while True:
        rng = Random(f"whole site {seed}")
        policy, life = rng.choice([name for name in POLICIES if name not in SHARING]), rng.choice(list(LIVES))
        model = rng.choice([name for name in MODELS if life == "with-nodes" or name not in ON_NODES])
        spec, data, of = spec_of(rng, policy, life, model), workload(model, jobs(rng)), site(rng)
        state_fields(rng, data, of)
        for number, profile in enumerate(data["profiles"].values() if life != "with-nodes" else ()):
            profile |= {"stage_in_s": (0.0, 3.0, 7.0)[number % 3], "stage_out_s": (0.0, 5.0)[number % 2]}
        settings = {**spec.policy.session, "site": site_text(of), "begins": BEGINS if of.reservations else ""}
        settings["maintenance"] = rng.choice(WINDOWS) if rng.random() < 0.3 else ""
        settings["bb_user_limit"] = USER_BYTES if rng.random() < 0.3 else 0.0
        changes: list[Change] = []
        if rng.random() < 0.4:
            shrinks = ("shrink", "shrink-or-requeue") if model == "malleable" else ()
            settings["on_outage"] = rng.choice(("continue", "kill", "requeue", *shrinks))
            drawn = [(rng.randint(1, 60), set(rng.sample(range(10), 3)), rng.randint(1, 40)) for _ in range(2)]
            changes = [(time_s + 0.5, *change) for time_s, *change in as_events(drawn)]  # no pass is then
        requeues = Preemption(of).requeues or "requeue" in settings.get("on_outage", "")
        if requeues and model in ("io", "checkpointed"):
            settings["restart"] = rng.choice(("beginning", "checkpoint"))
        own = {"interval": 5.0, "checkpoint": 0.5, "restart": 0.25} if model == "checkpointed" else spec.model.options
        chosen = dataclasses.replace(spec.policy, session=settings, literal=False)
        spec = dataclasses.replace(spec, policy=chosen, model=ModelSpec(spec.model.name, own))
        try:
            spec.check()
            return World(spec, data, of, changes)
        except OptionError:
            seed += 1_000_000


def play(world: World, *, explain: bool = False) -> tuple[Story, list[Reply], Session]:
    """Play a world; queue, book and runtime agree after every message, and no user has too much."""
    spec, watch, replies = world.spec, Story(), list[Reply]()
    session = spec.session(watch, explain=explain)

    def no_user_has_too_much(message: Message, reply: Reply) -> None:
        used = Counter[str]()
        for run in session.book.running.values():
            used[run.job.user] += len(run.allocation.storages) * run.allocation.bb_bytes
        for job_id, holding in session.book.held.items():
            used[watch.jobs[job_id].user] += len(holding.allocation.storages) * holding.allocation.bb_bytes
        most = spec.policy.session["bb_user_limit"] or math.inf
        assert all(size <= most for user, size in used.items() if user), used

    with tempfile.TemporaryDirectory() as root:
        events = (write_events(Path(root) / "events.txt", world.changes),) if world.changes else ()
        converse(session, TINY, world.data, spec=spec, replies=replies, after=no_user_has_too_much, events=events)
    return watch, replies, session


def check_starts(world: World, watch: Story) -> None:
    """Nodes are of one of the job's partitions, and of the reservation that it names, within its time."""
    for time_s, what, job_id, *more in watch.lines:
        if what != "started":
            continue
        job, nodes, of = watch.jobs[job_id], set(more[0].nodes), world.of
        named = str(job.extras.get("partition", "")).split(",")
        own = [
            partition
            for partition in of.partitions
            if partition.name in named or ("partition" not in job.extras and partition.default)
        ]
        assert not of.partitions or any(nodes <= nodes_of(partition) for partition in own), (job, nodes)
        for reservation in of.reservations:
            if job.extras.get("reservation") != reservation.name or "FLEX" in reservation.flags:
                continue
            since_s = (
                (time_s - reservation.start_s) % (reservation.every_s or math.inf)
                if time_s >= reservation.start_s
                else -1.0
            )
            assert 0.0 <= since_s < reservation.length_s, (job, time_s)
            assert not reservation.nodes or nodes <= nodes_of(Partition("", reservation.nodes)), (job, nodes)


@pytest.mark.parametrize("seed", range(48))
def test_every_world(seed: int) -> None:
    """Every attempt ends, once, and nothing is left; explained passes give the same results."""
    world = draw(seed)
    watch, replies, session = play(world)
    assert session.finished
    assert (session.waiting, session.book.running, session.book.held) == (0, {}, {}), world
    assert watch.ends.keys() | watch.refused.keys() == watch.jobs.keys(), world
    check_starts(world, watch)
    again, its_replies, _ = play(world, explain=True)
    assert again.lines == watch.lines, world
    assert its_replies == replies, world
