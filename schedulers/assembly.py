"""Assembly of a session from a policy, a job model and settings, in one place.

The service's command line, pybatsim, the experiments and the tests all assemble sessions here, so invalid combinations
are refused everywhere with the same message.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from spillway.base.dates import seconds_of
from spillway.base.errors import OptionError, shown
from spillway.base.options import build, describe, option, show, unknown
from spillway.base.plugins import split_spec
from spillway.core import NodeOrder, Placement, PublishedTimeline, StorageOrder, Timeline
from spillway.schedulers.controllers.control import Control, make_controllers
from spillway.schedulers.controllers.interference import Conflict
from spillway.schedulers.core.counted_pools import CountedPools
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.outages import OnOutage, Restart
from spillway.schedulers.core.session import Runtime, Session
from spillway.schedulers.core.steering import Steering
from spillway.schedulers.core.terms import Cadence, Terms
from spillway.schedulers.description import ModelSpec, PolicySpec
from spillway.schedulers.jobmodels import make_model, name_of, rules_of, unplayable
from spillway.schedulers.jobmodels.base import JobModel, Needs, program_of, stages_of
from spillway.schedulers.jobmodels.gates import IoControl, IoOrder, make_gate
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.jobmodels.slices import rest_of, unscalable
from spillway.schedulers.jobmodels.time_sharing_runtime import TimeShared
from spillway.schedulers.lives import LIVES, parse_life
from spillway.schedulers.lives import name_of as life_name
from spillway.schedulers.lives.base import ExpectedStaging, Expects, Life, LifePolicy
from spillway.schedulers.lives.persistent import PersistentBufferPolicy
from spillway.schedulers.model.job import BURST_BUFFER_FIELD, TOTAL_FIELD, Job
from spillway.schedulers.model.machine import MachineDefaults
from spillway.schedulers.model.preemption import Preemption
from spillway.schedulers.model.rules import Rules, Trait, refuse
from spillway.schedulers.model.site import Site, parse_site
from spillway.schedulers.policies import POLICIES, find_policy
from spillway.schedulers.policykit.estimates import Correction, Estimator, RequestedDurations, UserHistory, Walltimes
from spillway.schedulers.policykit.maxima import parse_maxima
from spillway.schedulers.policykit.ordering import MULTIFACTOR
from spillway.schedulers.policykit.pass_limit import Limitable, PassLimit
from spillway.schedulers.policykit.reservations import Window, admission, has_date, parse_windows, reservations_of
from spillway.schedulers.policykit.slurm.preemption import PreemptionPolicy, PromisePolicy
from spillway.schedulers.policykit.slurm.site_scheduler import SiteOptions, site_options
from spillway.schedulers.policykit.user_limit import UserLimit
from spillway.schedulers.policykit.view import Policy, View
from spillway.schedulers.policykit.view import rules_of as policy_rules
from spillway.schedulers.policykit.windows import Windows
from spillway.schedulers.site_file import site_setting
from spillway.schedulers.timesharing.sharing import Costs, Sharing
from spillway.schedulers.timesharing.slices import Slices


class Estimates(enum.Enum):
    """Source of expected durations."""

    WALLTIME = "walltime"
    HISTORY = "history"
    REQUESTED = "requested"


@dataclass(frozen=True)
class Settings:
    """Settings that can be combined with every policy and job model."""

    estimates: Estimates = option(
        Estimates.WALLTIME,
        help="expected duration of a job: its walltime, from its user's history, or its field requested_s",
    )
    history: int = option(2, unit="jobs", low=1, high=1000, help="runtimes of a user that a prediction averages")
    correction: Correction = option(
        Correction.GRADUAL, help="growth of a prediction that was exceeded: in steps, or to the walltime"
    )
    node_order: NodeOrder = option(NodeOrder.FIRST_FIT, help="choice of a job's nodes among free ones")
    storage_order: StorageOrder = option(
        StorageOrder.NEAREST, help="choice of the storage node for the burst buffer of a node"
    )
    bandwidth: str = option("aware", choices=("aware", "ignorant"), help="whether links' bandwidth is scheduled")
    foreign: float = option(
        0.0, low=0.0, high=0.99, help="share of the file system's bandwidth kept free for other traffic"
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
        help="jobs that may use the file system at a time: all, or one job per I/O node (models with transfers)",
    )
    io_order: IoOrder = option(IoOrder.FIFO, help="order of turns under exclusive I/O")
    io_node_depth: int = option(
        0, low=0, high=9, help="parts of a node's location that name its I/O node; 0: one I/O node for the machine"
    )
    bb_life: str = option(
        "with-nodes",
        help="interval of a burst buffer around its job's nodes, and the order in which buffers are given: "
        f"{', '.join(LIVES)}, with options after a colon",
    )
    bb_user_limit: float = option(
        0.0,
        unit="bytes",
        low=0.0,
        high=1e18,
        help="most burst-buffer bytes held by the jobs of one user at a time; 0: no limit",
    )
    bb_maxima: str = option(
        "",
        help="most burst-buffer bytes that a job may request per node, by kind of buffer: KIND=BYTES[,KIND=BYTES...], "
        "a kind as in the job's field bb_kind, else 'node' or 'job'",
    )
    maintenance: str = option(
        "",
        help="windows in which no job runs on all or some nodes: START LENGTH [every PERIOD] [nodes 0-15 20], times "
        "since the begin of the simulation with units (3d 12h) or a date (2026-12-01T08:00 12h), several separated by "
        "';'",
    )
    site: str = option(
        "",
        help="file of the site's partitions, shares, weights and pools (TOML, as 'spillway site import' writes it), or "
        "its JSON text, as in descriptions of runs",
    )
    suspend: str = option(
        "refused",
        choices=("refused", "suspend", "requeue", "cancel", "off"),
        help="treatment of preempted jobs where a site suspends them (PreemptMode=SUSPEND); suspend: they resume later "
        "on their nodes, as a further job of the simulator (--model rigid only); refused: such a site is an error",
    )
    begins: str = option(
        "",
        help="date of the simulation's time 0 (2026-11-01T00:00:00), from which a site's reservations and dates of "
        "maintenance are counted; default: the date that the workload states",
    )
    on_outage: OnOutage = option(
        OnOutage.CONTINUE,
        help="treatment of a running job with a node or a burst buffer that becomes unavailable",
    )
    restart: Restart = option(
        Restart.BEGINNING,
        help="point from which a requeued job continues: its beginning, or its last checkpoint that survived (models "
        "that write checkpoints)",
    )

    def rules(self) -> Rules:
        """Requirements of the settings on policy, model and life, and traits that they lack."""
        needs: dict[Trait, tuple[str, str]] = {}
        if self.on_outage.shrinks:
            needs[Trait.SHRINKING] = (f"on_outage={self.on_outage.value}", "")
        if self.restart is Restart.CHECKPOINT:
            needs[Trait.CHECKPOINTS] = ("restart=checkpoint", "")
        for changed in self._changed("io_control", "io_order", "io_node_depth")[:1]:
            needs[Trait.GATE] = (changed, "")
        lacks: dict[Trait, tuple[str, str]] = {}
        if self.maintenance:
            lacks[Trait.TURNS] = ("maintenance", "jobs that take turns are not kept out of windows")
        site = self.site_stated
        if site is not None and (
            site.partitions or site.resources or site.gpus or site.reservations or CountedPools(site)
        ):
            lacks[Trait.TURNS] = (
                "site",
                "jobs that take turns are kept to no partition, reservation, license or limit",
            )
        if self.preemption.active:
            needs[Trait.PREEMPTION] = ("site", "")
            lacks.setdefault(Trait.TURNS, ("site", "jobs that take turns on nodes cannot be preempted"))
        if self.preemption.suspends:
            needs[Trait.CUT] = ("suspend=suspend", "")
            lacks[Trait.APART] = ("suspend=suspend", "a suspended job keeps its burst buffer beside its nodes")
        if self.storage_order is StorageOrder.RACK:
            lacks[Trait.ANY_STORAGE] = ("storage_order=rack", "")
        if self.bandwidth != "aware":
            lacks[Trait.BANDWIDTH] = (f"bandwidth={self.bandwidth}", "")
        if self.io_node_depth:
            lacks[Trait.APART] = ("io_node_depth", "stage-in and stage-out without nodes pass no I/O node")
        return Rules(needs, lacks)

    @cached_property
    def preemption(self) -> Preemption:
        """Which jobs of the site may preempt which."""
        return Preemption(self.site_stated or Site(), "" if self.suspend == "refused" else self.suspend)

    @property
    def requeues(self) -> bool:
        """Whether killed jobs are submitted anew."""
        return self.on_outage.requeues or self.preemption.requeues

    def check(self) -> None:
        """Refuse settings without effect beside the others, maxima that cannot be read, and sites that suspend."""
        by, preemption = self.estimates, self.preemption
        if preemption.suspended:
            where = ", ".join(preemption.suspended[:3])
            raise OptionError(
                f"setting site: preempted jobs of {where} are suspended (PreemptMode=SUSPEND): "
                "set suspend=suspend (with --model rigid), requeue, cancel or off (--suspend) for their treatment"
            )
        for names, has_meaning, needed in (
            (
                "restart",
                self.requeues,
                "on_outage=requeue, or a site that requeues preempted jobs: without it no job is submitted anew",
            ),
            (
                "history correction",
                by is Estimates.HISTORY,
                f"estimates=history: with {by.value} no runtimes are averaged",
            ),
            (
                "foreign pfs_bandwidth",
                self.bandwidth == "aware",
                "bandwidth=aware: with ignorant no bandwidth is booked",
            ),
            (
                "io_order io_node_depth",
                self.io_control is IoControl.EXCLUSIVE,
                "io_control=exclusive: with shared there are no turns",
            ),
        ):
            for setting in () if has_meaning else self._changed(*names.split()):
                raise OptionError(f"setting {setting} needs {needed}")
        if self.bb_maxima:
            parse_maxima(self.bb_maxima)
        self.windows(or_s=0.0)

    @property
    def needs_begin(self) -> bool:
        """Whether the date of time 0 is needed but not stated."""
        return not self.begins and (has_date(self.maintenance) or bool((self.site_stated or Site()).reservations))

    def windows(self, or_s: float | None = None) -> tuple[Window, ...]:
        """Windows of maintenance, and the site's reservations.

        Parameters
        ----------
        or_s
            Date of time 0 (s since 1970) where the setting ``begins`` is empty; ``None``: not known.

        Raises
        ------
        OptionError
            A text or a date cannot be read, or there is a date while the date of time 0 is not known.
        """
        try:
            begins_s = seconds_of(self.begins) if self.begins else or_s
        except ValueError as error:
            raise OptionError(f"setting begins: {error}") from None
        maintenance = parse_windows(self.maintenance, begins_s) if self.maintenance else ()
        return maintenance + reservations_of(self.site_stated or Site(), begins_s)

    @cached_property
    def site_stated(self) -> Site | None:
        """The stated site, else ``None``."""
        return parse_site(self.site) if self.site else None

    def _changed(self, *names: str) -> list[str]:
        """Settings among ``names`` that differ from their defaults, as ``name=value``."""
        values = {name: getattr(self, name) for name in names}
        return [f"{name}={show(value)}" for name, value in values.items() if value != getattr(Settings, name)]


_LITERAL = Rules(
    {Trait.ANY_STORAGE: ("", "its rule is nearest")},
    {
        Trait.APART: ("", "the published scheduler held burst buffers as long as nodes"),
        Trait.PREEMPTION: ("", "the published scheduler killed no job for another one"),
    },
)
"""Requirements of the published experiment's rules, and traits that they lack."""


