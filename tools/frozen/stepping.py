"""A recipe played step by step in the learners' environment: every third choice is left to the reference policy."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np

from tools.frozen.recipe import Recipe
from tools.frozen.worlds import machine_file

_WINDOW = 8


def step(recipe: Recipe, folder: Path) -> None:
    """Play it; the messages are the observations, masks and rewards of each step."""
    from spillway.learning import SchedulingEnv

    settings = {
        flag.removeprefix("--").replace("-", "_"): recipe.option(flag)
        for flag in recipe.options
        if flag.startswith("--") and flag not in ("--policy", "--model", "--engine")
    }
    environment = SchedulingEnv(
        str(folder / "workload.json"),
        str(machine_file(recipe)),
        jobs=None,
        window=_WINDOW,
        reference=recipe.policy,
        model=recipe.model,
        settings=settings,
        engine=recipe.option("--engine", "fluid"),
        folder=folder,
    )
    with (folder / "messages.jsonl").open("w", encoding="utf-8") as messages:
        seen, info = environment.reset(seed=0)
        over, steps = False, 0
        while not over:
            mask = [bool(valid) for valid in info["action_mask"]]
            valid = [action for action, allowed in enumerate(mask) if allowed]
            action = valid[steps % len(valid)] if steps % 3 else environment.reference
            told = {name: [float(number) for number in table.flat] for name, table in seen.items()}
            seen, reward, over, _, info = environment.step(np.int64(action))
            messages.write(json.dumps({"action": action, "seen": told, "mask": mask, "reward": float(reward)}) + "\n")
            steps += 1
    environment.close()
    shutil.copyfile(folder / "out_jobs.csv", folder / "jobs.csv")
