"""Speed of the fluid engine, as ratios to SimGrid in the same run, and its cost per task.

The whole log's figures come from ``python -m tools.benchmarks.engine_load``.
"""

import math
import time
from pathlib import Path

import pytest

from spillway.platforms import load_platform
from spillway.simulator.engines.native import network_of
from spillway.simulator.engines.simgrid import find_binding
from spillway.simulator.errors import EngineUnavailable
from tests.kit.tasks import AllToAll, FluidEngine, Pairs, TaskSpec
from tools.benchmarks.engine_load import Load, cpu_s, draw_jobs, make_engine, write_platform

pytestmark = [pytest.mark.slow, pytest.mark.alone]


@pytest.mark.parametrize(("staged", "jobs", "least_ratio"), [(False, 1000, 2.0), (True, 200, 5.0)], ids=["alloc", "io"])
def test_fluid_is_faster_than_simgrid(tmp_path: Path, staged: bool, jobs: int, least_ratio: float) -> None:
    """The same jobs end at the same instants, several times sooner; each engine's better of two, for busy machines."""
    try:
        find_binding()
    except EngineUnavailable as error:
        pytest.skip(str(error))
    path = write_platform(tmp_path)
    platform = load_platform(path)
    cost, ends = {}, {}
    for name in ("fluid", "simgrid") * 2:
        with make_engine(name, path, platform) as engine:
            load = Load(engine, platform.host_index, draw_jobs(jobs), staged)
            begin = cpu_s(engine)
            load.run()
            cost[name] = min(cost.get(name, math.inf), cpu_s(engine) - begin)
            ends[name] = load.ends
    ratio = cost["simgrid"] / cost["fluid"]
    print(f"{load.tasks} tasks: fluid {cost['fluid']:.2f} s, simgrid {cost['simgrid']:.2f} s, ratio {ratio:.1f}")
    assert ends["fluid"] == pytest.approx(ends["simgrid"], rel=1e-9)
    assert ratio > least_ratio


def test_cost_of_transfers_in_batches(tmp_path: Path) -> None:
    """A hundred transfers that start and end together cost less per task than single ones."""
    platform = load_platform(write_platform(tmp_path))
    index = platform.host_index
    ways = [(index[f"node_{k}"], index["pfs"]) for k in range(100)]
    tasks = [TaskSpec(way, 0.0, Pairs((0,), (1,), (1e8,))) for way in ways]
    engine = FluidEngine(platform)
    cost = {}
    for size in (100, 1, 100):
        begin = time.process_time()
        for first in range(0, 100, size):
            handles = engine.start_many(tasks[first : first + size])
            assert engine.advance(float("inf")) == handles
        cost[size] = time.process_time() - begin
    print(f"per transfer: {1e4 * cost[100]:.1f} us in batches of 100, {1e4 * cost[1]:.1f} us alone")
    assert cost[100] < cost[1]


def test_cost_of_an_all_to_all_of_the_whole_machine(tmp_path: Path) -> None:
    """96 hosts, 9,120 pairs: counting by groups costs a fraction of counting by pairs."""
    platform = load_platform(write_platform(tmp_path))
    hosts = tuple(platform.host_index[f"node_{k}"] for k in range(108) if k % 9)
    cost = {}
    for groups in (False, True):
        network = network_of(platform)
        engine = FluidEngine(platform, network)
        engine.start(TaskSpec(hosts, 0.0, AllToAll(1.0)))
        if groups:
            network.group(hosts)
        times = []
        for _ in range(9):
            begin = time.perf_counter()
            engine.start(TaskSpec(hosts, 0.0, AllToAll(1.0)))
            times.append(time.perf_counter() - begin)
        cost[groups] = min(times)
    print(f"all-to-all of {len(hosts)} hosts: {1e6 * cost[True]:.0f} us by groups, {1e6 * cost[False]:.0f} us by pairs")
    assert cost[True] < cost[False]
