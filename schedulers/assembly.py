"""A session from a policy and settings: the one place that puts the scheduler together.

The settings are what every policy can be combined with. The service's command line, the experiments and the tests all
assemble through here.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from schedulers.controllers.control import Control, make_controllers
from schedulers.controllers.interference import Conflict
from schedulers.core.machine import MachineDefaults
from schedulers.core.session import Cadence, Observer, Session
from schedulers.core.steering import Steering
from schedulers.errors import OptionError
from schedulers.jobmodels.app_record import AppRecord
from schedulers.jobmodels.base import Execution
from schedulers.jobmodels.gated import GatedPhased
from schedulers.jobmodels.gates import IoControl, IoOrder, make_gate
from schedulers.jobmodels.malleable import Malleable
from schedulers.jobmodels.operations import OperationRecord, Sequenced
from schedulers.jobmodels.phased import Phased, PhasedOptions, PhaseRecord
from schedulers.jobmodels.rigid import Rigid
from schedulers.jobmodels.stream_demand import DeclaredStream, StageStream, StreamDemand
from schedulers.jobmodels.streamed import Streamed
from schedulers.jobmodels.timeshared import TimeShared
from schedulers.options import build, option
from schedulers.policykit.estimates import Correction, Estimator, Requested, UserHistory, Walltimes
from schedulers.policykit.view import Policy
from schedulers.timeline import Timeline
from schedulers.timeline.placement import NodeOrder, Placement, StorageOrder
from schedulers.timeline.published import PublishedTimeline
from schedulers.timesharing.costs import Costs
from schedulers.timesharing.sharing import SharesNodes, Sharing
from schedulers.timesharing.slices import Slices


class Estimates(enum.Enum):
    """Where expected durations come from."""

    WALLTIME = "walltime"
    HISTORY = "history"
    REQUESTED = "requested"


@dataclass(frozen=True)
class Settings(Control):
    """What every policy can be combined with."""

    estimates: Estimates = option(
        Estimates.WALLTIME,
        help="how long a job is expected to run: its walltime, from its user's history, or its field requested_s",
    )
    history: int = option(2, unit="jobs", low=1, high=1000, help="runtimes of a user that a prediction averages")
    correction: Correction = option(
        Correction.GRADUAL, help="growth of a prediction that was exceeded: in steps, or to the walltime"
    )
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
    streams: bool = option(
        False, help="whether jobs with the field io_bytes write it beside their computation (additional_io_job)"
    )
    file_nodes: bool = option(
        False,
        help="whether jobs pay for blocks (fields io_blocks, file_nodes) by their place, as under gang policies",
    )
    phase_target: float = option(
        3.6e12, unit="flop per node", low=1.0, high=1e24, help="work that a compute phase of the IO-Aware model aims at"
    )
    max_phases: int = option(10, low=1, high=1_000_000, help="most compute phases of a job of the IO-Aware model")
    checkpoint_fraction: float = option(
        0.5, low=0.0, high=1.0, help="share of the burst buffer that a checkpoint of the IO-Aware model writes"
    )
    book_stages: float = option(
        0.0,
        low=0.0,
        high=1e6,
        help="book what jobs of the IO-Aware model stage in, drain and stage out as a constant stream: 1 for the "
        "average over their expected duration, more for a multiple of it (up to the links' bandwidth), 0 for nothing",
    )
    early_release: bool = option(
        False, help="a killed job gives its resources back while its drains still run, as in the published code"
    )
    operations: bool = option(
        False, help="whether jobs whose profile states operations run as sequences of computing and I/O"
    )
    io_control: IoControl = option(
        IoControl.SHARED,
        help="who may use the file system at a time: everybody, or one application per I/O node (operations, IO-Aware)",
    )
    io_order: IoOrder = option(IoOrder.FIFO, help="whose turn is next under exclusive I/O")
    malleable: bool = option(
        False, help="whether jobs whose profile describes a malleable application run as one (field malleable)"
    )
    io_node_depth: int = option(
        0, low=0, high=9, help="parts of a node's location that name its I/O node; 0: one I/O node for the machine"
    )


LITERAL: Mapping[str, object] = {"early_release": True}
"""Settings that differ under ``--thesis-literal``."""


def make_settings(given: Mapping[str, Any], preset: Mapping[str, Any], *, literal: bool = False) -> Settings:
    """Build the settings of a session: what is given, else what goes with the policy, else the defaults.

    Parameters
    ----------
    given
        Texts or values by name.
    preset
        Values by name that go with the policy (:attr:`schedulers.policies.PolicyEntry.settings`).
    literal
        Follow the published experiment, which knew no such presets.

    Raises
    ------
    OptionError
        A setting or its value is unknown.
    """
    return build(Settings, given, LITERAL if literal else preset)


def assemble(
    policy: Policy,
    settings: Settings,
    *,
    phased: bool = False,
    literal: bool = False,
    cadence: Cadence | None = None,
    seed: int = 0,
    burst_buffer_bytes: int = 0,
    location_shape: tuple[int, ...] = (),
    observer: Observer | None = None,
    on_record: Callable[[PhaseRecord], None] | None = None,
    on_operations: Callable[[OperationRecord], None] | None = None,
    on_application: Callable[[AppRecord], None] | None = None,
    on_conflict: Callable[[Conflict], None] | None = None,
    explain: bool = False,
) -> Session:
    """Put a session together.

    Parameters
    ----------
    policy
        Decides.
    settings
        See :class:`Settings`.
    phased
        Run jobs in phases (the IO-Aware model); else rigid.
    literal
        Follow the published experiment: one pass per event, its timeline.
    cadence
        When the policy is called; default: what ``literal`` asks for.
    burst_buffer_bytes, location_shape
        See :class:`schedulers.core.machine.MachineDefaults`.
    on_record
        Gets the phases of every job that is through (only with ``phased``).
    on_operations
        Gets the operations of every job that is through (only with the setting ``operations``).
    on_application, on_conflict
        Get what became of every malleable application, and every predicted collision of I/O phases (only with the
        setting ``malleable``).
    """
    execution = _shared(policy, settings, phased=phased) or _execution(
        settings, on_record, on_operations, phased=phased
    )
    steering: Steering | None = None
    if settings.malleable:
        execution = Malleable(execution, make_gate(settings.io_control, settings.io_order), on_application)
        if settings.active:
            steering = Steering(make_controllers(settings, on_conflict), execution)
    return Session(
        policy,
        seed=seed,
        cadence=cadence or (Cadence.EVENT if literal else Cadence.MESSAGE),
        execution=execution,
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
        demand=_demand(settings, phased=phased),
    )


_WHOLE_MACHINE = Sharing(Slices(level=1, quantum_us=1_000_000), Costs())
"""Nobody takes turns."""


def _shared(policy: Policy, settings: Settings, *, phased: bool) -> TimeShared | None:
    """The execution model of policies that share nodes in time, and of jobs that pay for blocks by their place."""
    if isinstance(policy, SharesNodes):
        sharing = policy.sharing()
    elif settings.file_nodes:
        sharing = _WHOLE_MACHINE
    else:
        return None
    if phased or settings.operations or settings.streams or settings.malleable:
        raise OptionError(
            "gang policies and the setting 'file_nodes' run jobs their own way: leave out other job models"
        )
    return TimeShared(*sharing)


def _demand(settings: Settings, *, phased: bool) -> StreamDemand | None:
    """Bandwidth that jobs need besides what they state."""
    aware = settings.bandwidth == "aware"
    if settings.book_stages:
        if not phased or not aware:
            raise OptionError("the setting 'book_stages' needs the model io and bandwidth=aware")
        if settings.book_stages < 1:
            raise OptionError(f"the setting 'book_stages' must be 0 or at least 1, got {settings.book_stages:g}")
        return StageStream(_phased_options(settings), settings.book_stages)
    return DeclaredStream() if settings.streams and aware and not phased else None


_ESTIMATORS: Mapping[Estimates, Callable[[Settings], Estimator]] = {
    Estimates.WALLTIME: lambda _: Walltimes(),
    Estimates.HISTORY: lambda settings: UserHistory(settings.history, settings.correction),
    Estimates.REQUESTED: lambda _: Requested(),
}


def _phased_options(settings: Settings) -> PhasedOptions:
    return PhasedOptions(
        settings.phase_target, settings.max_phases, settings.checkpoint_fraction, settings.early_release
    )


def _execution(
    settings: Settings,
    on_record: Callable[[PhaseRecord], None] | None,
    on_operations: Callable[[OperationRecord], None] | None,
    *,
    phased: bool,
) -> Execution:
    gate, depth = make_gate(settings.io_control, settings.io_order), settings.io_node_depth
    if phased:
        options = _phased_options(settings)
        if settings.io_control is IoControl.SHARED:
            return Phased(options, on_record)
        return GatedPhased(gate, depth, options, on_record)
    if settings.operations:
        return Sequenced(gate, depth, on_operations)
    return Streamed() if settings.streams else Rigid()
