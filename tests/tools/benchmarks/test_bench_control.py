"""A control decision with 1,000 running applications. All times: ``python -m tools.benchmarks.control_load``."""

import time

import pytest

from tools.benchmarks.control_load import CONTROLS, decide, scene, views


@pytest.mark.alone
def test_ten_times_the_applications_are_not_a_hundred_times_the_work() -> None:
    """Collisions are looked for once per application that has written, on arrays: no pair is looked at."""

    def cost(count: int) -> float:
        known = views(count)
        decide(CONTROLS["phase-shifting"], scene(known, 100))
        times = []
        for _ in range(5):
            looked_at = scene(known, 100)
            begin = time.process_time()
            decide(CONTROLS["phase-shifting"], looked_at)
            times.append(time.process_time() - begin)
        return min(times)

    assert cost(2000) < 60 * cost(200)
