"""Partitions: which nodes a job may use, and the reasons for which it is rejected."""

import dataclasses
import math
from typing import Any

import msgspec
import pytest

from spillway.base.errors import OptionError
from spillway.core import Placement
from spillway.schedulers.core.partitions import Partitions, node_sets
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.machine import Link, Machine, simple_machine
from spillway.schedulers.model.site import Association, Partition, Site

SITE = Site(
    "ours",
    partitions=(
        Partition("short", "0-3", longest_s=3600.0, default_s=600.0, default=True),
        Partition("wide", "2-7", fewest_nodes=2, most_nodes=5, longest_s=86400.0),
        Partition("closed", "0-7", accepting=False),
        Partition("all"),
    ),
)


def machine(site: Site = SITE, nodes: int = 8, storages: int = 0, size: int = 0) -> Machine:
    """A machine with the site's partitions."""
    return _with(simple_machine(nodes, storages, size), site)


def _with(plain: Machine, site: Site) -> Machine:
    return dataclasses.replace(plain, partitions=node_sets(site, len(plain.nodes)))


def assigned(partition: Any = None, nodes: int = 1, walltime_s: float = 60.0, bb: int = 0) -> tuple[Job, str | None]:
    """The job after admission, and the reason for its rejection."""
    extras = {} if partition is None else {"partition": partition}
    job = Job("w!1", 0, 0.0, walltime_s, nodes, bb, extras=extras)
    return Partitions(SITE, machine(storages=1, size=10), Placement()).assign(job)


@pytest.mark.parametrize(
    ("partition", "nodes", "walltime_s", "places"),
    [
        (None, 1, 60.0, (0,)),  # the default one
        ("wide", 3, 60.0, (1,)),
        ("wide,short", 3, 60.0, (1, 0)),  # in the job's order
        ("wide, all", 8, 60.0, (3,)),  # too many nodes for the first
        ("short,wide", 2, 7200.0, (1,)),  # too long for the first
        ("short,closed,short", 2, 60.0, (0,)),
    ],
)
def test_partitions_that_take_a_job(partition: Any, nodes: int, walltime_s: float, places: tuple[int, ...]) -> None:
    """Those that it names, without those with a limit that it exceeds."""
    job, reason = assigned(partition, nodes, walltime_s)
    assert (job.partitions, reason) == (places, None)


@pytest.mark.parametrize(("partition", "nodes", "walltime_s", "reason"), [
    ("gpu", 1, 60.0, "partition 'gpu' is unknown; the site has short, wide, closed, all"),
    ("closed", 1, 60.0, "partition closed: it takes no jobs"),
    ("wide", 6, 60.0, "partition wide: 6 nodes > 5, the most of a job there"),
    ("wide", 1, 60.0, "partition wide: 1 nodes < 2, the fewest of a job there"),
    ("short", 5, 60.0, "partition short: 5 nodes > 4"),
    ("short", 1, 3601.0, "partition short: walltime 3601 s > 3600 s, the longest there"),
    ("short,wide", 1, 86401.0, "partition short: walltime 86401 s > 3600 s, the longest there; partition wide: 1"),
    ([1], 1, 60.0, "partition '[1]' is unknown"),
])  # fmt: skip
def test_reasons(partition: Any, nodes: int, walltime_s: float, reason: str) -> None:
    """Each names the partition and the limit."""
    job, found = assigned(partition, nodes, walltime_s)
    assert found is not None
    assert found.startswith(reason)
    assert job.partitions == ()


def test_walltimes_of_jobs_that_state_none() -> None:
    """The default of the partition, else its longest; of several partitions the longest of these."""
    assert assigned("short", walltime_s=math.inf)[0].walltime_s == 600.0
    assert assigned("wide", 2, walltime_s=math.inf)[0].walltime_s == 86400.0
    assert assigned("short,wide", 2, walltime_s=math.inf)[0].walltime_s == 86400.0
    assert assigned("all", walltime_s=math.inf)[0].walltime_s == math.inf


def test_a_job_that_names_none_where_none_is_the_default() -> None:
    """It is rejected: the site has no default partition."""
    one = Site(partitions=(Partition("p"),))
    job, reason = Partitions(one, _with(simple_machine(2), one), Placement()).assign(Job("w!1", 0, 0, 9, 1))
    assert reason == "it names no partition (field 'partition'), and the site has no default partition"
    assert job.partitions == ()


