"""Other logs, cut into periods like the thesis's, to see whether a gain is one of its log only."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from analysis.names import slug
from experiments import machines
from experiments.errors import SpecError
from experiments.inputs import sizes
from experiments.sources import Source, expand
from experiments.spec import PlatformSpec, WorkloadSpec
from experiments.thesis.inputs import DRAW_SEED, PARTS
from experiments.thesis.models import Model
from schedulers.options import split_assignments
from workloads.batsim_json import write_batsim
from workloads.convert import ConvertOptions, convert
from workloads.split import SplitOptions, split_workload
from workloads.swf import SwfLog

LEAST_JOBS = 100
"""Periods with fewer jobs are left out: nothing waits in them."""


@dataclass(frozen=True)
class Holdout:
    """A log that was not used to choose anything.

    Attributes
    ----------
    source
        As for ``run --workload``.
    name
        Name in the results.
    parts
        Periods that it is cut into, >= 1.
    load
        Offered load (node-seconds requested over node-seconds there are, from the first to the last submission) that
        the arrivals are stretched or pressed to; ``None``: as logged.
    platform
        Machine; default: the thesis's where the jobs fit on it, else one like it that is large enough.
    convert
        Further options of the conversion.
    """

    source: str
    name: str
    parts: int = PARTS
    load: float | None = None
    platform: str = machines.AUTO
    convert: dict[str, Any] = dataclasses.field(default_factory=dict)


def parse_holdout(words: Sequence[str]) -> Holdout:
    """Read a source and its ``KEY=VALUE`` options.

    Raises
    ------
    SpecError, OptionError
        An option is unknown or malformed.
    """
    source, *texts = words
    given = split_assignments(list(texts))
    fields = {field.name: field for field in dataclasses.fields(ConvertOptions) if field.name != "burst_buffers"}
    own = {"parts": int, "load": float, "platform": str, "name": str}
    values: dict[str, Any] = {}
    convert_options: dict[str, Any] = {}
    for key, text in given.items():
        if key in own:
            values[key] = _converted(key, text, own[key])
        elif key in fields:
            kind = {"float": float, "int": int, "int | None": int}.get(str(fields[key].type), str)
            convert_options[key] = _converted(key, text, kind)
        else:
            raise SpecError(f"--holdout {source}: unknown option {key!r}; known: {', '.join((*own, *fields))}")
    values.setdefault("name", expand(WorkloadSpec(source=source))[0].name)
    return Holdout(source=source, convert=convert_options, **values)


def prepare_holdout(holdout: Holdout, model: Model, work: Path) -> tuple[list[WorkloadSpec], PlatformSpec]:
    """Convert the log for its machine, cut it, and write the periods into ``work``.

    Raises
    ------
    SpecError, WorkloadError, PlatformError
        The log cannot be had or converted.
    """
    source = expand(WorkloadSpec(source=holdout.source, convert=holdout.convert))[0]
    if source.is_json:
        raise SpecError(f"--holdout {holdout.source}: expected a log (SWF) or a generator, not a Batsim workload")
    platform = PlatformSpec(source=holdout.platform)
    if holdout.platform == machines.AUTO:
        platform = machines.fitting(sizes(source, DRAW_SEED))
    machine = machines.load(platform)
    options = ConvertOptions(**({"model": model.value, "seed": DRAW_SEED} | holdout.convert))
    log = _stretched(source, holdout, options, machine.facts.nodes)
    whole, _ = convert(log, machine.facts, options, holdout.name)
    target = work / f"holdout-{model.value}"
    target.mkdir(parents=True, exist_ok=True)
    specs = []
    for number, part in enumerate(split_workload(whole, SplitOptions(parts=holdout.parts))):
        if len(part.jobs) >= LEAST_JOBS:
            name = f"{holdout.name}-{number}"
            write_batsim(part, target / f"{slug(name)}.json")
            specs.append(WorkloadSpec(source=str(target / f"{slug(name)}.json"), name=name))
    if not specs:
        raise SpecError(f"--holdout {holdout.source}: no period has {LEAST_JOBS} jobs; make fewer with parts=N")
    return specs, platform


def offered_load(log: SwfLog, nodes: int, processors_per_node: int) -> float:
    """Node-seconds that the jobs of a log used, over those that a machine has from first to last submission."""
    used = sum(
        max(record.run_s, 0) * -(-max(record.requested_processors, record.processors, 0) // processors_per_node)
        for record in log.records
    )
    submitted = [record.submit_s for record in log.records]
    return used / (nodes * max(max(submitted) - min(submitted), 1))


def _stretched(source: Source, holdout: Holdout, options: ConvertOptions, nodes: int) -> SwfLog:
    log = source.log(DRAW_SEED)
    if options.max_records is not None or options.from_job:
        chosen = [record for record in log.records if record.number >= options.from_job][: options.max_records]
        log = SwfLog(log.header, tuple(chosen))
    if holdout.load is None:
        return log
    factor = offered_load(log, nodes, options.processors_per_node) / holdout.load
    first = min(record.submit_s for record in log.records)
    records = [
        msgspec.structs.replace(record, submit_s=first + round((record.submit_s - first) * factor))
        for record in log.records
    ]
    return SwfLog(log.header, tuple(records))


def _converted(key: str, text: str, kind: Any) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise SpecError(f"--holdout: option {key!r} takes a number, got {text!r}") from None
