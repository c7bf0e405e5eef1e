"""Multifactor priority: each factor in a case worked out by hand, sums, ties, and assumptions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from spillway.core import Placement
from spillway.schedulers.core.partitions import Partitions, node_sets
from spillway.schedulers.model.explanations import PassNotes, Priority
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.machine import Machine, simple_machine
from spillway.schedulers.model.site import (
    Association,
    License,
    Partition,
    Qos,
    Site,
    Weights,
)
from spillway.schedulers.policykit.history import FinishedJob, FinishedJobs, Usage
from spillway.schedulers.policykit.ordering import ordered
from spillway.schedulers.policykit.slurm.priority import priorities_of
from spillway.schedulers.policykit.view import View
from tests.schedulers.policies.scenes import GB, job, view

DAY_S = 86_400.0
MACHINE = simple_machine(10, 2, 10 * GB)


def with_fields(one: Job, **extras: Any) -> Job:
    """A job with further fields."""
    return replaced(one, extras=extras)


def seen(site: Site, queue: Sequence[Job], now_s: float = 0.0, **more: Any) -> View:
    """A policy's view at a site."""
    found = view(at_site(site), queue, now_s, **more)
    found.site = site
    return found


def at_site(site: Site) -> Machine:
    """The machine with the site's partitions."""
    return replace(MACHINE, partitions=node_sets(site, 10))


def admitted(site: Site, one: Job) -> Job:
    """A job with the partitions that it may use."""
    found, reason = Partitions(site, at_site(site), Placement()).assign(one)
    assert reason is None
    return found


def explained(site: Site, one: Job, now_s: float = 0.0) -> Priority:
    """A waiting job's priority."""
    return dict(priorities_of(seen(site, [one], now_s)).explained([one]))[one.id]


def of(site: Site, queue: Sequence[Job], now_s: float = 0.0, **more: Any) -> list[int]:
    """Priorities of waiting jobs."""
    found = dict(priorities_of(seen(site, queue, now_s, **more)).explained(queue))
    return [found[each_job.id].priority for each_job in queue]


def test_without_a_site_jobs_come_as_they_were_submitted() -> None:
    """All weights are 0, and all priorities 1; equals come by the time of submission, then by number."""
    queue = [job(0, 1, 60.0, submit_s=20.0), job(1, 9, 60.0, submit_s=10.0), job(2, 1, 60.0, submit_s=10.0)]
    found = view(MACHINE, queue, 1e6)
    assert [each_job.number for each_job in ordered(found, queue, "multifactor")] == [1, 2, 0]
    assert {one.priority for _, one in priorities_of(found).explained(queue)} == {1}


def test_age_is_a_share_of_the_longest_and_grows_once_in_a_period() -> None:
    """Submitted at 100 s, longest age 1,000 s, weight 1,000, a period of 300 s. At 250 s the last period began at 0 s:
    age 0. At 599 s it began at 300 s: the job was 200 s old, 200. At 600 s: 500. From 1,100 s on 1,000, and no more.
    """
    site = Site(weights=Weights(age=1000, longest_age_s=1000.0))
    one = job(0, 1, 60.0, submit_s=100.0)
    ages = [explained(site, one, now_s).age for now_s in (250.0, 599.0, 600.0, 1200.0, 9000.0)]
    assert ages == [0.0, 200.0, 500.0, 1000.0, 1000.0]


def test_age_stands_still_while_other_jobs_hold_a_job() -> None:
    """Its wait for them does not count: it was submitted at 0 s, and held until 500 s; the first pass after that was at
    510 s, and age counts from then on.
    """
    site, notebook = Site(weights=Weights(age=1000, longest_age_s=1000.0)), dict[str, Any]()
    one = replaced(job(0, 1, 60.0, submit_s=500.0), held_s=500.0)
    assert of(site, [one], 510.0, notebook=notebook) == [1]
    assert of(site, [one], 600.0, notebook=notebook) == [90]


def test_age_counts_in_whole_seconds() -> None:
    """Submitted at 100.9 s, calculated at 200.1 s, 150 s after a first calculation at 50.1 s: 100 s old."""
    weights = Weights(age=1000, longest_age_s=1000.0, period_s=150.0, phase_s=50.1)
    assert explained(Site(weights=weights), job(0, 1, 60.0, submit_s=100.9), 200.2).age == 100.0