def _default_model(policy: Policy, *, literal: bool = False) -> JobModel:
    """Make the default job model of a policy: time-shared for gang policies, else rigid."""
    return make_model("timeshared" if hasattr(policy, "sharing") else "rigid", literal=literal)


def _check(policy: Policy, settings: Settings, model: JobModel, life: Life, *, literal: bool) -> None:
    """Refuse invalid combinations; :class:`OptionError` names both parts and the reason."""
    refuse(
        [
            (f"policy {type(policy).__name__}", policy_rules(policy)),
            (f"--bb-life {life_name(life)}", life.rules()),
            ("setting ", settings.rules()),
            (f"--model {name_of(model)}", rules_of(model)),
            ("--thesis-literal", _LITERAL if literal else Rules()),
        ]
    )
    settings.check()


def _expects(model: JobModel) -> Expects:
    """Make the function for the expected staging of jobs under a model."""

    def expected(job: Job) -> ExpectedStaging:
        (in_bytes, in_s), (out_bytes, out_s) = (
            stages_of(program_of(model, name, getattr(model, name)(job))) for name in ("stage_in", "stage_out")
        )
        return ExpectedStaging(in_bytes * job.requests, in_s, out_bytes * job.requests, out_s)

    return expected


def assemble(
    policy: Policy,
    settings: Settings,
    model: JobModel | None = None,
    *,
    spec: SessionSpec | None = None,
    observer: Observer | None = None,
    on_record: Callable[[JobRecord], None] | None = None,
    on_conflict: Callable[[Conflict], None] | None = None,
    explain: bool = False,
) -> Session:
    """Assemble a session.

    Parameters
    ----------
    policy
        The policy.
    settings
        See :class:`Settings`.
    model
        Model of started jobs; default: that of the policy (:func:`_default_model`).
    spec
        Description of the rest: published experiment, cadence, seed, defaults of the machine.
    on_record
        Receives the record of every ended job.
    on_conflict
        Receives every predicted collision of I/O phases (model ``malleable``).

    Raises
    ------
    OptionError
        Parts cannot be combined.
    """
    spec = spec or SessionSpec(PolicySpec(""))
    literal = spec.policy.literal
    model = model if model is not None else _default_model(policy, literal=literal)
    life = parse_life(settings.bb_life)
    _check(policy, settings, model, life, literal=literal)
    runtime, steering = _plays(policy, settings, model, life, on_record, on_conflict)
    deciding, refuses = _around(policy, settings, model, life, runtime.refuses)
    aware = settings.bandwidth == "aware"
    terms = Terms(
        seed=spec.seed,
        cadence=spec.cadence or (Cadence.EVENT if literal else Cadence.MESSAGE),
        explain=explain,
        estimator=_ESTIMATORS[settings.estimates](settings),
        steering=steering,
        defaults=MachineDefaults(
            spec.burst_buffer_bytes, spec.location_shape, aware, settings.foreign, int(settings.pfs_bandwidth)
        ),
        placement=Placement(settings.node_order, settings.storage_order),
        timeline=PublishedTimeline if literal else Timeline,
        unplayable=unplayable(model, refuses),
        fewest_nodes=model.fewest_nodes(),
        demand=model.demand() if aware else None,
        lives=model.lives if type(model).lives is not JobModel.lives else None,
        site=settings.site_stated,
        preemption=settings.preemption,
        rest=rest_of,
        on_outage=settings.on_outage,
    )
    return Session(deciding, runtime, terms=terms, observer=observer)


