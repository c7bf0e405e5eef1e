"""Messages as objects and as bytes of Batsim 4 give the same tables, byte for byte, for every job model."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.experiments.run.single import Task
from spillway.experiments.run.single import execute as run_task
from spillway.experiments.run.spec import Transport
from spillway.schedulers.jobmodels import MODELS
from tests.properties.small_world import JOBS, runs, workload

APART: list[dict[str, str]] = [{"bb_life": life} for life in ("slurm", "standby:bound=3", "two-reservations")]
SETTINGS: dict[str, list[dict[str, str]]] = {
    "rigid": [{}, *APART],
    "stream": [{}, *APART],
    "io": [
        {},
        *APART,
        {"io_control": "exclusive", "io_order": "shortest"},
        {"io_control": "exclusive", "io_node_depth": "1"},
    ],
    "operations": [{}, *APART, {"io_control": "exclusive", "io_node_depth": "1"}],
    "malleable": [{}, {"io_control": "exclusive"}],
}
OPTIONS: dict[str, list[dict[str, object]]] = {
    "io": [{"phase_target": 5e9}, {"phase_target": 5e9, "early_release": True}],
    "malleable": [{"expansion": "fair"}, {"interference": "phase-shifting", "expansion": "io"}],
}


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=8)
@given(data=st.data(), jobs=JOBS)
def test_objects_and_bytes_give_the_same(
    model: str, data: st.DataObject, jobs: list[tuple[int, int, float, int, int, int | None, bool]]
) -> None:
    """Random jobs, settings and options."""
    session = data.draw(st.sampled_from(SETTINGS.get(model, [{}])))
    options = data.draw(st.sampled_from(OPTIONS.get(model, [{}])))
    policy = data.draw(st.sampled_from(["easy", "conservative"]))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        both = runs(
            root, model, workload(model, jobs), [policy], options=options, session=session,
            transports=(Transport.DIRECT, Transport.BYTES),
        )  # fmt: skip
        for run in both:
            run_task(Task(run, root, 600.0, uncontended=True))
        direct, in_bytes = (root / run.id for run in both)
        names = {path.name for path in in_bytes.iterdir()} - {"run.json", "timings.json", "manifest.json"}
        for name in sorted(names):
            assert (direct / name).read_bytes() == (in_bytes / name).read_bytes(), name
