"""Train PPO with action masks for ten CPU minutes, and compare it with agents that learned nothing.

Needs more than spillway does: ``pip install 'spillway[learn]' stable-baselines3 sb3-contrib`` (with PyTorch: some GB;
a build for CPUs alone is smaller). Then ``python train.py --out FOLDER`` writes ``curve.json``, ``curve.png`` and
``model.zip``, and prints the comparison.

One small network scores each waiting job by its own features and the machine's, with the same weights for all of them
(the kernel network of Zhang et al., RLScheduler, SC 2020, DOI 10.1109/SC41405.2020.00035); a second one scores the
two further actions. Its training seeds and workload are never those of the comparison.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import nn

from learning import SchedulingEnv, agents

mpl.use("Agg")
from matplotlib import pyplot as plt

TRAINING, HELD_OUT = "kth-like:jobs=20000,seed=1", "kth-like:jobs=20000,seed=2"
WINDOW, JOBS, ENVIRONMENTS = 32, 256, 8
CHECKS = range(1000, 1006)
"""Seeds of the held-out episodes of the curve."""
FINAL = range(2000, 2030)
"""Seeds of the held-out episodes of the comparison."""


class Scores(nn.Module):
    """Scores of actions, and the value of the state."""

    def __init__(self, jobs: int, features: int, others: int) -> None:
        super().__init__()
        self.jobs, self.features = jobs, features
        self.latent_dim_pi, self.latent_dim_vf = jobs + 2, 32
        self.of_job = nn.Sequential(
            nn.Linear(features + others, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)
        )
        self.of_rest = nn.Sequential(nn.Linear(features + others, 32), nn.Tanh(), nn.Linear(32, 2))
        self.of_state = nn.Sequential(nn.Linear(features + others, 64), nn.Tanh(), nn.Linear(64, 32), nn.Tanh())

    def _parts(self, flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The jobs, each with what is seen beside them; and the sum of the jobs with it."""
        size = self.jobs * self.features
        jobs, others = flat[:, :size].reshape(-1, self.jobs, self.features), flat[:, size:]
        each = torch.cat((jobs, others[:, None].expand(-1, self.jobs, -1)), 2)
        return each, torch.cat((jobs.sum(1) / 8.0, others), 1)

    def forward_actor(self, flat: torch.Tensor) -> torch.Tensor:
        """A score for each action."""
        each, state = self._parts(flat)
        return torch.cat((self.of_job(each).squeeze(2), self.of_rest(state)), 1)

    def forward_critic(self, flat: torch.Tensor) -> torch.Tensor:
        """What the value follows from."""
        return self.of_state(self._parts(flat)[1])

    def forward(self, flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Both."""
        return self.forward_actor(flat), self.forward_critic(flat)


class Policy(MaskableMultiInputActorCriticPolicy):
    """Actions by their scores; the observation's tables are joined in the order of their names, jobs first."""

    def _build_mlp_extractor(self) -> None:
        jobs, features = self.observation_space["jobs"].shape
        self.mlp_extractor = Scores(jobs, features, self.features_dim - jobs * features)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net = nn.Identity()
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)


class Starts(SchedulingEnv):
    """Only starts are valid: which of the jobs that fit is next.

    With the reference policy among the actions, a first learner came to leave nearly everything to it.
    """

    def action_masks(self) -> np.ndarray:
        """The jobs that fit."""
        mask = super().action_masks()
        mask[self.reference :] = False
        return mask


def environment(workload: str, kind: type[SchedulingEnv] = Starts) -> SchedulingEnv:
    """The environment, which plays durations as they are given."""
    return kind(workload, jobs=JOBS, window=WINDOW, engine="fixed")


def waits_h(agent: agents.Agent, seeds: range, kind: type[SchedulingEnv] = SchedulingEnv) -> list[float]:
    """Mean wait (h) of held-out episodes."""
    env = environment(HELD_OUT, kind)
    return [agents.play(env, agent, seed)["mean_wait_s"] / 3600 for seed in seeds]


class Curve(BaseCallback):
    """Stop when the CPU time is spent; test ten times meanwhile (which is not counted)."""

    def __init__(self, minutes: float) -> None:
        super().__init__()
        self.minutes, self.points, self.tested_s = minutes, [], 0.0
        self.begun_s = time.process_time()

    def _spent(self) -> float:
        return (time.process_time() - self.begun_s - self.tested_s) / 60

    def _on_step(self) -> bool:
        return self._spent() < self.minutes

    def test(self) -> None:
        """A point of the curve."""
        spent, begun_s = self._spent(), time.process_time()
        found = waits_h(learned(self.model), CHECKS, Starts)
        self.points.append({"cpu_min": spent, "decisions": self.num_timesteps, "waits_h": found})
        print(f"{spent:5.1f} CPU min, {self.num_timesteps:7,} decisions: mean wait {np.mean(found):.3f} h", flush=True)
        self.tested_s += time.process_time() - begun_s

    def _on_rollout_start(self) -> None:
        if self._spent() >= len(self.points) * self.minutes / 10:
            self.test()


def learned(model: MaskablePPO) -> agents.Agent:
    """The learner's likeliest action."""
    return lambda seen, mask: int(model.predict(seen, deterministic=True, action_masks=mask)[0])


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
    """The learner's curve on held-out episodes, relative to the random agent on the same ones."""
    fig, axes = plt.subplots(figsize=(7, 4))
    minutes, chance = [point["cpu_min"] for point in points], levels["random"]
    found = np.array([interval(np.column_stack((point["waits_h"], chance)), ratio) for point in points])
    axes.fill_between(minutes, found[:, 1], found[:, 2], alpha=0.2, linewidth=0, label="95 % interval")
    axes.plot(minutes, found[:, 0], marker="o", label="PPO")
    for (name, values), style in zip(levels.items(), ("-", "--", ":", "-."), strict=True):
        axes.axhline(np.mean(values) / np.mean(chance), color="0.35", linestyle=style, label=name)
    axes.set(xlabel="training (CPU minutes)", ylabel=f"mean wait / random's, {len(chance)} held-out episodes")
    axes.legend(frameon=False, ncol=2)
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
    """Train, test, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=10.0, help="CPU time for training (10)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    vectorised = DummyVecEnv([lambda: environment(TRAINING)] * ENVIRONMENTS)
    model = MaskablePPO(
        Policy, vectorised, n_steps=64, batch_size=256, n_epochs=4, gamma=0.99, gae_lambda=0.95,
        learning_rate=2e-3, ent_coef=0.003, seed=given.seed, device="cpu",
    )  # fmt: skip
    curve = Curve(given.minutes)
    model.learn(10**9, callback=curve)
    curve.test()
    model.save(given.out / "model.zip")
    others = {"random": agents.Random(0), "easy": agents.reference, "greedy": agents.greedy}
    levels = {name: waits_h(agent, CHECKS) for name, agent in others.items()}
    levels["random start"] = waits_h(agents.Random(0), CHECKS, Starts)
    final = {"PPO": waits_h(learned(model), FINAL, Starts)}
    final |= {name: waits_h(agent, FINAL) for name, agent in others.items()}
    final["random start"] = waits_h(agents.Random(0), FINAL, Starts)
    (given.out / "curve.json").write_text(json.dumps({"points": curve.points, "levels": levels, "final": final}))
    draw(curve.points, levels, given.out / "curve.png")
    compare(final)


if __name__ == "__main__":
    main()
