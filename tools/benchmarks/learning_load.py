"""Decisions per CPU second of the environment for learners, with random valid actions; and the cost of its own part.

``python -m tools.benchmarks.learning_load [--workload kth-like:jobs=5000,seed=1] [--platform thesis] [--episodes 4]``

A decision is a call of ``step``: the job's start, all that is simulated up to the next choice, and the observation. The
second figure leaves the observation, the masks and the agent's draw out: that is the simulator and the session.
"""

from __future__ import annotations

import argparse
import os
import time

from spillway.learning import SchedulingEnv, agents
from spillway.learning.chooser import Turn
from spillway.learning.env import Cases
from spillway.learning.episode import Episode


def main() -> None:
    """Print a row for each engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="kth-like:jobs=5000,seed=1")
    parser.add_argument("--platform", default="thesis")
    parser.add_argument("--episodes", type=int, default=4)
    given = parser.parse_args()
    print(f"{'engine':8} {'decisions':>10} {'decisions/s':>12} {'without observing':>18}   (per CPU second)")
    for engine in ("fluid", "fixed"):
        env = SchedulingEnv(given.workload, given.platform, engine=engine)
        agents.play(env, agents.RandomAgent(0), 0)  # modules are loaded
        count, all_s = _measured(env, given.episodes)
        apart_s = Stopwatch(env).inner_s(given.episodes)
        print(f"{engine:8} {count:10,} {count / all_s:12,.0f} {count / apart_s:18,.0f}", flush=True)
    print(f"load of the machine at the end: {', '.join(f'{value:.1f}' for value in os.getloadavg())}")


def _measured(env: SchedulingEnv, episodes: int) -> tuple[int, float]:
    """Decisions, and CPU seconds with the resets."""
    begin = time.process_time()
    count = sum(agents.play(env, agents.RandomAgent(seed), seed)["decisions"] for seed in range(episodes))
    return count, time.process_time() - begin


class Stopwatch:
    """Measures the CPU time within episodes while the same ones are played again."""

    def __init__(self, env: SchedulingEnv) -> None:
        self._env, self._spent_s = env, 0.0

    def inner_s(self, episodes: int) -> float:
        """CPU seconds of drawing, building and simulating."""
        kept = Cases.draw, Episode.__init__, Episode.begin, Episode.choose
        Cases.draw, Episode.__init__, Episode.begin, Episode.choose = map(self._timed, kept)  # type: ignore[method-assign]
        try:
            _measured(self._env, episodes)
        finally:
            Cases.draw, Episode.__init__, Episode.begin, Episode.choose = kept  # type: ignore[method-assign]
        return self._spent_s

    def _timed(self, call):  # type: ignore[no-untyped-def]
        def timed(*given: object) -> Turn | None:
            begin = time.process_time()
            try:
                return call(*given)  # type: ignore[no-any-return]
            finally:
                self._spent_s += time.process_time() - begin

        return timed


if __name__ == "__main__":
    main()