def _plays(
    policy: Policy,
    settings: Settings,
    model: JobModel,
    life: Life,
    on_record: Callable[[JobRecord], None] | None,
    on_conflict: Callable[[Conflict], None] | None,
) -> tuple[Runtime, Steering | None]:
    """Make the runtime of started jobs, and the controllers that resize them where the model has any."""
    programs = ProgramRuntime(
        model,
        make_gate(settings.io_control, settings.io_order),
        settings.io_node_depth,
        on_record,
        limits=life.limits(),
        restarts=settings.restart is Restart.CHECKPOINT,
    )
    steering: Steering | None = None
    if isinstance(model, Control):
        steering = Steering(make_controllers(model, on_conflict), programs, always=model.active)
    if not model.shares_nodes:
        return programs, steering
    sharing: Callable[[], Sharing] = getattr(policy, "sharing", _whole_machine)
    return TimeShared(*sharing(), on_record), steering


def _around(
    policy: Policy, settings: Settings, model: JobModel, life: Life, refuses: Callable[[Job], str | None]
) -> tuple[Policy, Callable[[Job], str | None]]:
    """Wrap the policy in all policies around it, and the runtime's check of jobs in further checks."""
    refuses = _without_stripes(policy, refuses)
    preemption = settings.preemption
    if preemption.suspends:
        refuses = _first_of(unscalable, refuses)
    under = LifePolicy(policy, life, _expects(model))
    deciding: Policy = under if life.apart else policy
    keep: Callable[[View], None] = under.keep
    promised: Callable[[View], None] | None = None
    if preemption.active:
        deciding = PreemptionPolicy(deciding, preemption, life.apart, getattr(policy, "due", None))
        promised = deciding.keep
    if settings.bb_user_limit:
        deciding = UserLimit(deciding, int(settings.bb_user_limit))
        refuses = _first_of(deciding.refuses, refuses)
    windows = settings.windows()
    if windows:
        deciding = Windows(deciding, windows, getattr(policy, "whole_seconds", False))
        keep = deciding.keeping(keep)
        if promised is not None:
            deciding = PromisePolicy(deciding, promised)
        refuses = _first_of(admission(windows, settings.site_stated), refuses)
    keep = keep if promised is None else _each(promised, keep)
    if settings.bb_maxima:
        refuses = _first_of(parse_maxima(settings.bb_maxima).refuses, refuses)
    return PersistentBufferPolicy(deciding, int(settings.bb_user_limit), keep), refuses


