"""Every policy keeps every job in one of its partitions and within all counted pools; shortcuts change no decision."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest

from spillway.schedulers.lives import LIVES
from spillway.schedulers.model.site import License, Partition, Qos, Site, site_text
from spillway.schedulers.model.site_parts import Gpus, Layer, Limits, Resource
from spillway.schedulers.policies import POLICIES
from tests.properties.buffer_cases import SHARING
from tests.properties.small_world import NODES, workload
from tests.properties.test_passes import jobs, play, spec_of

WORLDS = {
    (policy, life, model): 2 if life == "with-nodes" else 1
    for policy in POLICIES
    if policy not in SHARING
    for life in LIVES
    for model in ("rigid", "io")
} | {(policy, "with-nodes", "malleable"): 2 for policy in ("easy", "conservative", "plan")}


def partitions(rng: Random) -> tuple[Partition, ...]:
    """Two to four partitions, most of them overlapping; one is the default."""
    found = []
    for number in range(rng.randint(2, 4)):
        first = rng.randint(0, NODES - 2)
        last = rng.randint(first + 1, NODES - 1)
        extra = rng.choice(("", "", f" {rng.randint(0, NODES - 1)}"))
        found.append(Partition(f"p{number}", f"{first}-{last}{extra}", default=number == 0))
    return (*found, Partition("all"))


def nodes_of(partition: Partition) -> set[int]:
    """Its nodes, by a reading of its text of our own."""
    if not partition.nodes:
        return set(range(NODES))
    ends = [part.split("-") for part in partition.nodes.split()]
    return {node for part in ends for node in range(int(part[0]), int(part[-1]) + 1)}


def with_partitions(rng: Random, data: dict[str, Any], names: list[str]) -> dict[str, tuple[str, ...]]:
    """Let jobs name partitions; return those of each job by its full id, () for the default."""
    named: dict[str, tuple[str, ...]] = {}
    for job in data["jobs"]:
        chosen = tuple(rng.sample(names, rng.choice((0, 1, 1, 1, 2, 2, 3))))
        if chosen:
            job["partition"] = ",".join(chosen)
        named[str(job["id"])] = chosen
    return named


LICENSES = (License("few", 2), License("many", 5))


RESOURCES = (
    Resource("one", 1, (Layer("all", "0-7", 2), Layer("left", "0-3", 3), Layer("right", "4-7", 1))),
    Resource("each", 2, (Layer("all", "0-7", 5), Layer("left", "0-3", 3), Layer("right", "4-6", 4))),
    Resource("node", 3, (Layer("all", "", 7), Layer("left", "0-3", 4, "all"), Layer("right", "4-7", 5, "all", 1))),
)
"""A resource of each mode; the second has no layer at node 7, and one unit of the third is always in use."""


def requests(rng: Random, data: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Let some jobs hold licenses and resources; return the amounts of each job by its full id, and their names."""
    asked: dict[str, dict[str, int]] = {}
    for job in data["jobs"]:
        few, many = rng.choice(((0, 0), (0, 0), (1, 0), (2, 0), (0, 3), (1, 4)))
        one, each, node = rng.choice(((0, 0, 0), (0, 0, 0), (1, 0, 0), (2, 0, 1), (0, 1, 0), (0, 3, 1), (1, 1, 1)))
        amounts = {"few": few, "many": many, "one": one, "each": each, "node": node}
        asked[str(job["id"])] = {name: amount for name, amount in amounts.items() if amount}
        if any(amounts.values()):
            job["licenses"] = ",".join(f"{name}:{amount}" for name, amount in amounts.items() if amount)
    return asked


GPUS = (Gpus(1, "1-7"), Gpus(4, "3-5"))
"""One on each node but the first, four on each of three."""


def with_gpus(rng: Random, data: dict[str, Any]) -> dict[str, set[int]]:
    """Let some jobs need GPUs on each of their nodes; return the nodes with enough GPUs by the job's full id."""
    usable: dict[str, set[int]] = {}
    for job in data["jobs"]:
        job["gpus"] = rng.choice((0, 0, 0, 1, 2))
        usable[str(job["id"])] = {0: set(range(8)), 1: set(range(1, 8)), 2: {3, 4, 5}}[job["gpus"]]
    return usable


def charged(asked: dict[str, int], nodes: set[int]) -> dict[str, int]:
    """Amounts that a job with these nodes takes, by our own reading of the modes; in mode 1 the total."""
    found = {name: amount for name, amount in asked.items() if name in ("few", "many", "one")}
    for resource, spans in (("each", (range(8), range(4), range(4, 7))), ("node", (range(8), range(4), range(4, 8)))):
        for name, span in zip(("all", "left", "right"), spans, strict=True):
            inside = len(nodes.intersection(span))
            times = inside if resource == "node" else min(1, inside)
            found[f"{resource} of layer {name}"] = times * asked.get(resource, 0)
    return {name: amount for name, amount in found.items() if amount}


