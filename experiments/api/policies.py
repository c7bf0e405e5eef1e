"""Policies by name, as classes and as instances, checked before anything is played."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

from spillway.base import durable
from spillway.base.options import describe
from spillway.experiments.api.scripts import module_of
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import PolicySpec

T = TypeVar("T")

Policies = Sequence[str | type | object] | str | type | object
"""Results of :func:`policy`; names with their options, classes, or instances of classes (frozen dataclasses: their
fields are the options)."""


@overload
def policy(of: str, **options: Any) -> PolicySpec: ...


@overload
def policy(of: type[T], **options: Any) -> T: ...


def policy(of: str | type, **options: Any) -> Any:
    """Name a policy with its options; both are checked here.

    Parameters
    ----------
    of
        Name, perhaps with options (``"easy:depth=2"``), ``FILE.py:CLASS``, or a class of one's own.
    **options
        Values of its options.

    Returns
    -------
    PolicySpec or object
        The name with its options; for a class the instance.

    Raises
    ------
    SpecError, OptionError
        The policy or an option is unknown (names the nearest), a value is out of range, an option is given twice, or
        the class is not a policy.
    """
    from spillway.base.options import build
    from spillway.base.plugins import checked
    from spillway.experiments.run import sessions

    if isinstance(of, type):
        return build(checked(of, f"policy {of.__name__}", ("__call__",)), options)
    spec = sessions.parse_policy(of)
    if twice := sorted(spec.options.keys() & options.keys()):
        raise SpecError(f"policy({of!r}): {twice[0]} is given twice")
    return sessions.typed(dataclasses.replace(spec, options=spec.options | options))


def specs_of(given: Policies, settings: Mapping[str, Any], root: Path) -> list[PolicySpec]:
    """Descriptions of policies for campaigns, with settings of the session.

    Sources of classes that a script defines are written beside ``root``.
    """
    from spillway.experiments.campaign.comparison import named
    from spillway.experiments.run import sessions

    several = list(given) if isinstance(given, list | tuple) else [given]
    specs = []
    for item in several or sessions.FIVE:
        spec = named(_spec_of(item, root), settings)
        if not isinstance(item, str | PolicySpec):
            label = _class_of(item).__name__ + spec.label.removeprefix(spec.policy)
            spec = dataclasses.replace(spec, label=label)
        specs.append(spec)
    return specs


def _spec_of(one: str | type | object, root: Path) -> PolicySpec:
    if isinstance(one, PolicySpec):
        return one
    if isinstance(one, str):
        return policy(one)
    options = {} if isinstance(one, type) else _options_of(one)
    return policy(_in_a_file(_class_of(one), root), **options)


def _class_of(one: type | object) -> type:
    return one if isinstance(one, type) else type(one)


def _options_of(policy: object) -> dict[str, Any]:
    """Fields of an instance that differ from their defaults.

    Raises
    ------
    SpecError
        It is not an instance of a dataclass, or such a field is not declared as an option.
    """
    if not is_dataclass(policy):
        a_class = "; a function becomes the __call__(self, view) of a frozen dataclass" if callable(policy) else ""
        raise SpecError(f"expected names, classes or instances of policies, got {policy!r}{a_class}")
    known = {info.name for info in describe(type(policy))}
    changed = {field.name: getattr(policy, field.name) for field in fields(policy) if not _is_default(policy, field)}
    for name in changed.keys() - known:
        raise SpecError(
            f"policy {type(policy).__name__}: its field {name!r} is no option, so that no run can be given its value: "
            f"declare it by spillway.base.options.option: {name}: TYPE = option(DEFAULT)"
        )
    return changed


def _is_default(policy: object, field: Field[Any]) -> bool:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return bool(getattr(policy, field.name) == default)


def _in_a_file(cls: type, root: Path) -> str:
    """Name of a class for other processes: by its module, or by a file with its source if it is a script's own."""
    if cls.__module__ != "__main__":
        return f"{cls.__module__}:{cls.__qualname__}"
    try:
        source = module_of(cls)
    except OSError as error:
        raise SpecError(f"policy {cls.__name__}: its source cannot be read ({error}); put it into a file") from None
    path = root.with_name("policies") / f"{cls.__name__.lower()}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.write_text(path, source)
    return f"{path}:{cls.__name__}"