@dataclass(frozen=True)
class SessionSpec:
    """A user's selection in every interface (command line, pybatsim, campaigns): names, and texts or values.

    Attributes
    ----------
    policy
        The policy with its options, and the settings; ``literal``: one pass per event, the published timeline.
    model
        The job model with its options; default: that of the policy.
    cadence
        Times at which the policy is called; default: as ``literal`` requires.
    seed
        Seed of the policy's random numbers.
    burst_buffer_bytes, location_shape
        See :class:`spillway.schedulers.model.machine.MachineDefaults`.
    pass_limit
        Bound on the seconds of a pass, with the clock; ``None``: decisions depend on no clock.
    """

    policy: PolicySpec
    model: ModelSpec = field(default_factory=ModelSpec)
    cadence: Cadence | None = option(
        None, help="call the policy once per message or per event; none: per event only in the published experiment"
    )
    seed: int = option(0, help="seed of the policy's random numbers")
    burst_buffer_bytes: int = option(
        0,
        unit="bytes",
        low=0,
        high=2**62 - 1,
        help="capacity of each storage node on a host without capacity_bytes",
    )
    location_shape: tuple[int, ...] = ()
    pass_limit: PassLimit | None = None

    def _of_site(self) -> SiteOptions:
        """Options of the policy from the site's parameters; no options if the policy takes no site parameters."""
        given, entry = self.policy.site, find_policy(self.policy.policy)
        if not given or not getattr(entry.cls, "site_parameters", False):
            return SiteOptions({}, ())
        return site_options(parse_site(site_setting(given)), entry.options(), self.policy.options)

    def notes(self) -> list[str]:
        """Notes for the user before the run, a line each: options from the site, and its unplayed parameters."""
        policy, given = self.policy.policy, self.policy.options
        words = self._of_site().words(given)
        notes = [f"policy {policy}: {words}"] if words else []
        orders = [f"{name}={MULTIFACTOR}" for name, value in given.items() if show(value) == MULTIFACTOR]
        site = parse_site(site_setting(self.policy.site) or "{}")
        options = {option_info.name for option_info in find_policy(policy).options()}
        if len({partition.tier for partition in site.partitions}) > 1 and "order" not in options:
            notes.append(
                f"policy {policy} has no option order: jobs of partitions with a higher tier do not come first"
            )
        if orders and site.weights.all_zero:
            notes.append(
                f"policy {policy}: {', '.join(orders)}: no site states weights of priority (setting site, table "
                "priority): jobs come by the tiers of their partitions, site_factor and nice only, else as submitted"
            )
        return notes

    def make_policy(self) -> Policy:
        """Make the policy from the given options, else the site's, else the defaults.

        Raise :class:`OptionError` for an unknown policy, wrong options, or a limit on a policy that never searches.
        """
        spec = self.policy
        policy = find_policy(spec.policy).build(spec.options, literal=spec.literal, of_site=self._of_site().options)
        if self.pass_limit is None:
            return policy
        if not isinstance(policy, Limitable):
            able = ", ".join(name for name, entry in POLICIES.items() if issubclass(entry.cls, Limitable))
            raise OptionError(
                f"policy {spec.policy!r} and --pass-limit cannot be combined: it does not search or move promises; "
                f"policies that do: {able}"
            )
        return policy.limited(self.pass_limit)

    def make_model(self) -> JobModel:
        """Make the job model; raise :class:`OptionError` for an unknown one or wrong options."""
        model, literal = self.model, self.policy.literal
        if not model.name and not model.options:
            return _default_model(self.make_policy(), literal=literal)
        return make_model(model.name, model.options, literal=literal)

    def make_settings(self) -> Settings:
        """Make the settings: given ones, else those of the policy, else the defaults; a site's file becomes its text.

        The published experiment does not take the policy's settings. Raise :class:`OptionError` for an unknown setting
        or a wrong value, :class:`~spillway.base.errors.InputError` for a site's file that cannot be read.
        """
        spec = self.policy
        made = build(Settings, spec.session, {} if spec.literal else find_policy(spec.policy).settings)
        return replace(made, site=site_setting(made.site)) if made.site else made

    def check(self) -> None:
        """Raise :class:`OptionError` for unknown names, wrong values, or invalid combinations."""
        settings = self.make_settings()
        life = parse_life(settings.bb_life)
        _check(self.make_policy(), settings, self.make_model(), life, literal=self.policy.literal)

    def needs(self) -> Needs:
        """Features required of the simulator: those of the model, and dynamic jobs where jobs are submitted anew."""
        needs = self.make_model().needs
        return replace(needs, dynamic_jobs=True, profile_reuse=True) if self.make_settings().requeues else needs

    def session(
        self,
        observer: Observer | None = None,
        *,
        on_record: Callable[[JobRecord], None] | None = None,
        explain: bool = False,
        policy: Policy | None = None,
    ) -> Session:
        """Assemble the session (see :func:`assemble`), with ``policy`` in place of the selected one if given.

        Raise :class:`OptionError` for wrong values or invalid combinations.
        """
        return assemble(
            policy if policy is not None else self.make_policy(),
            self.make_settings(),
            self.make_model(),
            spec=self,
            observer=observer,
            on_record=on_record,
            explain=explain,
        )


