"""The scheduler's session, made from a run's description."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields

from spillway.base.dates import date_of
from spillway.base.options import OptionInfo, Value, describe, plain
from spillway.experiments.run import policies
from spillway.experiments.run.spec import ModelSpec, PolicySpec, RunSpec
from spillway.schedulers.assembly import SessionSpec, Settings
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels import name_of
from spillway.schedulers.jobmodels.base import JobModel, Needs
from spillway.schedulers.jobmodels.record import JobRecord

SETTINGS: Mapping[str, OptionInfo] = {info.name: info for info in describe(Settings)}
"""Settings of the session by name."""


def session_spec(policy: PolicySpec, model: ModelSpec | None = None, seed: int = 0) -> SessionSpec:
    """Description of the session that a run's policy, job model and seed select."""
    model = model or ModelSpec()
    return SessionSpec(
        policy.policy, policy.options, model.name, model.options, policy.session, policy.literal, None, seed
    )


def options(spec: PolicySpec) -> dict[str, Value]:
    """All options of the policy, including the site's and the defaults.

    Raises
    ------
    OptionError
        An option or its value is unknown.
    """
    return policies.values_of(spec, session_spec(spec).make_policy())


def complete(spec: PolicySpec) -> dict[str, Value]:
    """Add the defaults of the settings that a policy's description leaves open.

    Raises
    ------
    OptionError
        A setting or its value is unknown.
    """
    return {name: plain(value) for name, value in asdict(session_spec(spec).make_settings()).items()}


def begun(spec: PolicySpec, begins_s: float | None) -> PolicySpec:
    """The policy with the date of time 0 among its settings, if they need it.

    Parameters
    ----------
    begins_s
        The workload's date of time 0 (s since 1970); ``None``: it states no date.

    Raises
    ------
    OptionError
        The date is needed, but neither the settings nor the workload state it.
    """
    settings = session_spec(spec).make_settings()
    if not settings.needs_begin:
        return spec
    settings.windows(or_s=begins_s)
    assert begins_s is not None
    return dataclasses.replace(spec, session={**spec.session, "begins": date_of(begins_s)})


def complete_model(policy: PolicySpec, model: ModelSpec) -> tuple[ModelSpec, dict[str, Value]]:
    """The job model of a run by its name, and all its options; refuse invalid combinations.

    Raises
    ------
    OptionError
        The model or an option is unknown, or model, policy and settings cannot be combined.
    """
    spec = session_spec(policy, model)
    made = spec.make_model()
    spec.check()
    every = {field.name: plain(getattr(made, field.name)) for field in fields(made)}  # type: ignore[arg-type]
    given = {name: every[name] for name in model.options}
    return ModelSpec(name=model.name or name_of(made), options=given, default=not model.name), every


def refuse_combinations(specs: Iterable[PolicySpec], models: Iterable[ModelSpec]) -> None:
    """Refuse, before anything is read or prepared, policies and job models that cannot be combined.

    Raises
    ------
    OptionError
        As :func:`complete_model`.
    """
    for spec, model in itertools.product(specs, models):
        complete_model(spec, model)


def model_of(run: RunSpec) -> JobModel:
    """The job model of a run."""
    return session_spec(run.policy, run.model).make_model()


def needs_of(run: RunSpec) -> Needs:
    """Features of the simulator that a run needs."""
    return session_spec(run.policy, run.model).needs()


def typed(spec: PolicySpec) -> PolicySpec:
    """Read texts among the options and settings, and convert every value to its option's type.

    Raises
    ------
    SpecError, OptionError
        The policy, an option, a setting or a value is unknown.
    """
    spec = policies.typed(spec)
    every = complete(spec)
    return dataclasses.replace(spec, session={name: every[name] for name in spec.session})


def make_session(
    run: RunSpec,
    observer: Observer | None = None,
    on_record: Callable[[JobRecord], None] | None = None,
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
        Receives the record of every job that has ended.
    explain
        Whether every pass notes why jobs wait.
    """
    return session_spec(run.policy, run.model, run.seed).session(observer, on_record=on_record, explain=explain)
