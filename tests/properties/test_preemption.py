"""Preemption in random worlds: only allowed pairs, never too early, consistent books, and an end of every job."""

import dataclasses
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest

from spillway.protocol.messages import Reply
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.description import ModelSpec
from spillway.schedulers.lives import LIVES
from spillway.schedulers.model.preemption import Preemption
from spillway.schedulers.model.site import License, Partition, Qos, Site, site_text
from spillway.schedulers.model.site_parts import Reservation, Scheduler
from spillway.schedulers.policies import POLICIES
from spillway.simulator.reading.workload import workload_from_object
from tests.kit.specs import session_spec
from tests.kit.story import Preempted, Story
from tests.properties import outage_world
from tests.properties.buffer_cases import SHARING
from tests.properties.checked import play_checked
from tests.properties.sites import nodes_of
from tests.properties.small_world import workload
from tests.properties.test_outages import as_events, settled
from tests.properties.test_passes import jobs, play, spec_of

MODELS = ("rigid", "io", "checkpointed")
WORLDS = [
    *((policy, life, MODELS[(place + turn) % 3]) for place,
     policy in enumerate(POLICIES) if policy not in SHARING for turn, life in enumerate(LIVES)),
    *((policy, "with-nodes", "malleable") for policy in ("easy", "conservative", "plan")),
]  # fmt: skip
DAY_0 = "1970-01-01T00:00:00"
MODES = ("cancel", "requeue", "requeue", "off", "")


def site(rng: Random) -> Site:
    """Partitions of one to three tiers, or QOS in a chain, with modes, grace and exempt times of their own."""
    times = (0.0, 0.0, 4.0, 15.0)
    partitions = [Partition("p0", default=True, preempts=rng.choice(MODES), grace_s=rng.choice(times))]
    for number in range(1, rng.randint(2, 4)):
        first = rng.randint(0, 4)
        nodes = rng.choice(("", "", f"{first}-{first + rng.randint(1, 3)}"))
        tier, mode = rng.randint(1, 3), rng.choice(MODES)
        partitions.append(Partition(f"p{number}", nodes, tier=tier, preempts=mode, grace_s=rng.choice(times)))
    qos = (
        Qos("normal", 5, preempts=rng.choice(MODES), exempt_s=rng.choice(times)),
        Qos("low", 1, preempts=rng.choice(MODES), grace_s=rng.choice(times)),
        Qos("high", 9, preempt=rng.choice((("low",), ("low", "normal")))),
        Qos("top", 9, preempt=("high", "low"), exempt_s=rng.choice(times)),
    )
    scheduler = Scheduler(
        preempt=rng.choice(("partition_prio", "qos")),
        preempts=rng.choice(("cancel", "requeue", "requeue", "")),
        exempt_s=rng.choice(times),
        others=rng.choice(((), ("preempt_youngest_first",))),
    )
    kept = Reservation("r", 20.0, 40.0, rng.choice((0.0, 90.0)), "0-1", flags=rng.choice(((), ("FLEX",))))
    reservations = (kept,) if rng.random() < 0.3 else ()
    licenses = (License("few", 2),)
    return Site(
        partitions=tuple(partitions), qos=qos, scheduler=scheduler, licenses=licenses, reservations=reservations
    )


def state_fields(rng: Random, data: dict[str, Any], of: Site) -> None:
    """Let jobs name partitions, QOS and licenses."""
    names = [partition.name for partition in of.partitions]
    for job in data["jobs"]:
        if rng.random() < 0.8:
            job["partition"] = ",".join(rng.sample(names, rng.choice((1, 1, 1, min(2, len(names))))))
        job["qos"] = rng.choice(("normal", "low", "high", "top"))
        if rng.random() < 0.2:
            job["licenses"] = f"few:{rng.randint(1, 2)}"
        if of.reservations and rng.random() < 0.3:
            job["reservation"] = "r"


