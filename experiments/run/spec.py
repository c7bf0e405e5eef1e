"""Descriptions of runs: immutable, without behaviour. A campaign is a grid of axes, a run is one point of it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from spillway.base.limits import RUNS
from spillway.base.options import Value, form_of, option, required
from spillway.schedulers.description import NAMED, TABLE, TEXT
from spillway.schedulers.description import ModelSpec as ModelSpec
from spillway.schedulers.description import PolicySpec as PolicySpec

DEFAULT_IMAGE = "localhost/batsim:4"
"""Image of Batsim for the engine ``docker``, which the user provides; Batsim 4.2.1's documentation names the published
``oarteam/batsim:latest``."""


class Engine(enum.Enum):
    """Engines that simulate the machine."""

    FLUID = "fluid"
    FIXED = "fixed"
    WATERFILL = "waterfill"
    SIMGRID = "simgrid"
    BATSIM = "batsim"
    DOCKER = "docker"


ENGINE_WORDS: Mapping[Engine, str] = {
    Engine.FLUID: "SimGrid's model of parallel tasks that share hosts and links, compiled; the default",
    Engine.FIXED: "no contention: every task takes its uncontended time",
    Engine.WATERFILL: "contention only on the links between nodes, storage nodes and file system of a tree",
    Engine.SIMGRID: "SimGrid itself (python3-simgrid), for comparison",
    Engine.BATSIM: "an installed Batsim, over ZeroMQ",
    Engine.DOCKER: "a Batsim in a container, over ZeroMQ",
}
"""Description of each engine."""


class Transport(enum.Enum):
    """Connections of simulator and scheduler: calls in one process, with objects or with bytes of Batsim 4's protocol;
    or ZeroMQ between two processes. The tables are the same."""

    DIRECT = "direct"
    BYTES = "bytes"
    ZMQ = "zmq"


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number >= 0 of at most 63 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


WHOLE = form_of(is_whole, "a whole number >= 0 of at most 63 bits")


@dataclass(frozen=True, kw_only=True)
class WorkloadSpec:
    """Source of jobs; the options are keys of campaign files, as in the other descriptions here.

    Attributes
    ----------
    changes
        Changes of the jobs, by name (:data:`spillway.workloads.conversion.vary.CHANGES`), as a text: ``load``:
        ``x1.1``.
    """

    source: str = required(
        form=TEXT, help="file, pattern, archive member, generator or public log, as on the command line"
    )
    name: str = option("", form=NAMED, help="name in the results; default: the file's")
    seed: int | None = option(
        None, form=WHOLE, help="seed of generators and of the burst-buffer model; default: the run's"
    )
    convert: dict[str, Any] = option({}, form=TABLE, help="options of the conversion of logs, see below")
    read: dict[str, Any] = option({}, form=TABLE, help="options of reading logs, see below")
    changes: dict[str, str] = field(default_factory=dict)


AUTO = "auto"
"""Source of the machine that a workload states, in its header or otherwise
(:func:`spillway.experiments.campaign.inputs.machines.for_workload`): the default of comparisons that name
no platform."""


@dataclass(frozen=True, kw_only=True)
class PlatformSpec:
    """A machine.

    Attributes
    ----------
    changes
        Changes of the description, by dotted key (``storage.capacity``), as a text: a value with its unit, or a factor
        such as ``x1.2``. Logs are converted for the machine without them, so that its jobs are the same.
    """

    source: str = required(
        form=TEXT,
        help="built-in name, description (.toml), SimGrid XML, nodes:N, or auto: the one that the workload states; the "
        "last two may end in ,burst_buffer=SIZE (of each storage node) or ,burst_buffer_total=SIZE (one pool)",
    )
    name: str = option("", form=NAMED, help="name in the results; default: the file's")
    changes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Playing:
    """Player, inputs and outputs of a campaign's runs: options of every command that plays, keys of campaign files.

    The bound of the bounded slowdown is the thesis's; the silence is generous, as a dead process is detected otherwise.
    """

    engine: Engine = option(Engine.FLUID, help="simulator of the machine")
    transport: Transport = option(
        Transport.DIRECT,
        help="calls in one process, with objects or with bytes of Batsim 4's protocol, or ZeroMQ between two; "
        "the tables are the same",
    )
    image: str = option(
        "", help=f"image with the Batsim (4.1 or newer) of the engine docker; where empty, {DEFAULT_IMAGE}"
    )
    silence_s: float = option(
        3600.0,
        unit="s",
        low=0.001,
        high=1e9,
        help="give up on a simulator in a separate process that sends nothing for this long in real time; the end of "
        "its process is detected at once",
    )
    events: str = option(
        "",
        help="file of external events in Batsim's format, a JSON object per line: outages of hosts (see on_outage), "
        "drained parts of storage nodes; or failures:KEY=VALUE,..., their generator: node_mtbf, storage_mtbf, "
        "storage_part, repair, until (s), seed, or trace=FILE.csv",
    )
    tau_s: float = option(600.0, unit="s", low=0.001, high=1e9, help="bound of the bounded slowdown")
    explain: bool = option(False, help="keep the reasons why jobs waited (see the command explain)")
    uncontended: bool = option(
        True,
        help="compute each job's time without contention, for its slowdown by contention (io, operations, stream)",
    )
    plots: bool = option(True, help="draw figures and write the report")
    figures: str = option(
        "png,svg",
        help="kinds of files of each figure: png, svg, pdf, pgf (needs LaTeX); the report shows SVG, else PNG",
    )
    width: str = option("", help="width of each figure, such as 84mm (a paper's column) or 3.3in; where empty, its own")
    style: str = option("", help="file of a Matplotlib style (.mplstyle) that comes before the settings of ours")
    tables: str = option(
        "", help="kinds of files of the summary besides CSV: tex (means by policy, package booktabs), parquet (pyarrow)"
    )


@dataclass(frozen=True, kw_only=True)
class Conduct:
    """Place of a campaign's runs, treatment of runs that exist, and limits: options of every command that plays."""

    workers: int = option(0, low=0, high=100_000, help="runs at a time; 0: one per core")
    dask: str = option("", help="address of the scheduler of a Dask cluster that plays the runs")
    dask_tls: str = option(
        "",
        help="files (PEM) CA,CERT,KEY for a Dask cluster at tls://HOST:PORT; without them the traffic is not "
        "encrypted, and whoever reaches the scheduler runs code as its user",
    )
    dask_jobqueue: str = option("", help="request --workers Dask workers from a batch system (slurm, pbs ...)")
    dask_patience_s: float = option(
        300.0, unit="s", low=1.0, high=1e9, help="time without any worker of the cluster after which the command ends"
    )
    rerun: bool = option(
        False,
        help="repeat runs that other code made (an edited policy, for example); else they are kept, named and marked",
    )
    notes: bool = option(
        False, help="print all notes on machine and jobs: omissions and assumptions (else their number)"
    )
    max_runs: int = option(RUNS.most, unit="runs", low=1, high=10**9, help="refuse campaigns of more runs")
    force: bool = option(
        False,
        help="play a log also where the machine cannot be its own: above 1.5 times its nodes requested, or more than 2 "
        "% of the jobs rejected",
    )

    @property
    def elsewhere(self) -> bool:
        """Whether a Dask cluster plays the runs."""
        return bool(self.dask or self.dask_jobqueue)


