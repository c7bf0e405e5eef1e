"""What is to be run: immutable descriptions, no behaviour. A campaign is a grid of axes, a run is one point of it."""

from __future__ import annotations

import enum
from typing import Any

import msgspec

from spillway.base.options import Value, show

DEFAULT_TAU_S = 600.0
"""Bound of the bounded slowdown in seconds (the thesis's)."""

DEFAULT_SILENCE_S = 3600.0
"""Silence after which a simulator in a process of its own is taken to hang, in seconds of real time.

Generous: it only has to end what would else wait for ever, for a process that dies is noticed by other means.
"""


class Engine(enum.Enum):
    """What plays the machine."""

    FLUID = "fluid"
    FIXED = "fixed"
    WATERFILL = "waterfill"
    SIMGRID = "simgrid"
    BATSIM = "batsim"
    DOCKER = "docker"


class Player(enum.Enum):
    """How a job's operations reach the simulator: messages for each sub-job, or calls in the same process.

    ``direct`` and ``wire`` give the same tables. A Batsim, and a simulator in a process of its own, always get
    messages.
    """

    DIRECT = "direct"
    WIRE = "wire"


class Transport(enum.Enum):
    """How simulator and scheduler talk: by function call in one process, or over ZeroMQ between two processes."""

    DIRECT = "direct"
    ZMQ = "zmq"


class Struct(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all descriptions: immutable, keyword only."""


class WorkloadSpec(Struct, frozen=True):
    """Where jobs come from.

    Attributes
    ----------
    source
        A Batsim workload (``.json``, ``.xz`` and ``.gz`` too), a log of any format, a member of an archive
        (``parts.tar.xz!part-4.json``), a pattern of any of these, a generator (``kth-like:jobs=500``) or the name of a
        public log.
    name
        Name in the results; default: the file's.
    seed
        Seed of the random draws of generators and of the burst-buffer model; ``None``: the run's seed.
    convert
        Options of the conversion of logs, by name (:class:`spillway.workloads.convert.ConvertOptions`).
    changes
        What differs from the jobs as they are, by name (:data:`spillway.workloads.vary.CHANGES`), as a text: ``load``:
        ``x1.1``.
    read
        Options of reading logs, by name (:class:`spillway.workloads.logs.reading.Reading`).
    """

    source: str
    name: str = ""
    seed: int | None = None
    convert: dict[str, Any] = {}
    changes: dict[str, str] = {}
    read: dict[str, Any] = {}


DEFAULT_MODEL = "default"
"""Name in the results of the job models that go with the policies."""


class ModelSpec(Struct, frozen=True):
    """A job model: what started jobs do.

    Attributes
    ----------
    name
        A name of the table of models, or ``FILE.py:CLASS``; "": the one that goes with the policy.
    options
        Options by name, texts or values.
    default
        Whether none was requested: policies are then compared although each brings its own.
    """

    name: str = ""
    options: dict[str, Any] = {}
    default: bool = False

    @property
    def label(self) -> str:
        """Name in the results."""
        return DEFAULT_MODEL if self.default or not self.name else self.text

    @property
    def text(self) -> str:
        """``NAME[:key=value,...]`` as the command line takes it."""
        given = ",".join(f"{key}={show(value)}" for key, value in self.options.items())
        return f"{self.name}:{given}" if given else self.name


AUTO = "auto"
"""Source of the machine that a workload states, in its header or otherwise
(:func:`spillway.experiments.campaign.machines.for_workload`): what every comparison is played on that names none."""


class PlatformSpec(Struct, frozen=True):
    """A machine: a built-in name (``thesis``), a description (``.toml``), SimGrid XML, or :data:`AUTO`.

    Attributes
    ----------
    source, name
        Where it is described, and its name in the results.
    changes
        What differs from the description, by dotted key (``storage.capacity``), as a text: a value with its unit, or a
        factor such as ``x1.2``. Logs are converted for the machine without them, so that its jobs are the same.
    """

    source: str = AUTO
    name: str = ""
    changes: dict[str, str] = {}


class PolicySpec(Struct, frozen=True):
    """A policy with values of its options.

    Attributes
    ----------
    policy
        Name in the table of policies.
    options
        Values of the options that were given (:func:`spillway.experiments.run.policies.typed` reads texts).
    literal
        Whether it follows the thesis's code to the letter.
    session
        Settings of the session that differ from the defaults (:mod:`spillway.experiments.run.sessions`).
    label
        Name in the results; default: policy and options.
    """

    policy: str
    options: dict[str, Value] = {}
    literal: bool = False
    session: dict[str, Value] = {}
    label: str = ""


class Figures(Struct, frozen=True):
    """How a campaign's figures and tables are written.

    Attributes
    ----------
    formats
        Of figures (:data:`spillway.analysis.plots.style.FORMATS`); the report shows SVG, else PNG.
    width_mm
        Width of every figure; 0: its own.
    style
        File of a Matplotlib style; "": ours alone.
    tables
        Further formats of the tables (:data:`spillway.experiments.campaign.paper.TABLES`).
    """

    formats: tuple[str, ...] = ("png", "svg")
    width_mm: float = 0.0
    style: str = ""
    tables: tuple[str, ...] = ()


class Campaign(Struct, frozen=True):
    """A grid: every workload on every platform with every policy, model and seed.

    Attributes
    ----------
    name
        For people.
    workloads, platforms, policies, models, seeds
        The axes.
    engine, transport, player
        What plays the machine, and how it talks to the scheduler.
    image
        Image of Batsim for the engine ``docker``; "": :data:`spillway.experiments.run.docker_engine.DEFAULT_IMAGE`.
    tau_s
        Bound of the bounded slowdown in seconds, > 0.
    plots
        Whether figures are drawn.
    figures
        How they are written.
    explain
        Whether each run keeps why its jobs waited.
    uncontended
        Whether IO-Aware runs also simulate each job without contention, for its slowdown by contention.
    silence_s
        Longest silence of a simulator in a process of its own, in seconds of real time, > 0; the result does not depend
        on it.
    events
        File of external events in Batsim's format, a JSON object per line: outages of hosts; or a generator of them
        (:mod:`spillway.experiments.run.failures`); "": none.
    """

    name: str
    workloads: tuple[WorkloadSpec, ...]
    policies: tuple[PolicySpec, ...]
    platforms: tuple[PlatformSpec, ...] = (PlatformSpec(),)
    models: tuple[ModelSpec, ...] = (ModelSpec(),)
    seeds: tuple[int, ...] = (0,)
    engine: Engine = Engine.FLUID
    transport: Transport = Transport.DIRECT
    player: Player = Player.DIRECT
    image: str = ""
    tau_s: float = DEFAULT_TAU_S
    plots: bool = True
    figures: Figures = Figures()
    explain: bool = False
    uncontended: bool = True
    silence_s: float = DEFAULT_SILENCE_S
    events: str = ""


class Prepared(Struct, frozen=True):
    """An input file in the campaign's own ``inputs`` folder, with the sha256 of its bytes."""

    name: str
    path: str
    sha256: str


class RunSpec(Struct, frozen=True):
    """One run. Everything that its outcome depends on is here.

    Attributes
    ----------
    id
        Stable name of its folder: readable parts and a digest of all that follows but the code.
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
    workload: Prepared
    platform: Prepared
    policy: PolicySpec
    settings: dict[str, Value]
    engine: Engine
    model: ModelSpec
    transport: Transport
    seed: int
    model_options: dict[str, Value] = {}
    player: Player = Player.DIRECT
    image: str = ""
    code: str = ""
    events: Prepared | None = None
