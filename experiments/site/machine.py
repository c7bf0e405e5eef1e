"""Partitions, nodes, reservations and licences from ``scontrol show``.

References
----------
SchedMD, manual page *scontrol(1)*.
"""

from __future__ import annotations

import re
from typing import Any

from spillway.base.errors import InputError, shown
from spillway.base.hostlist import compressed, expanded
from spillway.experiments.site.pieces import Pieces
from spillway.experiments.site.source import (
    Entry,
    bare_seconds,
    counts,
    limit,
    preempts,
    records,
    resources,
    seconds,
    whole,
)
from spillway.schedulers.model.site import License, Partition
from spillway.schedulers.model.site_parts import Layer, Reservation, Resource
from spillway.workloads.logs.slurm_units import UnitError, count_of, size_of, time_of

_EVERY_S = {"HOURLY": 3600.0, "DAILY": 86_400.0, "WEEKLY": 604_800.0}
_OUTSIDE = re.compile(r"\([^)]*\)")
"""The sockets or files of GPUs in ``Gres``."""

_OUT = {"DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING"}
"""States of nodes that get no jobs until an administrator acts; one that is powered down is started for jobs."""

_IRREGULAR = ("WEEKDAY", "WEEKEND")
_NOT_PLAYED = ("MAGNETIC", "TIME_FLOAT", "REPLACE", "REPLACE_DOWN")
"""Flags of reservations that change their users and times, and that are not played."""


def read_partitions(text: str, name: str, pieces: Pieces) -> None:
    """``scontrol show partition -o``."""
    found = (partition_of(entry, pieces) for entry in records(text, name, "PartitionName"))
    pieces.partitions += [partition for partition in found if partition is not None]


def partition_of(entry: Entry, pieces: Pieces) -> Partition | None:
    """A partition, of ``scontrol`` or of a line of ``slurm.conf``; ``None`` where it has no nodes."""
    if not entry.text("Nodes"):
        pieces.notes.append(f"partition {entry.text('PartitionName')} has no nodes: left out")
        return None
    longest_s = entry.read(seconds, "MaxTime", None)
    default_s = entry.read(seconds, "DefaultTime", None)
    most = entry.read(limit, "MaxNodes", None)
    state = entry.text("State").upper() or "UP"
    if entry.text("OverSubscribe").upper().startswith(("FORCE", "YES")):
        pieces.notes.append(f"partition {entry.text('PartitionName')}: OverSubscribe is not kept: nodes go to one job")
    if weights := entry.text("TRESBillingWeights"):
        pieces.notes.append(
            f"partition {entry.text('PartitionName')}: TRESBillingWeights={weights} is not kept; table priority has "
            "billing of nodes and buffers"
        )
    if entry.text("ExclusiveUser").upper() == "YES" or entry.text("OverSubscribe").upper() == "EXCLUSIVE":
        pieces.notes.append(
            f"partition {entry.text('PartitionName')}: ExclusiveUser and OverSubscribe=EXCLUSIVE are not kept: "
            "every job has its nodes alone"
        )
    if (groups := entry.text("AllowGroups")) and groups.upper() != "ALL":
        pieces.notes.append(
            f"partition {entry.text('PartitionName')}: AllowGroups={groups} is not kept: any user may use it"
        )
    if state != "UP":
        pieces.notes.append(f"partition {entry.text('PartitionName')}: State={state}: it takes no jobs")
    if entry.flag("RootOnly"):
        pieces.notes.append(f"partition {entry.text('PartitionName')}: RootOnly: it takes no jobs")
    return Partition(
        name=entry.text("PartitionName"),
        nodes=_nodes(entry),
        tier=entry.read(whole, "PriorityTier", 1),
        factor=entry.read(whole, "PriorityJobFactor", 1),
        longest_s=longest_s,
        default_s=default_s,
        fewest_nodes=max(entry.read(whole, "MinNodes", 1), 1),
        most_nodes=most,
        default=entry.flag("Default"),
        accepting=state == "UP" and not entry.flag("RootOnly"),
        qos=entry.text("QoS"),
        accounts=entry.names("AllowAccounts"),
        not_accounts=entry.names("DenyAccounts"),
        only_qos=entry.names("AllowQos"),
        not_qos=entry.names("DenyQos"),
        preempts=entry.read(preempts, "PreemptMode", ""),  # type: ignore[arg-type]  # one of these words
        grace_s=entry.read(bare_seconds, "GraceTime", 0.0) or 0.0,
    )


