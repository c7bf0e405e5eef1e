"""Input files of a campaign: found, read, converted where needed, and copied into its ``inputs`` folder.

Runs only read those copies, so that a campaign's folder is complete: it can be repeated, also with the real Batsim,
after the originals have moved. Each copy has the beginning of its checksum in its name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from spillway.analysis.tables.names import slug
from spillway.base import durable, units
from spillway.base.files import read_file
from spillway.base.limits import InputError, shown
from spillway.experiments.campaign.grid import DIGEST_CHARACTERS, EventsOf
from spillway.experiments.campaign.inputs import machines
from spillway.experiments.campaign.inputs.machines import Machine
from spillway.experiments.campaign.inputs.playable import (
    StorageHosts,
    StorageUse,
    refuse_traces,
    refuse_unread,
    storage_uses,
)
from spillway.experiments.campaign.inputs.sources import FEW_SHARED, Source, expand, with_names
from spillway.experiments.run import failures, provenance, sessions
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.failures import Failures
from spillway.experiments.run.folders import INPUTS
from spillway.experiments.run.prepared_input import damage
from spillway.experiments.run.spec import (
    AUTO,
    ModelSpec,
    PlatformSpec,
    PolicySpec,
    PreparedInput,
    RunSpec,
    WorkloadSpec,
)
from spillway.platforms.simgrid.xml_reader import load_platform, parse_platform
from spillway.protocol.drains import STORAGE_DRAINED
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.jobmodels import MODELS, make_model, model_class
from spillway.schedulers.jobmodels.io_aware import IoAware
from spillway.schedulers.model.site import parse_site
from spillway.schedulers.policies.replay import SITE_WAIT
from spillway.simulator.engines.by_name import ENGINES
from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.reading.events import load_events, refuse_twice
from spillway.workloads.batsim.batsim5 import READ_AS_4
from spillway.workloads.batsim.job_columns import SITE_NODES, with_site_nodes
from spillway.workloads.batsim.json_file import batsim_bytes, parse_batsim
from spillway.workloads.batsim.time_limits import with_grace
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.conversion.convert import ConvertOptions, convert, per_node_of
from spillway.workloads.conversion.needs import StatedSize, rounded_up, stated_of
from spillway.workloads.conversion.offered_load import OfferedLoad, buffers_fit, offered_load, why_no_load
from spillway.workloads.conversion.vary import varied
from spillway.workloads.files import plain_name
from spillway.workloads.logs.omissions import PROCESSORS, SHARED, Omission

_ANY_HOST = 2**62
"""A number of hosts above the id in any event: the player checks that the machine has the host."""

_FIGURE = re.compile(r"\d[\d.,]*")

Tell = Callable[[str], None]


class _Facts(NamedTuple):
    """Facts of a prepared workload: ``book`` has the fates of its log's lines, ``qos`` and ``stated`` the jobs by QOS
    and by each further field, ``at_site`` the workload with the nodes that jobs used at the site, where those differ.
    """

    source: str
    jobs: int
    begins_s: float | None
    omissions: tuple[Omission, ...]
    book: dict[str, Any]
    qos: Counter[str]
    stated: Counter[str]
    of_profiles: frozenset[str]
    storage_uses: tuple[StorageUse, ...]
    at_site: PreparedInput | None


class Inputs:
    """Prepares inputs, each only once.

    Parameters
    ----------
    root
        The campaign's folder.
    tell
        Prints a note for the user.
    refuse
        Whether logs with jobs that a machine cannot serve are refused (:func:`refuse_hopeless`).

    Attributes
    ----------
    notes
        Assumptions on the inputs so far, as printed.
    folded
        Notes that can be read after the results: all but those on the choice of the machine, on jobs wider than it and
        on settings of the session, and the first of warnings that differ only in their figures.
    """

    def __init__(self, root: Path, tell: Tell, *, refuse: bool = False) -> None:
        self._tell = tell
        self._refuse = refuse
        self.notes: list[str] = []
        self.folded: set[str] = set()
        self._warned: set[str] = set()
        self._root = root
        (root / INPUTS).mkdir(parents=True, exist_ok=True)
        self._machines: dict[tuple[Any, ...], tuple[Machine, PreparedInput]] = {}
        self._workloads: dict[tuple[Any, ...], PreparedInput] = {}
        self._sources: dict[str, list[Source]] = {}
        self._nodes: dict[str, int] = {}
        self._facts: dict[str, _Facts] = {}
        self._notes_of: dict[str, list[str]] = {}
        self._failed: dict[tuple[str, str, int], PreparedInput] = {}
        self._loads: dict[tuple[str, str], OfferedLoad | str] = {}
        self._graced: dict[tuple[str, float], PreparedInput] = {}
        self._hosts = StorageHosts()

    def pairs(
        self, workloads: Sequence[WorkloadSpec], platforms: Sequence[PlatformSpec], model: ModelSpec, seed: int
    ) -> list[tuple[PreparedInput, PreparedInput]]:
        """Prepare all (workload, platform) pairs for one model and seed, workloads outermost.

        Raises
        ------
        SpecError, WorkloadError, PlatformError
            An input does not exist or is malformed.
        """
        found: list[tuple[PreparedInput, PreparedInput]] = []
        for source in with_names([source for spec in workloads for source in self._expanded(spec)]):
            for spec in platforms:
                machine, platform, as_described = self._platform(spec, source, seed)
                workload = self._workload(source, as_described, model, seed, chosen=spec.source == AUTO)
                if spec.changes or (workload.path, machine.name) not in self._loads:  # a JSON workload is read once
                    self._note_load(workload, machine)
                found.append((workload, platform))
        return found

    def _expanded(self, spec: WorkloadSpec) -> list[Source]:
        """Sources of a description; an archive is read once for all runs."""
        key = repr(spec)
        if key not in self._sources:
            self._sources[key] = expand(spec)
        return self._sources[key]

    def events_of(self, source: str) -> EventsOf:
        """External events of each run: those of a file, or failures from a generator; no events for "".

        Raises
        ------
        SpecError
            The file cannot be read, a line is not an event, or an option of the generator is wrong.
        """
        generator = failures.parse(source)
        if generator is None:
            every = self._events(source) if source else None
            return lambda workload, platform, seed: every and self._on(platform, source, every)
        return lambda workload, platform, seed: self._failures(generator, workload, platform, seed)

    def _failures(
        self, generator: Failures, workload: PreparedInput, platform: PreparedInput, seed: int
    ) -> PreparedInput:
        """The file of events of a workload on a platform, made once for each seed."""
        key = workload.path, platform.path, seed
        if key not in self._failed:
            jobs = parse_batsim(read_file(self._root / workload.path), workload.path)
            text = failures.events_text(generator, load_platform(self._root / platform.path), jobs, seed)
            self._failed[key] = self._write(failures.NAME, ".events", text.encode())
            self.note(f"{workload.name} on {platform.name}, seed {seed}: {failures.summary(text)}")
        return self._failed[key]

    def _events(self, source: str) -> PreparedInput:
        path = Path(source)
        try:
            load_events(path, _ANY_HOST, forward_unknown=False, also=(STORAGE_DRAINED,))
            return self._write(plain_name(path), ".events", read_file(path))
        except (InputError, SimulatorInputError) as error:
            raise SpecError(str(error)) from None

    def _on(self, platform: PreparedInput, source: str, events: PreparedInput) -> PreparedInput:
        """The events, which name hosts of the platform."""
        try:
            count = self._hosts.machines(self._root / platform.path)
            found = load_events(Path(source), count, forward_unknown=False, also=(STORAGE_DRAINED,))
        except (InputError, SimulatorInputError) as error:
            raise SpecError(
                f"{error} of {platform.name}: its compute hosts come first, then its storage hosts"
            ) from None
        try:
            refuse_twice(found)
        except SimulatorInputError as error:
            raise SpecError(f"event file {source!r}: {error}") from None
        try:
            self._hosts.refuse_drains(found, self._root / platform.path, platform.name)
        except SpecError as error:
            raise SpecError(f"event file {source!r}: {error}") from None
        return events

    def jobs(self, workload: PreparedInput) -> int:
        """Number of jobs of a prepared workload."""
        return self._facts[workload.path].jobs

    def as_played(self, workload: PreparedInput, policy: PolicySpec) -> PreparedInput:
        """The workload as a policy plays it: the site's own schedule has the nodes that jobs used at the site, and
        where the site kills jobs later than at their limits, the simulator does."""
        path, facts, other = workload.path, self._facts[workload.path], workload
        if SITE_WAIT in sessions.needed_fields(policy):
            other = facts.at_site or workload
        if grace_s := parse_site(policy.site).scheduler.grace_s if policy.site else 0.0:
            other = self._with_grace(other, grace_s)
        if other is workload:
            return workload
        self._facts.setdefault(other.path, facts)
        if path in self._notes_of:
            self._notes_of.setdefault(other.path, self._notes_of[path])
        self._loads |= {(other.path, name): load for (known, name), load in self._loads.items() if known == path}
        return other

    def _with_grace(self, workload: PreparedInput, grace_s: float) -> PreparedInput:
        """The workload with walltimes that are later than its jobs' limits, made once."""
        key = workload.path, grace_s
        if key not in self._graced:
            jobs = with_grace(parse_batsim(read_file(self._root / workload.path), workload.path), grace_s)
            self._graced[key] = self._write(workload.name, ".json", batsim_bytes(jobs))
        return self._graced[key]

    def begins_s(self, workload: PreparedInput) -> float | None:
        """Date of time 0 of a prepared workload (s since 1970); ``None``: no date is stated."""
        return self._facts[workload.path].begins_s

    def check_described(self, workload: PreparedInput, spec: ModelSpec) -> None:
        """Refuse a job model without effect: no job of the workload has a field that it plays.

        Raises
        ------
        SpecError
            Names the model and the fields.
        """
        model = model_class(spec.name)
        facts = self._facts[workload.path]
        played = facts.stated.keys() & {*model.fields, *model.job_fields} or facts.of_profiles & {*model.fields}
        if model.only_with_fields and not played:
            fields = ", ".join(repr(field) for field in (*model.fields, *model.job_fields))
            raise SpecError(
                f"no job of workload {workload.name!r} has a field that --model {spec.name} plays ({fields}): all jobs "
                "would run as under --model rigid"
            )

    def check_playable(self, run: RunSpec) -> None:
        """Refuse jobs that the simulator cannot play on the machine.

        Raises
        ------
        SpecError
            Names the job, its profile, and the way to play it.
        """
        model = run.model.name
        if run.engine.value not in ENGINES or model not in MODELS or model == "io":  # which rejects such jobs
            return
        known = model_class(model)
        facts = self._facts[run.workload.path]
        for use in facts.storage_uses:
            if use.fields.isdisjoint((*known.fields, *known.job_fields)):
                path = self._root / run.platform.path
                self._hosts.refuse_unmapped(use, path, facts.source, run.platform.name)
                return

    def check_stated(self, workload: PreparedInput, spec: PolicySpec) -> None:
        """Refuse a policy that needs a field which some jobs of the workload lack.

        Raises
        ------
        SpecError
            Names the policy, the field and the number of jobs without it.
        """
        for field in sessions.needed_fields(spec):
            jobs, stated = self.jobs(workload), self._facts[workload.path].stated[field]
            if stated < jobs:
                raise SpecError(
                    f"policy {spec.policy} needs the field {field!r} of every job, and {jobs - stated:,} of {jobs:,} "
                    f"jobs of workload {workload.name!r} lack it: take the log itself, or convert it anew with "
                    "--site-wait"
                )

    def check_site(self, workload: PreparedInput, platform: PreparedInput, spec: PolicySpec) -> None:
        """Refuse a machine with another number of nodes than the site; keep a copy of the site.

        Partitions state nodes by their place.

        Raises
        ------
        SpecError
            Names both numbers.
        """
        for note in SessionSpec(spec).notes():
            self.note(note, workload, folded=False)
        text = spec.site
        if not text:
            return
        site = parse_site(text)
        nodes = self._nodes[platform.path]
        if site.nodes and site.nodes != nodes:
            raise SpecError(
                f"site {site.name!r} has {site.nodes} nodes, platform {platform.name} has {nodes}: expected the same "
                "number, since partitions state nodes by their place; without a platform the machine is the site's"
            )
        if not (copy := self._root / provenance.site_copy(text)).exists():
            durable.write_text(copy, text)
        stated = self._facts[workload.path].qos
        unknown = stated.keys() - {"", *(qos.name for qos in site.qos)}
        for name in sorted(unknown) if site.qos else ():
            jobs = stated[name]
            who, have = units.many(jobs, "job names", "jobs name"), "it has" if jobs == 1 else "they have"
            self.note(
                f"{workload.name}: {who} the QOS {shown(name)}, which the site does not have: {have} no priority and "
                "no limits of one",
                workload,
            )

    def _platform(self, spec: PlatformSpec, source: Source, seed: int) -> tuple[Machine, PreparedInput, Machine]:
        """The machine, its file, and the machine without changes."""
        if machines.is_chosen(spec):
            found, reason = machines.for_workload(*sizes_and_machine(source, seed), spec)
            spec = dataclasses.replace(found, changes=spec.changes)
            self.note(f"{source.name}: {reason}", self._machine(spec)[1], folded=False)
        machine, prepared = self._machine(spec)
        as_described = dataclasses.replace(spec, changes={})
        return machine, prepared, self._machine(as_described)[0] if spec.changes else machine

    def _machine(self, spec: PlatformSpec) -> tuple[Machine, PreparedInput]:
        key = spec.source, *spec.changes.items()
        if key not in self._machines:
            machine = machines.load(spec)
            prepared = self._write(machine.name, ".xml", machine.xml.encode())
            self._machines[key] = machine, prepared
            self._nodes[prepared.path] = machine.facts.nodes
            for note in machine.notes:
                self.note(f"platform {machine.name}: {note}", prepared)
        return self._machines[key]

    def _note_load(self, prepared: PreparedInput, machine: Machine) -> None:
        """Note the load of the jobs on a machine that differs from the one that they were made for."""
        workload = parse_batsim(read_file(self._root / prepared.path), prepared.path)
        load = offered_load(workload, machine.facts)
        for line in _too_wide(workload, machine):
            self.note(f"{prepared.name} on {machine.name}: {line}", folded=False)
        for line in load.lines() if load else ():
            self.note(f"{prepared.name} on {machine.name}: {line}")
        self._loads[prepared.path, machine.name] = load or why_no_load(workload, machine.facts)

    def _workload(
        self, source: Source, machine: Machine, model: ModelSpec, seed: int, *, chosen: bool
    ) -> PreparedInput:
        """``chosen``: the machine is chosen for the workload, not named."""
        drawn = seed if source.spec.seed is None else source.spec.seed
        how = sorted(f"{key}={value!r}" for key, value in (source.spec.read | source.spec.convert).items())
        converted = (machine.name, model.text if _contains_io(source, model) else _converted_for(model), drawn, *how)
        key = (source.text, *source.spec.changes.items(), *(() if source.is_json else converted))
        if key not in self._workloads:
            workload, data = read(source, machine, model, drawn)
            prepared = self._workloads[key] = self._write(source.name, ".json", data)
            if source.is_json:
                refuse_traces(workload, source.text)
                refuse_unread(workload, self._root / prepared.path, source.text)
            at_site = None
            if any(SITE_NODES in job.extras for job in workload.jobs):
                at_site = self._write(source.name, ".json", batsim_bytes(with_site_nodes(workload)))
            self._facts[prepared.path] = _Facts(
                source.text,
                len(workload.jobs),
                workload.begins_s,
                workload.omissions,
                {"jobs": len(workload.jobs), "node_h": workload.node_h, "rows": workload.book},
                Counter(str(job.extras.get("qos", "")) for job in workload.jobs),
                Counter(field for job in workload.jobs for field in job.extras),
                frozenset().union(*workload.profiles.values()),
                storage_uses(workload) if source.is_json else (),
                at_site,
            )
            load = offered_load(workload, machine.facts)
            wide = _too_wide(workload, machine)
            loud = {*wide, *_loud(workload)}
            for note in (*workload.notes, *wide, *(load.lines() if load else ())):
                seed_said = f", seed {drawn}" if source.is_generated or drawn else ""
                self.note(f"{source.name}{seed_said}: {note}", prepared, folded=note not in loud)
            self._loads[prepared.path, machine.name] = load or why_no_load(workload, machine.facts)
            is_own = chosen if source.is_json else not source.is_generated
            if self._refuse and is_own and not source.spec.changes:
                refuse_hopeless(source, workload, machine, load)
        return self._workloads[key]

    def assumed(self, workload: PreparedInput, platform: PreparedInput, policy: PolicySpec) -> dict[str, Any]:
        """Assumptions behind the result of a run on these inputs.

        Notes, the offered loads or the reason why there are no loads, and the parts of the log
        (:class:`spillway.workloads.logs.omissions.Omission`) and of the policy's site that are not played.
        """
        load = self._loads[workload.path, platform.name]
        facts = self._facts[workload.path]
        notes = [*self._notes_of.get(platform.path, []), *self._notes_of.get(workload.path, [])]
        found = {
            "notes": notes,
            "offered_load": load if isinstance(load, str) else dataclasses.asdict(load),
            "omissions": list(map(dataclasses.asdict, facts.omissions)),
        }
        if facts.book["rows"]:
            found["book"] = facts.book
        if text := policy.site:
            from spillway.experiments.site.shown import not_played

            found["site"] = not_played(parse_site(text))
        return found

    def note(self, text: str, about: PreparedInput | None = None, *, folded: bool = True) -> None:
        """Print a note, each only once in a campaign, and keep it with the input that it is about."""
        if about is not None and text not in (kept := self._notes_of.setdefault(about.path, [])):
            kept.append(text)
        if text not in self.notes:
            self.notes.append(text)
            warning = _FIGURE.sub("", text.partition("WARNING: ")[2])
            if folded and (not warning or warning in self._warned):
                self.folded.add(text)
            self._warned.add(warning)
            self._tell(text)

    def _write(self, name: str, suffix: str, data: bytes) -> PreparedInput:
        return write_input(self._root, name, suffix, data, self._tell)


