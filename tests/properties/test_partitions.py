"""Every policy keeps every job in one of its partitions, and what only saves time decides nothing there either."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest

from spillway.schedulers.lives import LIVES
from spillway.schedulers.model.site import License, Partition, Qos, Site, site_text
from spillway.schedulers.model.site_parts import Limits
from spillway.schedulers.policies import POLICIES
from tests.properties.buffer_cases import SHARING
from tests.properties.small_world import NODES, workload
from tests.properties.test_passes import jobs, play, spec_of

WORLDS = {
    (policy, life, model): 4 if life == "with-nodes" else 2
    for policy in POLICIES
    if policy not in SHARING
    for life in LIVES
    for model in ("rigid", "io")
} | {(policy, "with-nodes", "malleable"): 4 for policy in ("easy", "conservative", "plan")}


def partitions(rng: Random) -> tuple[Partition, ...]:
    """Two to four partitions, most of which overlap; one of them is the default."""
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


def with_licenses(rng: Random, data: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Let some jobs hold licenses; return the amounts of each job by its full id."""
    asked: dict[str, tuple[int, ...]] = {}
    for job in data["jobs"]:
        few, many = rng.choice(((0, 0), (0, 0), (1, 0), (2, 0), (0, 3), (1, 4)))
        named = [f"{name}:{count}" for name, count in (("few", few), ("many", many)) if count]
        if named:
            job["licenses"] = ",".join(named)
        asked[str(job["id"])] = (few, many) if named else ()
    return asked


LIMITS = (Qos("normal", limits=Limits(user_jobs=2, user_tres={"node": 6}, group_jobs=5)), Qos("free"))
"""Two jobs and six nodes of a user at a time, five jobs in all, but for jobs of QOS free."""


def with_users(rng: Random, data: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Give jobs users and QOS; return what each counts against limits by its full id, in ascending order."""
    counted: dict[str, tuple[int, ...]] = {}
    for job in data["jobs"]:
        job["user"], job["qos"] = rng.choice(("ann", "bob", "eve", "")), rng.choice(("", "", "free"))
        own = (1, job["res"]) if job["user"] else ()
        counted[str(job["id"])] = () if job["qos"] else tuple(sorted((1, *own)))
    return counted


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
    """Whether what a job waits for had happened before it started, as far as the story says."""
    kind, other = depends.get(line[2].rsplit("!", 1)[-1], ("", ""))
    words = {"": (), "after": ("started", "rejected"), "afterany": ("ended", "rejected"), "afterok": ("ended",)}[kind]
    return not kind or any(one[1] in words and one[2].rsplit("!", 1)[-1] == other for one in before)


def held(pools: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Licenses, and what counts against limits in ascending order; both empty for nothing."""
    licenses = pools[: len(LICENSES)]
    return licenses if any(licenses) else (), tuple(sorted(amount for amount in pools[len(LICENSES) :] if amount))


@pytest.mark.parametrize(("policy", "life", "model"), WORLDS, ids=[" ".join(world) for world in WORLDS])
def test_every_job_runs_in_one_of_its_partitions(policy: str, life: str, model: str) -> None:
    """On nodes of one partition, after what it depends on; whole and explained passes come to the same."""
    started = 0
    for seed in range(WORLDS[policy, life, model]):
        rng = Random(f"partitions {policy} {life} {model} {seed}")
        spec, data = spec_of(rng, policy, life, model), workload(model, jobs(rng))
        sets = partitions(rng)
        named = with_partitions(rng, data, [one.name for one in sets])
        asked = with_licenses(rng, data)
        counted = with_users(rng, data)
        depends = with_dependencies(rng, data)
        site = site_text(Site(partitions=sets, licenses=LICENSES, qos=LIMITS))
        spec = dataclasses.replace(spec, settings={**spec.settings, "site": site})
        expected = play(spec, data, check=True)
        for place, line in enumerate(expected[0]):
            if line[1] not in ("started", "resized"):
                continue
            nodes, own = set(line[3].nodes), named[line[2].rsplit("!", 1)[-1]] or ("p0",)
            assert any(nodes <= nodes_of(one) for one in sets if one.name in own), (spec, line)
            name = line[2].rsplit("!", 1)[-1]
            assert line[1] == "resized" or held(line[3].pools) == (asked[name], counted[name]), (spec, line)
            assert line[1] == "resized" or kept(line, depends, expected[0][:place]), (spec, line)
            started += 1
        assert play(spec, data, whole=True) == expected, spec
        assert play(spec, data, explain=True) == expected, spec
    assert started