def test_a_flag_lets_age_grow_while_other_jobs_hold_a_job() -> None:
    """ACCRUE_ALWAYS: 600 s have passed since its submission. Of equals it comes before one that came at 100 s."""
    site = Site(weights=Weights(age=1000, longest_age_s=1000.0, flags=("ACCRUE_ALWAYS",)))
    one = replaced(job(1, 1, 60.0, submit_s=500.0), held_s=500.0)
    assert explained(site, one, 600.0).age == 600.0
    queue = [job(0, 1, 60.0, submit_s=100.0), one]
    assert ordered(seen(Site(), queue, 600.0), queue, "multifactor") == [one, queue[0]]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, 400.0),
        ({"favor_small": True}, 600.0),
        ({"small_relative_to_time": True}, 100.0),
        ({"small_relative_to_time": True, "favor_small": True}, 900.0),
    ],
)
def test_size_is_nodes_over_all_nodes(more: Mapping[str, bool], expected: float) -> None:
    """4 of 10 nodes: 0.4; small jobs favoured: 0.6; relative to a walltime of 4 minutes (200 s, begun minutes count):
    0.1. The weight is 1,000.
    """
    site = Site(weights=Weights(size=1000, **more))
    assert explained(site, job(0, 4, 200.0)).size == pytest.approx(expected)


def test_size_relative_to_no_walltime_is_nothing() -> None:
    """A job of any size may take for ever."""
    site = Site(weights=Weights(size=1000, small_relative_to_time=True))
    assert explained(site, job(0, 10, math.inf)).size == 0.0


PARTITIONS = (
    Partition("batch", factor=2, default=True),
    Partition("long", nodes="0-3", factor=1),
    Partition("debug", nodes="8-9", tier=5, factor=4),
)


@pytest.mark.parametrize(
    ("stated", "expected"), [(None, 500.0), ("long", 250.0), ("debug", 1000.0), ("long,batch", 500.0)]
)
def test_partitions_are_relative_to_the_largest_factor(stated: str | None, expected: float) -> None:
    """Factors 2, 1 and 4 of at most 4; without one the default partition counts, of several the best."""
    one = with_fields(job(0, 1, 60.0), **({} if stated is None else {"partition": stated}))
    site = Site(partitions=PARTITIONS, weights=Weights(partition=1000))
    assert explained(site, admitted(site, one)).partition == expected


def test_a_higher_tier_comes_first_whatever_the_priority() -> None:
    """The job in debug has the priority 1, the others more."""
    site = Site(partitions=PARTITIONS, weights=Weights(size=1000))
    low = with_fields(job(2, 1, 60.0), partition="debug", nice=5000)
    queue = [admitted(site, wanted) for wanted in (job(0, 1, 60.0), job(1, 2, 60.0), low)]
    assert of(site, queue) == [100, 200, 1]
    assert [each_job.number for each_job in ordered(seen(site, queue), queue, "multifactor")] == [2, 1, 0]


def test_flags_leave_factors_as_they_are() -> None:
    """NO_NORMAL_PART: 4 times the weight; NO_NORMAL_ALL: QOS and associations, too. Unsupported flags are reported."""
    site = Site(
        partitions=PARTITIONS,
        qos=(Qos("normal", 3), Qos("high", 20)),
        weights=Weights(partition=10, qos=10, flags=("NO_NORMAL_PART", "MAX_TRES")),
    )
    found = explained(site, admitted(site, with_fields(job(0, 1, 60.0), partition="debug")))
    assert (found.partition, found.qos, found.assumed) == (40.0, 1.5, "not played: MAX_TRES")
    every = msgspec.structs.replace(site, weights=Weights(partition=10, qos=10, flags=("NO_NORMAL_ALL",)))
    assert explained(every, job(0, 1, 60.0)).qos == 30.0


def test_the_default_qos_of_an_association() -> None:
    """ann's is high in account a; bob has no default, and gets ``normal``."""
    users = (Association("a", "ann", default_qos="high"), Association("a", "bob"))
    site = Site(
        associations=(Association("a"), *users), qos=(Qos("normal", 5), Qos("high", 20)), weights=Weights(qos=1000)
    )
    queue = [with_fields(job(number, 1, 60.0), user=user) for number, user in enumerate(("ann", "bob"))]
    assert [explained(site, each_job).qos for each_job in queue] == [1000.0, 250.0]


@pytest.mark.parametrize(("stated", "expected"), [("high", 1000.0), ("normal", 250.0), ("", 250.0), ("none", 0.0)])
def test_qualities_of_service_are_relative_to_the_largest(stated: str, expected: float) -> None:
    """Priorities 5 and 20; a job without one is in ``normal``."""
    site = Site(qos=(Qos("normal", 5), Qos("high", 20)), weights=Weights(qos=1000))
    assert explained(site, with_fields(job(0, 1, 60.0), qos=stated)).qos == expected


ACCOUNTS = (Association("a"), Association("b"))
USERS = (Association("a", "ann", priority=30), Association("b", "ann", priority=60), Association("b", "bob", shares=2))