def spec_from(options: Mapping[str, Any]) -> SessionSpec:
    """Read a selection from a JSON object (pybatsim's launcher), with JSON's own types.

    ``policy`` and ``model`` are texts as on the command line, ``model`` may also be an object with ``name`` and the
    model's options; ``options`` are the policy's.

    Raises
    ------
    OptionError
        An option is missing or unknown, or of the wrong type.
    """
    if not isinstance(options, dict) or not isinstance(options.get("policy"), str):
        raise OptionError('expected the name of a policy: -o \'{"policy": "easy"}\'')
    given = {name.replace("-", "_"): value for name, value in options.items()}
    if len(given) < len(options):
        raise OptionError("an option is given twice, with - and with _")
    policy, own = split_spec(given.pop("policy"))
    model = _model_from(given.pop("model", ""))
    further, shape = given.pop("options", {}), given.pop("location_shape", [])
    if not isinstance(further, dict):
        raise OptionError(f"option 'options' must be an object, got {further!r}")
    if not isinstance(shape, list) or not all(type(item) is int and item >= 0 for item in shape):
        raise OptionError(f"option 'location_shape' must be a list of whole numbers, got {shape!r}")
    shared = {info.name for info in describe(Settings)}
    known = [_LITERAL_OPTION, *(info.name for info in describe(SessionSpec)), *sorted(shared)]
    for name in given.keys() - known:
        raise OptionError(unknown(name, known))
    literal = given.pop(_LITERAL_OPTION, False)
    if not isinstance(literal, bool):
        raise OptionError(f"option {_LITERAL_OPTION!r} must be true or false, got {shown(show(literal))}")
    settings = {name: given.pop(name) for name in shared & given.keys()}
    chosen = PolicySpec(policy, options={**own, **further}, session=settings, literal=literal)
    return build(SessionSpec, given, typed=True, policy=chosen, model=model, location_shape=tuple(shape))