def groups(watch: Story, of: Site, job_id: str) -> Iterator[tuple[int | str, str, float, float]]:
    """Rank or QOS, mode, grace and exempt time of a running job, by a reading of the site of our own."""
    job, nodes = watch.jobs[job_id], set(watch.given[job_id].nodes)
    qos = next(quality for quality in of.qos if quality.name == job.extras["qos"])
    exempt_s = qos.exempt_s or of.scheduler.exempt_s
    if of.scheduler.preempt == "qos":
        yield qos.name, qos.preempts or of.scheduler.preempts, qos.grace_s, exempt_s
        return
    stated = str(job.extras.get("partition", "p0")).split(",")
    there = [partition for partition in of.partitions if partition.name in stated and nodes <= nodes_of(partition)]
    most = max(job.tier for job in there)
    for each_job in there:
        if each_job.tier == most:
            yield each_job.tier, each_job.preempts or of.scheduler.preempts, each_job.grace_s, exempt_s


def check_pair(watch: Story, of: Site, told: Preempted, latest_s: float) -> None:
    """One of the preempted job's groups allows the preemption, and its grace and exempt times were kept."""
    job_id, by, what, told_s, end_s, _ = told
    preemptor = watch.jobs[by]
    for rank, mode, grace_s, exempt_s in groups(watch, of, job_id):
        if of.scheduler.preempt == "qos":
            own = next(quality for quality in of.qos if quality.name == preemptor.extras["qos"])
            allowed = rank in own.preempt
        else:
            stated = str(preemptor.extras.get("partition", "p0")).split(",")
            allowed = any(partition.tier > int(rank) for partition in of.partitions if partition.name in stated)
        exempt = told_s < watch.starts[job_id] + exempt_s - 1e-5
        in_time = told_s + grace_s - 1e-5 <= end_s <= told_s + grace_s + latest_s
        if allowed and not exempt and in_time and mode == ("requeue" if what.startswith("requeued") else "cancel"):
            return
    raise AssertionError(told)


def watched(spec: SessionSpec, data: dict[str, Any]) -> Story:
    """Play a world (:func:`play_checked`); return its observer."""
    watch = Story()
    play_checked(spec, workload_from_object(data), watch)
    return watch


class Drawn(NamedTuple):
    """A world: the session, the jobs, and the site."""

    spec: SessionSpec
    data: dict[str, Any]
    of: Site


def draw(policy: str, life: str, model: str, seed: int) -> Drawn:
    """Draw a world; some have windows of maintenance and a limit of users' buffers."""
    rng = Random(f"preemption {policy} {life} {model} {seed}")
    spec, data, of = spec_of(rng, policy, life, model), workload(model, jobs(rng)), site(rng)
    state_fields(rng, data, of)
    for number, profile in enumerate(data["profiles"].values() if life != "with-nodes" else ()):
        profile |= {"stage_in_s": (0.0, 3.0, 7.0)[number % 3], "stage_out_s": (0.0, 5.0)[number % 2]}
    settings = {**spec.policy.session, "site": site_text(of), "begins": DAY_0 if of.reservations else ""}
    if rng.random() < 0.3:
        settings["maintenance"] = rng.choice(("30s 20s", "50s 10s every 100s nodes 0-2"))
    if rng.random() < 0.2:
        settings["bb_user_limit"] = 12e9
    requeues = Preemption(of).requeues
    if requeues and model in ("io", "checkpointed"):
        settings["restart"] = rng.choice(("beginning", "checkpoint"))
    options = {"interval": 5.0, "checkpoint": 0.5, "restart": 0.25} if model == "checkpointed" else {}
    chosen = dataclasses.replace(spec.policy, session=settings, literal=False)
    spec = dataclasses.replace(spec, policy=chosen, model=ModelSpec(spec.model.name, options))
    return Drawn(spec, data, of)