def _loud(workload: Workload) -> list[str]:
    """Notes that processors count as nodes, and that many jobs share nodes: the site's schedule is then no measure."""
    few = {SHARED: FEW_SHARED * len(workload.jobs), PROCESSORS: 0}
    return [found.line for found in workload.omissions if found.jobs > few.get(found.name, len(workload.jobs))]


def write_input(root: Path, name: str, suffix: str, data: bytes, tell: Tell = lambda _: None) -> PreparedInput:
    """Write an input into a campaign's ``inputs``, unless it is there whole; ``tell`` gets a fault of the old file."""
    sha256 = hashlib.sha256(data).hexdigest()
    path = f"{INPUTS}/{slug(name)}-{sha256[:DIGEST_CHARACTERS]}{suffix}"
    prepared = PreparedInput(name=name, path=path, sha256=sha256)
    there = os.path.lexists(root / path)
    fault = damage(root, prepared) if there else ""
    if fault:
        tell(f"{path}: {fault}: made anew")
    if fault or not there:
        durable.write_bytes(root / path, data)
    return prepared


def read(source: Source, machine: Machine, model: ModelSpec, seed: int) -> tuple[Workload, bytes]:
    """Read a source as a Batsim workload, and give the bytes of its file.

    A Batsim 4 workload keeps its bytes; a log is converted for the machine, the model and the seed.
    """
    if source.is_json:
        _refuse_drawn(source)
        data = source.content()
        workload = parse_batsim(data, where=source.text, name=source.name)
        return _varied(workload, source, machine, b"" if READ_AS_4 in workload.notes else data)
    fields: dict[str, Any] = {"model": _converted_for(model), "seed": seed, "cancelled": "play"}
    fields |= {"kappa": 0.0} if _contains_io(source, model) else {}
    options = _options(source, fields)
    workload, _ = convert(source.table(seed), machine.facts, options, source.name)
    if "kappa" in fields:
        workload = _without_recorded_io(workload, machine, model)
    return _varied(workload, source, machine)


