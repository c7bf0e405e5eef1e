"""Names from installed packages: entry points in spillway's groups are used like names of the built-in tables.

A package registers a class in its ``pyproject.toml``::

    [project.entry-points."spillway.policies"]
    fair-share = "fair_share.policy:FairShare"

Nothing is loaded before its name is used, so a broken package affects only runs that use it.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeVar

from spillway.base.errors import OptionError
from spillway.base.near import nearest
from spillway.base.plugins import check_trusted, is_outside, load_class

T = TypeVar("T")

GROUPS = {
    "policy": "spillway.policies",
    "job model": "spillway.models",
    "controller": "spillway.controllers",
}
"""Groups of entry points, by the kind of class registered there."""


class Registration(NamedTuple):
    """A name that an installed package registers.

    Attributes
    ----------
    name
        Its spelling on command lines.
    place
        ``MODULE:CLASS``.
    package
        Name and version of the package.
    """

    name: str
    place: str
    package: str


def registered(kind: str) -> tuple[Registration, ...]:
    """All names that installed packages register for a kind (a key of :data:`GROUPS`), by name; nothing is loaded."""
    return _entry_points(GROUPS[kind], tuple(sys.path))


def find(name: str, kind: str, built_in: Mapping[str, T], methods: Sequence[str]) -> T | type:
    """Find a name in a table of ours, or load its class from outside.

    Parameters
    ----------
    name
        A name of the table, ``FILE.py[:CLASS]``, ``MODULE:CLASS``, or a name that an installed package registers.
    kind
        A key of :data:`GROUPS`.
    built_in
        The table.
    methods
        Methods that a class from outside must have.

    Returns
    -------
    T or type
        The entry of the table, or the class (:func:`spillway.base.plugins.load_class`).

    Raises
    ------
    OptionError
        The name is unknown (the message lists the known names), is registered twice, or is built in as well; the class
        cannot be loaded (names the package).
    """
    head = name.partition(":")[0]
    if head in built_in and head != name:
        raise OptionError(f"{kind} {name!r}: options are given as {head}:key=value,...")
    found = _load(name, kind, built_in, methods)
    if found is not None:
        return found
    if name not in built_in:
        raise _unknown(name, kind, built_in)
    return built_in[name]


def _load(name: str, kind: str, built_in: Collection[str], methods: Sequence[str]) -> type | None:
    """The class of a name from outside; ``None`` for any other name."""
    if is_outside(name):
        check_trusted(name, kind)
        return load_class(name, kind, methods=methods)
    found = [entry for entry in registered(kind) if entry.name == name]
    if not found:
        return None
    if name in built_in:
        raise OptionError(
            f"the {kind} {name!r} is built in, and the installed package {found[0].package} registers the same name "
            f"for {found[0].place}: give the package's as {found[0].place}, and uninstall it or rename its entry point"
        )
    if len(found) > 1:
        first, second = found[:2]
        raise OptionError(
            f"the {kind} {name!r} is registered by two installed packages, {first.package} and {second.package}: give "
            f"{first.place} or {second.place} instead"
        )
    try:
        return load_class(found[0].place, kind, methods=methods)
    except OptionError as error:
        raise OptionError(f"{kind} {name!r} of the installed package {found[0].package}: {error}") from None


def late_class(package: str, place: str) -> type:
    """Import the class at a place ``MODULE:CLASS`` of a package, for tables of ours."""
    module, _, name = place.partition(":")
    found: type = getattr(importlib.import_module(f"{package}.{module}"), name)
    return found


def _unknown(name: str, kind: str, built_in: Collection[str]) -> OptionError:
    """Make the error for a name that is neither built in nor registered."""
    names = [*built_in, *(entry.name for entry in registered(kind))]
    several = name.split(",")
    if len(several) > 1 and set(several) <= set(names):
        raise OptionError(f"expected one {kind}, got {name!r}: give --{kind} once for each")
    near = nearest(name, names)
    hint = f" (did you mean {near!r}?)" if near else ""
    known = f"; known: {', '.join(names)}, or" if names else "; expected"
    return OptionError(f"unknown {kind} {name!r}{hint}{known} FILE.py:CLASS or MODULE:CLASS")


@functools.lru_cache(maxsize=16)
def _entry_points(group: str, path: tuple[str, ...]) -> tuple[Registration, ...]:
    """Entry points of a group; ``path``, the search path of packages, is a part of the cache's key."""
    if not any(_may_register(group, folder) for folder in path):
        return ()
    import importlib.metadata  # loads e-mail and archives, which takes as long as the scheduler's own modules

    found = set()
    for entry in importlib.metadata.entry_points(group=group):
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "unknown"
        found.add(Registration(entry.name, entry.value.replace(" ", ""), package))
    return tuple(sorted(found))


def _may_register(group: str, folder: str) -> bool:
    """Whether a package of a folder of the search path mentions the group; true where its files cannot be looked at."""
    try:
        packages = [name for name in os.listdir(folder or ".") if name.endswith((".dist-info", ".egg-info", ".egg"))]
    except FileNotFoundError:
        return False
    except OSError:  # an archive
        return True
    for name in packages:
        try:
            with open(os.path.join(folder, name, "entry_points.txt"), "rb") as stream:
                if group.encode() in stream.read():
                    return True
        except OSError:
            if name.endswith(".egg"):  # its metadata are deeper, or it is an archive
                return True
    return False
