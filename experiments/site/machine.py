"""Partitions, nodes, reservations and licences from ``scontrol show``.

References
----------
SchedMD, manual page *scontrol(1)*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from spillway.base.errors import InputError, shown
from spillway.base.hostlist import compressed, expanded
from spillway.experiments.site.pieces import Pieces
from spillway.experiments.site.source import Entry, Fields, bare_seconds, flag, limit, preempts, records, seconds
from spillway.schedulers.model.site import License, Partition
from spillway.schedulers.model.site_parts import Layer, Reservation, Resource
from spillway.workloads.logs.slurm_units import UnitError, amounts_of, count_of, counts_of, size_of, time_of

_EVERY_S = {"HOURLY": 3600.0, "DAILY": 86_400.0, "WEEKLY": 604_800.0}
_OUTSIDE = re.compile(r"\([^)]*\)")
"""The sockets or files of GPUs in ``Gres``."""

_OUT = {"DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING"}
"""States of nodes that get no jobs until an administrator acts; one that is powered down is started for jobs."""

_NOT_PLAYED = ("MAGNETIC", "TIME_FLOAT", "REPLACE", "REPLACE_DOWN")
"""Flags of reservations that change their users and times, and that are not played."""


def _nodes(text: str) -> str:
    """Names of nodes as written, after a check; "" for all."""
    return text if text.upper() != "ALL" and expanded(text) else ""


_PARTITION: Fields = {
    "name": ("PartitionName", str),
    "nodes": ("Nodes", _nodes),
    "tier": ("PriorityTier|Priority", count_of),  # Priority: older, both
    "factor": ("PriorityJobFactor|Priority", count_of),
    "longest_s": ("MaxTime", seconds),
    "default_s": ("DefaultTime", seconds),
    "fewest_nodes": ("MinNodes", lambda text: max(count_of(text), 1)),
    "most_nodes": ("MaxNodes", limit),
    "default": ("Default", flag),
    "qos": ("QoS", str),
    "accounts": "AllowAccounts",
    "not_accounts": "DenyAccounts",
    "only_qos": "AllowQos",
    "not_qos": "DenyQos",
    "preempts": ("PreemptMode", preempts),
    "grace_s": ("GraceTime", bare_seconds),
}

_ALONE = "ExclusiveUser and OverSubscribe=EXCLUSIVE are not kept: every job has its nodes alone"
_PARTITION_NOTES: Sequence[tuple[str, Callable[[str], object], str]] = (
    ("OverSubscribe", re.compile("FORCE|YES").match, "OverSubscribe is not kept: nodes go to one job"),
    ("TRESBillingWeights", bool, "TRESBillingWeights={} is not kept; table priority has billing of nodes and buffers"),
    ("ExclusiveUser", "YES".__eq__, _ALONE),
    ("OverSubscribe", "EXCLUSIVE".__eq__, _ALONE),
    ("AllowGroups", "ALL".__ne__, "AllowGroups={} is not kept: any user may use it"),
    ("State", "UP".__ne__, "State={}: it takes no jobs"),
    ("RootOnly", flag, "RootOnly: it takes no jobs"),
    ("ReqResv", flag, "ReqResv is not kept: jobs may run there without a reservation"),
    ("OverTimeLimit", "NONE".__ne__, "OverTimeLimit={} is not kept: that of slurm.conf holds for all partitions"),
    *((key, "UNLIMITED".__ne__, f"{key}={{}} is not kept") for key in ("MaxCPUsPerNode", "MaxCPUsPerSocket")),
)
"""Keys of partitions that are not kept, or that close them: the values concerned, in capitals, and words on them."""


def read_partitions(text: str, name: str, pieces: Pieces) -> None:
    """``scontrol show partition -o``."""
    found = (partition_of(entry, pieces) for entry in records(text, name, "PartitionName"))
    pieces.partitions += [partition for partition in found if partition is not None]


def partition_of(entry: Entry, pieces: Pieces) -> Partition | None:
    """A partition, of ``scontrol`` or of a line of ``slurm.conf``; ``None`` where it has no nodes."""
    label = f"partition {entry.text('PartitionName')}"
    if not entry.text("Nodes"):
        pieces.notes.append(f"{label} has no nodes: left out")
        return None
    for key, concerns, words in _PARTITION_NOTES:
        if (text := entry.text(key)) and concerns(text.upper()):
            pieces.notes.append(f"{label}: {words.format(text)}")
    accepting = entry.text("State").upper() in ("", "UP") and not entry.flag("RootOnly")
    return Partition(**entry.fields(_PARTITION), accepting=accepting)


def _gpus(text: str) -> int:
    """GPUs of a node: ``gpu:4``, ``gpu:a100:4(S:0-1)``, several separated by commas, are added up."""
    total = 0
    for part in _OUTSIDE.sub("", text).split(","):
        kind, *rest = part.split(":")
        if kind == "gpu":
            total += count_of(rest[-1]) if rest and rest[-1][:1].isdigit() else 1
    return total


def read_nodes(text: str, name: str, pieces: Pieces) -> None:
    """``scontrol show node -o``: names, CPUs and GPUs; nodes in no partition, useless to jobs, are left out."""
    out: list[str] = []
    for entry in records(text, name, "NodeName"):
        node = entry.text("NodeName")
        if entry.values.get("partitions", "?").strip() in ("", "(null)"):
            pieces.notes.append(f"node {node} belongs to no partition: left out")
            continue
        pieces.nodes.append(node)
        if count := entry.read(_gpus, "Gres", 0):
            pieces.gpus.setdefault(count, []).append(node)
        # CPUEfctv: without those that are kept for the system
        pieces.cpus.setdefault(entry.read(count_of, "CPUEfctv|CPUTot", 1), []).append(node)
        if not _OUT.isdisjoint(re.split(r"[^A-Z_]+", entry.text("State").upper())):
            out.append(node)
    if out:
        which, they = ("node {} was", "it is") if len(out) == 1 else ("nodes {} were", "they are")
        pieces.notes.append(
            f"{which.format(compressed(out))} down or drained: {they} played as up "
            "(--maintenance and --events say when nodes are out)"
        )


_RESERVATION: Fields = {
    "name": ("ReservationName", str),
    "nodes": ("Nodes", _nodes),
    "licenses": ("Licenses", counts_of),
    "users": "Users",
    "accounts": "Accounts",
    "flags": "Flags",
}


def read_reservations(text: str, name: str, pieces: Pieces) -> None:
    """``scontrol show reservation -o``."""
    for entry in records(text, name, "ReservationName"):
        start_s, end_s = (entry.read(time_of, key, -1) for key in ("StartTime", "EndTime"))
        if start_s < 0 or end_s <= start_s:
            raise InputError(f"{entry.where}: expected StartTime before EndTime, got {shown(entry.text('StartTime'))}")
        tres = entry.read(amounts_of, "TRES", {})
        label = f"reservation {entry.text('ReservationName')}"
        flags = {given.upper(): given for given in entry.names("Flags")}
        for given in flags.keys() & {"WEEKDAY", "WEEKEND"}:
            pieces.notes.append(f"{label}: its flag {flags[given]} has no fixed period: taken once")
        pieces.notes += [f"{label}: its flag {flags[given]} is not played" for given in flags if given in _NOT_PLAYED]
        for buffer in entry.names("BurstBuffer"):  # [PLUGIN:][TYPE:]SIZE; else a number of buffers' nodes
            *names, size = buffer.split(":")
            try:
                tres["bb/" + "/".join(names or ["all"])] = size_of(size, 1)
            except UnitError:
                pieces.notes.append(f"{label}: BurstBuffer={buffer} is not a size in bytes: it is not kept")
        pieces.reservations.append(
            Reservation(
                **entry.fields(_RESERVATION),
                start_s=float(start_s),
                length_s=float(end_s - start_s),
                every_s=next((_EVERY_S[given] for given in flags if given in _EVERY_S), 0.0),
                tres=tres,
            )
        )


_LAYER: Fields = {
    "name": ("LayerName", str),
    "nodes": ("Nodes", _nodes),
    "count": ("ConfTotal", lambda text: -1 if text == "-1" else count_of(text)),
    "parent": ("ParentName", str),
    "base": ("Base", lambda text: sum(counts_of(text).values())),
}


def read_licenses(text: str, name: str, pieces: Pieces) -> None:
    """``scontrol show lic -o``: licences, and the layers of hierarchical resources, which it lists among them."""
    layers: dict[str, tuple[int, list[dict[str, Any]]]] = {}
    for entry in records(text, name, "LicenseName"):
        label = entry.text("LicenseName")
        if entry.text("LayerName"):
            layers.setdefault(label, (entry.read(count_of, "Mode", 1), []))[1].append(entry.fields(_LAYER))
        else:
            pieces.licenses.append(License(label, entry.read(count_of, "Total", 0)))
    for label, (mode, found) in layers.items():
        inner = {layer.get("parent") for layer in found} if mode == 3 else ()  # have the nodes of the layers below them
        made = (Layer(**layer | ({"nodes": ""} if layer["name"] in inner else {})) for layer in found)
        pieces.counted.append(Resource(label, mode, tuple(made)))
