"""Cases computed by hand, for every engine that plays SimGrid's model of parallel tasks."""

import math

import numpy as np
import pytest

from spillway.simulator.engines.by_name import Engine
from tests.kit.tasks import AllToAll, Comm, Matrix, NoComm, Pairs, TaskSpec
from tests.simulator.engines.conftest import DISK, FAR, ONE, TWO, EngineMaker


def ends(engine: Engine, *tasks: TaskSpec) -> list[float]:
    """Start tasks together; when each ended."""
    handles = engine.start_many(tasks)
    found: dict[int, float] = {}
    while len(found) < len(tasks):
        found.update(dict.fromkeys(engine.advance(math.inf), engine.clock))
    return [found[handle] for handle in handles]


def transfer(src: int, dst: int, amount: float) -> TaskSpec:
    """Bytes from one host to another."""
    return TaskSpec((src, dst), 0.0, Pairs((0,), (1,), (amount,)))


COMPUTE = [
    ("one core", [TaskSpec((ONE,), 2e9)], [2.0]),
    ("faster host", [TaskSpec((FAR,), 2e9)], [1.0]),
    ("two tasks share a core", [TaskSpec((ONE,), 1e9), TaskSpec((ONE,), 1e9)], [2.0, 2.0]),
    ("the rest goes on alone", [TaskSpec((ONE,), 1e9), TaskSpec((ONE,), 3e9)], [2.0, 4.0]),
    ("one task takes one core", [TaskSpec((TWO,), 2e9)], [2.0]),
    ("a core for each of two", [TaskSpec((TWO,), 1e9), TaskSpec((TWO,), 1e9)], [1.0, 1.0]),
    ("three on two cores", [TaskSpec((TWO,), 1e9)] * 3, [1.5, 1.5, 1.5]),
    ("the same host twice, two cores", [TaskSpec((TWO, TWO), 1e9)], [1.0]),
    ("the same host twice, one core", [TaskSpec((ONE, ONE), 1e9)], [2.0]),
    ("the slowest host counts", [TaskSpec((ONE, FAR), np.array([3e9, 4e9]))], [3.0]),
    ("a number of NumPy's", [TaskSpec((ONE,), np.int64(10**9))], [1.0]),  # type: ignore[arg-type]
    ("no work on some hosts", [TaskSpec((ONE, FAR, DISK), [0.0, 4e9, 0.0])], [2.0]),
]


@pytest.mark.parametrize(("tasks", "expected"), [case[1:] for case in COMPUTE], ids=[case[0] for case in COMPUTE])
def test_computation(engine: Engine, tasks: list[TaskSpec], expected: list[float]) -> None:
    """Cores and hosts are shared as in SimGrid."""
    assert ends(engine, *tasks) == pytest.approx(expected, rel=1e-12)