_MOST_LOAD = 1.5
"""Offered load above which queues only grow."""

_MOST_REJECTED = 0.02
"""Share of jobs that a machine may never be able to run."""


def refuse_hopeless(source: Source, workload: Workload, machine: Machine, load: OfferedLoad | None) -> None:
    """Refuse a log of a site on a machine that cannot be the site's: waiting times there would mean nothing.

    Raises
    ------
    SpecError
        More than 2 % of the jobs never fit; or the jobs request more than 1.5 times its nodes, which are fewer than the
        log had in use at once. The error names the option that helps.
    """
    jobs, facts = workload.jobs, machine.facts
    wide = sum(job.res > facts.nodes for job in jobs)
    large = sum(job.res <= facts.nodes and not buffers_fit(workload, job, facts) for job in jobs)
    where = f"{source.name} on {machine.name}"
    if wide + large > _MOST_REJECTED * len(jobs):
        widest = max(job.res for job in jobs)
        largest = max(workload.burst_buffer_bytes(job) * job.res for job in jobs)
        why = [f"{_request(wide)} more than its {facts.nodes} nodes (--nodes {widest} has enough)"] if wide else []
        if large:
            size = units.SIZE.write(rounded_up(math.ceil(largest)))
            why.append(f"{_request(large)} more burst buffer than it can give (--burst-buffer-total {size} can)")
        raise SpecError(
            f"{where}: {wide + large} of {len(jobs)} jobs could never run: {' and '.join(why)}; --force plays the "
            "others"
        )
    if source.is_json or load is None or load.compute <= _MOST_LOAD:
        return
    _, stated = sizes_and_machine(source, 0)
    in_use = stated.needs.nodes if stated.needs else 0
    if not 0 < in_use <= facts.nodes:
        needed = in_use or math.ceil(load.compute * facts.nodes)
        raise SpecError(
            f"{where}: the jobs request {load.compute:.1f} times its {facts.nodes} nodes, so waits grow until the "
            "last submission, whatever the policy: --nodes N states the machine "
            f"({'the log had' if in_use else 'a load of 1 needs'} {needed} nodes in use); --force plays it anyway"
        )


