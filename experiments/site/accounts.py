"""Associations, QOS and users from ``sacctmgr show``.

References
----------
SchedMD, manual page *sacctmgr(1)*; *Resource Limits*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from spillway.base.errors import InputError
from spillway.experiments.site.pieces import Pieces
from spillway.experiments.site.source import (
    Entry,
    bare_seconds,
    limit,
    number,
    preempts,
    resources,
    rows,
    seconds,
    whole,
)
from spillway.schedulers.model.site import Association, Qos
from spillway.schedulers.model.site_parts import Limits

ROOT = "root"
_PARENT = ("parent", "2147483647")
_LIMITS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "GrpJobs": ("group_jobs", limit),
    "GrpSubmit": ("group_submitted", limit),
    "GrpSubmitJobs": ("group_submitted", limit),
    "GrpTRES": ("group_tres", resources),
    "MaxJobs": ("user_jobs", limit),
    "MaxJobsPU": ("user_jobs", limit),
    "MaxSubmit": ("user_submitted", limit),
    "MaxSubmitPU": ("user_submitted", limit),
    "MaxTRESPU": ("user_tres", resources),
    "MaxJobsPA": ("account_jobs", limit),
    "MaxSubmitPA": ("account_submitted", limit),
    "MaxTRESPA": ("account_tres", resources),
    "MaxTRES": ("job_tres", resources),
    "MaxTRESPerJob": ("job_tres", resources),
    "MinTRES": ("job_least_tres", resources),
    "MaxWall": ("job_longest_s", seconds),
}
"""Columns of limits: the field of each, and its reader."""

_LEFT_OUT = (
    "GrpWall", "GrpTRESMins", "GrpTRESRunMins", "MaxTRESPerNode", "MaxTRESMins", "MaxTRESRunMinsPA", "MaxTRESRunMinsPU",
    "UsageThres",
)  # fmt: skip


def _limits_of(entry: Entry, pieces: Pieces) -> Limits:
    """The limits of an association or a QOS; limits that are not kept are noted, once each."""
    found: dict[str, Any] = {
        field: value for key, (field, reader) in _LIMITS.items() if (value := entry.read(reader, key, None)) is not None
    }
    for key in _LEFT_OUT:
        note = f"limits {key} are not kept"
        if entry.text(key) not in ("", "0.000000") and note not in pieces.notes:
            pieces.notes.append(note)
    return Limits(**found)


def read_associations(text: str, name: str, pieces: Pieces) -> None:
    """``sacctmgr show assoc -P``: the tree of accounts, by a column ``ParentName`` or by the blanks before names.

    Raises
    ------
    InputError
        A column is missing, or the rows are of several clusters.
    """
    entries = list(rows(text, name))
    for entry in entries[:1]:
        if missing := [key for key in ("Account", "User") if key.lower() not in entry.values]:
            raise InputError(f"{name}: sacctmgr's columns lack {missing[0]}")
    clusters = {entry.text("Cluster") for entry in entries} - {""}
    if pieces.wanted and clusters and pieces.wanted not in clusters:
        raise InputError(
            f"{name}: no associations of cluster {pieces.wanted!r}; --cluster takes {', '.join(sorted(clusters))}"
        )
    chosen = pieces.cluster if pieces.cluster in clusters else min(clusters, default="")
    if len(clusters) > 1 and chosen != pieces.cluster:
        raise InputError(
            f"{name}: associations of clusters {', '.join(sorted(clusters))}; expected one: --cluster NAME chooses"
        )
    entries = [entry for entry in entries if entry.text("Cluster") in ("", chosen)]
    parents = _parents(entries, pieces)
    seen: set[tuple[str, str]] = set()
    repeated = 0
    for entry in entries:
        account, user = entry.text("Account"), entry.text("User")
        if account == ROOT and not user:
            if _limits_of(entry, pieces) != Limits():
                pieces.notes.append("limits of the whole cluster (account root) are not kept")
            continue
        if (account, user) in seen:
            repeated += 1
            continue
        seen.add((account, user))
        pieces.associations.append(_association(entry, parents.get(account, ""), pieces))
    if repeated:
        pieces.notes.append(f"{repeated} associations of single partitions are not kept: those of the account count")
    if (ROOT, ROOT) in seen:  # a user beside the accounts below the root
        shares = next(entry.shares for entry in pieces.associations if (entry.account, entry.user) == (ROOT, ROOT))
        pieces.associations.insert(0, Association(ROOT, shares=shares))


def _association(entry: Entry, parent: str, pieces: Pieces) -> Association:
    account, user = entry.text("Account"), entry.text("User")
    shares = entry.text("Share", "Fairshare")
    if shares in _PARENT:
        note = f"{user or account}: Fairshare=parent is taken as 1 share among its siblings"
        pieces.notes.append(note)
        shares = ""
    return Association(
        account=account,
        user=user,
        parent="" if user else parent,
        shares=entry.read(lambda _: whole(shares), "Share", 1) if shares else 1,
        priority=entry.read(whole, "Priority", 0),
        qos=tuple(qos.lstrip("+") for qos in entry.names("QOS")),
        default_qos=entry.text("DefQOS", "DefaultQOS"),
        limits=_limits_of(entry, pieces),
    )


def _parents(entries: list[Entry], pieces: Pieces) -> dict[str, str]:
    """The account above each; "" for the root."""
    accounts = [entry for entry in entries if not entry.text("User")]
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
    for entry in rows(text, name):
        pieces.qos.append(
            Qos(
                name=entry.text("Name"),
                priority=entry.read(whole, "Priority", 0),
                usage_factor=entry.read(number, "UsageFactor", 1.0),
                limits=_limits_of(entry, pieces),
                preempt=entry.names("Preempt"),
                preempts=entry.read(preempts, "PreemptMode", ""),  # type: ignore[arg-type]  # one of these words
                grace_s=entry.read(bare_seconds, "GraceTime", 0.0) or 0.0,
                exempt_s=entry.read(bare_seconds, "PreemptExemptTime", 0.0) or 0.0,
                flags=entry.names("Flags"),
            )
        )


def with_defaults(pieces: Pieces) -> list[Association]:
    """The associations, each user's default account marked: the one stated, else the only one."""
    accounts: dict[str, list[str]] = {}
    for association in pieces.associations:
        if association.user:
            accounts.setdefault(association.user, []).append(association.account)

    def is_default(one: Association) -> bool:
        stated = pieces.default_accounts.get(one.user, "")
        return bool(one.user) and (one.account == stated or (not stated and len(accounts[one.user]) == 1))

    return [msgspec.structs.replace(entry, default=is_default(entry)) for entry in pieces.associations]
