"""Directives in job scripts, ``#BB``, ``#BB_LUA`` and ``#DW``, as requests for buffers and for staging.

The meaning of a capacity depends on the kind of buffer: a file system on each node (rabbits' ``xfs``, ``gfs2``,
``raw``) has it on every compute node; any other has it for the whole job, striped over storage nodes (``lustre``,
DataWarp's ``striped``, a pool of Slurm's) or in equal parts on the nodes (DataWarp's ``private``).

References
----------
SchedMD, *Slurm Burst Buffer Guide* (``#BB``, ``#BB_LUA``); HPE, *DataWarp User Guide* (``#DW``); NNF software, *Data
Workflow Services: directives* (``#DW`` with ``xfs``, ``gfs2``, ``raw``, ``lustre``, ``copy_in``, ``copy_out``).
"""

from __future__ import annotations

import enum
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.lines import shown
from spillway.workloads.logs.slurm_units import UnitError, capacity_of

_DIRECTIVE = re.compile(r"#(BB_LUA|BB|DW)\b(.*)", re.DOTALL)
_NEXT = re.compile(r"\s(?=#(?:BB_LUA|BB|DW)\b)")
_OPTION = re.compile(r"--bb[= ](\"[^\"]*\"|'[^']*'|\S+)")


class Spread(enum.Enum):
    """Placement of a buffer."""

    PER_NODE = "per node"
    """Each compute node has one of the stated capacity."""

    PRIVATE = "in equal parts per node"
    """Each compute node has an equal part of the stated capacity."""

    STRIPED = "striped"
    """The job has one of the stated capacity, in equal parts on some storage nodes."""


