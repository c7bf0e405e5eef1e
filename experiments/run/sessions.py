"""Policies and sessions, made from descriptions with every setting made explicit."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any

from spillway.base.dates import date_of
from spillway.base.errors import OptionError
from spillway.base.limits import NAME
from spillway.base.options import OptionInfo, Value, describe, plain, show
from spillway.base.plugins import split_spec
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import ModelSpec, PolicySpec, RunSpec
from spillway.schedulers.assembly import SessionSpec, Settings
from spillway.schedulers.jobmodels import make_model, name_of
from spillway.schedulers.policies import PolicyEntry, find_policy
from spillway.schedulers.policykit.view import Policy

REPLAY = "replay"
"""The policy that repeats a log's own schedule."""

SITE = "site"
"""The setting that holds a whole site; names in the results leave it out."""

FIVE = ("fcfs", "filler", "easy-no-bb", "easy", "sjf-easy")
"""Policies of a comparison that names no policy: the thesis's baselines."""


SETTINGS: Mapping[str, OptionInfo] = {info.name: info for info in describe(Settings)}
"""Settings of the session by name."""


def parse_policy(text: str, *, session: Mapping[str, Value] | None = None, **fields: Any) -> PolicySpec:
    """Read ``NAME[:option=value,...]`` or ``FILE.py:CLASS[:option=value,...]``; ``fields``: others of the description.

    Raises
    ------
    SpecError
        For an unknown name.
    OptionError
        For a malformed, unknown or out-of-range option.
    """
    name, given = split_spec(text)
    return typed(PolicySpec(name, options={**given}, session=dict(session or {}), **fields))


def model_spec(text: str) -> ModelSpec:
    """Read a job model's ``NAME[:key=value,...]``, "" for the policies' own; raise :class:`OptionError` as above."""
    spec = ModelSpec.of(text)
    if text:
        make_model(spec.name, spec.options)  # wrong names and options are refused now
    return spec


def entry(name: str) -> PolicyEntry:
    """Find a policy by its name, or in ``FILE.py:CLASS``; raise :class:`SpecError` that lists the known ones."""
    try:
        return find_policy(name)
    except OptionError as error:
        raise SpecError(str(error)) from None


def build_policy(spec: PolicySpec) -> Policy:
    """Make the policy; raise :class:`SpecError` or :class:`spillway.base.errors.OptionError`, naming the policy."""
    try:
        return entry(spec.policy).build(spec.options, literal=spec.literal)
    except SpecError:
        raise
    except Exception as error:
        error.args = (f"policy {spec.policy!r}: {error}",)
        raise


def options(spec: PolicySpec) -> dict[str, Value]:
    """All options of the policy, including the site's and the defaults.

    Raises
    ------
    OptionError
        An option or its value is unknown.
    """
    return _values(spec, SessionSpec(spec).make_policy())


def _values(spec: PolicySpec, policy: Policy) -> dict[str, Value]:
    return {info.name: plain(getattr(policy, info.name)) for info in entry(spec.policy).options()}


def complete(spec: PolicySpec) -> dict[str, Value]:
    """Add the defaults of the settings that a policy's description leaves open.

    Raises
    ------
    OptionError
        A setting or its value is unknown.
    """
    return {name: plain(value) for name, value in asdict(SessionSpec(spec).make_settings()).items()}


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
    settings = SessionSpec(spec).make_settings()
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
    spec = SessionSpec(policy, model)
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


def session_of(run: RunSpec) -> SessionSpec:
    """Description of a run's session, with which its job model and the session itself are made."""
    return SessionSpec(run.policy, run.model, seed=run.seed)


def typed(spec: PolicySpec) -> PolicySpec:
    """Read texts among the options and settings, and convert every value to its option's type.

    Raises
    ------
    SpecError, OptionError
        The policy, an option, a setting or a value is unknown.
    """
    chosen, settings = _values(spec, build_policy(spec)), complete(spec)
    return dataclasses.replace(
        spec,
        options={name: chosen[name] for name in spec.options},
        session={name: settings[name] for name in spec.session},
    )


def label(spec: PolicySpec, *, session: bool = True) -> str:
    """Name in the results: the given label, or the policy and its given options, cut if they are long.

    ``session``: whether settings of the session are in it.
    """
    if spec.label:
        return spec.label
    given = spec.options | {name: value for name, value in spec.session.items() if session and name != SITE}
    whole = " ".join([spec.policy, *(f"{key}={show(value)}" for key, value in given.items())])
    if len(whole) <= NAME.value:
        return whole
    return f"{whole[: NAME.value - 12]} ... {hashlib.sha256(whole.encode()).hexdigest()[:7]}"


def needed_fields(spec: PolicySpec) -> tuple[str, ...]:
    """Fields that every job must state for a policy."""
    return tuple(getattr(find_policy(spec.policy).cls, "needs_fields", ()))
