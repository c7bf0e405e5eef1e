"""Agents to compare a learner with: from an observation and a mask to an action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from spillway.learning.env import SchedulingEnv

Agent = Callable[[Mapping[str, Any], npt.NDArray[np.bool_]], int]
"""Gives an action for an observation and the mask of valid actions."""


def reference(observation: Mapping[str, Any], mask: npt.NDArray[np.bool_]) -> int:
    """Leave every pass to the reference policy: ``easy`` or ``plan``, as the environment was made.

    The episode's jobs start as under that policy, byte for byte.
    """
    return len(mask) - 2


def greedy(observation: Mapping[str, Any], mask: npt.NDArray[np.bool_]) -> int:
    """Start the first job that fits, else leave the pass to the reference policy."""
    return int(mask.argmax())


class RandomAgent:
    """Draw one of the valid actions, all equally likely.

    Parameters
    ----------
    seed
        Seed of its draws.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, observation: Mapping[str, Any], mask: npt.NDArray[np.bool_]) -> int:
        """Draw."""
        valid = np.flatnonzero(mask)
        return int(valid[self._rng.integers(len(valid))])


def play(env: SchedulingEnv, agent: Agent, seed: int) -> dict[str, Any]:
    """Play one episode; return its result (jobs, mean wait, ...), sum of rewards and number of decisions."""
    seen, info = env.reset(seed=seed)
    total, decisions, over = 0.0, 0, False
    while not over:
        seen, reward, over, _, info = env.step(np.int64(agent(seen, info["action_mask"])))
        total, decisions = total + reward, decisions + 1
    return {name: value for name, value in info.items() if name not in ("action_mask", "invalid")} | {
        "return": total,
        "decisions": decisions,
    }
