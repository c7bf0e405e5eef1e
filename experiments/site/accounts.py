"""Associations, QOS and users from ``sacctmgr show``.

References
----------
SchedMD, manual page *sacctmgr(1)*; *Resource Limits*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from spillway.base.errors import InputError
from spillway.base.units import many
from spillway.experiments.site.pieces import Pieces
from spillway.experiments.site.source import Entry, Fields, bare_seconds, limit, names, number, preempts, rows, seconds
from spillway.schedulers.model.site import Association, Qos
from spillway.schedulers.model.site_parts import Limits
from spillway.workloads.logs.slurm_units import amounts_of, count_of

ROOT = "root"
_PARENT = ("parent", "2147483647")
_LIMITS: Fields = {
    "group_jobs": ("GrpJobs", limit),
    "group_submitted": ("GrpSubmitJobs|GrpSubmit", limit),
    "group_tres": ("GrpTRES", amounts_of),
    "user_jobs": ("MaxJobsPU|MaxJobs", limit),
    "user_submitted": ("MaxSubmitPU|MaxSubmit", limit),
    "user_tres": ("MaxTRESPU", amounts_of),
    "account_jobs": ("MaxJobsPA", limit),
    "account_submitted": ("MaxSubmitPA", limit),
    "account_tres": ("MaxTRESPA", amounts_of),
    "job_tres": ("MaxTRESPerJob|MaxTRES", amounts_of),
    "job_least_tres": ("MinTRES", amounts_of),
    "job_longest_s": ("MaxWall", seconds),
}
_ASSOCIATION: Fields = {
    "account": ("Account", str),
    "user": ("User", str),
    "priority": ("Priority", count_of),
    "qos": ("QOS", lambda text: tuple(qos.lstrip("+") for qos in names(text))),
    "default_qos": ("DefQOS|DefaultQOS", str),
}
_QOS: Fields = {
    "name": ("Name", str),
    "priority": ("Priority", count_of),
    "usage_factor": ("UsageFactor", number),
    "preempt": "Preempt",
    "preempts": ("PreemptMode", preempts),
    "grace_s": ("GraceTime", bare_seconds),
    "exempt_s": ("PreemptExemptTime", bare_seconds),
    "flags": "Flags",
}
_LEFT_OUT = (
    "GrpWall", "GrpTRESMins", "GrpTRESRunMins", "MaxTRESPerNode", "MaxTRESMins", "MaxTRESRunMinsPA", "MaxTRESRunMinsPU",
    "UsageThres", "MinPrioThres", "GrpJobsAccrue", "MaxJobsAccrue", "MaxJobsAccruePU", "MaxJobsAccruePA",
)  # fmt: skip


def _limits_of(entry: Entry, pieces: Pieces) -> Limits:
    """The limits of an association or a QOS; limits that are not kept are noted."""
    pieces.note(*(f"limits {key} are not kept" for key in _LEFT_OUT if entry.text(key) not in ("", "0.000000")))
    return Limits(**entry.fields(_LIMITS))


def read_associations(text: str, name: str, pieces: Pieces) -> None:
    """``sacctmgr show assoc -P``: the tree of accounts, by a column ``ParentName`` or by the blanks before names.

    Raises
    ------
    InputError
        A column is missing, or the rows are of several clusters.
    """
    entries = _of_cluster(list(rows(text, name)), name, pieces)
    parents = _parents([entry for entry in entries if not entry.text("User")], pieces)
    made: dict[tuple[str, str], Association] = {}
    of_partitions = 0
    for entry in sorted(entries, key=lambda entry: bool(entry.text("Partition"))):
        key = account, user = entry.text("Account"), entry.text("User")
        limits = _limits_of(entry, pieces)
        if entry.text("Partition"):
            of_partitions += 1
            limits = Limits()
        if key == (ROOT, ""):
            pieces.note(*["limits of the whole cluster (account root) are not kept"] * (limits != Limits()))
        elif key not in made:
            shares = entry.text("Share", "Fairshare")
            if shares in _PARENT:
                pieces.notes.append(f"{user or account}: Fairshare=parent is taken as 1 share among its siblings")
            made[key] = Association(
                **entry.fields(_ASSOCIATION),
                parent="" if user else parents.get(account, ""),
                shares=1 if shares in _PARENT else entry.read(count_of, "Share|Fairshare", 1),
                limits=limits,
            )
    pieces.associations += made.values()
    if of_partitions:
        pieces.notes.append(
            f"{many(of_partitions, 'association of a single partition is', 'associations of single partitions are')} "
            "not kept: those of the account count"
        )
    if (ROOT, ROOT) in made:  # a user beside the accounts below the root
        pieces.associations.insert(0, Association(ROOT, shares=made[ROOT, ROOT].shares))


def _of_cluster(entries: list[Entry], name: str, pieces: Pieces) -> list[Entry]:
    """The rows of the cluster that the user named, of that of ``slurm.conf``, or of the only one."""
    for key in ("Account", "User") if entries else ():
        if key.lower() not in entries[0].values:
            raise InputError(f"{name}: sacctmgr's columns lack {key}")
    clusters = sorted({entry.text("Cluster") for entry in entries} - {""})
    if pieces.wanted and clusters and pieces.wanted not in clusters:
        raise InputError(f"{name}: no associations of cluster {pieces.wanted!r}; --cluster takes {', '.join(clusters)}")
    if len(clusters) > 1 and pieces.cluster not in clusters:
        raise InputError(
            f"{name}: associations of clusters {', '.join(clusters)}; expected one: --cluster NAME chooses"
        )
    chosen = pieces.cluster if pieces.cluster in clusters else next(iter(clusters), "")
    return [entry for entry in entries if entry.text("Cluster") in ("", chosen)]


def _parents(accounts: Sequence[Entry], pieces: Pieces) -> dict[str, str]:
    """The account above each; "" for the root."""
    if any("parentname" in entry.values for entry in accounts):
        stated = {entry.text("Account"): entry.text("ParentName") for entry in accounts}
        return {account: "" if parent == ROOT else parent for account, parent in stated.items()}
    depths = [len(text) - len(text.lstrip(" ")) for text in (entry.values["account"] for entry in accounts)]
    if not any(depths):
        if len(accounts) > 1:
            pieces.notes.append(
                "ASSUMED: all accounts are below the root; 'sacctmgr show assoc tree -P', or a column ParentName, "
                "states the tree"
            )
        return {}
    found: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for depth, entry in zip(depths, accounts, strict=True):
        while above and above[-1][0] >= depth:
            above.pop()
        found[entry.text("Account")] = above[-1][1] if above and above[-1][1] != ROOT else ""
        above.append((depth, entry.text("Account")))
    return found


def read_users(text: str, name: str, pieces: Pieces) -> None:
    """``sacctmgr show user -P``: each user's default account."""
    for entry in rows(text, name):
        pieces.default_accounts[entry.text("User")] = entry.text("DefAcct", "DefaultAccount")


def read_qos(text: str, name: str, pieces: Pieces) -> None:
    """``sacctmgr show qos -P``."""
    pieces.qos += [Qos(**entry.fields(_QOS), limits=_limits_of(entry, pieces)) for entry in rows(text, name)]


def with_defaults(pieces: Pieces) -> list[Association]:
    """The associations, each user's default account marked: the one stated, else the only one."""
    accounts = Counter(association.user for association in pieces.associations)

    def is_default(one: Association) -> bool:
        stated = pieces.default_accounts.get(one.user, "")
        return bool(one.user) and (one.account == stated or (not stated and accounts[one.user] == 1))

    return [msgspec.structs.replace(entry, default=is_default(entry)) for entry in pieces.associations]
