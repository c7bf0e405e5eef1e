"""A malleable application as a workload describes it: the object ``malleable`` of a job's profile.

::

    "profile": {
      "type": "delay", "delay": 1400,            used where malleable jobs are not supported
      "malleable": {
        "iterations": 2000, "io_every": 250,     a collective write after every 250 iterations
        "control_every": 50,                     iterations between changes of size; divides io_every
        "minimum": 64, "maximum": 300,           nodes; default: the nodes that the job requests
        "overhead": 2.0,                         seconds of one reconfiguration
        "io_bytes": 11.9e9,                      written per I/O phase by all nodes together
        "model": {"nodes": [64, 128], "cpu": [1.9, 1.0], "comm": [0.1, 0.15], "io": [8.5, 8.5]},
        "variation": [1.0, 1.01, 0.99],          optional: real duration of intervals, relative to the model
        "requests": [{"iteration": 500, "nodes": 128}]    optional: sizes that it requests itself, at control points
      }
    }

``model`` may instead have ``work``, ``serial``, ``comm_fixed``, ``comm_node``, ``io_fixed``, ``io_node``
(:class:`spillway.schedulers.applications.performance.Parameters`; seconds per iteration and per I/O phase). ``io`` may
be omitted where ``io_bytes`` is given; the scheduler then has to observe it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from spillway.base.errors import shown
from spillway.protocol.limits import LATEST_S, time_fault
from spillway.schedulers.applications.performance import (
    Measurement,
    Parameters,
    PerformanceModel,
    from_measurements,
    from_parameters,
)
from spillway.schedulers.model.job import JobField

FIELD = "malleable"
"""Field of the profile (or of the job) that describes a malleable application."""

_INSIDE = f"{FIELD} (an object of the profile or of the job)"

FIELDS = (
    JobField("iterations", _INSIDE, "whole number, at least 1", "iterations in all"),
    JobField("io_every", _INSIDE, "whole number; 0 (default): no I/O", "iterations between two collective writes"),
    JobField(
        "control_every", _INSIDE, "whole number that divides io_every (default: io_every)",
        "iterations between two points at which the size may change",
    ),
    JobField("minimum", _INSIDE, "whole number (default: res)", "fewest nodes"),
    JobField("maximum", _INSIDE, "whole number (default: res)", "most nodes"),
    JobField("overhead", _INSIDE, "number, s (default 0)", "time of one reconfiguration"),
    JobField("io_bytes", _INSIDE, "bytes of all nodes together (default 0)", "size of one collective write"),
    JobField(
        "model", _INSIDE, "object with nodes, cpu, comm, io (lists), or with parameters",
        "seconds per iteration and per write, by number of nodes",
    ),
    JobField(
        "variation", _INSIDE, "list of numbers above 0 (default: 1)", "real over modelled duration of each interval"
    ),
    JobField(
        "requests", _INSIDE, "list of objects with iteration and nodes",
        "sizes that the application requests itself, at control points",
    ),
)  # fmt: skip
"""Fields in the description of a malleable application."""

_LARGEST = 1e300
_MOST = 2**53
_KNOWN = frozenset(field.name for field in FIELDS)
_PARAMETERS = {
    "work": "work_s",
    "serial": "serial_s",
    "comm_fixed": "comm_fixed_s",
    "comm_node": "comm_node_s",
    "io_fixed": "io_fixed_s",
    "io_node": "io_node_s",
}
_COLUMNS = ("nodes", "cpu", "comm", "io")


class SizeRequest(NamedTuple):
    """A change of size that an application itself requests: ``nodes`` from the control point ``iteration`` on."""

    iteration: int
    nodes: int


@dataclass(frozen=True, eq=False)
class Application:
    """A malleable application.

    Attributes
    ----------
    iterations
        Iterations in all, >= 1.
    io_every
        Iterations between two I/O phases, a multiple of ``control_every``; 0: no I/O. Iterations after the last I/O
        phase write nothing.
    control_every
        Iterations between two control points, >= 1.
    overhead_s
        Seconds of a reconfiguration, >= 0.
    io_bytes
        Bytes of an I/O phase, all nodes together, >= 0.
    model
        Times by size; its sizes are those that the application can have.
    variation
        Real over modelled duration of the intervals between control points, one after another, repeated from the
        beginning when they run out. Not used in the scheduler's predictions.
    requests
        Changes of size that the application itself requests, in order.
    """

    iterations: int
    io_every: int
    control_every: int
    overhead_s: float
    io_bytes: float
    model: PerformanceModel
    variation: tuple[float, ...] = (1.0,)
    requests: tuple[SizeRequest, ...] = ()

    @property
    def minimum(self) -> int:
        """Fewest nodes."""
        return self.model.minimum

    @property
    def maximum(self) -> int:
        """Most nodes."""
        return self.model.maximum

    @property
    def resizable(self) -> bool:
        """Whether there is more than one size."""
        return self.maximum > self.minimum

    def next_control(self, iteration: int) -> int:
        """First control point after an iteration: the end of the interval that begins there."""
        return min((iteration // self.control_every + 1) * self.control_every, self.iterations)

    def next_io(self, iteration: int) -> int | None:
        """Iteration after which the next I/O phase comes, later than ``iteration``; ``None`` when no phase is left."""
        if not self.io_every:
            return None
        at = (iteration // self.io_every + 1) * self.io_every
        return at if at <= self.iterations else None

    def io_due(self, iteration: int) -> bool:
        """Whether an I/O phase follows an iteration."""
        return bool(self.io_every) and iteration > 0 and iteration % self.io_every == 0

    def requested_nodes(self, iteration: int) -> int | None:
        """Nodes that the application requests at a control point; ``None`` where it requests nothing."""
        return next((request.nodes for request in self.requests if request.iteration == iteration), None)

    def interval_s(self, begin: int, end: int, nodes: int) -> float:
        """Real duration of the iterations from ``begin`` to ``end``, which lie between two control points."""
        factor = self.variation[(begin // self.control_every) % len(self.variation)]
        return (end - begin) * self.model.iteration_s(nodes) * factor


def read_application(description: Mapping[str, Any], nodes: int) -> Application:
    """Read the object ``malleable`` of a job that requests ``nodes`` nodes.

    Raises
    ------
    ValueError
        Something is missing, unknown, of the wrong kind or out of range; the message names the field.
    """
    if not isinstance(description, Mapping):
        raise ValueError(f"{FIELD!r} must be an object, got {shown(description)}")
    for key in description:
        if key not in _KNOWN:
            raise ValueError(f"{FIELD}.{key}: unknown field; known are {', '.join(sorted(_KNOWN))}")
    iterations = _whole(description, "iterations", 1)
    io_every = _whole(description, "io_every", 0, 0)
    control_every = _whole(description, "control_every", 1, io_every or iterations)
    if io_every % control_every:
        raise ValueError(f"{FIELD}.control_every: {control_every} does not divide io_every, which is {io_every}")
    minimum, maximum = _whole(description, "minimum", 1, nodes), _whole(description, "maximum", 1, nodes)
    if not minimum <= nodes <= maximum:
        raise ValueError(f"{FIELD}: the job requests {nodes} nodes, outside of its sizes {minimum} to {maximum}")
    try:
        model = _model(description.get("model"), minimum, maximum)
    except ValueError as error:
        raise ValueError(f"{FIELD}.model: {error}") from None
    application = Application(
        iterations,
        io_every,
        control_every,
        _number(description, "overhead", 0.0),
        _number(description, "io_bytes", 0.0),
        model,
        _variation(description.get("variation")),
        _requests(description.get("requests", ()), iterations, control_every, minimum, maximum),
    )
    longest_s = iterations * float(model.iterations_s.max()) * max(application.variation)
    if time_fault(longest_s) is not None or time_fault(application.overhead_s) is not None:
        raise ValueError(
            f"{FIELD}: its iterations take up to {longest_s:.3g} s, more than {LATEST_S:.0f} s (272 years)"
        )
    return application


def _model(model: Any, minimum: int, maximum: int) -> PerformanceModel:
    if not isinstance(model, Mapping):
        raise ValueError(f"expected an object with nodes, cpu, comm and io, or with parameters; got {shown(model)}")
    if "nodes" not in model:
        unknown = model.keys() - _PARAMETERS.keys()
        if unknown:
            raise ValueError(f"unknown parameter {shown(sorted(unknown)[0])}; known are {', '.join(_PARAMETERS)}")
        values = {_PARAMETERS[key]: _number(model, key, 0.0) for key in model}
        return from_parameters(Parameters(**({"work_s": 0.0} | values)), minimum, maximum)
    if not isinstance(model["nodes"], list | tuple):
        raise ValueError(f"nodes must be a list of numbers, got {shown(model['nodes'])}")
    columns = [model.get(name, [0.0] * len(model["nodes"])) for name in _COLUMNS]
    for name, column in zip(_COLUMNS, columns, strict=True):
        numbers = isinstance(column, list | tuple) and all(_is_number(value) for value in column)
        if not numbers or len(column) != len(columns[0]):
            raise ValueError(f"{name} must be as many numbers as there are in nodes, got {shown(column)}")
    unknown = model.keys() - set(_COLUMNS)
    if unknown:
        raise ValueError(f"unknown column {shown(sorted(unknown)[0])}; known are {', '.join(_COLUMNS)}")
    rows = [Measurement(int(nodes), float(cpu), float(comm), float(io)) for nodes, cpu, comm, io in zip(
        *columns, strict=True
    )]  # fmt: skip
    return from_measurements(rows, minimum, maximum)


def _requests(entries: Any, iterations: int, control_every: int, minimum: int, maximum: int) -> tuple[SizeRequest, ...]:
    if not isinstance(entries, list | tuple):
        raise ValueError(f"{FIELD}.requests must be a list of objects with iteration and nodes, got {shown(entries)}")
    found: list[SizeRequest] = []
    for number, entry in enumerate(entries):
        where = f"{FIELD}.requests[{number}]"
        if not isinstance(entry, Mapping) or entry.keys() != {"iteration", "nodes"}:
            raise ValueError(f"{where} must be an object with iteration and nodes, got {shown(entry)}")
        for key, low, high in (("iteration", 1, iterations - 1), ("nodes", minimum, maximum)):
            value = entry[key]
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise ValueError(f"{where}.{key} must be a whole number from {low} to {high}, got {shown(value)}")
        request = SizeRequest(entry["iteration"], entry["nodes"])
        if request.iteration % control_every:
            raise ValueError(f"{where}.iteration: {request.iteration} is no multiple of control_every, {control_every}")
        if found and request.iteration <= found[-1].iteration:
            raise ValueError(f"{where}.iteration: {request.iteration} does not come after {found[-1].iteration}")
        found.append(request)
    return tuple(found)


def _variation(values: Any) -> tuple[float, ...]:
    if values is None:
        return (1.0,)
    good = isinstance(values, list | tuple) and values and all(_is_number(value) and value > 0 for value in values)
    if not good:
        raise ValueError(f"{FIELD}.variation must be a list of numbers above 0, got {shown(values)}")
    return tuple(float(value) for value in values)


def _whole(description: Mapping[str, Any], key: str, least: int, default: int | None = None) -> int:
    value = description.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST:
        raise ValueError(f"{FIELD}.{key} must be a whole number of at least {least}, got {shown(value)}")
    return value


def _number(description: Mapping[str, Any], key: str, default: float) -> float:
    value = description.get(key, default)
    if not _is_number(value) or value < 0:
        raise ValueError(f"{key} must be a number of at least 0, got {shown(value)}")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST
