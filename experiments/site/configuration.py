"""Settings from ``slurm.conf`` (or ``scontrol show config``) and ``burst_buffer.conf``.

References
----------
SchedMD, manual pages *slurm.conf(5)* and *burst_buffer.conf(5)*; *Multifactor Priority Plugin*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from spillway.base.errors import InputError, shown
from spillway.base.hostlist import compressed, expanded
from spillway.experiments.site.machine import partition_of
from spillway.experiments.site.pieces import Pieces
from spillway.experiments.site.source import (
    Entry,
    bare_seconds,
    counts,
    number,
    preempts,
    settings,
    span,
    whole,
)
from spillway.schedulers.model.site import License, Weights
from spillway.schedulers.model.site_parts import Buffers, Limits, Scheduler, Selects
from spillway.workloads.logs.slurm_units import UnitError, size_of

_CRED_EXPIRE_S = 120.0
"""Default of ``cred_expire`` in ``AuthInfo`` (s): a requeued job waits until its last credential has expired."""


def _cred_expire(text: str) -> float:
    stated = [part.partition("=")[2] for part in text.split(",") if part.strip().startswith("cred_expire=")]
    return number(stated[-1]) if stated else _CRED_EXPIRE_S


def _minutes(text: str) -> float:
    return number(text) * 60


_PARAMETERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "default_queue_depth": ("default_queue_depth", whole),
    "partition_job_depth": ("partition_job_depth", whole),
    "sched_interval": ("sched_interval_s", number),
    "batch_sched_delay": ("batch_sched_delay_s", number),
    "bf_interval": ("bf_interval_s", number),
    "bf_window": ("bf_window_s", _minutes),
    "bf_resolution": ("bf_resolution_s", number),
    "bf_max_job_test": ("bf_max_job_test", whole),
    "bf_max_job_part": ("bf_max_job_part", whole),
    "bf_max_job_user": ("bf_max_job_user", whole),
    "bf_max_job_array_resv": ("bf_max_job_array_resv", whole),
    "bf_max_time": ("bf_max_time_s", number),
    "bf_yield_interval": ("bf_yield_interval_s", lambda text: number(text) / 1e6),
    "bf_min_prio_reserve": ("bf_min_prio_reserve", whole),
    "bf_job_part_count_reserve": ("bf_job_part_count_reserve", whole),
    "bf_window_linear": ("bf_window_linear", whole),
    "bb_array_stage_cnt": ("bb_array_stage_cnt", whole),
}
"""Parameters with a value: the field of each, and its reader."""

_FLAGS = ("bf_continue", "bf_licenses", "bf_one_resv_per_job")


def read_slurm(text: str, name: str, pieces: Pieces) -> None:
    """``slurm.conf``, or the output of ``scontrol show config``."""
    entry, several = settings(text, name)
    pieces.configuration |= entry.values
    if entry.values:  # else it is a file of partitions and nodes that slurm.conf includes
        every = Entry(pieces.configuration, name)
        pieces.weights = _weights(every)
        pieces.scheduler = _scheduler(every)
    defaults: Mapping[str, str] = {}
    node_defaults: Mapping[str, str] = {}
    sets = _node_sets(several)
    for line in several:
        if line.text("PartitionName").upper() == "DEFAULT":
            defaults = {**defaults, **line.values}
        elif line.text("PartitionName") and (found := partition_of(_of_sets(line.over(defaults), sets), pieces)):
            pieces.configured.append(found)
        if line.text("DownNodes"):
            _note_out(Entry({"state": "DOWN", **line.values}, line.where), "DownNodes", pieces)
        if line.text("NodeName").upper() == "DEFAULT":
            node_defaults = {**node_defaults, **line.values}
        elif line.text("NodeName"):
            _note_out(line.over(node_defaults), "NodeName", pieces)
            names = line.read(expanded, "NodeName", ())
            pieces.configured_nodes += names
            pieces.configured_cpus.setdefault(_cpus(line.over(node_defaults)), []).extend(names)
            _note_dropped(line.over(node_defaults), _OF_NODES, pieces)
    _note_dropped(entry, _OF_CLUSTER, pieces)
    included = re.findall(r"^\s*include\s+(\S+)", text, re.MULTILINE | re.IGNORECASE)
    pieces.included += [(name, file) for file in included]
    pieces.configured_licenses += [License(*license_) for license_ in entry.read(counts, "Licenses", {}).items()]
    pieces.cluster = pieces.cluster or entry.text("ClusterName")
    if kind := entry.text("BurstBufferType"):
        pieces.buffers = Buffers(kind=kind.rpartition("/")[2])


_OF_CLUSTER = (
    "SelectTypeParameters", "TopologyPlugin", "TopologyParam", "SuspendTime", "SuspendProgram",
    "ResumeTimeout", "CompleteWait", "OverTimeLimit", "KillWait", "JobSubmitPlugins", "EnforcePartLimits",
    "MaxArraySize", "MaxJobCount", "PriorityUsageResetPeriod", "JobRequeue", "FederationParameters", "MCSPlugin",
    "DefMemPerNode", "DefMemPerCPU",
)  # fmt: skip
"""Keys of ``slurm.conf`` that change schedules and that no run plays."""

_OF_NODES = ("Gres", "Feature", "Features", "Weight", "MemSpecLimit", "CoreSpecCount")
"""Keys of its lines of nodes, likewise."""


def _note_dropped(entry: Entry, keys: Sequence[str], pieces: Pieces) -> None:
    """Note keys that are stated and not kept, each once."""
    for key in keys:
        note = f"{key}={entry.text(key)} is not kept" if keys is _OF_CLUSTER else f"{key} of nodes is not kept"
        if entry.text(key) and note not in pieces.notes:
            pieces.notes.append(note)


def _note_out(entry: Entry, key: str, pieces: Pieces) -> None:
    """Note nodes that the configuration has out of service."""
    state = entry.text("State").upper()
    if state.startswith(("DOWN", "DRAIN", "FAIL", "FUTURE")):
        pieces.notes.append(
            f"{key}={entry.text(key)} State={state}: played as up (--maintenance and --events say when nodes are out)"
        )


def _node_sets(lines: Sequence[Entry]) -> dict[str, str]:
    """Nodes of the lines ``NodeSet=NAME``, by name: listed, or those with a feature."""
    found: dict[str, str] = {}
    for line in lines:
        if name := line.text("NodeSet"):
            feature = line.text("Feature")
            having = [
                line.text("NodeName")
                for line in lines
                if feature and feature in (*line.names("Feature"), *line.names("Features")) and line.text("NodeName")
            ]
            found[name] = ",".join(filter(None, (line.text("Nodes"), *having)))
    return found


def _of_sets(line: Entry, sets: Mapping[str, str]) -> Entry:
    """A line of a partition with the nodes of the sets that it names."""
    if not sets:
        return line
    listed = (sets.get(part.strip(), part.strip()) for part in re.split(r",(?![^\[]*\])", line.text("Nodes")))
    return Entry({**line.values, "nodes": ",".join(filter(None, listed))}, line.where)


def _cpus(entry: Entry) -> int:
    """CPUs of a node of ``slurm.conf``: stated, or sockets x cores x threads."""
    sockets = entry.read(whole, "Sockets", 0) or entry.read(whole, "Boards", 1) * entry.read(
        whole, "SocketsPerBoard", 1
    )
    cores = sockets * entry.read(whole, "CoresPerSocket", 1) * entry.read(whole, "ThreadsPerCore", 1)
    return entry.read(whole, "CPUs", 0) or entry.read(whole, "Procs", 0) or cores


def notes_of(pieces: Pieces) -> Iterator[str]:
    """Notes on all files of the configuration together."""
    entry = Entry(pieces.configuration, "")
    if entry.text("PriorityType").lower().endswith("basic"):
        yield "PriorityType=priority/basic: jobs are in order of submission, all weights are 0"
    given = {PurePath(name).name for name in pieces.kinds}
    for name, file in pieces.included:
        if PurePath(file).name not in given:
            yield f"{name} includes {file}: name that file, too, unless scontrol shows its contents"
    known = {*pieces.configured_nodes, *pieces.nodes}
    for partition in pieces.configured if known else ():
        if strange := [node for node in expanded(partition.nodes) if node not in known]:
            yield f"partition {partition.name}: no NodeName has {compressed(strange)}: taken as nodes of the site"
    limited = any(
        association.limits != Limits() for several in (pieces.associations, pieces.qos) for association in several
    )
    if limited and pieces.scheduler is not None and not pieces.scheduler.enforces_limits:
        yield "the site enforces no limits (AccountingStorageEnforce): those of associations and QOS are not played"


def _weights(entry: Entry) -> Weights:
    if entry.text("PriorityType").lower().endswith("basic"):
        return Weights()
    flags = tuple(flag.upper() for flag in entry.names("PriorityFlags"))
    return Weights(
        age=entry.read(whole, "PriorityWeightAge", 0),
        fairshare=entry.read(whole, "PriorityWeightFairshare", 0),
        size=entry.read(whole, "PriorityWeightJobSize", 0),
        partition=entry.read(whole, "PriorityWeightPartition", 0),
        qos=entry.read(whole, "PriorityWeightQOS", 0),
        association=entry.read(whole, "PriorityWeightAssoc", 0),
        tres=entry.read(_tres_weights, "PriorityWeightTRES", {}),
        longest_age_s=entry.read(span, "PriorityMaxAge", Weights().longest_age_s),
        half_life_s=entry.read(span, "PriorityDecayHalfLife", Weights().half_life_s),
        period_s=entry.read(span, "PriorityCalcPeriod", Weights().period_s),
        favor_small=entry.flag("PriorityFavorSmall"),
        small_relative_to_time="SMALL_RELATIVE_TO_TIME" in flags,
        flags=tuple(flag for flag in flags if flag != "SMALL_RELATIVE_TO_TIME"),
    )


def _tres_weights(text: str) -> dict[str, int]:
    """``cpu=1000,gres/gpu=3000``, names in lower case, except after a ``/``."""
    found = {}
    for item in filter(None, text.split(",")):
        kind, slash, own = item.partition("=")[0].strip().partition("/")
        if "=" not in item:
            raise UnitError("weights such as cpu=1000,mem=2000")
        found[kind.lower() + slash + own] = round(number(item.partition("=")[2].strip()))
    return found


_SELECTS: Mapping[str, Selects] = {"linear": "linear", "cons_tres": "cons_tres", "cons_res": "cons_tres"}
"""Plugins of ``SelectType`` that are played, by name; the older ``cons_res`` plans likewise."""


def _scheduler(entry: Entry) -> Scheduler:
    values: dict[str, Any] = {}
    others: list[str] = []
    for item in filter(None, (part.strip() for part in entry.text("SchedulerParameters").split(","))):
        key, equals, value = item.partition("=")
        if key in _FLAGS:
            values[key] = value.lower() not in ("no", "0", "false")
        elif key in _PARAMETERS and equals:
            field, reader = _PARAMETERS[key]
            try:
                values[field] = reader(value)
            except UnitError as error:
                raise InputError(
                    f"{entry.where}: SchedulerParameters: {key} must be {error}, got {shown(value)}"
                ) from None
        else:
            others.append(item)
    others += [f"preempt_{item}" for item in entry.names("PreemptParameters")]
    kind = entry.text("SchedulerType")
    return Scheduler(
        backfill=not kind.endswith("builtin"),
        select=_SELECTS.get(entry.text("SelectType").rpartition("/")[2], ""),
        preempt=entry.text("PreemptType").rpartition("/")[2],
        preempts=entry.read(preempts, "PreemptMode", ""),  # type: ignore[arg-type]  # one of these words
        exempt_s=entry.read(bare_seconds, "PreemptExemptTime", 0.0) or 0.0,
        requeue_hold_s=1.0 + entry.read(_cred_expire, "AuthInfo", _CRED_EXPIRE_S),
        enforce=entry.names("AccountingStorageEnforce") or ("none",),
        others=tuple(others),
        **values,
    )


def read_buffers(text: str, name: str, pieces: Pieces) -> None:
    """``burst_buffer.conf``."""
    entry, _ = settings(text, name)
    pieces.buffers = Buffers(
        kind=pieces.buffers.kind if pieces.buffers else "",
        default_pool=entry.text("DefaultPool"),
        granularity=entry.read(size_of, "Granularity", 0),
        stage_in_timeout_s=entry.read(bare_seconds, "StageInTimeout", None),
        stage_out_timeout_s=entry.read(bare_seconds, "StageOutTimeout", None),
        flags=entry.names("Flags"),
    )
