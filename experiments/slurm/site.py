"""A site for a live Slurm: partitions, accounts with shares, users, QOS, licenses, a maintenance, weights of priority.

The controller receives it as lines of ``slurm.conf``, and by calls of ``sacctmgr`` and ``scontrol``. The simulator does
not receive it: it plays the site that the live Slurm prints, read by ``spillway site import``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import msgspec


class Partition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nodes ``first`` to ``last`` (from 1), and Slurm's ``PriorityTier`` and ``PriorityJobFactor``."""

    name: str
    first: int
    last: int
    tier: int = 1
    factor: int = 1


class User(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A user of one account, with shares there; its number on the system is 2000 and its place."""

    name: str
    account: str
    shares: int = 1


class Site(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of a live Slurm beyond one partition.

    Attributes
    ----------
    partitions
        The first is the default.
    accounts
        Shares of each account; all are below root.
    users
        Each in one account.
    qos
        Priority of each quality of service beside ``normal``, which has 0.
    licenses
        Number of each.
    weights
        Weights of priority, by Slurm's names: ``Age``, ``Fairshare``, ``JobSize``, ``Partition``, ``QOS``.
    tres_weights
        ``PriorityWeightTRES``.
    half_life_min, period_min, longest_age_min
        ``PriorityDecayHalfLife``, ``PriorityCalcPeriod``, ``PriorityMaxAge``, in minutes, Slurm's shortest unit.
    maintenance_after_min, maintenance_min, maintenance_nodes
        A reservation with the flag ``MAINT``: begin after the first submission and length, in minutes, and number of
        nodes, the last ones; 0 minutes: no reservation.
    """

    partitions: tuple[Partition, ...]
    accounts: dict[str, int]
    users: tuple[User, ...]
    qos: dict[str, int]
    licenses: dict[str, int]
    weights: dict[str, int]
    tres_weights: str
    half_life_min: int
    period_min: int
    longest_age_min: int
    maintenance_after_min: int
    maintenance_min: int
    maintenance_nodes: int


FIRST_USER = 2000
"""Number of the first user on the system inside."""


def usual(nodes: int) -> Site:
    """The site of ``validate slurm --with-site``: all kinds of priority terms matter within minutes."""
    return Site(
        partitions=(
            Partition(name="batch", first=1, last=nodes - nodes // 4, tier=1, factor=10),
            Partition(name="short", first=nodes // 2 + 1, last=nodes, tier=2, factor=40),
        ),
        accounts={"physics": 5, "biology": 2, "teaching": 1},
        users=(
            User(name="ann", account="physics", shares=3),
            User(name="ben", account="physics", shares=1),
            User(name="cleo", account="biology", shares=1),
            User(name="dan", account="biology", shares=2),
            User(name="eve", account="teaching", shares=1),
        ),
        qos={"high": 40, "urgent": 100},
        licenses={"matlab": 4},
        weights={"Age": 1000, "Fairshare": 2000, "JobSize": 300, "Partition": 400, "QOS": 700},
        tres_weights="node=150,license/matlab=250",
        half_life_min=2,
        period_min=1,
        longest_age_min=10,
        maintenance_after_min=3,
        maintenance_min=1,
        maintenance_nodes=max(1, nodes // 8),
    )


def slurm_conf_lines(site: Site) -> str:
    """Lines of ``slurm.conf`` in place of those of a Slurm without a site."""
    weights = "\n".join(f"PriorityWeight{name}={weight}" for name, weight in site.weights.items())
    licenses = ",".join(f"{name}:{count}" for name, count in site.licenses.items())
    partitions = "\n".join(
        f"PartitionName={partition.name} Nodes=n[{partition.first}-{partition.last}] Default={'NO' if place else 'YES'}"
        f" MaxTime=INFINITE State=UP PriorityTier={partition.tier} PriorityJobFactor={partition.factor}"
        for place, partition in enumerate(site.partitions)
    )
    tres = ",".join(f"license/{name}" for name in site.licenses)
    return f"""PriorityType=priority/multifactor
PriorityDecayHalfLife={site.half_life_min}
PriorityCalcPeriod={site.period_min}
PriorityMaxAge={site.longest_age_min}
PriorityWeightTRES={site.tres_weights}
{weights}
Licenses={licenses}
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={_DATABASE_PORT}
AccountingStorageTRES={tres}
AccountingStorageEnforce=associations,limits,qos
{partitions}
"""


_DATABASE_PORT = 26816


def slurmdbd_conf(host: str, folder: str) -> str:
    """Text of ``slurmdbd.conf``: MariaDB is reached through a socket in a folder, without a password."""
    return f"""AuthType=auth/none
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={_DATABASE_PORT}
SlurmUser=root
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
PluginDir=/usr/lib/x86_64-linux-gnu/slurm-wlm
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
"""


MARIADB_CONF = """[mariadbd]
user=root
datadir={folder}/database
socket=/run/mysqld/mysqld.sock
skip-networking
skip-grant-tables
innodb-buffer-pool-size=64M
"""


def associations(site: Site) -> Iterator[list[str]]:
    """Arguments of ``sacctmgr`` that make QOS, accounts and users, in order."""
    for name, priority in site.qos.items():
        yield ["add", "qos", name, f"Priority={priority}"]
    names = ",".join(["normal", *site.qos])
    for name, shares in site.accounts.items():
        yield ["add", "account", name, f"Fairshare={shares}", f"QOS={names}"]
    for user in site.users:
        yield ["add", "user", user.name, f"Account={user.account}", f"Fairshare={user.shares}"]


def reservation(site: Site, begin_s: int, nodes: int) -> list[str]:
    """Arguments of ``scontrol`` that make the maintenance, its begin in s since the epoch; empty without one."""
    if not site.maintenance_min:
        return []
    from_node = nodes - site.maintenance_nodes + 1
    return [
        *("create", "reservation", "ReservationName=maintenance", f"StartTime={_clock(begin_s)}"),
        *(f"Duration={site.maintenance_min}", "Users=root", "Flags=MAINT", f"Nodes=n[{from_node}-{nodes}]"),
    ]


def _clock(time_s: int) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")


SHOWN: Mapping[str, list[str]] = {
    "partitions.txt": ["scontrol", "show", "partition", "-o"],
    "nodes.txt": ["scontrol", "show", "node", "-o"],
    "reservations.txt": ["scontrol", "show", "reservation", "-o"],
    "licenses.txt": ["scontrol", "show", "lic", "-o"],
    "assoc.txt": [
        *("sacctmgr", "show", "assoc", "-P"),
        "format=cluster,account,user,parentname,share,priority,grpjobs,grptres,maxjobs,maxwall,qos,defaultqos",
    ],
    "users.txt": ["sacctmgr", "show", "user", "-P"],
    "qos.txt": ["sacctmgr", "show", "qos", "-P"],
}
"""Commands that print the site of a Slurm, as in ``docs/site.md``, by the names of the files."""

OF_THE_MACHINE = re.compile(r" (?:OS=.*?(?= RealMemory=)|(?:BootTime|CPULoad|FreeMem)=\S+)")
"""Fields of ``scontrol show node`` on the machine of all nodes: left out of recordings."""
