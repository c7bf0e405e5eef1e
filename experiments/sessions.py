"""From a run's description to the scheduler's session: the settings that every policy can be combined with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict

import msgspec

from experiments import policies
from experiments.policies import build_policy
from experiments.spec import Model, PolicySpec, RunSpec
from schedulers.assembly import Settings, assemble, make_settings
from schedulers.core.session import Observer, Session
from schedulers.errors import OptionError
from schedulers.jobmodels.app_record import AppRecord
from schedulers.jobmodels.operations import OperationRecord
from schedulers.jobmodels.phased import PhaseRecord
from schedulers.options import OptionInfo, Value, describe, plain
from schedulers.policies import POLICIES
from schedulers.timesharing.sharing import SharesNodes

SETTINGS: Mapping[str, OptionInfo] = {info.name: info for info in describe(Settings)}
"""Settings of the session by name, besides those that the model makes."""


def complete(spec: PolicySpec) -> dict[str, Value]:
    """Add the defaults of the settings that a policy's description leaves open.

    Raises
    ------
    OptionError
        A setting or its value is unknown.
    """
    return {name: plain(value) for name, value in asdict(_settings(spec)).items()}


def typed(spec: PolicySpec) -> PolicySpec:
    """Read texts among the options and settings, and make every value one of its option's own type.

    Raises
    ------
    SpecError, OptionError
        The policy, an option, a setting or a value is unknown.
    """
    spec = policies.typed(spec)
    every = complete(spec)
    return msgspec.structs.replace(spec, session={name: every[name] for name in spec.session})


def make_session(
    run: RunSpec,
    observer: Observer | None = None,
    on_record: Callable[[PhaseRecord], None] | None = None,
    on_operations: Callable[[OperationRecord], None] | None = None,
    on_application: Callable[[AppRecord], None] | None = None,
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
    on_operations
        Gets the operations of every job that is through (setting ``operations``).
    on_application
        Gets what became of every malleable application.
    explain
        Whether every pass notes why jobs wait.
    """
    if run.model is Model.IO and runs_applications(run):
        raise OptionError("malleable applications do their own I/O: take --model alloc, or leave out --malleable")
    return assemble(
        build_policy(run.policy),
        settings_of(run),
        phased=run.model is Model.IO,
        literal=run.policy.literal,
        seed=run.seed,
        observer=observer,
        on_record=on_record,
        on_operations=on_operations,
        on_application=on_application,
        explain=explain,
    )


def settings_of(run: RunSpec) -> Settings:
    """Give the settings of a run's session."""
    return _settings(run.policy)


def shares_nodes(run: RunSpec) -> bool:
    """Whether the run's jobs run in slices or pay for blocks by their place, as dynamic jobs without an IO model."""
    return settings_of(run).file_nodes or isinstance(build_policy(run.policy), SharesNodes)


def runs_operations(run: RunSpec) -> bool:
    """Whether jobs that state operations run as sequences of dynamic jobs."""
    return run.model is not Model.IO and settings_of(run).operations


def runs_applications(run: RunSpec) -> bool:
    """Whether jobs that describe a malleable application run as one."""
    return settings_of(run).malleable


def _settings(spec: PolicySpec) -> Settings:
    return make_settings(spec.session, POLICIES[spec.policy].settings, literal=spec.literal)