WINDOW = 4194304.0
TRANSFERS = [
    ("latency, then bandwidth", [transfer(ONE, TWO, 1e8)], [1.001]),
    ("two share a link", [transfer(ONE, TWO, 1e8), transfer(TWO, ONE, 1e8)], [2.001, 2.001]),
    ("a fat pipe is not shared", [transfer(TWO, FAR, 1e8), transfer(FAR, TWO, 1e8)], [1.002, 1.002]),
    ("the window limits long links", [transfer(ONE, FAR, 1e8)], [0.1 + 2 * 0.1 * 1e8 / WINDOW]),
    ("the window limits an all-to-all", [TaskSpec((ONE, FAR), 0.0, AllToAll(1e8))], [0.1 + 2 * 0.1 * 1e8 / WINDOW]),
    ("the pair that the window limits most counts, first",
     [TaskSpec((ONE, TWO, FAR), 0.0, Pairs((0, 0), (2, 1), (1e8, 1e6)))], [0.1 + 2 * 0.1 * 1e8 / WINDOW]),
    ("the pair that the window limits most counts, last",
     [TaskSpec((ONE, TWO, FAR), 0.0, Pairs((0, 0), (1, 2), (1e6, 1e8)))], [0.1 + 2 * 0.1 * 1e8 / WINDOW]),
    ("a latency as long as the transfer", [transfer(ONE, FAR, 1e6)], [0.1 + 2 * 0.1 * 1e6 / WINDOW]),
    ("no bytes take no latency", [TaskSpec((ONE, TWO, FAR), 0.0, Pairs((0, 0), (1, 2), (1e8, 0.0)))], [1.001]),
    ("latencies of a route add up", [transfer(ONE, DISK, 1e8)], [1.003]),
    ("no computation at a disk", [transfer(DISK, TWO, 1e8)], [1.002]),
    ("work and transfer advance together", [TaskSpec((ONE, TWO), [2e9, 1.0], AllToAll(1e7))], [2.001]),
    ("all pairs of a link", [TaskSpec((ONE, TWO), 0.0, AllToAll(1e8))], [2.001]),
    ("a byte takes the latency", [TaskSpec((ONE, TWO), 0.0, AllToAll(1.0))], [0.001 + 2e-8]),
    ("half a byte takes the latency", [TaskSpec((ONE, TWO), 0.0, AllToAll(0.5))], [0.001 + 1e-8]),
    ("a fat pipe takes the largest pair", [TaskSpec((TWO, FAR), 0.0, Matrix(np.array([[0, 1e8], [5e7, 0]])))], [1.002]),
    ("a fat pipe takes one of equal pairs", [TaskSpec((TWO, FAR), 0.0, AllToAll(1e8))], [1.002]),
    ("equal pairs add up", [TaskSpec((ONE, TWO), 0.0, Pairs((0, 1, 0), (1, 0, 1), (1e7, 3e7, 6e7)))], [1.001]),
    ("patterns add up", [TaskSpec((ONE, TWO), 0.0, (AllToAll(2e7), Pairs([0], [1], [6e7])))], [1.001]),
    ("a host to itself", [TaskSpec((ONE, TWO), 0.0, Pairs((0,), (0,), (2e10,)))], [2.0]),
    ("hosts repeated in an all-to-all", [TaskSpec((ONE, ONE), 0.0, AllToAll(2e10))], [2.0]),
    ("one host ignores its matrix", [TaskSpec((ONE,), 1e9, Matrix(np.array([[1e12]])))], [1.0]),
]  # fmt: skip


@pytest.mark.parametrize(("tasks", "expected"), [case[1:] for case in TRANSFERS], ids=[case[0] for case in TRANSFERS])
def test_transfers(engine: Engine, tasks: list[TaskSpec], expected: list[float]) -> None:
    """Links, latencies, the TCP window and fat pipes are as in SimGrid."""
    assert ends(engine, *tasks) == pytest.approx(expected, rel=1e-9)


NOTHING: list[Comm] = [NoComm(), AllToAll(0.0), Matrix(np.zeros((2, 2))), Pairs((), (), ()), Pairs((0,), (1,), (0.0,))]


@pytest.mark.parametrize("comm", NOTHING, ids=lambda comm: type(comm).__name__)
def test_a_task_without_work_ends_at_once(engine: Engine, comm: Comm) -> None:
    """With other tasks beside it, at the instant of its start."""
    engine.start(TaskSpec((ONE,), 1e9))
    assert engine.advance(0.25) == []
    idle = engine.start(TaskSpec((ONE, TWO), 0.0, comm))
    assert engine.advance(math.inf) == [idle]
    assert engine.clock == 0.25


def test_settled_tasks_go_on_taking(make_engine: EngineMaker) -> None:
    """SimGrid's rounds differ from max-min: tasks that are settled take their last raise again in later rounds.

    Links x, y, z of 6, 100 and 80 MB/s; flows a: x, b: x y, c: y z, d: y, e: z. Round 1 offers 3, 33.3 and 40: x is
    exhausted, a and b are settled at 3, y has 30.3 left, z 6.7. Round 2: c and e end at 36.7 and 43.3; d takes 15.2, c
    3.3, and b takes 3 again: 8.8 is left of y. Round 3 gives that to d: 57.3, where max-min gives 60.3.
    """
    routes = {"a": "x", "b": "xy", "c": "yz", "d": "y", "e": "z"}
    speeds = {"x": 6, "y": 100, "z": 80}
    inside = ["<zone id='all' routing='Full'>"]
    inside += [f"<host id='{name}{end}' speed='1Gf'/>" for name in routes for end in "01"]
    inside += [f"<link id='{name}' bandwidth='{speed}MBps' latency='0'/>" for name, speed in speeds.items()]
    for name, links in routes.items():
        hops = "".join(f"<link_ctn id='{link}'/>" for link in links)
        inside.append(f"<route src='{name}0' dst='{name}1'>{hops}</route>")
    engine, platform = make_engine("".join([*inside, "</zone>"]))
    index = platform.host_index
    flows = [transfer(index[f"{name}0"], index[f"{name}1"], 1e6 if name == "d" else 1e9) for name in routes]
    handles = engine.start_many(flows)
    assert engine.advance(math.inf) == [handles[3]]
    assert engine.clock == pytest.approx(1.0 / (100 / 3 + 91 / 6 + 53 / 6), rel=1e-12)


