"""A session from a policy, a job model and settings: the one place that puts the scheduler together.

The service's command line, pybatsim, the experiments and the tests all assemble through here, so what cannot be
combined is refused everywhere in the same words.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spillway.base.errors import OptionError
from spillway.base.options import build, describe, option, show
from spillway.base.plugins import split_spec
from spillway.schedulers.applications.moldable import Moldable
from spillway.schedulers.controllers.control import make_controllers
from spillway.schedulers.controllers.interference import Conflict
from spillway.schedulers.core.execution import Runtime
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.outages import OnOutage, Restart
from spillway.schedulers.core.session import Cadence, Session
from spillway.schedulers.core.steering import Steering
from spillway.schedulers.jobmodels import MODELS, make_model, name_of, unplayable
from spillway.schedulers.jobmodels.base import JobModel, Needs, stages_of
from spillway.schedulers.jobmodels.gates import IoControl, IoOrder, make_gate
from spillway.schedulers.jobmodels.io_aware import IoAware
from spillway.schedulers.jobmodels.malleable import Malleable
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.jobmodels.steerable import Applications
from spillway.schedulers.jobmodels.time_sharing import TimeSharing
from spillway.schedulers.jobmodels.timeshared import TimeShared
from spillway.schedulers.lives import LIVES, parse_life
from spillway.schedulers.lives import name_of as life_name
from spillway.schedulers.lives.base import Expected, Expects, Life, Under
from spillway.schedulers.lives.buffer_first import Slurm
from spillway.schedulers.lives.persistent import WithPersistent
from spillway.schedulers.model.job import BURST_BUFFER_FIELD, TOTAL_FIELD, Job
from spillway.schedulers.model.machine import MachineDefaults
from spillway.schedulers.policies import POLICIES, find_policy
from spillway.schedulers.policykit.estimates import Correction, Estimator, Requested, UserHistory, Walltimes
from spillway.schedulers.policykit.maxima import parse_maxima
from spillway.schedulers.policykit.pass_limit import Limitable, PassLimit
from spillway.schedulers.policykit.survival import Survival
from spillway.schedulers.policykit.user_limit import UserLimit
from spillway.schedulers.policykit.view import GivesBuffers, Policy
from spillway.schedulers.timeline import NodeOrder, Placement, StorageOrder, Timeline
from spillway.schedulers.timeline.published import PublishedTimeline
from spillway.schedulers.timesharing.costs import Costs
from spillway.schedulers.timesharing.sharing import Sharing
from spillway.schedulers.timesharing.slices import Slices


class Estimates(enum.Enum):
    """Where expected durations come from."""

    WALLTIME = "walltime"
    HISTORY = "history"
    REQUESTED = "requested"
    SURVIVAL = "survival"


@dataclass(frozen=True)
class Settings:
    """What every policy and every job model can be combined with."""

    estimates: Estimates = option(
        Estimates.WALLTIME,
        help="how long a job is expected to run: its walltime, from its user's history, its field requested_s, or a "
        "quantile of what similar jobs took that survived as long",
    )
    history: int = option(2, unit="jobs", low=1, high=1000, help="runtimes of a user that a prediction averages")
    correction: Correction = option(
        Correction.GRADUAL, help="growth of a prediction that was exceeded: in steps, or to the walltime"
    )
    quantile: float = option(0.5, low=0.01, high=0.99, help="estimates=survival: which quantile is expected")
    node_order: NodeOrder = option(NodeOrder.FIRST_FIT, help="which free nodes a job gets")
    storage_order: StorageOrder = option(
        StorageOrder.NEAREST, help="which storage node holds the burst buffer of a node"
    )
    bandwidth: str = option("aware", choices=("aware", "ignorant"), help="whether links' bandwidth is scheduled")
    foreign: float = option(
        0.0, low=0.0, high=0.99, help="share of the file system's bandwidth kept free for traffic of others"
    )
    pfs_bandwidth: float = option(
        0.0,
        unit="bytes/s",
        low=0.0,
        high=1e18,
        help="bandwidth of the file system, shared by all hosts, where the platform states no links to it; 0: unknown",
    )
    io_control: IoControl = option(
        IoControl.SHARED,
        help="which jobs may use the file system at a time: all, or one job per I/O node (models with transfers)",
    )
    io_order: IoOrder = option(IoOrder.FIFO, help="whose turn is next under exclusive I/O")
    io_node_depth: int = option(
        0, low=0, high=9, help="parts of a node's location that name its I/O node; 0: one I/O node for the machine"
    )
    bb_life: str = option(
        "with-nodes",
        help="how long a burst buffer is held around its job's nodes, and who gets one when: "
        f"{', '.join(LIVES)}, with options after a colon",
    )
    bb_user_limit: float = option(
        0.0,
        unit="bytes",
        low=0.0,
        high=1e18,
        help="most burst-buffer bytes that the jobs of one user hold at a time; 0: no limit",
    )
    bb_maxima: str = option(
        "",
        help="most burst-buffer bytes that a job may request per node, by kind of buffer: KIND=BYTES[,KIND=BYTES...], "
        "a kind as in the job's field bb_kind, else 'node' or 'job'",
    )
    on_outage: OnOutage = option(
        OnOutage.CONTINUE,
        help="what happens to a running job that holds a node or a burst buffer that becomes unavailable",
    )
    restart: Restart = option(
        Restart.BEGINNING,
        help="where a requeued job goes on: at its beginning, or at its last checkpoint that survived (models that "
        "write checkpoints)",
    )


def make_settings(given: Mapping[str, Any], preset: Mapping[str, Any], *, literal: bool = False) -> Settings:
    """Build the settings of a session: what is given, else what goes with the policy, else the defaults.

    Parameters
    ----------
    given
        Texts or values by name.
    preset
        Values by name that go with the policy (:attr:`spillway.schedulers.policies.PolicyEntry.settings`).
    literal
        Follow the published experiment, which knew no such presets.

    Raises
    ------
    OptionError
        A setting or its value is unknown.
    """
    return build(Settings, given, {} if literal else preset)


def default_model(policy: Policy, *, literal: bool = False) -> JobModel:
    """The job model that goes with a policy where none is named: time-shared for gang policies, else rigid."""
    return make_model("timeshared" if _shares_nodes(policy) else "rigid", literal=literal)


def check_combination(policy: Policy, settings: Settings, model: JobModel) -> None:
    """Refuse what cannot be combined; :class:`OptionError` names both parts and the reason."""
    name = name_of(model)
    if _shares_nodes(policy) and not isinstance(model, TimeSharing):
        raise OptionError(
            f"policy {type(policy).__name__.lower()!r} and --model {name} cannot be combined: jobs that share nodes in "
            "time are played by --model timeshared only"
        )
    if isinstance(model, Malleable) and model.moldable and not getattr(policy, "starts_moldable", False):
        raise OptionError(
            f"policy {type(policy).__name__} starts every job on all nodes that it requests: it cannot be combined "
            "with --model malleable:moldable=true"
        )
    if settings.on_outage.shrinks and not isinstance(model, Malleable):
        raise OptionError(
            f"setting on_outage={settings.on_outage.value} and --model {name} cannot be combined: only applications of "
            "--model malleable can go on with fewer nodes"
        )
    if _packs_buffers(policy) and settings.storage_order is StorageOrder.RACK:
        raise OptionError(
            f"policy {type(policy).__name__} and setting storage_order=rack cannot be combined: it packs burst "
            "buffers by a rule of its own, onto any storage node"
        )
    if _shares_nodes(policy) and settings.storage_order is StorageOrder.RACK:
        raise OptionError(
            f"policy {type(policy).__name__} and setting storage_order=rack cannot be combined: it chooses nodes by "
            "its rows, in racks whose storage may never have room"
        )
    if settings.restart is Restart.CHECKPOINT and not model.restarts:
        able = ", ".join(name for name, cls in MODELS.items() if cls.restarts)
        raise OptionError(
            f"setting restart=checkpoint and --model {name} cannot be combined: its jobs write no checkpoints; models "
            f"whose jobs do: {able}"
        )
    if isinstance(model, IoAware) and model.book_stages and settings.bandwidth != "aware":
        raise OptionError(
            "--model io:book_stages=... and setting bandwidth=ignorant cannot be combined: nothing would be booked"
        )
    _check_settings(settings)
    if settings.bb_maxima:
        parse_maxima(settings.bb_maxima)
    life = parse_life(settings.bb_life)
    _check_life(life, settings, model)
    if isinstance(policy, GivesBuffers) and isinstance(life, Slurm) and life.policies_give:
        for name in ("order", "overtake"):
            if getattr(life, name) != getattr(Slurm, name):
                raise OptionError(
                    f"policy {type(policy).__name__} and --bb-life {life_name(life)}:{name} cannot be combined: the "
                    "policy gives burst buffers in an order of its own"
                )
    if model.needs.gate:
        if settings.io_control is not IoControl.EXCLUSIVE:
            _refuse_changed(
                settings, ("io_order", "io_node_depth"), "io_control=exclusive", "with shared there are no turns"
            )
        return
    with_gate = ", ".join(name for name, cls in MODELS.items() if cls.needs.gate)
    for setting in _changed(settings, ("io_control", "io_order", "io_node_depth")):
        raise OptionError(
            f"setting {setting} and --model {name} cannot be combined: its jobs make no transfers that take turns; "
            f"models that do: {with_gate}"
        )


def _check_life(life: Life, settings: Settings, model: JobModel) -> None:
    """Refuse what burst buffers with lives of their own cannot be combined with."""
    if not life.apart:
        return
    refused = {
        f"--model {name_of(model)}": "jobs that change their nodes on the way do not leave their burst buffer behind"
        if isinstance(model, Malleable | TimeSharing)
        else "",
        f"--model {name_of(model)}:book_stages": "streams of stages are booked as long as nodes"
        if isinstance(model, IoAware) and model.book_stages
        else "",
        "the model's own lives": "there can be only one" if type(model).lives is not JobModel.lives else "",
        "setting storage_order=rack": "a buffer is placed before the nodes in whose racks it would have to be"
        if settings.storage_order is StorageOrder.RACK
        else "",
        "setting io_node_depth": "what is staged without nodes passes no I/O node" if settings.io_node_depth else "",
    }
    for what, reason in refused.items():
        if reason:
            raise OptionError(f"--bb-life {life_name(life)} and {what} cannot be combined: {reason}")


def _expects(model: JobModel) -> Expects:
    """What jobs are expected to stage under a model."""

    def expected(job: Job) -> Expected:
        (in_bytes, in_s), (out_bytes, out_s) = stages_of(model.stage_in(job)), stages_of(model.stage_out(job))
        return Expected(in_bytes * job.requests, in_s, out_bytes * job.requests, out_s)

    return expected


def _check_settings(settings: Settings) -> None:
    """Refuse settings that others leave without a meaning."""
    if not settings.on_outage.requeues:
        _refuse_changed(settings, ("restart",), "on_outage=requeue", "without it no job is submitted anew")
    if settings.estimates is not Estimates.HISTORY:
        why = f"with estimates={settings.estimates.value} no last runtimes of a user are averaged"
        _refuse_changed(settings, ("history", "correction"), "estimates=history", why)
    if settings.estimates is not Estimates.SURVIVAL:
        why = f"with estimates={settings.estimates.value} no quantile is taken"
        _refuse_changed(settings, ("quantile",), "estimates=survival", why)
    if settings.bandwidth != "aware":
        _refuse_changed(
            settings, ("foreign", "pfs_bandwidth"), "bandwidth=aware", "with ignorant no bandwidth is booked"
        )


def _refuse_changed(settings: Settings, names: Sequence[str], needed: str, why: str) -> None:
    """Refuse settings that have a meaning only beside another one."""
    for setting in _changed(settings, names):
        raise OptionError(f"setting {setting} needs {needed}: {why}")


def _changed(settings: Settings, names: Sequence[str]) -> list[str]:
    """Those of these settings that differ from their defaults, as ``name=value``."""
    values = {name: getattr(settings, name) for name in names}
    return [f"{name}={show(value)}" for name, value in values.items() if value != _DEFAULTS[name]]


_DEFAULTS: Mapping[str, Any] = {info.name: info.default for info in describe(Settings)}


def assemble(
    policy: Policy,
    settings: Settings,
    model: JobModel | None = None,
    *,
    literal: bool = False,
    cadence: Cadence | None = None,
    seed: int = 0,
    burst_buffer_bytes: int = 0,
    location_shape: tuple[int, ...] = (),
    observer: Observer | None = None,
    on_record: Callable[[JobRecord], None] | None = None,
    on_conflict: Callable[[Conflict], None] | None = None,
    explain: bool = False,
    direct: bool = False,
) -> Session:
    """Put a session together.

    Parameters
    ----------
    policy
        Decides.
    settings
        See :class:`Settings`.
    model
        What started jobs do; default: what goes with the policy (:func:`default_model`).
    literal
        Follow the published experiment: one pass per event, its timeline.
    cadence
        When the policy is called; default: as ``literal`` requires.
    burst_buffer_bytes, location_shape
        See :class:`spillway.schedulers.model.machine.MachineDefaults`.
    on_record
        Gets the record of every job that has ended.
    on_conflict
        Gets every predicted collision of I/O phases (model ``malleable``).
    direct
        Whether the simulator runs in this process and takes a job's operations without messages for each.

    Raises
    ------
    OptionError
        Parts cannot be combined.
    """
    model = model if model is not None else default_model(policy, literal=literal)
    check_combination(policy, settings, model)
    if literal and settings.storage_order is StorageOrder.RACK:
        raise OptionError("setting storage_order=rack and --thesis-literal cannot be combined: its rule is nearest")
    play = next((_RUNTIMES[kind] for kind in type(model).__mro__ if kind in _RUNTIMES), _programs)
    life = parse_life(settings.bb_life)
    if life.apart and literal:
        raise OptionError(f"--bb-life {life_name(life)} and the published experiment's rules exclude each other")
    runtime, steering = play(policy, settings, model, on_record, on_conflict, direct)
    refuses = _without_stripes(policy, runtime.refuses)
    under = Under(policy, life, _expects(model))
    deciding: Policy = under if life.apart else policy
    if settings.bb_user_limit:
        deciding = UserLimit(deciding, int(settings.bb_user_limit))
        refuses = _first_of(deciding.refuses, refuses)
    if settings.bb_maxima:
        refuses = _first_of(parse_maxima(settings.bb_maxima).refuses, refuses)
    return Session(
        WithPersistent(deciding, int(settings.bb_user_limit), under.keep),
        runtime,
        unplayable=unplayable(model, refuses),
        seed=seed,
        cadence=cadence or (Cadence.EVENT if literal else Cadence.MESSAGE),
        defaults=MachineDefaults(
            burst_buffer_bytes,
            location_shape,
            settings.bandwidth == "aware",
            settings.foreign,
            int(settings.pfs_bandwidth),
        ),
        placement=Placement(settings.node_order, settings.storage_order),
        timeline=PublishedTimeline if literal else Timeline,
        estimator=_ESTIMATORS[settings.estimates](settings),
        observer=observer,
        explain=explain,
        steering=steering,
        fewest_nodes=_fewest_nodes(model),
        demand=model.demand() if settings.bandwidth == "aware" else None,
        lives=model.lives if type(model).lives is not JobModel.lives else None,
        on_outage=settings.on_outage,
    )


@dataclass(frozen=True)
class SessionSpec:
    """What a user selects, as every interface reads it (command line, pybatsim, campaigns): names, and texts or values.

    Attributes
    ----------
    policy, policy_options
        Name of a policy or ``FILE.py:CLASS``, and its options.
    model, model_options
        Name of a job model or ``FILE.py:CLASS`` ("": what goes with the policy), and its options.
    settings
        Settings by name.
    literal, cadence, seed, burst_buffer_bytes, location_shape
        See :func:`assemble`.
    pass_limit
        Bound on the seconds of a pass, and the clock; ``None``: no clock has any part in decisions.
    """

    policy: str
    policy_options: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    model_options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    literal: bool = False
    cadence: Cadence | None = None
    seed: int = 0
    burst_buffer_bytes: int = 0
    location_shape: tuple[int, ...] = ()
    pass_limit: PassLimit | None = None

    def make_policy(self) -> Policy:
        """The policy; :class:`OptionError` for an unknown one, wrong options, or a limit on one that never searches."""
        policy = find_policy(self.policy).build(self.policy_options, literal=self.literal)
        if self.pass_limit is None:
            return policy
        if not isinstance(policy, Limitable):
            able = ", ".join(name for name, entry in POLICIES.items() if issubclass(entry.cls, Limitable))
            raise OptionError(
                f"policy {self.policy!r} and --pass-limit cannot be combined: it does not search; policies that do: "
                f"{able}"
            )
        return policy.limited(self.pass_limit)

    def make_model(self) -> JobModel:
        """The job model; :class:`OptionError` for an unknown one or wrong options."""
        if not self.model and not self.model_options:
            return default_model(self.make_policy(), literal=self.literal)
        return make_model(self.model, self.model_options, literal=self.literal)

    def make_settings(self) -> Settings:
        """The settings; :class:`OptionError` for an unknown one or a wrong value."""
        return make_settings(self.settings, find_policy(self.policy).settings, literal=self.literal)

    def needs(self) -> Needs:
        """What the simulator must offer: what the model needs, and dynamic jobs where jobs are submitted anew."""
        needs = self.make_model().needs
        return (
            replace(needs, dynamic_jobs=True, profile_reuse=True) if self.make_settings().on_outage.requeues else needs
        )

    def session(
        self,
        observer: Observer | None = None,
        *,
        on_record: Callable[[JobRecord], None] | None = None,
        explain: bool = False,
        direct: bool = False,
    ) -> Session:
        """The session (see :func:`assemble`); :class:`OptionError` for what is wrong or cannot be combined."""
        return assemble(
            self.make_policy(),
            self.make_settings(),
            self.make_model(),
            literal=self.literal,
            cadence=self.cadence,
            seed=self.seed,
            burst_buffer_bytes=self.burst_buffer_bytes,
            location_shape=self.location_shape,
            observer=observer,
            on_record=on_record,
            explain=explain,
            direct=direct,
        )


def spec_from(options: Mapping[str, Any]) -> SessionSpec:
    """What a JSON object selects (pybatsim's launcher), with JSON's own types.

    ``policy`` and ``model`` are texts as on the command line, ``model`` may also be an object with ``name`` and the
    model's options; ``options`` are the policy's.

    Raises
    ------
    OptionError
        An option is missing or unknown, or of the wrong type.
    """
    if not isinstance(options, dict) or not isinstance(options.get("policy"), str):
        raise OptionError('expected the name of a policy: -o \'{"policy": "easy"}\'')
    policy, own = split_spec(options["policy"])
    model, model_options = _model_from(options.get("model", ""))
    known = {info.name for info in describe(Settings)}
    given = {name.replace("-", "_"): value for name, value in options.items()}
    if len(given) < len(options):
        raise OptionError("an option is given twice, with - and with _")
    for name, value in given.items():
        if name in known:
            continue
        if name not in _JSON:
            raise OptionError(f"unknown option {name!r}; known: {', '.join(sorted(_JSON.keys() | known))}")
        check, words = _JSON[name]
        if not check(value):
            raise OptionError(f"option {name!r} must be {words}, got {value!r}")
    return SessionSpec(
        policy,
        own | given.get("options", {}),
        model,
        model_options,
        {name: given[name] for name in known & given.keys()},
        given.get("thesis_literal", False),
        Cadence(given["cadence"]) if "cadence" in given else None,
        given.get("seed", 0),
        given.get("burst_buffer_bytes", 0),
        tuple(given.get("location_shape", ())),
    )


def _model_from(given: Any) -> tuple[str, Mapping[str, Any]]:
    """Name and options of a job model, from a text or an object."""
    if isinstance(given, dict) and isinstance(given.get("name"), str) and given["name"]:
        return given["name"], {name: value for name, value in given.items() if name != "name"}
    if not isinstance(given, str):
        raise OptionError(f"option 'model' must be a text or an object with a name, got {given!r}")
    return split_spec(given) if given else ("", {})


def _natural(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_JSON: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "policy": (lambda value: isinstance(value, str), "a text"),
    "options": (lambda value: isinstance(value, dict), "an object"),
    "model": (lambda value: isinstance(value, str | dict), "a text or an object"),
    "thesis_literal": (lambda value: isinstance(value, bool), "true or false"),
    "cadence": (lambda value: value in ("message", "event"), "message or event"),
    "seed": (lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number"),
    "burst_buffer_bytes": (_natural, "a whole number of bytes"),
    "location_shape": (lambda value: isinstance(value, list) and all(map(_natural, value)), "a list of whole numbers"),
}
"""What a JSON object may hold besides settings, and what its values must be."""


def _fewest_nodes(model: JobModel) -> Callable[[Job], int] | None:
    """On how few nodes jobs may start; ``None``: on all that they request."""
    return Moldable() if isinstance(model, Malleable) and model.moldable else None


OnRecord = Callable[[JobRecord], None] | None
OnConflict = Callable[[Conflict], None] | None
Played = tuple[Runtime, Steering | None]


def _programs(
    policy: Policy, settings: Settings, model: JobModel, on_record: OnRecord, on_conflict: OnConflict, direct: bool
) -> Played:
    """The runtime of models with programs."""
    gate = make_gate(settings.io_control, settings.io_order)
    limits, restarts = parse_life(settings.bb_life).limits(), settings.restart is Restart.CHECKPOINT
    depth = settings.io_node_depth
    return ProgramRuntime(model, gate, depth, on_record, direct=direct, limits=limits, restarts=restarts), None


def _malleable(
    policy: Policy, settings: Settings, model: JobModel, on_record: OnRecord, on_conflict: OnConflict, direct: bool
) -> Played:
    """The same, with controllers that resize running jobs."""
    assert isinstance(model, Malleable)
    gate = make_gate(settings.io_control, settings.io_order)
    runtime = ProgramRuntime(model, gate, settings.io_node_depth, on_record, direct=direct)
    return runtime, Steering(make_controllers(model, on_conflict), Applications(runtime), always=model.active)


def _time_sharing(
    policy: Policy, settings: Settings, model: JobModel, on_record: OnRecord, on_conflict: OnConflict, direct: bool
) -> Played:
    """The runtime of jobs that take turns on nodes."""
    sharing: Callable[[], Sharing] = getattr(policy, "sharing", _whole_machine)
    return TimeShared(*sharing(), on_record, direct=direct), None


_RUNTIMES: Mapping[type, Callable[..., Played]] = {TimeSharing: _time_sharing, Malleable: _malleable}
"""Models, and those derived from them, that are not played by their programs alone."""


def _shares_nodes(policy: Policy) -> bool:
    """Whether jobs take turns on nodes under a policy
    (:class:`spillway.schedulers.timesharing.sharing.SharesNodes`)."""
    return hasattr(policy, "sharing")


def _packs_buffers(policy: Policy) -> bool:
    """Whether a policy decides itself which storage node gets each node's request (class variable)."""
    return bool(getattr(policy, "packs_buffers", False))


def _without_stripes(policy: Policy, refuses: Callable[[Job], str | None]) -> Callable[[Job], str | None]:
    """Refuse striped buffers where the policy packs one request per node."""
    if not _packs_buffers(policy):
        return refuses
    reason = (
        f"its field {TOTAL_FIELD!r} is a burst buffer of the whole job, while policy {type(policy).__name__} packs one "
        f"per node: state {BURST_BUFFER_FIELD!r} instead, or choose another policy"
    )
    return lambda job: reason if job.stripes else refuses(job)


def _first_of(*refuses: Callable[[Job], str | None]) -> Callable[[Job], str | None]:
    """The first reason of several."""
    return lambda job: next((reason for reason in (refuse(job) for refuse in refuses) if reason), None)


def _whole_machine() -> Sharing:
    """One row: jobs take no turns."""
    return Sharing(Slices(level=1, quantum_us=1_000_000), Costs())


_ESTIMATORS: Mapping[Estimates, Callable[[Settings], Estimator]] = {
    Estimates.WALLTIME: lambda _: Walltimes(),
    Estimates.HISTORY: lambda settings: UserHistory(settings.history, settings.correction),
    Estimates.REQUESTED: lambda _: Requested(),
    Estimates.SURVIVAL: lambda settings: Survival(settings.quantile),
}
