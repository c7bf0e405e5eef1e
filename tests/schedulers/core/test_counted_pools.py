"""Counted pools: requests of jobs, and starvation where reservations do not cover them."""

import math
from typing import Any

import pytest

from spillway.schedulers.core.counted_pools import CountedPools
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.site import Association, License, Partition, Qos, Site, site_text
from spillway.schedulers.model.site_parts import Limits, Scheduler
from tests.kit.specs import session_spec
from tests.kit.workloads import delays
from tests.properties.test_passes import play

TWO = Site(licenses=(License("matlab", 4), License("ansys", 10)))


@pytest.mark.parametrize(
    ("text", "amounts"),
    [("matlab:3", (3, 0)), ("ansys:2,matlab", (1, 2)), (" matlab:1 , matlab:2 ", (3, 0)), ("matlab:0", ()), ("", ())],
)
def test_amounts(text: str, amounts: tuple[int, ...]) -> None:
    """By place in the machine's pools; a name without a number is one."""
    job, reason = CountedPools(TWO).assign(Job("w!1", 0, 0.0, 9.0, 1, extras={"licenses": text}))
    assert (job.pools, reason) == (amounts, None)


@pytest.mark.parametrize(("text", "reason"), [
    ("matlab:5", "5 > 4 of license matlab"),
    ("matlab:3,matlab:2", "5 > 4 of license matlab"),
    ("abaqus:1", "license 'abaqus' is unknown; the site has matlab, ansys"),
    ("matlab:-1", "its field 'licenses' must be name:count, several separated by commas; got 'matlab:-1'"),
    ("matlab:1,", "its field 'licenses' must be name:count, several separated by commas; got 'matlab:1,'"),
])  # fmt: skip
def test_reasons(text: str, reason: str) -> None:
    """A request that can never be met is rejected with its reason."""
    assert CountedPools(TWO).assign(Job("w!1", 0, 0.0, 9.0, 1, extras={"licenses": text}))[1] == reason


def test_a_site_without_pools() -> None:
    """Its jobs' licenses count for nothing."""
    assert CountedPools(Site()).assign(Job("w!1", 0, 0.0, 9.0, 1, extras={"licenses": "matlab:9"}))[0].pools == ()


def starts(policy: str, options: dict[str, Any], jobs: list[tuple[float, int, int, int]]) -> dict[str, int]:
    """Start of each job, in whole seconds, of (submission, nodes, licenses of four, seconds) on eight nodes."""
    listed = [
        {"subtime": at, "res": nodes, "seconds": seconds, "walltime": seconds + 1, "licenses": f"matlab:{licenses}"}
        for at, nodes, licenses, seconds in jobs
    ]
    site = site_text(Site(licenses=(License("matlab", 4),)))
    lines = play(session_spec(policy, options, settings={"site": site}), delays(8, listed, first=0), check=True)[0]
    return {job_id.rsplit("!", 1)[-1]: round(now_s) for now_s, what, job_id, *_ in lines if what == "started"}


STREAM = [(0.0, 1, 2, 100), (1.0, 1, 2, 150), (2.0, 1, 4, 50), *((10.0 + number, 1, 2, 100) for number in range(6))]
"""Jobs 0 and 1 hold two licenses each until 100 and 151 s; job 2 requests all four; later jobs hold two for 100 s
each."""


@pytest.mark.parametrize("covered", ["all", "nodes+bb"])
def test_who_starves_for_a_license(covered: str) -> None:
    """Job 2 is first in the queue and needs one node, six are free, but it lacks two licenses.

    Where its reservation covers licenses it starts when job 1 has ended, at 151 s, and no later job takes the licenses
    before it. Where it covers only nodes and buffers, job 3 takes two licenses as soon as job 0 has ended, at 100 s,
    job 4 those of job 1 at 151 s, and so on: job 2 starts after all six, when the last two end, at 451 s.
    """
    found = starts("easy", {"covered": covered}, STREAM)
    if covered == "all":
        assert found["2"] == 151
        assert min(found[str(number)] for number in range(3, 9)) == 201
    else:
        assert [found[str(number)] for number in range(3, 9)] == [100, 151, 200, 251, 300, 351]
        assert found["2"] == 451