def _options(source: Source, fields: dict[str, Any]) -> ConvertOptions:
    """Options of converting a log; raise :class:`SpecError` for an unknown one in its description."""
    try:
        return ConvertOptions(**(fields | source.spec.convert))
    except TypeError:
        known = ", ".join(field.name for field in dataclasses.fields(ConvertOptions))
        given = ", ".join(source.spec.convert)
        raise SpecError(f"{source.text}: 'convert' has {given}; known options: {known}") from None


def _contains_io(source: Source, model: ModelSpec) -> bool:
    """Whether run times contain I/O that the model plays: those of logs do, unless the thesis's rule is requested."""
    return model.name == "io" and not source.is_generated and "kappa" not in source.spec.convert


def _without_recorded_io(workload: Workload, machine: Machine, model: ModelSpec) -> Workload:
    from spillway.experiments.run.recorded_io import without_io

    made = make_model(model.name, model.options)
    assert isinstance(made, IoAware)
    speed_flops = machine.facts.node_speed_flops
    found, note = without_io(workload, parse_platform(machine.xml, machine.name), made, speed_flops)
    return dataclasses.replace(found, notes=(*workload.notes, note) if note else workload.notes)


def _refuse_drawn(source: Source) -> None:
    """Refuse to choose jobs of a Batsim workload, which is taken as it is, and to draw fields that it states."""
    if source.spec.read.get("where"):
        raise SpecError(
            f"{source.text}: a Batsim workload is taken as it is; --where goes with logs and generators: choose when "
            "the log is converted ('spillway workload convert --where ...')"
        )
    for option in ("staging", "stripes", "first"):
        if option in source.spec.convert:
            raise SpecError(
                f"{source.text}: a Batsim workload is taken as it is; {option} goes with logs and generators: convert "
                f"the log with 'spillway workload convert --{option} ...'"
            )


