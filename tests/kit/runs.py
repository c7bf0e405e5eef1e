"""Runs by the command line, each of one workload."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.campaign.workers.pool import Pool
from spillway.experiments.cli import main


def play_run(folder: Path, workload: Mapping[str, Any], *options: str) -> Path:
    """Play a workload of Batsim by ``run`` with these options, without plots; the folder of its only run."""
    folder.mkdir(exist_ok=True)
    (folder / "w.json").write_text(json.dumps(workload), encoding="utf-8")
    assert main(["run", str(folder / "w.json"), "--no-plots", *options, "--out", str(folder / "out")]) == 0
    (found,) = (folder / "out").glob("*/run.json")
    return found.parent


@contextmanager
def played_here() -> Iterator[None]:
    """Several runs are played in this process, as a single one is; tests of the workers have processes of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pool, "run", Pool._run_all_here)
        yield
