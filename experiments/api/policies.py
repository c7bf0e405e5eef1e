"""Policies by name, as classes and as instances, checked before anything is played."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

from spillway.base import durable
from spillway.base.errors import OptionError, shown
from spillway.base.options import build, describe
from spillway.base.plugins import checked
from spillway.experiments.api.scripts import MAIN, changes_of, module_of
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import PolicySpec

T = TypeVar("T")

Policies = Mapping[str, str | type | object] | Sequence[str | type | object] | str | type | object
"""Results of :func:`policy`; names with their options, functions of the view, classes, or instances of classes (frozen
dataclasses: their fields are the options); in a mapping by the names that they have in the results."""


@overload
def policy(of: str, **options: Any) -> PolicySpec: ...


@overload
def policy(of: type[T], **options: Any) -> T: ...


def policy(of: str | type | Callable[..., Any], **options: Any) -> Any:
    """Name a policy with its options; both are checked here.

    Parameters
    ----------
    of
        Name, perhaps with options (``"easy:depth=2"``), ``FILE.py:CLASS``, or a class or function of one's own.
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
    from spillway.experiments.run import sessions

    if isinstance(of, type):
        return build(checked(of, f"policy {of.__name__}", ("__call__",)), options)
    if _is_function(of) and not options:
        return of
    if not isinstance(of, str):
        raise SpecError(f"policy(): expected a name, a class, or a function without options, got {shown(of)}")
    spec = sessions.parse_policy(of)
    if twice := sorted(spec.options.keys() & options.keys()):
        raise SpecError(f"policy({of!r}): {twice[0]} is given twice")
    return sessions.typed(dataclasses.replace(spec, options=spec.options | options))


def settings_of(settings: Mapping[str, Any] | None, site: str | Path = "") -> dict[str, Any]:
    """Settings of the session by name, with the site's file."""
    if settings is not None and not isinstance(settings, Mapping):
        raise OptionError(f"settings: expected values by name such as {{'bb_life': 'slurm'}}, got {shown(settings)}")
    return {**(settings or {}), **({"site": str(site)} if site else {})}


def specs_of(given: Policies, settings: Mapping[str, Any], root: Path) -> list[PolicySpec]:
    """Descriptions of policies for campaigns, with settings of the session.

    Sources of classes that a script defines are written beside ``root``.
    """
    from spillway.experiments.campaign.comparison import named
    from spillway.experiments.run import sessions

    several: list[tuple[str, Any]] = (
        [(_label(name), item) for name, item in given.items()]
        if isinstance(given, Mapping)
        else [("", item) for item in (given if isinstance(given, list | tuple) else [given])]
    )
    specs = []
    for label, item in several or [("", name) for name in sessions.FIVE]:
        spec = named(_spec_of(item, root), settings)
        if not label and not isinstance(item, str | PolicySpec):
            label = _definition(item).__name__ + spec.label.removeprefix(spec.policy)
        specs.append(dataclasses.replace(spec, label=label or spec.label))
    return specs


def _label(name: Any) -> str:
    """The name of a policy in the results, as a mapping gives it."""
    if not isinstance(name, str) or not name:
        raise SpecError(f"policies: expected names as the keys, such as {{'mine': policy}}, got {shown(name)}")
    return name


def _spec_of(one: str | type | object, root: Path) -> PolicySpec:
    if isinstance(one, PolicySpec):
        return one
    if isinstance(one, str):
        return policy(one)
    options = {} if isinstance(one, type) or _is_function(one) else _options_of(one)
    definition = _definition(one)
    if isinstance(definition, type):
        checked(definition, f"policy {definition.__name__}", ("__call__",))
    return policy(in_a_file(definition, root), **options)


def _is_function(one: object) -> bool:
    return callable(one) and hasattr(one, "__qualname__") and not isinstance(one, type)


def _definition(one: Any) -> Any:
    """The function or class; of an instance its class."""
    return one if isinstance(one, type) or _is_function(one) else type(one)


def _options_of(policy: object) -> dict[str, Any]:
    """Fields of an instance that differ from their defaults.

    Raises
    ------
    SpecError
        It is not an instance of a dataclass, or such a field is not declared as an option.
    """
    if not is_dataclass(policy):
        a_class = "; write a function, or a frozen dataclass with its values as options" if callable(policy) else ""
        raise SpecError(f"expected names, functions, classes or instances of policies, got {shown(policy)}{a_class}")
    known = {info.name for info in describe(checked(type(policy), f"policy {type(policy).__name__}", ()))}
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


def in_a_file(cls: Any, root: Path, kind: str = "policy") -> str:
    """Name of a class or function for other processes: by its module, or by a file with its source if it is a script's
    own.
    """
    if cls.__name__ == "<lambda>":
        raise SpecError("policy: a lambda has no name by which another process could find it: write a function by def")
    if cls.__qualname__ != cls.__name__:
        where = cls.__qualname__.replace(".<locals>", "").rpartition(".")[0]
        raise SpecError(
            f"{kind} {cls.__name__}: it is defined in {where}; define it at the top level, what it needs from there "
            f"as options"
        )
    stem, changes = cls.__name__, changes_of(sys.modules[cls.__module__])
    if cls.__module__ not in MAIN:
        if not changes:
            return f"{cls.__module__}:{cls.__qualname__}"
        source = f"{changes}\nfrom {cls.__module__} import {stem}\n"
        stem = f"{cls.__module__}_{stem}".replace(".", "_")
    else:
        try:
            source = module_of(cls) + (f"{changes}\n" if changes else "")
        except OSError as error:
            raise SpecError(f"{kind} {stem}: its source cannot be read ({error}); put it into a file") from None
    path = root.with_name("policies") / f"{stem}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.write_text(path, source)
    return f"{path}:{cls.__name__}"
