"""Runs by the command line, each of one workload."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spillway.experiments.cli import main


def play_run(folder: Path, workload: Mapping[str, Any], *options: str) -> Path:
    """Play a workload of Batsim by ``run`` with these options, without plots; the folder of its only run."""
    folder.mkdir(exist_ok=True)
    (folder / "w.json").write_text(json.dumps(workload), encoding="utf-8")
    assert main(["run", str(folder / "w.json"), "--no-plots", *options, "--out", str(folder / "out")]) == 0
    (found,) = (folder / "out").glob("*/run.json")
    return found.parent
