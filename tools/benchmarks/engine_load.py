"""CPU time of an engine for a whole log: a greedy scheduler in the same process, and no protocol.

``python -m tools.benchmarks.engine_load alloc|io [--engine fluid|simgrid] [--jobs N] [--workload FILE.json[.xz]]``

Two loads of the thesis's machine (96 nodes, a Dragonfly with a storage node per chassis, one link to the file system):

alloc
    One parallel task per job.
io
    Staging, checkpoints and drains as tasks of their own, one per node and all at once: about 41 tasks per job.

The jobs come from a Batsim workload with burst-buffer requests, or are drawn at random in the KTH log's shape.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spillway import platforms
from spillway.platforms.description.dragonfly import write_dragonfly
from spillway.platforms.description.machine import read_description
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.simulator.engines.by_name import Engine
from tests.kit.tasks import AllToAll, FluidEngine, Pairs, SimgridEngine, TaskSpec

CHASSIS = 9
PHASE_FLOP = 3.6e12
MOST_PHASES = 10
CHECKPOINT_SHARE = 0.5


@dataclass
class LoadJob:
    """One job: submission, nodes, walltime, flop per node, bytes per pair, bytes of burst buffer per node."""

    submit_s: float
    nodes: int
    walltime_s: float
    flop: float
    com: float
    buffer: float
    hosts: tuple[int, ...] = ()
    step: int = 0
    waiting: int = 0
    draining: int = 0


def read_jobs(path: Path, limit: int) -> list[LoadJob]:
    """The first jobs of a Batsim workload."""
    text = path.read_bytes()
    data: Any = json.loads(lzma.decompress(text) if path.suffix == ".xz" else text)
    jobs = []
    for job in data["jobs"][:limit]:
        profile = data["profiles"][job["profile"]]
        numbers = (job["subtime"], job["res"], job["walltime"], profile["cpu"], profile["com"], profile["bb"])
        jobs.append(LoadJob(*numbers))
    return jobs


def draw_jobs(count: int, seed: int = 1) -> list[LoadJob]:
    """Random jobs: sizes favour powers of two, run times and buffers are log-normal, as in the KTH log."""
    rng = np.random.default_rng(seed)
    submit = np.cumsum(rng.exponential(1030.0, count))
    nodes = np.minimum(2 ** rng.integers(0, 6, count), 96)
    runtime = np.minimum(rng.lognormal(7.2, 1.9, count), 2e5)
    buffer = np.minimum(rng.lognormal(20.5, 1.0, count), 4e10)
    com = np.maximum(rng.normal(1e8, 2e7, count), 0.0)
    return [
        LoadJob(float(submit[k]), int(nodes[k]), 4.0 * runtime[k] + 600, 1e9 * runtime[k], com[k], buffer[k])
        for k in range(count)
    ]


class Load:
    """Runs jobs greedily on an engine: the first in the queue that fit start at once.

    Parameters
    ----------
    engine
        On the thesis's machine.
    host_index
        Index by host name.
    jobs
        In the order of their submissions.
    staged
        Whether jobs stage, checkpoint and drain.
    """

    def __init__(self, engine: Engine, host_index: Any, jobs: list[LoadJob], staged: bool) -> None:
        self.engine = engine
        self.jobs = jobs
        self.staged = staged
        self.pfs = host_index["pfs"]
        numbers = [k for k in range(108) if k % CHASSIS]
        self.free = [host_index[f"node_{k}"] for k in numbers]
        self.order = {host: k for k, host in enumerate(self.free)}
        self.storage = {host_index[f"node_{k}"]: host_index[f"node_{k - k % CHASSIS}"] for k in numbers}
        self.owner: dict[int, tuple[LoadJob, bool]] = {}
        self.tasks = 0
        self.calls = 0
        self.ends: list[float] = []

    def run(self) -> None:
        """Run all jobs to their ends."""
        queue: deque[LoadJob] = deque()
        arrivals = iter(self.jobs)
        nearest = next(arrivals, None)
        while nearest is not None or self.owner:
            until = math.inf if nearest is None else nearest.submit_s
            ended = self.engine.advance(until)
            self.calls += 1
            freed = self._end(ended)
            while nearest is not None and nearest.submit_s <= self.engine.clock:
                queue.append(nearest)
                freed = True
                nearest = next(arrivals, None)
            if freed:
                self._fill(queue)

    def _fill(self, queue: deque[LoadJob]) -> None:
        kept = []
        while queue and self.free:
            job = queue.popleft()
            if job.nodes > len(self.free):
                kept.append(job)
                continue
            job.hosts = tuple(self.free[: job.nodes])
            del self.free[: job.nodes]
            self._start(job, self._stage_in(job) if self.staged else self._compute(job, 1))
        queue.extendleft(reversed(kept))

    def _start(self, job: LoadJob, tasks: list[TaskSpec], blocking: bool = True) -> None:
        self.tasks += len(tasks)
        if blocking:
            job.waiting += len(tasks)
        else:
            job.draining += len(tasks)
        self.owner.update(dict.fromkeys(self.engine.start_many(tasks), (job, blocking)))

    def _end(self, handles: list[int]) -> bool:
        freed = False
        for handle in handles:
            job, blocking = self.owner.pop(handle)
            if blocking:
                job.waiting -= 1
            else:
                job.draining -= 1
            if not job.waiting and (not job.draining or job.step < 2 * self._phases(job)):
                freed |= self._next(job)
        return freed

    def _next(self, job: LoadJob) -> bool:
        """Begin the next step of a job: compute (odd steps), checkpoint (even), stage-out, end."""
        phases = self._phases(job)
        job.step += 1
        if not self.staged or job.step > 2 * phases:
            self.ends.append(self.engine.clock)
            self.free = sorted(self.free + list(job.hosts), key=self.order.__getitem__)
            return True
        if job.step == 2 * phases:
            self._start(job, self._stage_out(job, job.buffer))
        elif job.step % 2:
            if job.step > 1:
                self._start(job, self._stage_out(job, CHECKPOINT_SHARE * job.buffer), blocking=False)
            self._start(job, self._compute(job, phases))
        else:
            self._start(job, self._checkpoint(job))
        return False

    def _phases(self, job: LoadJob) -> int:
        return min(max(round(job.flop / PHASE_FLOP), 1), MOST_PHASES)

    def _compute(self, job: LoadJob, phases: int) -> list[TaskSpec]:
        return [TaskSpec(job.hosts, job.flop / phases, AllToAll(job.com))]

    def _transfers(self, ways: Iterator[tuple[int, int]], amount: float) -> list[TaskSpec]:
        return [TaskSpec(way, 0.0, Pairs((0,), (1,), (amount,))) for way in ways]

    def _stage_in(self, job: LoadJob) -> list[TaskSpec]:
        return self._transfers(((self.pfs, self.storage[host]) for host in job.hosts), job.buffer)

    def _stage_out(self, job: LoadJob, amount: float) -> list[TaskSpec]:
        return self._transfers(((self.storage[host], self.pfs) for host in job.hosts), amount)

    def _checkpoint(self, job: LoadJob) -> list[TaskSpec]:
        return self._transfers(((host, self.storage[host]) for host in job.hosts), CHECKPOINT_SHARE * job.buffer)


def write_platform(folder: Path) -> Path:
    """The thesis's machine, from its built-in description, as a file that SimGrid reads too."""
    toml = Path(platforms.__file__).with_name("builtin") / "thesis.toml"
    path = folder / "thesis.xml"
    path.write_text(write_dragonfly(read_description(toml.read_text())))
    return path