def _nodes(entry: Entry) -> str:
    """Names of nodes as written, after a check; "" for all."""
    if entry.text("Nodes").upper() == "ALL":
        return ""
    entry.read(expanded, "Nodes", ())
    return entry.text("Nodes")


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
        if entry.values.get("partitions", "?").strip() not in ("", "(null)"):
            pieces.nodes.append(entry.text("NodeName"))
            count = entry.read(_gpus, "Gres", 0)
            if count:
                pieces.gpus.setdefault(count, []).append(entry.text("NodeName"))
            key = "CPUEfctv" if entry.text("CPUEfctv") else "CPUTot"  # without those that are kept for the system
            pieces.cpus.setdefault(entry.read(whole, key, 1), []).append(entry.text("NodeName"))
            if not _OUT.isdisjoint(re.split(r"[^A-Z_]+", entry.text("State").upper())):
                out.append(entry.text("NodeName"))
        else:
            pieces.notes.append(f"node {entry.text('NodeName')} belongs to no partition: left out")
    if out:
        which, they = (
            (f"node {out[0]} was", "it is") if len(out) == 1 else (f"nodes {compressed(out)} were", "they are")
        )
        pieces.notes.append(
            f"{which} down or drained: {they} played as up (--maintenance and --events say when nodes are out)"
        )


def read_reservations(text: str, name: str, pieces: Pieces) -> None:
    """``scontrol show reservation -o``."""
    for entry in records(text, name, "ReservationName"):
        start_s, end_s = (entry.read(time_of, key, -1) for key in ("StartTime", "EndTime"))
        if start_s < 0 or end_s <= start_s:
            raise InputError(f"{entry.where}: expected StartTime before EndTime, got {shown(entry.text('StartTime'))}")
        flags = entry.names("Flags")
        if irregular := [flag for flag in flags if flag.upper() in _IRREGULAR]:
            pieces.notes.append(
                f"reservation {entry.text('ReservationName')}: its flag {irregular[0]} has no fixed period: taken once"
            )
        pieces.notes += [
            f"reservation {entry.text('ReservationName')}: its flag {flag} is not played"
            for flag in flags
            if flag.upper() in _NOT_PLAYED
        ]
        pieces.reservations.append(
            Reservation(
                name=entry.text("ReservationName"),
                start_s=float(start_s),
                length_s=float(end_s - start_s),
                every_s=next((_EVERY_S[flag.upper()] for flag in flags if flag.upper() in _EVERY_S), 0.0),
                nodes=_nodes(entry),
                licenses=entry.read(counts, "Licenses", {}),
                tres=entry.read(resources, "TRES", {}) | _reserved_buffers(entry, pieces),
                users=entry.names("Users"),
                accounts=entry.names("Accounts"),
                flags=flags,
            )
        )


def _reserved_buffers(entry: Entry, pieces: Pieces) -> dict[str, int]:
    """Bytes of burst buffers: ``BurstBuffer=[PLUGIN:][TYPE:]SIZE,...``; a number of buffers' nodes is not kept."""
    found: dict[str, int] = {}
    for text in entry.names("BurstBuffer"):
        *names, size = text.split(":")
        try:
            found["bb/" + "/".join(names or ["all"])] = size_of(size, 1)
        except UnitError:
            label = entry.text("ReservationName")
            pieces.notes.append(f"reservation {label}: BurstBuffer={text} is not a size in bytes: it is not kept")
    return found


def read_licenses(text: str, name: str, pieces: Pieces) -> None:
    """``scontrol show lic -o``: licences, and the layers of hierarchical resources, which it lists among them."""
    layers: dict[str, tuple[int, list[Layer]]] = {}
    for entry in records(text, name, "LicenseName"):
        label = entry.text("LicenseName")
        if not entry.text("LayerName"):
            pieces.licenses.append(License(label, entry.read(whole, "Total", 0)))
            continue
        base = entry.read(counts, "Base", {})
        values: dict[str, Any] = {
            "nodes": _nodes(entry),
            "count": -1 if entry.text("ConfTotal") == "-1" else entry.read(whole, "ConfTotal", 0),
            "parent": entry.text("ParentName"),
            "base": sum(base.values()),
        }
        layers.setdefault(label, (entry.read(whole, "Mode", 1), []))[1].append(Layer(entry.text("LayerName"), **values))
    for label, (mode, found) in layers.items():
        inner = {layer.parent for layer in found}
        leaves = tuple(_without_nodes(layer) if mode == 3 and layer.name in inner else layer for layer in found)
        pieces.counted.append(Resource(label, mode, leaves))


def _without_nodes(layer: Layer) -> Layer:
    """A layer without nodes of its own: it has those of the layers below it."""
    return Layer(layer.name, "", layer.count, layer.parent, layer.base)
