"""Policies made from their descriptions, with every setting made explicit."""

from __future__ import annotations

import dataclasses
import hashlib

from spillway.base.errors import OptionError
from spillway.base.limits import NAME
from spillway.base.options import Value, plain, show
from spillway.base.plugins import split_spec
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import PolicySpec
from spillway.schedulers.policies import PolicyEntry, find_policy
from spillway.schedulers.policykit.view import Policy

REPLAY = "replay"
"""The policy that repeats a log's own schedule."""

SITE = "site"
"""The setting that holds a whole site; names in the results leave it out."""

FIVE = ("fcfs", "filler", "easy-no-bb", "easy", "sjf-easy")
"""Policies of a comparison that names no policy: the thesis's baselines."""


def parse_policy(text: str, *, literal: bool = False) -> PolicySpec:
    """Read ``NAME[:option=value,...]`` or ``FILE.py:CLASS[:option=value,...]``.

    Raises
    ------
    SpecError
        For an unknown name.
    OptionError
        For a malformed, unknown or out-of-range option.
    """
    name, given = split_spec(text)
    return typed(PolicySpec(policy=name, options=dict(given), literal=literal))


def typed(spec: PolicySpec) -> PolicySpec:
    """Read texts among the options, and convert every value to its option's type.

    Raises
    ------
    SpecError, OptionError
        The policy, an option or a value is unknown.
    """
    every = values_of(spec, build_policy(spec))
    return dataclasses.replace(spec, options={name: every[name] for name in spec.options})


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


def values_of(spec: PolicySpec, policy: Policy) -> dict[str, Value]:
    """The options of a policy that was made from its description."""
    names = [info.name for info in entry(spec.policy).options()]
    assert dataclasses.is_dataclass(policy), "policies are dataclasses"
    return {name: plain(getattr(policy, name)) for name in names}


def label(spec: PolicySpec) -> str:
    """Name in the results: the given label, or the policy and its given options, cut if they are long."""
    if spec.label:
        return spec.label
    given = spec.options | {name: value for name, value in spec.session.items() if name != SITE}
    whole = " ".join([spec.policy, *(f"{key}={show(value)}" for key, value in given.items())])
    if len(whole) <= NAME.value:
        return whole
    return f"{whole[: NAME.value - 12]} ... {hashlib.sha256(whole.encode()).hexdigest()[:7]}"


def needed_fields(spec: PolicySpec) -> tuple[str, ...]:
    """Fields that every job must state for a policy."""
    return tuple(getattr(find_policy(spec.policy).cls, "needs_fields", ()))
