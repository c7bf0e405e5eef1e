"""Small worlds for the environment: jobs with burst buffers on ``tiny``, as files."""

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from spillway.experiments.run.spec import RunSpec
from spillway.learning import SchedulingEnv
from tests.properties.small_world import runs, workload

Rows = list[tuple[int, int, float, int, int, int | None, bool]]

JOBS: st.SearchStrategy[Rows] = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.integers(1, 8),
        st.sampled_from([1.0, 7.5, 20.0, 60.0]),
        st.integers(0, 9),
        st.just(0),
        st.sampled_from([12, 30, 200]),
        st.just(False),
    ),
    min_size=1,
    max_size=12,
)

FEASIBLE = (0, 1, 7.5, 0, 0, 12, False)

CROWDED: Rows = [
    (3 * (number % 7), nodes, (7.5, 20.0, 60.0)[number % 3], (0, 10 // -(-nodes // 2))[number % 2], 0, 70, False)
    for number in range(30)
    for nodes in [1 + (5 * number) % 8]
]
"""Thirty jobs that wait for nodes and for burst buffers."""


def described(root: Path, rows: Rows, policy: str, model: str = "rigid") -> RunSpec:
    """A run of these jobs; its inputs are written to ``root``."""
    [run] = runs(root, model, workload(model, rows), [policy])
    return run


def made(root: Path, rows: Rows, **options: Any) -> SchedulingEnv:
    """An environment on these jobs, all of them in each episode unless ``jobs`` gives their number."""
    path = root / "small.json"
    path.write_text(json.dumps(workload("rigid", rows)), encoding="utf-8")
    return SchedulingEnv(str(path), "tiny", **({"jobs": None} | options))
