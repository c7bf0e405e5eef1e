"""Assumptions behind the figures of a report: machine, jobs, load, imputed values, model, engine, code."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from spillway.analysis.document.blocks import Block, Heading, Listing, Section, Terms, Words
from spillway.analysis.tables.campaign import CampaignResults, RunRow
from spillway.analysis.tables.jobs import MachineInfo
from spillway.analysis.tables.outages import most_drained
from spillway.base.files import parse_json, read_file
from spillway.base.limits import InputError
from spillway.base.units import number, size

_MANY_NOTES = 12
"""Most notes that are shown unfolded."""

ENGINES = {
    "fluid": "embedded simulator; tasks on one link or node get fair shares of it, as in SimGrid",
    "waterfill": "embedded simulator; tasks on one link or node get fair shares of it, by progressive filling",
    "fixed": "embedded simulator; jobs take the time that they state, without contention",
    "simgrid": "embedded simulator with SimGrid itself for computing and transfers",
    "batsim": "the real Batsim",
    "docker": "the real Batsim, in a container",
}

HIGH = 0.95
"""Offered load from which queues grow for as long as it lasts, whatever the policy."""

_LOADS = {"compute": "compute nodes", "storage": "burst buffers"}
_LOAD_NOTE = ": offered load: "
_SEED = re.compile(r", seed (\d+): ")


def assumptions(results: CampaignResults, machines: Mapping[str, MachineInfo]) -> list[Block]:
    """The assumptions, and below them all notes on workloads and machines.

    Parameters
    ----------
    machines
        Machines by name of a run's folder.
    """
    records = {row.run: results.record(row) for row in results.rows}
    lines = [
        ("Machine", [*_machines(results.rows, machines), *_drained(results)]),
        ("Jobs", _jobs(results.rows)),
        ("Offered load", _loads(results.rows, records, results.assumptions)),
        ("Job model", _models(results.rows, records)),
        ("Engine", _engines(results.rows)),
        ("Seeds", [", ".join(dict.fromkeys(row.seed for row in results.rows))]),
        ("Checked", _checked(results)),
        ("Code", _code(results.rows, records)),
    ]
    return [Heading("Assumptions"), Terms(lines), *_notes(results.assumptions)]


def load_warnings(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence for each resource with an offered load above :data:`HIGH`."""
    worst = {name: max(loads, default=0.0) for name, loads in _loads_of(records).items()}
    return [
        f"The jobs request up to {load:.2f} times the {_LOADS[name]} of the machine: queues grow until the last "
        "submission, so waiting times depend more on the length of the log than on the policies."
        for name, load in worst.items()
        if load > HIGH
    ]


def _machines(rows: Sequence[RunRow], machines: Mapping[str, MachineInfo]) -> list[str]:
    found = {}
    for row in rows:
        machine = machines[row.run]
        if not machine.nodes:
            found[row.platform] = f"{row.platform}: size not on record"
            continue
        capacities = sorted({storage.capacity_bytes for storage in machine.storages})
        each = (
            " to ".join(size(capacity) for capacity in dict.fromkeys((capacities[0], capacities[-1])))
            if capacities
            else ""
        )
        count, whole = len(machine.storages), size(machine.total_storage_bytes)
        storage = f"{count:,} storage nodes of {each}, {whole} in all" if count > 1 else f"one storage node of {each}"
        found[row.platform] = (
            f"{row.platform}: {len(machine.nodes):,} compute nodes, {storage if each else 'no burst buffers'}"
        )
    return list(found.values())


def _drained(results: CampaignResults) -> list[str]:
    """Parts of storage nodes that were drained, for each workload."""
    found: dict[str, dict[str, int]] = {}
    for row in results.rows:
        drained = most_drained(results.path(row), -math.inf, math.inf)
        found.setdefault(row.workload, {}).update(drained)
    return [
        f"{workload}: part of {number(len(drained))} storage node{'s' if len(drained) > 1 else ''} was drained for "
        f"a time (drains.csv), at most {size(max(drained.values()))}"
        for workload, drained in found.items()
        if drained
    ]