@dataclass(frozen=True, kw_only=True)
class Campaign(Playing):
    """A grid: every workload on every platform with every policy, model and seed.

    Attributes
    ----------
    name
        Title of the campaign.
    workloads, platforms, policies, models, seeds
        The axes.
    """

    name: str
    workloads: tuple[WorkloadSpec, ...]
    policies: tuple[PolicySpec, ...]
    platforms: tuple[PlatformSpec, ...] = (PlatformSpec(source=AUTO),)
    models: tuple[ModelSpec, ...] = (ModelSpec(),)
    seeds: tuple[int, ...] = (0,)


class PreparedInput(msgspec.Struct, frozen=True, kw_only=True):
    """An input file in the campaign's own ``inputs`` folder, with the sha256 of its bytes."""

    name: str
    path: str
    sha256: str


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One run, with everything that its outcome depends on.

    Attributes
    ----------
    id
        Stable name of its folder: readable parts and a digest of all other fields but the code.
    workload, platform
        Input files.
    policy
        Name, given options, label.
    settings
        All options of the policy and all settings of the session, defaults included.
    model_options
        All options of the job model, defaults included.
    engine, model, transport, seed, image
        See :class:`Campaign`.
    code
        Hash of the code that makes it (:mod:`spillway.experiments.run.codehash`).
    events
        File of external events, if any.
    """

    id: str
    workload: PreparedInput
    platform: PreparedInput
    policy: PolicySpec
    settings: dict[str, Value]
    engine: Engine
    model: ModelSpec
    transport: Transport
    seed: int
    model_options: dict[str, Value] = {}
    image: str = ""
    code: str = ""
    events: PreparedInput | None = None


_PLAIN = Playing(uncontended=False)


@dataclass(frozen=True)
class Task:
    """A run and its place.

    Attributes
    ----------
    run
        The run.
    root
        The campaign's folder; input paths are relative to it.
    playing
        Options besides the run's own: bound of the slowdown, reasons, times without contention, longest silence.
    simulator
        Command of a simulator in a separate process; empty: in this process.
    assumed
        Assumptions about the inputs (:meth:`spillway.experiments.campaign.inputs.input_files.Inputs.assumed`), for the
        record.
    """

    run: RunSpec
    root: Path
    playing: Playing = _PLAIN
    simulator: tuple[str, ...] = ()
    assumed: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def folder(self) -> Path:
        """The run's own folder."""
        return self.root / self.run.id