@pytest.mark.parametrize(("fields", "expected"), [({}, 500.0), ({"account": "b"}, 1000.0), ({"account": "c"}, 0.0)])
def test_associations_are_relative_to_the_largest_priority(fields: Mapping[str, str], expected: float) -> None:
    """ann has 30 in account a, which is the first that she is in, and 60 in b; no priority in c."""
    site = Site(associations=(*ACCOUNTS, *USERS), weights=Weights(association=1000))
    found = explained(site, with_fields(job(0, 1, 60.0), user="ann", **fields))
    assert found.association == expected
    assert ("user 'ann' has no association in account 'c'" in found.assumed) == (expected == 0.0)


def test_the_default_account_counts_where_a_job_states_none() -> None:
    """b is ann's, though a is listed first."""
    default = msgspec.structs.replace(USERS[1], default=True)
    site = Site(associations=(*ACCOUNTS, USERS[0], default), weights=Weights(association=1000))
    assert explained(site, with_fields(job(0, 1, 60.0), user="ann")).association == 1000.0


def test_resources_are_relative_to_the_partition_or_the_whole_system() -> None:
    """2 nodes of the 4 of its partition, 500; 2 x 3 GB of 20 GB of burst buffers, 300; one of 4 licenses, 25; GPUs are
    not played, and a note says so.
    """
    weights = Weights(tres={"node": 1000, "bb/cray": 1000, "license/ansys": 100, "gres/gpu": 7})
    site = Site(partitions=PARTITIONS, licenses=(License("ansys", 4),), weights=weights)
    one = replaced(with_fields(job(0, 2, 60.0, 3.0), partition="long"), pools=(1,))
    found = explained(site, admitted(site, one))
    assert found.tres == 825.0
    assert found.assumed == "not played, with TRES factors of 0: gres/gpu"


def test_nice_is_subtracted_and_the_site_factor_added() -> None:
    """Of 500 for its size 120 are subtracted, -30 add 30; the site adds 1,000. The sum ends at 1 and at 2^32 - 1."""
    site = Site(weights=Weights(size=1000))
    fields: list[dict[str, Any]] = [{"nice": 120}, {"nice": -30}, {"site_factor": 1000}, {"nice": 10**9}, {"nice": "7"}]
    queue = [with_fields(job(number, 5, 60.0), **one) for number, one in enumerate(fields)]
    assert of(site, queue) == [380, 530, 1500, 1, 500]
    large = Site(weights=Weights(size=2**32 - 1, qos=2**32 - 1), qos=(Qos("normal", 1),))
    assert of(large, [job(0, 10, 60.0)]) == [2**32 - 1]


def test_the_sum_is_rounded_down_once() -> None:
    """0.3 x 11 + 0.3 x 12 are 3.3 and 3.6; the sum is 6.9, so 6."""
    site = Site(weights=Weights(size=11, tres={"node": 12}))
    assert of(site, [job(0, 3, 60.0)]) == [6]


# ---------------------------------------------------------------------------------------------- fair share


def ended(*jobs: tuple[str, float, float, int], account: str = "", qos: str = "") -> FinishedJobs:
    """Jobs that have ended: user, start, end (s), nodes."""
    return FinishedJobs([
        FinishedJob(
            f"w1!{number}", user, 0.0, start_s, end_s, 1e6, nodes, "COMPLETED_SUCCESSFULLY",
            Usage(nodes * (end_s - start_s)), account, qos,
        )
        for number, (user, start_s, end_s, nodes) in enumerate(jobs)
    ])  # fmt: skip


def test_a_job_has_a_priority_in_each_of_its_partitions() -> None:
    """Weights: partition 400, nodes 150. Four of the 8 nodes of a, factor 10 of at most 40, are 100 + 75; of the 5 of
    b, factor 40 and the higher tier, 400 + 120. A job in a alone with 8 nodes has 100 + 150 there, and comes before it.
    """
    weights = Weights(partition=400, tres={"node": 150})
    site = Site(
        partitions=(Partition("a", nodes="0-7", factor=10), Partition("b", nodes="5-9", tier=2, factor=40)),
        weights=weights,
    )
    both, wide = with_fields(job(0, 4, 60.0), partition="a,b"), with_fields(job(1, 8, 60.0), partition="a")
    queue = [admitted(site, both), admitted(site, wide)]
    found, order = priorities_of(seen(site, queue)).in_partitions(queue, np.array([0, 1]), np.array([0, 0, 1]))
    assert (found.tolist(), order.tolist()) == ([175, 520, 250], [1, 2, 0])


