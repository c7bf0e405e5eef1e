"""The worlds that schedulers are tested in: a small machine, at most a few jobs, times in whole seconds.

A world leaves no doubt whether a job fits, although the protocol does not say on which storage node a request lies:
there is one storage node, or all requests are of one size. Nodes are interchangeable.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from random import Random
from typing import Any, NamedTuple

import msgspec

from spillway.experiments.run.errors import SpecError

GB = 10**9
MOST_JOBS = 8
"""Jobs of a world: a failure is followed by hand."""


class WorldJob(NamedTuple):
    """A job.

    Attributes
    ----------
    submit_s
        Time of submission, at least 1 s.
    nodes
        Nodes that it requests, at least 1.
    walltime_s
        Seconds after which Batsim stops it, at least 1.
    gb
        GB of burst buffer that it requests for each of its nodes; each request lies whole on one storage node.
    run_s
        Seconds after which it ends by itself; 0: it takes its whole walltime.
    """

    submit_s: int
    nodes: int
    walltime_s: int
    gb: int = 0
    run_s: int = 0


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is played: all of it, so that its text repeats it.

    Attributes
    ----------
    nodes
        Compute nodes, 1 to 64.
    jobs
        In order of submission; job 1 is the first.
    storages
        Storage nodes, 0 to 8.
    gb
        Capacity of each.
    """

    nodes: int
    jobs: tuple[WorldJob, ...]
    storages: int = 0
    gb: int = 0

    def text(self) -> str:
        """One line of JSON; :func:`world_from` reads it."""
        return msgspec.json.encode(self).decode()

    def fits(self, job: WorldJob) -> bool:
        """Whether a job can start on the empty machine."""
        room = self.storages * (self.gb // job.gb) if job.gb else job.nodes
        return job.nodes <= min(self.nodes, room)

    def workload(self) -> dict[str, Any]:
        """The jobs as a Batsim workload; ``bb`` are the bytes per node, in the job and in its profile."""
        jobs, profiles = [], {}
        for number, job in enumerate(self.jobs, 1):
            buffer = {"bb": job.gb * GB} if job.gb else {}
            profiles[f"p{number}"] = {"type": "delay", "delay": job.run_s or job.walltime_s, **buffer}
            requested = {"id": str(number), "subtime": job.submit_s, "res": job.nodes, "walltime": job.walltime_s}
            jobs.append({**requested, "profile": f"p{number}", **buffer})
        return {"nb_res": self.nodes, "jobs": jobs, "profiles": profiles}

    def story(self) -> list[str]:
        """The machine and the jobs in words."""
        buffers = f", {self.storages} storage node{'s' * (self.storages > 1)} of {self.gb} GB" if self.storages else ""
        lines = [f"machine: {self.nodes} nodes{buffers}"]
        for number, job in enumerate(self.jobs, 1):
            ends = f", ends after {job.run_s} s" if job.run_s and job.run_s < job.walltime_s else ""
            each = f", {job.gb} GB{' for each' * (job.nodes > 1)}" if job.gb else ""
            lines.append(
                f"job {number}: submitted at {job.submit_s} s, {job.nodes} node{'s' * (job.nodes > 1)}{each}, "
                f"walltime {job.walltime_s} s{ends}"
            )
        return lines


def platform_xml(nodes: int, storages: int, gb: int) -> str:
    """The machine as a SimGrid platform whose network takes no time."""
    hosts = [("master", '<prop id="role" value="master"/>')] + [(f"n{number}", "") for number in range(nodes)]
    stated = f'<prop id="role" value="storage"/><prop id="capacity_bytes" value="{gb * GB}"/>'
    hosts += [(f"bb{number}", stated) for number in range(storages)]
    lines = [f'<host id="{name}" speed="1Gf">{properties}</host>' for name, properties in hosts]
    lines.append('<link id="net" bandwidth="1000GBps" latency="0us" sharing_policy="FATPIPE"/>')
    for place, (one, _) in enumerate(hosts):
        lines += [f'<route src="{one}" dst="{two}"><link_ctn id="net"/></route>' for two, _ in hosts[place + 1 :]]
    document = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    return document + f'<platform version="4.1"><zone id="main" routing="Full">{"".join(lines)}</zone></platform>\n'


def world_from(text: str) -> World:
    """Read a world from its text.

    Raises
    ------
    SpecError
        It is none, or it leaves doubt whether a job fits.
    """
    try:
        world = msgspec.json.decode(text, type=World)
    except msgspec.MsgspecError as error:
        raise SpecError(f"--world: expected a world as a report prints it: {error}") from None
    fault = _fault(world)
    if fault:
        raise SpecError(f"--world: expected {fault}")
    return world


def _fault(world: World) -> str:
    jobs = world.jobs
    times = [job.submit_s for job in jobs]
    checks = {
        "1 to 64 jobs": 1 <= len(jobs) <= 64,
        "1 to 64 nodes, 0 to 8 storage nodes of 1 to 1000 GB": 1 <= world.nodes <= 64
        and 0 <= world.storages <= 8
        and (not world.storages or 1 <= world.gb <= 1000),
        "jobs submitted in order, at 1 s or later": times == sorted(times) and min(times, default=1) >= 1,
        "jobs of 1 node and 1 s of walltime or more, sizes below 10,000 and times below 1e7": all(
            1 <= job.nodes < 10_000 and 1 <= job.walltime_s < 1e7 and 0 <= job.gb < 10_000 and 0 <= job.run_s < 1e7
            for job in jobs
        )
        and max(times, default=1) < 1e7,
        "requests of one size where there are several storage nodes": world.storages < 2
        or len({job.gb for job in jobs if job.gb}) < 2,
    }
    return next((words for words, holds in checks.items() if not holds), "")


def random_world(rng: Random, buffers: bool) -> World:
    """Draw a world in which every job fits the empty machine, and either nodes or bytes are scarce.

    Parameters
    ----------
    buffers
        Whether it may have storage nodes.
    """
    if buffers and rng.random() < 0.6:
        nodes, widths = rng.choice((6, 8)), [1, 1, 2, 3]
        storages, gb, sizes = rng.choice(((1, 10, [0, 1, 2, 3, 5]), (1, 10, [0, 4, 6, 8]), (2, 10, [0, 3, 3, 3])))
    else:
        nodes = rng.choice((3, 4, 6, 8))
        widths, storages, gb, sizes = [1, 1, 2, 3, nodes // 2, nodes], 0, 0, [0]
    empty = World(nodes, (), storages, gb)
    times = accumulate(rng.choice((0, 0, 1, 1, 2, 9)) for _ in range(rng.randint(3, MOST_JOBS)))
    drawn = [_random_job(rng, 1 + time_s, min(rng.choice(widths), nodes), rng.choice(sizes)) for time_s in times]
    jobs = tuple(job if empty.fits(job) else job._replace(nodes=1) for job in drawn)
    return msgspec.structs.replace(empty, jobs=jobs)


def _random_job(rng: Random, submit_s: int, nodes: int, gb: int) -> WorldJob:
    walltime_s = rng.choice((3, 7, 12, 20, 40, 100))
    run_s = 0 if rng.random() < 0.6 else rng.randint(1, walltime_s)
    return WorldJob(submit_s, nodes, walltime_s, gb, run_s)


def fewer_jobs(world: World) -> Iterator[World]:
    """Worlds with a part of the jobs, the smallest first."""
    jobs, change = world.jobs, msgspec.structs.replace
    half = len(jobs) // 2
    if half > 1:
        yield change(world, jobs=jobs[:half])
        yield change(world, jobs=jobs[half:])
    if len(jobs) > 1:
        for place in range(len(jobs)):
            yield change(world, jobs=jobs[:place] + jobs[place + 1 :])


def simpler(world: World) -> Iterator[World]:
    """Worlds that are simpler by one step, the largest steps first; in each, every job that fitted fits."""
    jobs, change = world.jobs, msgspec.structs.replace
    yield from fewer_jobs(world)
    early_s = jobs[0].submit_s - 1
    if early_s:
        yield change(world, jobs=tuple(job._replace(submit_s=job.submit_s - early_s) for job in jobs))
    if world.storages and not any(job.gb for job in jobs):
        yield change(world, storages=0, gb=0)
    fewer = change(world, nodes=world.nodes - 1)
    if fewer.nodes and all(fewer.fits(job) for job in jobs if world.fits(job)):
        yield fewer
    for place, job in enumerate(jobs):
        plainer = [job._replace(gb=0), job._replace(run_s=0), job._replace(nodes=1), job._replace(nodes=job.nodes - 1)]
        plainer += [job._replace(submit_s=jobs[place - 1].submit_s if place else 1)]
        plainer += [job._replace(walltime_s=job.walltime_s // 2)] if job.walltime_s > 3 and not job.run_s else []
        for one in plainer:
            if one != job and one.nodes:
                yield change(world, jobs=(*jobs[:place], one, *jobs[place + 1 :]))