LIMITS = (Qos("normal", limits=Limits(user_jobs=2, user_tres={"node": 6}, group_jobs=5)), Qos("free"))
"""Two jobs and six nodes of a user at a time, five jobs in all, but for jobs of QOS free."""


def with_users(rng: Random, data: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Give jobs users and QOS; return the amounts that count against limits, ascending, by full job id."""
    counted: dict[str, tuple[int, ...]] = {}
    for job in data["jobs"]:
        job["user"], job["qos"] = rng.choice(("ann", "bob", "eve", "")), rng.choice(("", "", "free"))
        own = (1, job["res"]) if job["user"] else ()
        counted[str(job["id"])] = () if job["qos"] else tuple(sorted((1, *own)))
    return counted


NAMES = [
    "few", "many", *["one"] * 3,
    *(f"{one.name} of layer {layer.name}" for one in RESOURCES[1:] for layer in one.layers), *["gpus"] * len(GPUS),
]  # fmt: skip


def held(pools: tuple[int, ...]) -> tuple[dict[str, int], tuple[int, ...]]:
    """Licenses and layers by name, and the amounts that count against limits, ascending."""
    found = [(name, amount) for name, amount in zip(NAMES, pools, strict=False) if amount]
    assert len(dict(found)) == len(found), "two layers pay for one resource of mode 1"
    return dict(found), tuple(sorted(amount for amount in pools[len(NAMES) :] if amount))


def with_dependencies(rng: Random, data: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Let some jobs depend on one before them in the file; return the kind and the other job, by the job's id."""
    depends: dict[str, tuple[str, str]] = {}
    names = [str(job["id"]) for job in data["jobs"]]
    for place, job in enumerate(data["jobs"]):
        if place and rng.random() < 0.3:
            kind, other = rng.choice(("after", "afterany", "afterok")), rng.choice(names[:place])
            job["depends"] = f"{kind}:{other}"
            depends[names[place]] = kind, other
    return depends


def kept(line: tuple[Any, ...], depends: Mapping[str, tuple[str, str]], before: Sequence[tuple[Any, ...]]) -> bool:
    """Whether a job's dependency was met before it started, according to the story.

    A job that has left all its nodes and empties its buffer has ended for those that wait for it, as at a site.
    """
    kind, other = depends.get(line[2].rsplit("!", 1)[-1], ("", ""))
    words = {"": (), "after": ("started", "rejected"), "afterany": ("ended", "rejected"), "afterok": ("ended",)}[kind]
    left = ("ended" if one[1] == "resized" and not one[3].nodes else one[1] for one in before)
    return not kind or any(
        word in words and one[2].rsplit("!", 1)[-1] == other for word, one in zip(left, before, strict=True)
    )


@pytest.mark.parametrize(("policy", "life", "model"), WORLDS, ids=[" ".join(world) for world in WORLDS])
def test_every_job_runs_in_one_of_its_partitions(policy: str, life: str, model: str) -> None:
    """Each runs on nodes of one partition, after its dependency; whole or explained passes have the same results."""
    started = 0
    for seed in range(WORLDS[policy, life, model]):
        rng = Random(f"partitions {policy} {life} {model} {seed}")
        spec, data = spec_of(rng, policy, life, model), workload(model, jobs(rng))
        sets = partitions(rng)
        named = with_partitions(rng, data, [one.name for one in sets])
        asked = requests(rng, data)
        counted = with_users(rng, data)
        depends, usable = with_dependencies(rng, data), with_gpus(rng, data)
        site = site_text(Site(partitions=sets, licenses=LICENSES, resources=RESOURCES, gpus=GPUS, qos=LIMITS))
        spec = dataclasses.replace(spec, settings={**spec.settings, "site": site})
        expected = play(spec, data, check=True)
        for place, line in enumerate(expected[0]):
            if line[1] not in ("started", "resized"):
                continue
            nodes, own = set(line[3].nodes), named[line[2].rsplit("!", 1)[-1]] or ("p0",)
            assert any(nodes <= nodes_of(one) for one in sets if one.name in own), (spec, line)
            name = line[2].rsplit("!", 1)[-1]
            assert nodes <= usable[name], (spec, line)
            if line[1] == "started":
                assert held(line[3].pools) == (charged(asked[name], nodes), counted[name]), (spec, line)
                assert kept(line, depends, expected[0][:place]), (spec, line)
            started += 1
        assert play(spec, data, whole=seed == 0, explain=seed > 0) == expected, spec
    assert started
