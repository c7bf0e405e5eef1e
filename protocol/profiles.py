"""Profiles as workload files and schedulers state them: the fields of each type, and the parts of composed ones.

The rules are Batsim's, with the limits of :mod:`spillway.protocol.limits`; every reader checks profiles by this table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from spillway.base.errors import shortened, shown
from spillway.protocol.fields import Fields
from spillway.protocol.limits import DEEPEST_PROFILE, MOST_TASKS

_SEND_PAUSE_S = 1e-7
"""Default pause of a ``send`` profile, in seconds."""

POLL_S = 0.005
"""Default interval at which a ``recv`` profile looks for a message, in seconds."""


class _ProfileField(NamedTuple):
    """A field of a type of profile: its name, the reader that checks it, its default.

    A field without ``default`` is mandatory.
    """

    name: str
    read: Callable[[Fields, str, Any], Any]
    default: Any = None


_CPU, _COM = _ProfileField("cpu", Fields.amount), _ProfileField("com", Fields.amount)
_STORAGE = _ProfileField("storage", Fields.text, "pfs")
_TRACE = _ProfileField("trace", Fields.text)

PROFILE_FIELDS: dict[str, tuple[_ProfileField, ...]] = {
    "composed": (_ProfileField("seq", Fields.names), _ProfileField("repeat", Fields.count, 1)),
    "data_staging": (
        _ProfileField("nb_bytes", Fields.amount),
        _ProfileField("from", Fields.text),
        _ProfileField("to", Fields.text),
    ),
    "delay": (_ProfileField("delay", Fields.duration),),
    "io_stream": (_CPU, _ProfileField("io_bytes", Fields.amount), _STORAGE),
    "parallel": (_ProfileField("cpu", Fields.amounts), _ProfileField("com", Fields.amounts)),
    "parallel_homogeneous": (_CPU, _COM),
    "parallel_homogeneous_pfs": (
        _ProfileField("bytes_to_read", Fields.amount, 0.0),
        _ProfileField("bytes_to_write", Fields.amount, 0.0),
        _STORAGE,
        _ProfileField("host", Fields.text, "pfs"),
    ),
    "parallel_homogeneous_total": (_CPU, _COM),
    "recv": (
        _ProfileField("regex", Fields.pattern, ".*"),
        _ProfileField("success", Fields.text, ""),
        _ProfileField("failure", Fields.text, ""),
        _ProfileField("timeout", Fields.text, ""),
        _ProfileField("polltime", Fields.duration, POLL_S),
    ),
    "send": (_ProfileField("msg", Fields.mapping), _ProfileField("sleeptime", Fields.duration, _SEND_PAUSE_S)),
    "smpi": (_TRACE,),
    "usage_trace": (_TRACE,),
}
"""Fields of each type that have a meaning, besides ``type`` and ``ret``."""


def read_fields(kind: str, fields: Fields) -> dict[str, Any]:
    """Values of the fields of a profile of a known type, defaults filled in; ``fields`` makes the errors."""
    return {name: read(fields, name, default) for name, read, default in PROFILE_FIELDS[kind]}


class PartsFault(ValueError):
    """Profiles cannot be composed as they are.

    Attributes
    ----------
    name
        The faulty profile.
    other
        The profile that does not exist, or through which it contains itself; "" for other faults.
    circle
        Whether it contains itself.
    text
        The fault.
    """

    def __init__(self, name: str, text: str, other: str = "", circle: bool = False) -> None:
        super().__init__(f"profile {shown(name)}{text}")
        self.name = name
        self.text = text.strip()
        self.other = other
        self.circle = circle


def parts_first(parts: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """All names of profiles, each after those that it runs; raise :class:`PartsFault`. Files may nest deeply."""
    done: set[str] = set()
    for first in parts:
        path: dict[str, Iterator[str]] = {}
        name: str | None = first
        while name is not None or path:
            if name is not None and name not in done:
                if name not in parts:
                    above = next(reversed(path), "")
                    raise PartsFault(above, f": the profile {shown(name)} in its 'seq' does not exist", name)
                path[name] = iter(parts[name])
            name = next(reversed(path), None)
            if name is None:
                break
            child = next(path[name], None)
            if child is None:
                del path[name]
                done.add(name)
                yield name
            elif child in path:
                circle = [*list(path)[list(path).index(child) :], child]
                raise PartsFault(child, f" contains itself: {shortened(' > '.join(circle))}", child, circle=True)
            name = child


def refuse_large(names: Iterable[str], parts: Mapping[str, Sequence[str]], repeats: Mapping[str, int]) -> None:
    """Raise :class:`PartsFault` for a profile that nests too deeply or unfolds to too many tasks.

    Parameters
    ----------
    names
        Profiles, each after its parts.
    parts, repeats
        Parts of composed profiles, and numbers of their repetitions.
    """
    depths: dict[str, int] = {}
    tasks: dict[str, int] = {}
    for name in names:
        below = parts.get(name)
        if not below:
            depths[name] = tasks[name] = 1
            continue
        depths[name] = 1 + max(depths[part] for part in below)
        tasks[name] = repeats[name] * sum(tasks[part] for part in below)
        if depths[name] > DEEPEST_PROFILE:
            raise PartsFault(name, f" is nested deeper than {DEEPEST_PROFILE} levels: flatten its 'seq'")
        if tasks[name] > MOST_TASKS:
            raise PartsFault(
                name,
                f" unfolds to {tasks[name]:.3g} tasks, more than the {MOST_TASKS} that this simulator plays for one "
                "job: lower 'repeat' (to a number that fits into the walltime, if that ends it)",
            )