_LITERAL_OPTION = "thesis_literal"


def _model_from(given: Any) -> ModelSpec:
    """A job model, from a text or an object."""
    if isinstance(given, dict) and isinstance(given.get("name"), str) and given["name"]:
        return ModelSpec(given["name"], {name: value for name, value in given.items() if name != "name"})
    if not isinstance(given, str):
        raise OptionError(f"option 'model' must be a text or an object with a name, got {given!r}")
    return ModelSpec.of(given)


def _without_stripes(policy: Policy, refuses: Callable[[Job], str | None]) -> Callable[[Job], str | None]:
    """Refuse striped buffers where the policy packs one request per node."""
    if not getattr(policy, "packs_buffers", False):
        return refuses
    reason = (
        f"its field {TOTAL_FIELD!r} is a burst buffer of the whole job, while policy {type(policy).__name__} packs one "
        f"per node: state {BURST_BUFFER_FIELD!r} instead, or choose another policy"
    )
    return lambda job: reason if job.stripes else refuses(job)


def _each(*steps: Callable[[View], None]) -> Callable[[View], None]:
    """Run several steps one after the other."""

    def every(view: View) -> None:
        for step in steps:
            step(view)

    return every


def _first_of(*refuses: Callable[[Job], str | None]) -> Callable[[Job], str | None]:
    """Combine checks of jobs: the first reason counts."""
    return lambda job: next((reason for reason in (refuse(job) for refuse in refuses) if reason), None)


def _whole_machine() -> Sharing:
    """Sharing with one row: jobs take no turns."""
    return Sharing(Slices(level=1, quantum_us=1_000_000), Costs())


_ESTIMATORS: Mapping[Estimates, Callable[[Settings], Estimator]] = {
    Estimates.WALLTIME: lambda _: Walltimes(),
    Estimates.HISTORY: lambda settings: UserHistory(settings.history, settings.correction),
    Estimates.REQUESTED: lambda _: RequestedDurations(),
}
