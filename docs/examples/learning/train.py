"""Train PPO with action masks for ten CPU minutes, and compare it with untrained agents.

Needs more than spillway does: ``pip install 'spillway[learn]' stable-baselines3 sb3-contrib`` (with PyTorch: some GB;
a build for CPUs only is smaller). Then ``python train.py --out FOLDER`` writes ``curve.json``, ``curve.png`` and the
network as ``network.csv`` (:mod:`spillway.learning.network`), and prints the comparison (``compare.py``). The network
is written anew with each point of the curve; ``compare.py`` takes it from there where a run was ended early.

One small network scores each waiting job by its own features and the machine's, with the same weights for all of them
(the kernel network of Zhang et al., RLScheduler, SC 2020, DOI 10.1109/SC41405.2020.00035). Tests and
comparison use the network as it was written, run by numpy. Training, curve and comparison have a workload each.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from compare import COMPARISON, Starts, World, compare, draw
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import nn

from spillway.learning import agents, network

TRAINING, CURVE = "kth-like:jobs=20000,seed=1", "kth-like:jobs=20000,seed=2"
ENVIRONMENTS = 8
CHECKS = range(1000, 1010)
"""Seeds of the episodes of the curve."""


class Scores(nn.Module):
    """Scores of actions, and the value of the state."""

    def __init__(self, jobs: int, features: int, others: int) -> None:
        super().__init__()
        self.jobs, self.features = jobs, features
        self.latent_dim_pi, self.latent_dim_vf = jobs + 2, 32
        self.of_job = nn.Sequential(
            nn.Linear(features + others, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)
        )
        self.of_state = nn.Sequential(nn.Linear(features + others, 64), nn.Tanh(), nn.Linear(64, 32), nn.Tanh())

    def _parts(self, flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The jobs, each with the other observations; and the sum of the jobs with these."""
        size = self.jobs * self.features
        jobs, others = flat[:, :size].reshape(-1, self.jobs, self.features), flat[:, size:]
        each = torch.cat((jobs, others[:, None].expand(-1, self.jobs, -1)), 2)
        return each, torch.cat((jobs.sum(1) / 8.0, others), 1)

    def forward_actor(self, flat: torch.Tensor) -> torch.Tensor:
        """A score for each start, and 0 for the two actions that are never valid here."""
        starts = self.of_job(self._parts(flat)[0]).squeeze(2)
        return torch.cat((starts, starts.new_zeros(len(starts), 2)), 1)

    def layers(self) -> list[network.Layer]:
        """The actor's weights and biases."""
        linear = [part for part in self.of_job if isinstance(part, nn.Linear)]
        return [
            (part.weight.detach().numpy().T.astype(float), part.bias.detach().numpy().astype(float)) for part in linear
        ]

    def forward_critic(self, flat: torch.Tensor) -> torch.Tensor:
        """Features from which the value follows."""
        return self.of_state(self._parts(flat)[1])

    def forward(self, flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Both outputs."""
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


class Curve(BaseCallback):
    """Stop when the CPU time is spent; test ten times meanwhile (CPU time of tests is not counted)."""

    def __init__(self, minutes: float, test: Callable[[agents.Agent], list[float]], out: Path) -> None:
        super().__init__()
        self.minutes, self.test, self.out = minutes, test, out
        self.points: list[dict[str, Any]] = []
        self.tested_s = 0.0
        self.begun_s = time.process_time()

    def _spent(self) -> float:
        return (time.process_time() - self.begun_s - self.tested_s) / 60

    def _on_step(self) -> bool:
        return self._spent() < self.minutes

    def add(self) -> network.Network:
        """A point of the curve: write the network, and test it as it was written."""
        spent, begun_s = self._spent(), time.process_time()
        self.out.write_text(network.text_of(self.model.policy.mlp_extractor.layers()), encoding="ascii")
        written = network.read(self.out)
        found = self.test(written)
        self.points.append({"cpu_min": spent, "decisions": self.num_timesteps, "waits_h": found})
        print(
            f"{spent:5.1f} CPU min, {self.num_timesteps:7,} decisions: mean wait {statistics.fmean(found):.3f} h",
            flush=True,
        )
        self.tested_s += time.process_time() - begun_s
        return written

    def _on_rollout_start(self) -> None:
        if self._spent() >= len(self.points) * self.minutes / 10:
            self.add()


def main() -> None:
    """Train, test, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=10.0, help="CPU time for training (10)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--platform", default="thesis")
    parser.add_argument("--training", nargs="+", default=[TRAINING], help="workloads to learn from")
    parser.add_argument("--curve", default=CURVE, help="workload of the curve's episodes")
    parser.add_argument("--comparison", default=COMPARISON, help="workload of the comparison's episodes")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    world = World(given.platform)
    places = itertools.islice(itertools.cycle(given.training), max(ENVIRONMENTS, len(given.training)))
    vectorised = DummyVecEnv([functools.partial(world.environment, place) for place in places])
    model = MaskablePPO(
        Policy, vectorised, n_steps=64, batch_size=256, n_epochs=4, gamma=0.99, gae_lambda=0.95,
        learning_rate=2e-3, ent_coef=0.003, seed=given.seed, device="cpu",
    )  # fmt: skip
    curve = Curve(
        given.minutes, lambda agent: world.waits_h(given.curve, agent, CHECKS, Starts), given.out / "network.csv"
    )
    model.learn(10**9, callback=curve)
    learned = curve.add()
    levels = world.others_h(given.curve, CHECKS)
    final = world.final_h(given.comparison, learned)
    (given.out / "curve.json").write_text(json.dumps({"points": curve.points, "levels": levels, "final": final}))
    draw(curve.points, levels, given.out / "curve.png")
    compare(final)


if __name__ == "__main__":
    main()