@pytest.mark.parametrize("bf_licenses", [False, True])
def test_who_starves_for_a_license_under_slurm(bf_licenses: bool) -> None:
    """The same, with a pass of both schedulers in each whole second after which something has happened.

    Without ``bf_licenses`` the job that requests all four is skipped, and later ones get two each whenever some are
    free: it is last. With it the main pass ends at this job, and the backfill pass keeps the four from 152 s on, when
    job 1 is expected to have ended; job 3, with two of them from 101 to 202 s, would be in the way.
    """
    often = {"bf_interval": 1.0, "bf_resolution": 1.0, "batch_sched_delay": 0.0}
    found = starts("slurm-backfill", {**often, "bf_licenses": bf_licenses}, STREAM)
    later = [found[str(number)] for number in range(3, 9)]
    if bf_licenses:
        assert found["2"] == 152
        assert later == [203, 203, 304, 304, 405, 405]
    else:
        assert later == [101, 152, 202, 253, 303, 354]
        assert found["2"] == 455


LIMITED = Site(
    associations=(
        Association("all", limits=Limits(group_tres={"node": 6})),
        Association("lab", parent="all", limits=Limits(group_jobs=2, job_tres={"node": 4}, job_longest_s=100.0)),
        Association("lab", "ann", default=True),
        Association("lab", "bob"),
    ),
    qos=(Qos("normal"), Qos("debug", limits=Limits(group_jobs=1, job_least_tres={"node": 2}))),
)
"""Six nodes for all, of them two jobs of the lab; a job of QOS debug at a time."""


def held(counted: CountedPools, nodes: int = 1, name: str = "w!1", **extras: str) -> dict[str, int]:
    """Amounts of a job with these fields, by the names of the pools."""
    job, reason = counted.assign(Job(name, 0, 0.0, 9.0, nodes, extras=extras))
    assert reason is None
    return {pool.name: amount for pool, amount in zip(counted.pools, job.pools, strict=False) if amount}


@pytest.mark.parametrize(
    ("user", "qos", "amounts"),
    [
        ("ann", "", {"nodes of account all": 3, "jobs of account lab": 1}),
        ("ann", "debug", {"nodes of account all": 3, "jobs of account lab": -1, "jobs of QOS debug": 1}),
        ("eve", "", {}),
        ("eve", "debug", {"jobs of QOS debug": 1}),
    ],
)
def test_limits_are_pools(user: str, qos: str, amounts: dict[str, int]) -> None:
    """A job counts against its account and those above it; where its QOS limits the same, it is only charged there.

    An unknown user's job counts only against the QOS.
    """
    assert held(CountedPools(LIMITED), 3, user=user, qos=qos) == amounts


EACH = Site(
    associations=(
        Association("all", limits=Limits(user_jobs=3)),
        Association("lab", parent="all"),
        Association("lab", "ann", default=True),
        Association("lab", "bob", default=True, limits=Limits(user_jobs=5)),
        Association("field", parent="all"),
        Association("field", "ann"),
    ),
    qos=(
        Qos("normal"),
        Qos("long", limits=Limits(user_tres={"node": 4}, account_jobs=2)),
        Qos("night", limits=Limits(user_jobs=1)),
    ),
    partitions=(
        Partition("batch", default=True),
        Partition("night", qos="night"),
    ),
)
"""Three jobs of each user in an account, five of bob; in QOS long four nodes of a user and two jobs of an account; in
the partition night one job of a user."""


@pytest.mark.parametrize(("extras", "partitions", "amounts"), [
    ({"user": "ann"}, (0,), {"jobs of a user of account all": 1}),
    ({"user": "bob"}, (0,), {"jobs of a user": 1}),
    ({"user": "bob", "qos": "long"}, (0,),
     {"jobs of a user": 1, "nodes of a user of QOS long": 2, "jobs of an account of QOS long": 1}),
    ({"user": "ann"}, (1,), {"jobs of a user of account all": -1, "jobs of a user of QOS night": 1}),
    ({"user": "ann"}, (0, 1), {"jobs of a user of account all": 1, "jobs of a user of QOS night": 1}),
    ({}, (0,), {}),
])  # fmt: skip
def test_limits_of_each(extras: dict[str, str], partitions: tuple[int, ...], amounts: dict[str, int]) -> None:
    """The nearest association counts, after the job's QOS, after that of the partition; of several partitions all."""
    counted = CountedPools(EACH)
    job = counted.assign(Job("w!1", 0, 0.0, 9.0, 2, extras=extras, partitions=partitions))[0]
    found = {pool.name: amount for pool, amount in zip(counted.pools, job.pools, strict=False) if amount}
    assert found == amounts


