"""From a run's description to the scheduler's session: the settings that every policy can be combined with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from experiments.errors import SpecError
from experiments.policies import build_policy
from experiments.spec import Model, PolicySpec, RunSpec
from schedulers.estimates import Estimator, Requested, UserHistory, Walltimes
from schedulers.execution.base import Execution
from schedulers.execution.phased import Phased, PhasedOptions, PhaseRecord
from schedulers.execution.rigid import Rigid
from schedulers.execution.streamed import Streamed
from schedulers.machine import MachineDefaults
from schedulers.placement import NodeOrder, Placement, StorageOrder
from schedulers.session import Cadence, Observer, Session
from schedulers.timeline import Timeline
from schedulers.timeline_published import PublishedTimeline

ESTIMATES: Mapping[str, Callable[[], Estimator]] = {
    "walltime": Walltimes,
    "history": UserHistory,
    "requested": Requested,
}


@dataclass(frozen=True)
class Setting:
    """A setting of the session: its choices (the first is the default) and its meaning."""

    choices: tuple[str, ...]
    help: str


SETTINGS: Mapping[str, Setting] = {
    "estimates": Setting(
        tuple(ESTIMATES),
        "how long a job is expected to run: its walltime, from its user's history, or its field requested_s",
    ),
    "node_order": Setting(tuple(order.value for order in NodeOrder), "which free nodes a job gets"),
    "bandwidth": Setting(("aware", "ignorant"), "whether links' bandwidth is scheduled"),
    "streams": Setting(
        ("off", "on"), "whether jobs with the field io_bytes write it beside their computation (additional_io_job)"
    ),
    "foreign": Setting(
        ("0", "0.1", "0.2", "0.3", "0.4", "0.5"), "share of the file system's bandwidth kept for traffic of others"
    ),
    "storage_order": Setting(
        tuple(order.value for order in StorageOrder), "which storage node holds the burst buffer of a node"
    ),
}
"""Settings of the session by name, besides those that the model and ``--thesis-literal`` make."""


def complete(given: Mapping[str, str]) -> dict[str, str]:
    """Add the defaults of the settings that are not given.

    Raises
    ------
    SpecError
        A setting or its value is unknown.
    """
    for name, value in given.items():
        if name not in SETTINGS:
            raise SpecError(f"unknown session setting {name!r}; known settings: {', '.join(SETTINGS)}")
        if value not in SETTINGS[name].choices:
            raise SpecError(
                f"session setting {name!r} must be one of {', '.join(SETTINGS[name].choices)}, got {value!r}"
            )
    return {name: given.get(name, setting.choices[0]) for name, setting in SETTINGS.items()}


def make_session(
    run: RunSpec,
    observer: Observer | None = None,
    on_record: Callable[[PhaseRecord], None] | None = None,
    *,
    explain: bool = False,
) -> Session:
    """Assemble the session that a run describes.

    Parameters
    ----------
    run
        The run.
    observer
        Watches jobs come, start and end.
    on_record
        Gets the phases of every job that is through (IO-Aware model).
    explain
        Whether every pass notes why jobs wait.
    """
    settings = complete(run.policy.session)
    literal = run.policy.literal
    return Session(
        build_policy(run.policy),
        seed=run.seed,
        cadence=Cadence.EVENT if literal else Cadence.MESSAGE,
        execution=_execution(run.model, run.policy, on_record, streams=settings["streams"] == "on"),
        placement=Placement(NodeOrder(settings["node_order"]), StorageOrder(settings["storage_order"])),
        timeline=PublishedTimeline if literal else Timeline,
        defaults=MachineDefaults(
            bandwidth=settings["bandwidth"] == "aware", foreign_share=float(settings["foreign"])
        ),
        estimator=ESTIMATES[settings["estimates"]](),
        observer=observer,
        explain=explain,
    )


def _execution(
    model: Model, policy: PolicySpec, on_record: Callable[[PhaseRecord], None] | None, *, streams: bool
) -> Execution:
    if model is Model.IO:
        return Phased(PhasedOptions(early_release=policy.literal), on_record)
    return Streamed() if streams else Rigid()