def shares(site: Site, queue: Sequence[Job], past: FinishedJobs, now_s: float) -> list[float]:
    """Terms of fair share of waiting jobs."""
    found = seen(site, queue, now_s)
    found.finished = past
    terms = dict(priorities_of(found).explained(queue))
    return [terms[each_job.id].fairshare for each_job in queue]


def queue_of(*users: str) -> list[Job]:
    """A waiting job of each user."""
    return [with_fields(job(number, 1, 60.0), user=user) for number, user in enumerate(users)]


def test_terms_are_added_in_slurms_order() -> None:
    """193 s of 600 s are 321.66..., a sixth of 2000 is 333.33..., 655 together; with 1250 for the size 1905. The size
    first, then the age, then the share were 1904.99..., and one less.
    """
    weights = Weights(age=1000, fairshare=2000, size=1250, longest_age_s=600.0, period_s=193.0)
    queue = [with_fields(job(number, 10, 60.0), user=f"u{number}") for number in range(6)]
    found = seen(Site(weights=weights), queue, 193.0)
    found.finished = ended(*((f"u{number}", 0.0, 100.0, 9 - number) for number in range(6)))
    assert math.floor(1250 + 1000 * (193 / 600) + 2000 * (1 / 6)) == 1904
    assert priorities_of(found).of(queue).tolist() == [1905, 2238, 2571, 2905, 3238, 3571]


def test_without_associations_users_are_equal_siblings() -> None:
    """ann has had 100 node-seconds, bob 300, cyd nothing: 2/3, 1/3, 1. A note says so."""
    site, past = Site(weights=Weights(fairshare=300)), ended(("ann", 0, 100, 1), ("bob", 0, 100, 3))
    queue = queue_of("ann", "bob", "cyd")
    assert shares(site, queue, past, 300.0) == pytest.approx([200.0, 100.0, 300.0])
    assert explained(site, queue[0]).assumed == "the site has no associations: all users are equal siblings"


def test_associations_share_as_the_site_says() -> None:
    """In account b ann has 1 share and bob 2; both have had 100 node-seconds, so LF is 2/3 and 4/3; in a ann has had
    nothing, and a has had nothing: 3/3.
    """
    site = Site(associations=(*ACCOUNTS, *USERS), weights=Weights(fairshare=300))
    past = ended(("ann", 0, 100, 1), ("bob", 0, 100, 1), account="b")
    queue = [with_fields(each_job, user=each_job.user, account="b") for each_job in queue_of("ann", "bob")]
    assert shares(site, [*queue, *queue_of("ann")][:2], past, 300.0) == pytest.approx([100.0, 200.0])
    assert shares(site, queue_of("ann", "eve"), past, 300.0) == pytest.approx([300.0, 0.0])


def test_usage_counts_by_quality_of_service_and_as_billed() -> None:
    """ann's 100 node-seconds count a tenth; bob has had 20 and comes last. Billed by buffers alone, both have had
    nothing, and tie.
    """
    site = Site(qos=(Qos("normal"), Qos("low", usage_factor=0.1)), weights=Weights(fairshare=300))
    low, normal = ended(("ann", 0, 100, 1), qos="low"), ended(("bob", 0, 20, 1))
    past, queue = FinishedJobs([*normal, *low]), queue_of("ann", "bob")
    assert shares(site, queue, past, 300.0) == pytest.approx([300.0, 150.0])
    billed = msgspec.structs.replace(site, weights=Weights(fairshare=300, billing={"bb": 1.0}))
    assert shares(billed, queue, past, 300.0) == pytest.approx([300.0, 300.0])


# ---------------------------------------------------------------------------------------------- around it


def test_what_stands_for_a_job_has_the_priority_of_the_job() -> None:
    """A life of burst buffers shows a job without its buffer to the policy; the buffer counts all the same."""
    site = Site(weights=Weights(tres={"bb": 1000}))
    real = job(0, 2, 60.0, 5.0)
    stand_in = replaced(real, bb_bytes=0)
    found = priorities_of(seen(site, [real]).showing([stand_in], {}))
    assert dict(found.explained([stand_in]))[real.id].priority == 500


def test_notes_have_the_terms() -> None:
    """An explained pass writes the terms of each job's priority; they add up."""
    site = Site(weights=Weights(age=1000, size=100))
    queue, notes = [job(0, 1, 60.0), job(1, 10, 60.0)], PassNotes()
    ordered(seen(site, queue, DAY_S, notes=notes), queue, "multifactor")
    assert notes.priorities["w0!1"] == Priority(242, 0.0, pytest.approx(1000 / 7), 0.0, 0.0, 100.0, 0.0, 0.0, 0.0, 0.0)
    assert notes.priorities["w0!0"].priority == 152