@pytest.mark.parametrize(
    ("enforce", "are"),
    [((), True), (("limits",), True), (("Safe", "qos"), True), (("associations", "qos"), False), (("none",), False)],
)
def test_limits_that_no_site_enforces(enforce: tuple[str, ...], are: bool) -> None:
    """As in Slurm, limits are enforced where AccountingStorageEnforce says so, or is unknown."""
    limits = Limits(group_jobs=1, job_tres={"node": 2})
    one = Site(qos=(Qos("normal", limits=limits),), scheduler=Scheduler(enforce=enforce))
    assert held(CountedPools(one)) == ({"jobs of QOS normal": 1} if are else {})
    assert (CountedPools(one).assign(Job("w!1", 0, 0.0, 9.0, 3))[1] is not None) is are


def test_users_have_pools_of_their_own() -> None:
    """Ann has one in each account; carl takes over the pool of her first one when her job there has ended.

    There are as many pools as users had jobs at a time, at most twice.
    """
    alive = {"w!1", "w!2"}
    counted = CountedPools(EACH, alive=alive.__contains__)

    def place(name: str, user: str, account: str) -> int:
        job = counted.assign(Job(name, 0, 0.0, 9.0, 1, extras={"user": user, "account": account}, partitions=(0,)))[0]
        return job.pools.index(1)

    assert [place("w!1", "ann", "lab"), place("w!2", "ann", "field"), place("w!3", "ann", "lab")] == [0, 1, 0]
    alive.remove("w!1")
    assert place("w!4", "carl", "lab") == 0
    counted.goes_on("w!4", "w!4#2")
    alive.add("w!4#2")
    assert [place("w!5", "dora", "lab"), len(counted.pools)] == [2, 4]
    assert {(pool.name, pool.count) for pool in counted.pools} == {("jobs of a user of account all", 3)}


def test_no_more_jobs_than_may_wait() -> None:
    """Ann may have two jobs that wait or run; a third is rejected, but accepted once one of them has ended."""
    alive = {"w!1", "w!2"}
    site = Site(qos=(Qos("normal", limits=Limits(user_submitted=2)),))
    counted = CountedPools(site, alive=alive.__contains__)

    def reason(name: str, user: str = "ann") -> str | None:
        return counted.assign(Job(name, 0, 0.0, 9.0, 1, extras={"user": user}))[1]

    assert [reason("w!1"), reason("w!2"), reason("w!3", "bob")] == [None, None, None]
    assert reason("w!4") == "it would be one more than 2 waiting and running jobs of a user of QOS normal"
    alive.remove("w!1")
    assert reason("w!5") is None


@pytest.mark.parametrize(
    ("nodes", "walltime_s", "qos", "reason"),
    [
        (5, 9.0, "", "5 nodes > 4, the most of a job of account lab"),
        (1, 101.0, "", "walltime 101 s > 100 s, the longest of a job of account lab"),
        (1, 9.0, "debug", "1 nodes < 2, the fewest of a job of QOS debug"),
    ],
)
def test_limits_of_a_job(nodes: int, walltime_s: float, qos: str, reason: str) -> None:
    """A job that exceeds one is rejected with the limit and its owner."""
    job = Job("w!1", 0, 0.0, walltime_s, nodes, extras={"user": "ann", "qos": qos})
    assert CountedPools(LIMITED).assign(job)[1] == reason


@pytest.mark.parametrize(
    ("walltime_s", "default", "kept"), [(math.inf, False, 100.0), (500.0, True, 100.0), (9.0, True, 9.0)]
)
def test_a_job_without_a_walltime_has_that_of_its_limit(walltime_s: float, default: bool, kept: float) -> None:
    """MaxWall was no limit of a job that stated no walltime, or rejected it for its partition's default."""
    job = Job("w!1", 0, 0.0, walltime_s, 1, extras={"user": "ann"}, default_walltime=default)
    assigned, reason = CountedPools(LIMITED).assign(job)
    assert (assigned.walltime_s, assigned.default_walltime, reason) == (kept, True, None)


def test_a_job_starts_beside_an_overdrawn_limit_that_it_does_not_count_to() -> None:
    """The lab may run no job, but ann's QOS has a limit of its own: her job starts, the lab has -1 left of 0.

    Eve's job, of no account, counts only to its QOS, and starts at 1 s; it was refused for the lab's limit.
    """
    site = Site(
        associations=(Association("lab", limits=Limits(group_jobs=0)), Association("lab", "ann", default=True)),
        qos=(Qos("normal", limits=Limits(group_jobs=3)),),
    )
    jobs = [{"subtime": n, "user": user} for n, user in enumerate(("ann", "eve"))]
    data = delays(8, jobs, walltime=11, seconds=10)
    lines = play(session_spec("easy", settings={"site": site_text(site)}), data, check=True)[0]
    assert [round(now_s) for now_s, what, *_ in lines if what == "started"] == [0, 1]
