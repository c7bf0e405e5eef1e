"""Compare a trained network with untrained agents on held-out episodes.

``python compare.py --network network.csv`` prints mean waits, and their differences and ratios with 95 % intervals over
the same episodes. It needs no library for learning: numpy runs the network (:mod:`spillway.learning.network`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from spillway.learning import SchedulingEnv, agents, network

mpl.use("Agg")
from matplotlib import pyplot as plt

COMPARISON = "kth-like:jobs=20000,seed=5"
FINAL = range(5000, 5040)
"""Seeds of the episodes of the comparison, for one run only. A run after a change takes others."""
WINDOW, JOBS = 32, 256
GUARD_S = 86_400.0
"""The default of :class:`spillway.learning.network_policy.NetworkPolicy`."""


class Starts(SchedulingEnv):
    """Environment in which only starts are valid: each action selects one of the jobs that fit.

    With the reference policy among the actions, a first learner left nearly all decisions to it.
    """

    def action_masks(self) -> np.ndarray:
        """Mask of the jobs that fit."""
        mask = super().action_masks()
        mask[self.reference :] = False
        return mask


@dataclass(frozen=True)
class World:
    """Machine of all agents, with the same bound on starvation for each."""

    platform: str

    def environment(self, workload: str, kind: type[SchedulingEnv] = Starts) -> SchedulingEnv:
        """An environment that plays durations as they are given."""
        return kind(workload, self.platform, jobs=JOBS, window=WINDOW, engine="fixed", guard_s=GUARD_S)

    def waits_h(
        self, workload: str, agent: agents.Agent, seeds: range, kind: type[SchedulingEnv] = SchedulingEnv
    ) -> list[float]:
        """Mean waits (h) of episodes."""
        env = self.environment(workload, kind)
        return [agents.play(env, agent, seed)["mean_wait_s"] / 3600 for seed in seeds]

    def others_h(self, workload: str, seeds: range) -> dict[str, list[float]]:
        """Mean waits (h) of the untrained agents, by name."""
        found = {name: self.waits_h(workload, agent, seeds) for name, agent in OTHERS.items()}
        return found | {"random start": self.waits_h(workload, agents.RandomAgent(0), seeds, Starts)}

    def final_h(self, workload: str, learned: agents.Agent) -> dict[str, list[float]]:
        """Mean waits (h) of the learner and of all other agents in the comparison's episodes."""
        return {"PPO": self.waits_h(workload, learned, FINAL, Starts)} | self.others_h(workload, FINAL)


OTHERS: dict[str, agents.Agent] = {"random": agents.RandomAgent(0), "easy": agents.reference, "greedy": agents.greedy}


def interval(numbers: np.ndarray, measure: Callable[[np.ndarray], np.ndarray]) -> tuple[float, float, float]:
    """A measure of episodes (rows), and its 95 % interval: a percentile bootstrap over them, seeded."""
    drawn = np.random.default_rng(0).integers(len(numbers), size=(10_000, len(numbers)))
    low, high = np.percentile(measure(numbers[drawn]), (2.5, 97.5))
    return float(measure(numbers[None])[0]), float(low), float(high)


def ratio(pairs: np.ndarray) -> np.ndarray:
    """Mean wait of the first by that of the second, for each sample of episodes."""
    return pairs[..., 0].mean(1) / pairs[..., 1].mean(1)


def difference(pairs: np.ndarray) -> np.ndarray:
    """Mean wait of the first less that of the second (h), for each sample of episodes."""
    return pairs[..., 0].mean(1) - pairs[..., 1].mean(1)


def draw(points: list[dict[str, Any]], levels: dict[str, list[float]], path: Path) -> None:
    """Draw the learner's curve on episodes, relative to the random agent on the same ones."""
    fig, axes = plt.subplots(figsize=(8, 4))
    minutes, chance = [point["cpu_min"] for point in points], levels["random"]
    found = np.array([interval(np.column_stack((point["waits_h"], chance)), ratio) for point in points])
    axes.fill_between(minutes, found[:, 1], found[:, 2], alpha=0.2, linewidth=0, label="95 % interval")
    axes.plot(minutes, found[:, 0], marker="o", label="PPO")
    for (name, values), style in zip(levels.items(), ("-", "--", ":", "-."), strict=True):
        axes.axhline(np.mean(values) / np.mean(chance), color="0.35", linestyle=style, label=name)
    axes.set(xlabel="training (CPU minutes)", ylabel=f"mean wait / random's, {len(chance)} episodes")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes.spines[["top", "right"]].set_visible(False)
    fig.tight_layout()
    fig.savefig(path, dpi=110)


def compare(final: dict[str, list[float]]) -> None:
    """Print PPO beside each other agent, on the same episodes."""
    for name in [name for name in final if name != "PPO"]:
        pairs = np.column_stack((final["PPO"], final[name]))
        apart, low, high = interval(pairs, difference)
        by, least, most = interval(pairs, ratio)
        print(
            f"PPO {pairs[:, 0].mean():.3f} h, {name} {pairs[:, 1].mean():.3f} h: {apart:+.3f} h [{low:+.3f}, "
            f"{high:+.3f}], ratio {by:.3f} [{least:.3f}, {most:.3f}] over {len(pairs)} episodes"
        )


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", type=Path, required=True, help="network.csv from train.py")
    parser.add_argument("--platform", default="thesis")
    parser.add_argument("--comparison", default=COMPARISON, help="workload of the episodes")
    given = parser.parse_args()
    compare(World(given.platform).final_h(given.comparison, network.read(given.network)))


if __name__ == "__main__":
    main()