def test_simultaneous_ends_come_in_the_order_of_starts(engine: Engine) -> None:
    """A batch of equal transfers ends at one instant, first started first."""
    handles = engine.start_many([transfer(ONE, TWO, 1e6)] * 20)
    assert engine.advance(math.inf) == handles
    assert engine.active == 0


def test_progress_and_cancellation(engine: Engine) -> None:
    """Progress is linear once the latency has passed; the remaining task speeds up after a cancellation."""
    first = engine.start(TaskSpec((ONE,), 2e9))
    second = engine.start(TaskSpec((ONE,), 2e9))
    late = engine.start(transfer(ONE, FAR, 1e6))
    assert engine.advance(0.05) == []
    assert engine.progress(late) == 0.0
    assert engine.cancel(late) == 0.0
    assert engine.advance(1.0) == []
    assert engine.progress(first) == pytest.approx(0.25)
    assert engine.cancel(second) == pytest.approx(0.25)
    assert engine.active == 1
    assert engine.advance(math.inf) == [first]
    assert engine.clock == pytest.approx(2.5)


def test_stops_do_not_change_results(engine: Engine) -> None:
    """A thousand stops on the way move the end by rounding only."""
    handle = engine.start(TaskSpec((ONE, TWO), [2e9, 1e9], AllToAll(3e7)))
    for step in range(1, 1000):
        assert engine.advance(step / 500.0) == []
        assert engine.clock == step / 500.0
    assert engine.advance(math.inf) == [handle]
    assert engine.clock == pytest.approx(2.001, rel=1e-12)


def test_sleeps(engine: Engine) -> None:
    """Sleeps use nothing, end on time, report their progress and can be cancelled."""
    work = engine.start(TaskSpec((ONE,), 2e9))
    long, short = engine.sleep(1.5), engine.sleep(0.5)
    none = engine.sleep(0.0)
    assert engine.advance(math.inf) == [none]
    assert engine.advance(math.inf) == [short]
    assert engine.clock == 0.5
    assert engine.progress(long) == pytest.approx(1 / 3)
    assert engine.cancel(long) == pytest.approx(1 / 3)
    assert engine.advance(math.inf) == [work]
    assert engine.clock == pytest.approx(2.0, rel=1e-12)


def test_latencies_and_sleeps_within_a_nanosecond_end_together(engine: Engine) -> None:
    """SimGrid takes less than 1e-9 s as 0."""
    handles = [engine.sleep(1.0), engine.sleep(1.0 + 5e-10), engine.sleep(1.0 + 5e-9)]
    assert engine.advance(math.inf) == handles[:2]
    assert engine.advance(math.inf) == handles[2:]
    assert engine.clock == pytest.approx(1.0 + 5e-9, abs=1e-15)


def test_power_states_change_speed(engine: Engine) -> None:
    """Running tasks, those in their latency, and later ones continue at the new speed."""
    running = engine.start(TaskSpec((ONE,), 2e9))
    waiting = engine.start(TaskSpec((ONE, FAR), [1e8, 1.0], Pairs((0,), (1,), (1.0,))))
    engine.advance(0.05)
    engine.set_pstate(ONE, 1)
    assert engine.progress(running) == pytest.approx(0.025)
    engine.cancel(running)
    assert engine.advance(math.inf) == [waiting]
    assert engine.clock == pytest.approx(0.1 + 0.4, rel=1e-9)
    engine.set_pstate(ONE, 0)
    later = engine.start(TaskSpec((ONE,), 1e9))
    assert engine.advance(math.inf) == [later]
    assert engine.clock == pytest.approx(1.5, rel=1e-9)


def test_nothing_to_do(engine: Engine) -> None:
    """The clock follows finite instants, and stays for an infinite one."""
    assert engine.advance(math.inf) == []
    assert engine.clock == 0.0
    assert engine.advance(7.25) == []
    assert engine.advance(7.25) == []
    assert engine.advance(math.inf) == []
    assert engine.clock == 7.25