@pytest.mark.parametrize(("policy", "life", "model"), WORLDS, ids=[" ".join(world) for world in WORLDS])
def test_every_world(policy: str, life: str, model: str) -> None:
    """Only allowed pairs, no job in its exempt time, kills when the grace time is over; every attempt ends, and every
    requeued one is followed by another; explained passes have the same results."""
    for seed in range(2 if life == "with-nodes" else 1):
        spec, data, of = draw(policy, life, model, seed)
        watch, replies = Story(), list[Reply]()
        session = play_checked(spec, workload_from_object(data), watch, explain=True, replies=replies)
        assert session.finished, spec
        assert not session.waiting
        assert not session.book.running
        assert watch.ends.keys() | watch.refused.keys() == watch.jobs.keys(), spec
        for told in watch.preemptions:
            check_pair(watch, of, told, 60.0 if model == "io" else 0.1)
            if told[2].startswith("requeued"):
                again = f"{told[0].rpartition('!')[0]}!{told[2].rpartition(' ')[2]}"
                assert watch.jobs[again].number == watch.jobs[told[0]].number
        if not seed:
            assert (watch.lines, replies) == play(spec, data)[:2], spec


def test_there_is_preemption() -> None:
    """In such worlds jobs are preempted by tier and by QOS, at once and later, cancelled and requeued."""
    kinds = Counter[tuple[str, str]]()
    for seed in range(60):
        spec, data, of = draw("easy", "with-nodes", "rigid", seed)
        for _, _, what, told_s, end_s, _ in watched(spec, data).preemptions:
            kinds[of.scheduler.preempt, what[:6]] += 1
            kinds[of.scheduler.preempt, "later" if end_s > told_s + 1.0 else "at once"] += 1
    assert len(kinds) == 8, kinds


@pytest.mark.parametrize("policy", ["easy", "conservative", "slurm-backfill", "plan", "window", "maxutil"])
@pytest.mark.parametrize("rule", ["continue", "kill", "requeue"])
def test_beside_outages(policy: str, rule: str, tmp_path: Path) -> None:
    """Nodes and storage nodes go out and come back: nothing starts there, and every job comes to its end."""
    for model in MODELS:
        rng = Random(f"outages {policy} {rule} {model} 0")
        drawn, of = jobs(rng), site(rng)
        data = workload(model, drawn)
        state_fields(rng, data, of)
        events = [(rng.randint(1, 60), set(rng.sample(range(10), 3)), rng.randint(1, 40)) for _ in range(3)]
        options = {"interval": 5.0, "checkpoint": 0.5} if model == "checkpointed" else {}
        settings = {"site": site_text(of), "on_outage": rule, "begins": DAY_0 if of.reservations else ""}
        spec = session_spec(policy, model=model, model_options=options, settings=settings)
        changes = [(time_s + 0.5, *change) for time_s, *change in as_events(events)]  # no pass is then
        settled(outage_world.play(tmp_path, spec, data, changes), len(drawn))


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy not in SHARING])
def test_a_site_without_preemption_changes_nothing(policy: str) -> None:
    """The same jobs on the same site, with tiers and lists of QOS but no PreemptType: no word of them counts."""
    rng = Random(f"no preemption {policy}")
    spec, data, of = spec_of(rng, policy, "with-nodes", "rigid"), workload("rigid", jobs(rng)), site(rng)
    state_fields(rng, data, of)
    bare = msgspec.structs.replace(
        of,
        scheduler=Scheduler(),
        partitions=tuple(msgspec.structs.replace(partition, preempts="", grace_s=0.0) for partition in of.partitions),
        qos=tuple(
            msgspec.structs.replace(quality, preempts="", grace_s=0.0, exempt_s=0.0, preempt=()) for quality in of.qos
        ),
    )
    found = []
    for item in (bare, msgspec.structs.replace(of, scheduler=Scheduler(preempts="requeue", exempt_s=9.0))):
        settings = {**spec.policy.session, "site": site_text(item), "begins": DAY_0 if of.reservations else ""}
        chosen = dataclasses.replace(spec.policy, session=settings, literal=False)
        found.append(play(dataclasses.replace(spec, policy=chosen), data))
    assert found[0] == found[1]