def _jobs(rows: Sequence[RunRow]) -> list[str]:
    """Jobs of each workload, counted once, however many policies played them."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        others = sum(row.figures.get(name, 0.0) for name in ("rejected", "cancelled"))
        found.setdefault(row.workload, {}).setdefault(row.seed, row.figures["jobs"] + others)
    lines = []
    for workload, seeds in found.items():
        counts = sorted(set(seeds.values()))
        each = " to ".join(number(count) for count in dict.fromkeys((counts[0], counts[-1])))
        of_seeds = f" in each of {len(seeds)} seeds" if len(seeds) > 1 else ""
        lines.append(f"{workload}: {each} jobs{of_seeds}, the same under every policy")
    rejected = sum(row.figures.get("rejected", 0.0) for row in rows)
    return [*lines, f"{rejected:,.0f} rejected over all runs"] if rejected else lines


def _loads(rows: Sequence[RunRow], records: Mapping[str, Mapping[str, Any]], notes: Sequence[str]) -> list[str]:
    lines = []
    for workload in dict.fromkeys((row.workload, row.platform) for row in rows):
        loads = _loads_of(records[row.run] for row in rows if (row.workload, row.platform) == workload)
        parts = [f"{_span(values)} of the {_LOADS[name]}" for name, values in loads.items() if any(values)]
        reasons = _reasons(records[row.run] for row in rows if (row.workload, row.platform) == workload)
        if parts or reasons:
            lines.append(f"{workload[0]}: {'; '.join([*parts, *reasons])}")
    if not lines:  # runs from before loads were on record
        lines = [note.replace(_LOAD_NOTE, ": ") for note in notes if _LOAD_NOTE in note]
    return [*(lines or ["not on record"]), *load_warnings(records.values())]


def _loads_of(records: Iterable[Mapping[str, Any]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in _LOADS}
    for record in records:
        assumed = record.get("assumed")
        load = assumed.get("offered_load") if isinstance(assumed, dict) else None
        if isinstance(load, dict):
            for name in _LOADS:
                if isinstance(load.get(name), int | float):
                    found[name].append(float(load[name]))
    return found


def _reasons(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Reasons why loads are not stated, each once."""
    found = (record["assumed"].get("offered_load") for record in records if isinstance(record.get("assumed"), dict))
    return list(dict.fromkeys(load for load in found if isinstance(load, str)))


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _models(rows: Sequence[RunRow], records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    found = {}
    for row in rows:
        configuration = records[row.run].get("configuration")
        model = configuration.get("model") if isinstance(configuration, dict) else None
        name = str(model.get("name", "")) if isinstance(model, dict) else ""
        words = records[row.run].get("job_model", "")
        found[row.model, name] = f"{name or row.model}: {words}" if words else str(name or row.model)
    return list(dict.fromkeys(found.values()))


def _engines(rows: Sequence[RunRow]) -> list[str]:
    names = dict.fromkeys(row.engine for row in rows)
    return [f"{name}: {ENGINES[name]}" if name in ENGINES else name for name in names]


def _checked(results: CampaignResults) -> list[str]:
    """Sentences on checks of the figures, and the commands that repeat them."""
    old = sum(row.of_other_code for row in results.rows)
    lines = [f"{old} of {len(results.rows)} runs were made by other code than the rest"] if old else []
    if any(row.engine not in ("batsim", "docker") for row in results.rows):
        lines.append(
            "These runs were not repeated with the real Batsim; spillway verify-batsim compares both where "
            "it is installed"
        )
    return [*lines, "spillway verify DIR checks this folder's files against their recorded checksums"]


def _code(rows: Sequence[RunRow], records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    found: dict[str, None] = {}
    for row in rows:
        record = records[row.run]
        versions = record.get("versions", {})
        version = versions.get("spillway", "") if isinstance(versions, dict) else ""
        commit = str(record.get("commit", ""))
        changed = ", with changes that were not committed" if commit.endswith("+changes") else ""
        parts = [
            f"spillway {version}" if version else "",
            f"commit {commit.removesuffix('+changes')}{changed}" if commit else "",
        ]
        found[", ".join(filter(None, parts)) or "not on record"] = None
    return list(found)


def _notes(notes: Sequence[str]) -> list[Block]:
    shown = merged(notes)
    if not shown:
        return []
    words = f"{len(shown)} note{'s' * (len(shown) > 1)} on workloads and machines: omissions and imputed values"
    return [Section([Listing([*map(Words, shown)])], summary=words, is_open=len(shown) <= _MANY_NOTES)]


def merged(notes: Sequence[str]) -> list[str]:
    """Notes, with equal notes of several seeds as one; without those on offered loads, except for warnings."""
    found: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        if _LOAD_NOTE in note:
            continue
        parts = _SEED.split(note, maxsplit=1)
        name, seed, text = parts if len(parts) == 3 else ("", "", note)
        found.setdefault((name, text), []).append(seed)
    return [
        text if not name else f"{name}, seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)}: {text}"
        for (name, text), seeds in found.items()
    ]


_UNRECORDED_TAU_S = 600.0


def tau_of(folder: Path) -> float:
    """Bound of the bounded slowdown with which a run's figures were made (s); the thesis's where none is on record."""
    try:
        found = parse_json(read_file(folder / "metrics.json"))
    except InputError:
        return _UNRECORDED_TAU_S
    value = found.get("tau_s") if isinstance(found, dict) else None
    return float(value) if isinstance(value, int | float) else _UNRECORDED_TAU_S