def test_nodes_that_can_never_serve_a_buffer() -> None:
    """A partition's own links may carry less than the machine as a whole."""
    links = (Link("slow", 1, -1), Link("fast", 100, -1))
    one = Site(partitions=(Partition("slow", "0-1", default=True), Partition("fast", "2-3")))
    plain = _with(simple_machine(4, links=links, node_link=(0, 0, 1, 1)), one)
    job = Job("w!1", 0, 0.0, 60.0, 2, io_rate=10)
    _, reason = Partitions(one, plain, Placement()).assign(job)
    assert reason == (
        "partition slow: its 2 nodes cannot serve the job's burst buffer and bandwidth, even when all are free"
    )
    fast = replaced(job, extras={"partition": "fast"})
    assert Partitions(one, plain, Placement()).assign(fast)[0].partitions == (1,)


def test_sites_that_do_not_go_with_the_platform() -> None:
    """The number of nodes must be the site's, and every partition's nodes must be there."""
    with pytest.raises(OptionError, match="the site 'ours' has 9 nodes and the platform 8: choose a platform with 9"):
        node_sets(msgspec.structs.replace(SITE, nodes=9), 8)
    with pytest.raises(OptionError, match="partition 'wide' has the nodes '2-7', the platform's are 0 to 5"):
        node_sets(SITE, 6)


@pytest.mark.parametrize(
    ("account", "qos", "reason"),
    [
        ("ours", "normal", None),
        ("theirs", "normal", "partition p: it takes only jobs of the account ours, not of 'theirs'"),
        ("ours", "scavenge", "partition p: it takes no jobs of the QOS 'scavenge'"),
    ],
)
def test_accounts_and_qualities_of_service(account: str, qos: str, reason: str | None) -> None:
    """Only some accounts may use the partition, and all but one QOS."""
    one = Site(partitions=(Partition("p", default=True, accounts=("ours",), not_qos=("scavenge",)),))
    job = Job("w!1", 0, 0.0, 9.0, 1, extras={"account": account, "qos": qos})
    assert Partitions(one, _with(simple_machine(2), one), Placement()).assign(job)[1] == reason


@pytest.mark.parametrize(("partition", "stated", "reason"), [
    ("few", {"user": "ann"}, None),
    ("few", {"user": "bob"}, None),
    ("few", {"user": "bob", "account": "ours"}, None),
    ("few", {"user": "eve"}, "it takes only jobs of the account ours, not of 'theirs'"),
    ("most", {"user": "ann"}, "it takes no jobs of the account 'ours'"),
    ("most", {"user": "bob"}, "it takes no jobs of the account 'team'"),
    ("most", {"user": "eve"}, None),
    ("fast", {"user": "ann"}, "it takes only jobs of the QOS quick, not of 'normal'"),
    ("fast", {"user": "bob"}, None),
    ("both", {"user": "ann"}, None),
])  # fmt: skip
def test_jobs_that_state_neither_account_nor_qos(partition: str, stated: dict[str, str], reason: str | None) -> None:
    """They are of their user's default account and QOS, and of the accounts above: Ann of ours, Bob of a team below it
    with the QOS quick, Eve of theirs. Where a partition has a list of allowed ones, denied ones are ignored, as in
    Slurm."""
    one = Site(
        partitions=(
            Partition("few", accounts=("ours",)),
            Partition("most", not_accounts=("ours",)),
            Partition("fast", only_qos=("quick",)),
            Partition("both", accounts=("ours",), not_accounts=("ours",)),
        ),
        associations=(
            *(Association("ours"), Association("team", parent="ours"), Association("theirs")),
            *(
                Association("ours", "ann"),
                Association("team", "bob", default_qos="quick"),
                Association("theirs", "eve"),
            ),
        ),
    )
    job = Job("w!1", 0, 0.0, 9.0, 1, extras={**stated, "partition": partition})
    found = Partitions(one, _with(simple_machine(2), one), Placement()).assign(job)[1]
    assert found == (None if reason is None else f"partition {partition}: {reason}")
