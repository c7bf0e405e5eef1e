"""Settings from ``slurm.conf`` (or ``scontrol show config``) and ``burst_buffer.conf``.

References
----------
SchedMD, manual pages *slurm.conf(5)* and *burst_buffer.conf(5)*; *Multifactor Priority Plugin*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from spillway.base.hostlist import compressed, expanded
from spillway.experiments.site.machine import partition_of
from spillway.experiments.site.pieces import Pieces
from spillway.experiments.site.source import Entry, Fields, bare_seconds, flag, number, preempts, settings, span
from spillway.schedulers.model.site import License, Weights
from spillway.schedulers.model.site_parts import Buffers, Limits, Scheduler
from spillway.workloads.logs.slurm_units import UnitError, count_of, counts_of, size_of

_CRED_EXPIRE_S = 120.0
"""Default of ``cred_expire`` in ``AuthInfo`` (s): a requeued job waits until its last credential has expired."""

_KILL_WAIT_S = 30.0
"""Default of ``KillWait`` (s)."""


def _requeue_hold(text: str) -> float:
    stated = [part.partition("=")[2] for part in text.split(",") if part.strip().startswith("cred_expire=")]
    return 1.0 + (number(stated[-1]) if stated else _CRED_EXPIRE_S)


def _over_time_limit(text: str) -> float | str:
    """Minutes (``5``, ``5 min``) in seconds; ``UNLIMITED``: jobs are never killed for their limit."""
    minutes = text.lower().removesuffix("min").strip()
    return "unlimited" if minutes in ("unlimited", "infinite") else number(minutes) * 60.0


def _kill_wait(text: str) -> float:
    """Seconds (``30``, ``30 sec``)."""
    return number(text.lower().removesuffix("sec").strip())


def _weights_of(text: str) -> dict[str, int]:
    """``cpu=1000,gres/gpu=3000``, names in lower case, except after a ``/``."""
    found = {}
    for item in filter(None, text.split(",")):
        kind, slash, own = item.partition("=")[0].strip().partition("/")
        if "=" not in item:
            raise UnitError("weights such as cpu=1000,mem=2000")
        found[kind.lower() + slash + own] = round(number(item.partition("=")[2].strip()))
    return found


_WEIGHTS: Fields = {
    "age": ("PriorityWeightAge", count_of),
    "fairshare": ("PriorityWeightFairshare", count_of),
    "size": ("PriorityWeightJobSize", count_of),
    "partition": ("PriorityWeightPartition", count_of),
    "qos": ("PriorityWeightQOS", count_of),
    "association": ("PriorityWeightAssoc", count_of),
    "tres": ("PriorityWeightTRES", _weights_of),
    "longest_age_s": ("PriorityMaxAge", span),
    "half_life_s": ("PriorityDecayHalfLife", span),
    "period_s": ("PriorityCalcPeriod", span),
    "favor_small": ("PriorityFavorSmall", flag),
}
_SELECTS = {"linear": "linear", "cons_tres": "cons_tres", "cons_res": "cons_tres"}
"""Plugins of ``SelectType`` that are played, by name; the older ``cons_res`` plans likewise."""

_SCHEDULER: Fields = {
    "backfill": ("SchedulerType", lambda text: not text.endswith("builtin")),
    "select": ("SelectType", lambda text: _SELECTS.get(text.rpartition("/")[2], "")),
    "preempt": ("PreemptType", lambda text: text.rpartition("/")[2]),
    "preempts": ("PreemptMode", preempts),
    "exempt_s": ("PreemptExemptTime", bare_seconds),
    "requeue_hold_s": ("AuthInfo", _requeue_hold),
    "over_time_limit_s": ("OverTimeLimit", _over_time_limit),
    "kill_wait_s": ("KillWait", _kill_wait),
}
_PARAMETERS: Fields = {
    "default_queue_depth": ("default_queue_depth", count_of),
    "partition_job_depth": ("partition_job_depth", count_of),
    "sched_interval_s": ("sched_interval", number),
    "batch_sched_delay_s": ("batch_sched_delay", number),
    "bf_interval_s": ("bf_interval", number),
    "bf_window_s": ("bf_window", lambda text: number(text) * 60),
    "bf_resolution_s": ("bf_resolution", number),
    "bf_max_job_test": ("bf_max_job_test", count_of),
    "bf_max_job_part": ("bf_max_job_part", count_of),
    "bf_max_job_user": ("bf_max_job_user", count_of),
    "bf_max_job_array_resv": ("bf_max_job_array_resv", count_of),
    "bf_max_time_s": ("bf_max_time", number),
    "bf_yield_interval_s": ("bf_yield_interval", lambda text: number(text) / 1e6),
    "bf_min_prio_reserve": ("bf_min_prio_reserve", count_of),
    "bf_job_part_count_reserve": ("bf_job_part_count_reserve", count_of),
    "bf_window_linear": ("bf_window_linear", count_of),
    "bb_array_stage_cnt": ("bb_array_stage_cnt", count_of),
}
"""Parameters of ``SchedulerParameters`` with a value."""

_FLAGS = ("bf_continue", "bf_licenses", "bf_one_resv_per_job")
_BUFFERS: Fields = {
    "default_pool": ("DefaultPool", str),
    "granularity": ("Granularity", size_of),
    "stage_in_timeout_s": ("StageInTimeout", bare_seconds),
    "stage_out_timeout_s": ("StageOutTimeout", bare_seconds),
    "flags": "Flags",
}
_OF_CLUSTER = (
    "SelectTypeParameters", "TopologyPlugin", "TopologyParam", "SuspendTime", "SuspendProgram",
    "ResumeTimeout", "CompleteWait", "JobSubmitPlugins", "EnforcePartLimits",
    "MaxArraySize", "MaxJobCount", "PriorityUsageResetPeriod", "JobRequeue", "FederationParameters", "MCSPlugin",
    "DefMemPerNode", "DefMemPerCPU",
)  # fmt: skip
"""Keys of ``slurm.conf`` that change schedules and that no run plays."""

_OF_NODES = ("Gres", "Feature", "Features", "Weight", "MemSpecLimit", "CoreSpecCount")
"""Keys of its lines of nodes, likewise."""


def read_slurm(text: str, name: str, pieces: Pieces) -> None:
    """``slurm.conf``, or the output of ``scontrol show config``."""
    entry, several = settings(text, name)
    pieces.configuration |= entry.values
    if entry.values:  # else it is a file of partitions and nodes that slurm.conf includes
        every = Entry(pieces.configuration, name)
        pieces.weights, pieces.scheduler = _weights(every), _scheduler(every)
    sets = _node_sets(several)
    defaults: dict[str, Mapping[str, str]] = {"PartitionName": {}, "NodeName": {}}
    for line in several:
        if line.text("DownNodes"):
            _note_out(Entry({"state": "DOWN", **line.values}, line.where), "DownNodes", pieces)
        for key, known in defaults.items():
            whole = line.over(known)
            if line.text(key).upper() == "DEFAULT":
                defaults[key] = whole.values
            elif line.text(key) and key == "NodeName":
                _read_nodes(whole, pieces)
            elif line.text(key) and (found := partition_of(_of_sets(whole, sets), pieces)):
                pieces.configured.append(found)
    pieces.note(*(f"{key}={entry.text(key)} is not kept" for key in _OF_CLUSTER if entry.text(key)))
    included = re.findall(r"^\s*include\s+(\S+)", text, re.MULTILINE | re.IGNORECASE)
    pieces.included += [(name, file) for file in included]
    pieces.configured_licenses += [License(*license_) for license_ in entry.read(counts_of, "Licenses", {}).items()]
    pieces.cluster = pieces.cluster or entry.text("ClusterName")
    if kind := entry.text("BurstBufferType"):
        pieces.buffers = Buffers(kind=kind.rpartition("/")[2])


def _read_nodes(entry: Entry, pieces: Pieces) -> None:
    """A line of nodes: their names, and CPUs: stated, or sockets x cores x threads."""
    _note_out(entry, "NodeName", pieces)
    names = entry.read(expanded, "NodeName", ())
    pieces.configured_nodes += names
    boards, per_board, cores, threads = (
        entry.read(count_of, key, 1) for key in ("Boards", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore")
    )
    cpus = (entry.read(count_of, "Sockets", 0) or boards * per_board) * cores * threads
    stated = entry.read(count_of, "CPUs", 0) or entry.read(count_of, "Procs", 0)
    pieces.configured_cpus.setdefault(stated or cpus, []).extend(names)
    pieces.note(*(f"{key} of nodes is not kept" for key in _OF_NODES if entry.text(key)))


def _note_out(entry: Entry, key: str, pieces: Pieces) -> None:
    """Note nodes that the configuration has out of service."""
    state = entry.text("State").upper()
    if state.startswith(("DOWN", "DRAIN", "FAIL", "FUTURE")):
        pieces.notes.append(
            f"{key}={entry.text(key)} State={state}: played as up (--maintenance and --events say when nodes are out)"
        )


def _node_sets(lines: Sequence[Entry]) -> dict[str, str]:
    """Nodes of the lines ``NodeSet=NAME``, by name: listed, or those with a feature."""
    having: dict[str, list[str]] = {}
    for line in lines:
        for feature in {*line.names("Feature"), *line.names("Features")} if line.text("NodeName") else ():
            having.setdefault(feature, []).append(line.text("NodeName"))
    return {
        name: ",".join(filter(None, (line.text("Nodes"), *having.get(line.text("Feature"), ()))))
        for line in lines
        if (name := line.text("NodeSet"))
    }


def _of_sets(line: Entry, sets: Mapping[str, str]) -> Entry:
    """A line of a partition with the nodes of the sets that it names."""
    if not sets:
        return line
    listed = (sets.get(part.strip(), part.strip()) for part in re.split(r",(?![^\[]*\])", line.text("Nodes")))
    return Entry({**line.values, "nodes": ",".join(filter(None, listed))}, line.where)


def notes_of(pieces: Pieces) -> Iterator[str]:
    """Notes on all files of the configuration together."""
    if _is_basic(Entry(pieces.configuration, "")):
        yield "PriorityType=priority/basic: jobs are in order of submission, all weights are 0"
    given = {PurePath(name).name for name in pieces.kinds}
    for name, file in pieces.included:
        if PurePath(file).name not in given:
            yield f"{name} includes {file}: name that file, too, unless scontrol shows its contents"
    known = {*pieces.configured_nodes, *pieces.nodes}
    for partition in pieces.configured if known else ():
        if strange := [node for node in expanded(partition.nodes) if node not in known]:
            yield f"partition {partition.name}: no NodeName has {compressed(strange)}: taken as nodes of the site"
    limited = any(entry.limits != Limits() for several in (pieces.associations, pieces.qos) for entry in several)
    if limited and pieces.scheduler is not None and not pieces.scheduler.enforces_limits:
        yield "the site enforces no limits (AccountingStorageEnforce): those of associations and QOS are not played"


def _is_basic(entry: Entry) -> bool:
    return entry.text("PriorityType").lower().endswith("basic")


def _weights(entry: Entry) -> Weights:
    if _is_basic(entry):
        return Weights()
    flags = [word.upper() for word in entry.names("PriorityFlags")]
    relative = "SMALL_RELATIVE_TO_TIME"
    others = tuple(word for word in flags if word != relative)
    return Weights(**entry.fields(_WEIGHTS), small_relative_to_time=relative in flags, flags=others)


def _scheduler(entry: Entry) -> Scheduler:
    unstated: dict[str, Any] = {"requeue_hold_s": _requeue_hold(""), "kill_wait_s": _KILL_WAIT_S}
    values = unstated | entry.fields(_SCHEDULER)
    stated: dict[str, str] = {}
    others: list[str] = []
    known = {of[0] for of in _PARAMETERS.values()}
    for item in filter(None, (part.strip() for part in entry.text("SchedulerParameters").split(","))):
        key, equals, value = item.partition("=")
        if key in _FLAGS:
            values[key] = value.lower() not in ("no", "0", "false")
        elif key in known and equals:
            stated[key] = value
        else:
            others.append(item)
    values |= Entry(stated, f"{entry.where}: SchedulerParameters").fields(_PARAMETERS)
    others += [f"preempt_{item}" for item in entry.names("PreemptParameters")]
    return Scheduler(enforce=entry.names("AccountingStorageEnforce") or ("none",), others=tuple(others), **values)


def read_buffers(text: str, name: str, pieces: Pieces) -> None:
    """``burst_buffer.conf``."""
    found = settings(text, name)[0].fields(_BUFFERS)
    pieces.buffers = Buffers(kind=pieces.buffers.kind if pieces.buffers else "", **found)
