"""Small worlds in which schedulers are tested: a machine, a few jobs, outages, and drained parts of storage nodes.

There are two kinds of machines. ``tiny`` has resources for every job model. A plain machine (``nodes`` above 0) has a
network that takes no time; whether a job fits on it is unambiguous, although the protocol does not say which storage
node holds a request: there is one storage node, or all requests are of one size.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from spillway.experiments.run.errors import SpecError
from spillway.protocol.drains import STORAGE_DRAINED

GB = 10**9
LICENSE = "license"
"""Name of a site's pool of licences."""
NODES = 8
"""Nodes of the platform ``tiny``: two switches of four nodes with a burst buffer of 10 GB each, a file system."""
MOST_JOBS = 8
"""Most jobs of a random world: a failure can be followed by hand."""

_MALLEABLE = {
    "iterations": 6, "io_every": 4, "control_every": 2, "minimum": 1, "maximum": 8, "overhead": 1.0,
    "io_bytes": 2e9, "model": {"work": 40.0},
}  # fmt: skip

SPECIAL: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "rigid": ({}, {}),
    "stream": ({}, {"io_bytes": 10**9}),
    "io": ({}, {}),
    "operations": ({"periods": {"count": 2, "compute_s": 7.0, "io_bytes": 10**9}}, {}),
    "malleable": ({"malleable": _MALLEABLE}, {}),
    "timeshared": ({}, {"io_blocks": 30}),
    "checkpointed": ({}, {}),
}
"""Additional fields of a job of each model: in its profile, and in the job."""


class TrialJob(NamedTuple):
    """A job.

    Attributes
    ----------
    submit_s
        Time of submission.
    nodes
        Nodes that it requests.
    run_s
        Seconds after which it ends; 0 on a plain machine: it takes its whole walltime.
    gb
        GB of burst buffer that it requests for each of its nodes; each request lies whole on one storage node.
    io_rate_mb_s
        MB/s that it requests for each of its nodes.
    walltime_s
        Seconds after which it is stopped; ``None``: never.
    special
        Whether it has the additional fields of the job model (:data:`SPECIAL`).
    licenses
        Licences that it holds of the site's only pool (:data:`LICENSE`), in all.
    """

    submit_s: int
    nodes: int
    run_s: int | float = 0
    gb: int = 0
    io_rate_mb_s: int = 0
    walltime_s: int | None = None
    special: bool = False
    licenses: int = 0


class Change(NamedTuple):
    """Machines go out or return: time (s), whether they return, Batsim's ids of hosts."""

    time_s: float
    back: bool
    hosts: tuple[int, ...]


class Drain(NamedTuple):
    """Drained part of a storage node from a time on: time (s), Batsim's id of the host, drained GB in total."""

    time_s: float
    host: int
    drained_gb: int


class Notation(NamedTuple):
    """Form in which a command writes and reads worlds: one line of JSON, a job as a row of values.

    Attributes
    ----------
    option, printer
        The option that reads a world, and the output that prints it.
    written, further
        Members that are always written, of which the first two are required, and optional ones, which are not written
        if they are an empty object or 0.
    columns, fewest
        Columns of a row, in order, and their minimum number.
    """

    option: str
    printer: str
    written: tuple[str, ...]
    further: tuple[str, ...]
    columns: tuple[str, ...]
    fewest: int

    def job(self, row: Sequence[Any]) -> TrialJob:
        """Read a row."""
        return TrialJob(**dict(zip(self.columns, row, strict=False)))