def make_engine(name: str, path: Path, platform: Platform) -> Engine:
    """An engine by name."""
    return FluidEngine(platform) if name == "fluid" else SimgridEngine(path, platform)


def cpu_s(engine: Engine) -> float:
    """CPU seconds of this process, and of the engine's own, if it has one."""
    return time.process_time() + (engine.cpu_s() if hasattr(engine, "cpu_s") else 0.0)


def main() -> None:
    """Run one load and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("load", choices=("alloc", "io"))
    parser.add_argument("--engine", choices=("fluid", "simgrid"), default="fluid")
    parser.add_argument("--jobs", type=int, default=10**9)
    parser.add_argument("--workload", type=Path)
    options = parser.parse_args()
    jobs = read_jobs(options.workload, options.jobs) if options.workload else draw_jobs(min(options.jobs, 28_453))
    with tempfile.TemporaryDirectory() as folder:
        path = write_platform(Path(folder))
        platform = load_platform(path)
        with make_engine(options.engine, path, platform) as engine:
            load = Load(engine, platform.host_index, jobs, staged=options.load == "io")
            begin = cpu_s(engine)
            load.run()
            cpu = cpu_s(engine) - begin
    print(
        f"{options.load} {options.engine}: {len(load.ends)} jobs, {load.tasks} tasks, {load.calls} advances,"
        f" CPU {cpu:.1f} s ({1e6 * cpu / load.tasks:.1f} us per task), last end {load.ends[-1]:.6f} s"
    )


if __name__ == "__main__":
    main()