_SPREADS: Mapping[str, Spread] = {
    "xfs": Spread.PER_NODE,
    "gfs2": Spread.PER_NODE,
    "raw": Spread.PER_NODE,
    "private": Spread.PRIVATE,
}
"""Placements by type or access mode; all others are striped."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """One buffer that a directive requests.

    Attributes
    ----------
    capacity_bytes
        As stated: of each node's buffer, or of the whole job's; see ``spread``.
    spread
        Its placement.
    kind
        Type of file system or access mode, as written; "" where not stated.
    name, pool, profile
        As written; "" where not stated.
    """

    capacity_bytes: int
    spread: Spread = Spread.STRIPED
    kind: str = ""
    name: str = ""
    pool: str = ""
    profile: str = ""

    def total_bytes(self, nodes: int) -> int:
        """Bytes for a job of ``nodes`` nodes, in all."""
        return self.capacity_bytes * (nodes if self.spread is Spread.PER_NODE else 1)

    def node_bytes(self, nodes: int) -> int:
        """Bytes for each of ``nodes`` nodes: the node's own buffer, or its share, rounded up."""
        return -(-self.total_bytes(nodes) // nodes)


@dataclass(frozen=True, slots=True)
class Transfer:
    """Files that are moved before or after the job; their size is not stated."""

    source: str = ""
    destination: str = ""


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests of a job's directives.

    Attributes
    ----------
    buffers
        For the job's own lifetime.
    creates
        Persistent buffers that it creates.
    destroys, uses
        Names of persistent buffers that it destroys, and that it uses.
    stage_in, stage_out
        Transfers before and after the job.
    others
        Unknown commands, such as ``swap``: they request nothing.
    """

    buffers: tuple[Buffer, ...] = ()
    creates: tuple[Buffer, ...] = ()
    destroys: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    stage_in: tuple[Transfer, ...] = ()
    stage_out: tuple[Transfer, ...] = ()
    others: tuple[str, ...] = ()

    def __add__(self, other: Requests) -> Requests:
        return Requests(
            self.buffers + other.buffers,
            self.creates + other.creates,
            self.destroys + other.destroys,
            self.uses + other.uses,
            self.stage_in + other.stage_in,
            self.stage_out + other.stage_out,
            self.others + other.others,
        )

    def total_bytes(self, nodes: int) -> int:
        """Bytes of the job's own buffers for ``nodes`` nodes, in all."""
        return sum(buffer.total_bytes(nodes) for buffer in self.buffers)

    @property
    def per_node(self) -> bool:
        """Whether the total depends on the number of nodes."""
        return any(buffer.spread is Spread.PER_NODE for buffer in self.buffers)


def of_options(text: str) -> list[str]:
    """Options ``--bb=`` of a line of options, each as a directive."""
    found = (match.strip("\"'") for match in _OPTION.findall(text))
    return [option if option.startswith("#") else f"#BB {option}" for option in found]


def of_lines(text: str) -> list[str]:
    r"""Lines of a script in one field, separated by a line break, ``\n`` or ``;``; an option ``--bb=`` is a line."""
    lines = [line.strip() for line in re.split(r"\n|\\n|;", text)]
    return lines + of_options(text)


def directives_of(lines: Iterable[str], where: str) -> Requests:
    """Requests of a script's lines; lines that are not directives, such as indented ones, are skipped.

    A line may have several directives.

    Raises
    ------
    WorkloadError
        A directive's capacity cannot be read, or a required option is missing.
    """
    total = Requests()
    for line in lines:
        for part in _NEXT.split(line) if line.startswith("#") else ():
            if found := _DIRECTIVE.match(part):
                total += _directive(found[1], found[2].strip(), where)
    return total


@dataclass(frozen=True, slots=True)
class _Words:
    """A directive taken apart."""

    kind: str
    text: str
    given: Mapping[str, str]
    where: str

    def get(self, *keys: str) -> str:
        """Value of the first of these options that is given; ``""``: no option is."""
        return next((self.given[key] for key in keys if key in self.given), "")

    def buffer(self) -> Buffer:
        """The buffer that it describes."""
        capacity = self.get("capacity")
        try:
            size = capacity_of(capacity)
        except UnitError as error:
            raise WorkloadError(
                f"#{self.kind}: capacity must be {error}, got {shown(capacity)} in {shown(self.text, 80)}", self.where
            ) from None
        access = self.get("access_mode", "access").partition(",")[0].partition("(")[0]
        kind = access or self.get("type")
        return Buffer(
            size,
            _SPREADS.get(kind, Spread.STRIPED),
            kind,
            self.get("name"),
            self.get("pool"),
            self.get("profile"),
        )

    def name(self) -> str:
        """The name of a persistent buffer, which must be stated."""
        if not self.get("name"):
            raise WorkloadError(f"#{self.kind}: expected name=NAME, got {shown(self.text, 80)}", self.where)
        return self.get("name")

    def transfer(self) -> Transfer:
        """Source and destination of files."""
        return Transfer(self.get("source"), self.get("destination"))


def _job_buffer(words: _Words) -> Requests:
    if "capacity" in words.given:
        return Requests(buffers=(words.buffer(),))
    return Requests(others=("jobdw without a capacity",)) if words.kind == "DW" else Requests()


_COMMANDS: Mapping[str, Callable[[_Words], Requests]] = {
    "": _job_buffer,
    "jobdw": _job_buffer,
    "create_persistent": lambda words: Requests(creates=(words.buffer(),)),
    "destroy_persistent": lambda words: Requests(destroys=(words.name(),)),
    "persistentdw": lambda words: Requests(uses=(words.name(),)),
    "stage_in": lambda words: Requests(stage_in=(words.transfer(),)),
    "copy_in": lambda words: Requests(stage_in=(words.transfer(),)),
    "stage_out": lambda words: Requests(stage_out=(words.transfer(),)),
    "copy_out": lambda words: Requests(stage_out=(words.transfer(),)),
}


def _directive(kind: str, text: str, where: str) -> Requests:
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        words = text.split()
    command = words[0].lower() if words and "=" not in words[0] else ""
    given = {key.lower(): value for key, _, value in (word.partition("=") for word in words if "=" in word)}
    read = _COMMANDS.get(command)
    return read(_Words(kind, text, given, where)) if read else Requests(others=(command,))