CASE = Notation(
    "--case", "a failed check", ("model", "jobs"), ("settings", "changes", "options", "seed", "drains"),
    TrialJob._fields[:7], 7,
)  # fmt: skip
"""Notation of ``spillway check-policy``: worlds on ``tiny``, without licences."""
PLAIN = Notation(
    "--world", "a report", ("nodes", "jobs", "storages", "gb"), (),
    ("submit_s", "nodes", "walltime_s", "gb", "run_s"), 3,
)  # fmt: skip
"""Notation of ``spillway conformance``: worlds on plain machines."""


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A complete description of a play, so that its text repeats it.

    Attributes
    ----------
    jobs
        Jobs, on a plain machine in order of submission.
    model
        Name of a job model.
    nodes, storages, gb
        A plain machine: 1 to 64 compute nodes, 0 to 8 storage nodes, the capacity of each. 0 nodes: ``tiny``.
    settings
        Settings of the session.
    changes, drains
        Outages, and parts of storage nodes that are drained.
    options
        Options of the policy.
    seed
        Seed of the policy's generator.
    """

    jobs: tuple[TrialJob, ...]
    model: str = "rigid"
    nodes: int = 0
    storages: int = 0
    gb: int = 0
    settings: dict[str, str] = {}
    changes: tuple[Change, ...] = ()
    options: dict[str, Any] = {}
    seed: int = 0
    drains: tuple[Drain, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether the machine is a plain one."""
        return self.nodes > 0

    def fits(self, job: TrialJob) -> bool:
        """Whether a job can start on the empty plain machine."""
        most = self.storages * (self.gb // job.gb) if job.gb else job.nodes
        return job.nodes <= min(self.nodes, most)

    def members(self) -> dict[str, Any]:
        """Members that are written, as plain values."""
        notation = PLAIN if self.plain else CASE
        values = msgspec.to_builtins(self)
        values["jobs"] = [[getattr(job, name) for name in notation.columns] for job in self.jobs]
        kept = [*notation.written, *(name for name in notation.further if values[name] not in ({}, 0))]
        return {name: values[name] for name in kept}

    def text(self) -> str:
        """One line of JSON; :func:`world_from` reads it."""
        return json.dumps(self.members(), separators=(",", ":"), default=list)

    def workload(self) -> dict[str, Any]:
        """The jobs in Batsim's format; on a plain machine they are numbered from 1, and the job has ``bb``, too."""
        plain = self.plain
        found: dict[str, Any] = {"nb_res": self.nodes or NODES, "jobs": [], "profiles": {}}
        for number, job in enumerate(self.jobs, int(plain)):
            in_profile, in_job = SPECIAL[self.model] if job.special else ({}, {})
            delay = plain or self.model == "timeshared" or bool(in_profile) or number % 2 == 1
            seconds = job.walltime_s if plain and not job.run_s else job.run_s
            work = {"type": "delay", "delay": seconds} if delay else {
                "type": "parallel_homogeneous", "cpu": job.run_s * 1e9, "com": 1e6
            }  # fmt: skip
            buffer = {"bb": job.gb * GB} if job.gb else {}
            found["profiles"][f"p{number}"] = work | buffer | in_profile
            one = {"id": str(number), "subtime": job.submit_s, "res": job.nodes, "profile": f"p{number}"}
            one |= buffer if plain else {"user": number % 2, "site_wait_s": 7 * (number % 3)}
            one |= {"io_rate": job.io_rate_mb_s * 10**6} if job.io_rate_mb_s else {}
            one |= {"walltime": job.walltime_s} if job.walltime_s is not None else {}
            one |= {"licenses": f"{LICENSE}:{job.licenses}"} if job.licenses else {}
            one |= in_job if self.model != "stream" or not delay else {}
            found["jobs"].append(one)
        return found

    def events(self) -> list[dict[str, Any]]:
        """Outages and drains as external events of the simulator."""
        changes: list[dict[str, Any]] = [
            {
                "timestamp": time_s,
                "type": f"machine_{'' if back else 'un'}available",
                "resources": " ".join(map(str, hosts)),
            }
            for time_s, back, hosts in self.changes
        ]
        return changes + [
            {"timestamp": time_s, "type": STORAGE_DRAINED, "resources": str(host), "bytes": drained_gb * GB}
            for time_s, host, drained_gb in self.drains
        ]


def world_from(text: str, notation: Notation) -> World:
    """Read a world from its text.

    Raises
    ------
    SpecError
        It is not a world, its job model is unknown, or whether a job fits is ambiguous.
    """
    columns, option = notation.columns, notation.option
    try:
        members = msgspec.json.decode(text, type=dict[str, Any])
        rows = msgspec.convert(members.get("jobs", []), list[list[Any]])
        complete = all(notation.fewest <= len(row) <= len(columns) for row in rows)
        full = [[*notation.job(row)] for row in rows if complete]
        world = msgspec.convert(members | {"jobs": full}, World)
    except msgspec.MsgspecError as error:
        raise SpecError(f"{option}: expected a world as {notation.printer} prints it: {error}") from None
    known, needed = {*notation.written, *notation.further}, notation.written[:2]
    faults = {
        f"a world as {notation.printer} prints it, with {' and '.join(needed)}": members.keys() >= {*needed},
        f"nothing but {', '.join(sorted(known))}": members.keys() <= known,
        f"jobs as rows of {', '.join(columns)}": complete,
    }
    for words, holds in (faults | (_doubts(world) if notation is PLAIN else {})).items():
        if not holds:
            raise SpecError(f"{option}: expected {words}")
    if world.model not in SPECIAL:
        raise SpecError(f"{option}: unknown job model {world.model!r}; known: {', '.join(SPECIAL)}")
    return world


def _doubts(world: World) -> dict[str, bool]:
    """Conditions on a world on a plain machine, and whether they hold."""
    jobs, storages = world.jobs, world.storages
    times = [job.submit_s for job in jobs] or [1]
    return {
        "1 to 64 jobs": 1 <= len(jobs) <= 64,
        "1 to 64 nodes, 0 to 8 storage nodes of 1 to 1000 GB": 1 <= world.nodes <= 64
        and (storages == 0 or (1 <= storages <= 8 and 1 <= world.gb <= 1000)),
        "jobs submitted in order, at 1 s or later": times == sorted(times) and times[0] >= 1 and times[-1] < 1e7,
        "jobs of 1 node and 1 s of walltime or more, sizes below 10,000 and times in whole seconds below 1e7": all(
            1 <= job.nodes < 10_000 and 1 <= (job.walltime_s or 0) < 1e7 and 0 <= job.gb < 10_000
            and 0 <= job.run_s < 1e7 and isinstance(job.run_s, int)
            for job in jobs
        ),
        "requests of one size where there are several storage nodes": storages < 2
        or len({job.gb for job in jobs if job.gb}) < 2,
    }  # fmt: skip