def _varied(workload: Workload, source: Source, machine: Machine, data: bytes = b"") -> tuple[Workload, bytes]:
    """A workload with the changes that its description states, and its bytes."""
    if source.spec.changes:
        workload = dataclasses.replace(varied(workload, source.spec.changes, machine.facts), plain=False)
        data = b""
    return workload, data or batsim_bytes(workload)


def _converted_for(model: ModelSpec) -> str:
    """Job model for the conversion of a log: under ``io`` part of its run times was staging (thesis 4.3)."""
    return "io" if model.name == "io" else "alloc"


class _Size(msgspec.Struct, gc=False):
    """Number of nodes that a job of a Batsim workload requests."""

    res: int


class _Sizes(msgspec.Struct):
    """The fields of a Batsim workload that choose its machine."""

    nb_res: int
    jobs: list[_Size]


_SIZES = msgspec.json.Decoder(_Sizes)


def sizes_and_machine(source: Source, seed: int) -> tuple[list[int], StatedSize]:
    """Compute nodes that each job requests, and the stated machine: from ``nb_res``, or from the log.

    Generators state nothing: their logs are not a site's. The needs of a log do not depend on the seed, so that all
    seeds are played on the same machine.
    """
    if source.is_json:
        content = source.content()
        try:  # the whole file is read and checked when the machine is known; this takes a tenth of that time
            sizes = _SIZES.decode(content)
        except msgspec.MsgspecError:
            workload = parse_batsim(content, where=source.text, name=source.name)
            return [job.res for job in workload.jobs], StatedSize(workload.nb_res)
        return [job.res for job in sizes.jobs], StatedSize(sizes.nb_res)
    table = source.table(seed, of_machine=True)
    options = _options(source, {"seed": source.spec.seed or 0})
    per_node = per_node_of(table, options)
    processors = np.maximum(np.maximum(table["requested_processors"], table["allocated_processors"]), 1)
    requested = np.where(table["nodes"] > 0, table["nodes"], -(-processors // per_node)).tolist()
    return requested, StatedSize() if source.is_generated else stated_of(table, options)


def _request(jobs: int) -> str:
    return f"{jobs} {'requests' if jobs == 1 else 'request'}"


def _too_wide(workload: Workload, machine: Machine) -> list[str]:
    nodes = machine.facts.nodes
    count = sum(job.res > nodes for job in workload.jobs)
    if not count:
        return []
    return [
        f"{count} of {len(workload.jobs)} jobs request more than the {nodes} compute nodes of {machine.name} and will "
        "be rejected (--platform can name a larger machine)"
    ]
