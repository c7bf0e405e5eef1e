"""The direct player gives the same tables as messages do, byte for byte, for every job model."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.experiments.run.single import Task
from spillway.experiments.run.single import execute as run_task
from spillway.experiments.run.spec import Player
from spillway.schedulers.jobmodels import MODELS
from spillway.simulator.engines.fluid import FluidEngine
from spillway.simulator.wire.kernel import Kernel
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
def test_both_players_write_the_same(
    model: str, data: st.DataObject, jobs: list[tuple[int, int, float, int, int, int | None, bool]]
) -> None:
    """Random jobs, settings and options."""
    session = data.draw(st.sampled_from(SETTINGS.get(model, [{}])))
    options = data.draw(st.sampled_from(OPTIONS.get(model, [{}])))
    policy = data.draw(st.sampled_from(["easy", "conservative"]))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        both = runs(
            root, model, workload(model, jobs), [policy], players=(Player.DIRECT, Player.WIRE), options=options,
            session=session,
        )  # fmt: skip
        for run in both:
            run_task(Task(run, root, 600.0, uncontended=True))
        direct, wire = (root / run.id for run in both)
        names = {path.name for path in wire.iterdir()} - {"run.json", "timings.json", "manifest.json"}
        for name in sorted(names):
            assert (direct / name).read_bytes() == (wire / name).read_bytes(), name


LATE_S = 1 << 24
"""From here on a message of a nanosecond is less than the clock resolves."""


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=5)
@given(data=st.data(), jobs=JOBS)
def test_messages_dealt_with_at_once(
    model: str, data: st.DataObject, jobs: list[tuple[int, int, float, int, int, int | None, bool]]
) -> None:
    """Messages that take no time are dealt with at once: tables are those of a step of the kernel for each."""
    session = data.draw(st.sampled_from(SETTINGS.get(model, [{}])))
    late = [(submitted + LATE_S, *rest) for submitted, *rest in jobs]
    dealt: list[int] = []

    def play() -> dict[str, bytes]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            options = OPTIONS.get(model, [{}])[0]
            [run] = runs(root, model, workload(model, late), ["easy"], options=options, session=session)
            run_task(Task(run, root, 600.0, uncontended=True))
            return {path.name: path.read_bytes() for path in (root / run.id).iterdir() if path.suffix == ".csv"}

    with pytest.MonkeyPatch.context() as patch:
        whole = Kernel.deal
        patch.setattr(Kernel, "deal", lambda *given: (dealt.append(1), whole(*given)))
        at_once = play()
        patch.setattr(Kernel, "at_once", lambda _: False)
        before = len(dealt)
        assert play() == at_once
    assert before > 0, "nothing was dealt with at once"
    assert len(dealt) == before


@pytest.mark.parametrize("model", ["io", "operations", "malleable"])
def test_messages_passed_in_one_go(model: str) -> None:
    """Messages that take time share a step of the kernel where nothing can come between: tables are the same."""
    passed: list[int] = []

    @settings(max_examples=4)
    @given(st.sampled_from(SETTINGS[model]), st.sampled_from([Player.DIRECT, Player.WIRE]), JOBS)
    def both(
        session: dict[str, str], player: Player, jobs: list[tuple[int, int, float, int, int, int | None, bool]]
    ) -> None:
        in_one_go = _tables(model, session, player, jobs)
        count = len(passed)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Kernel, "own_arrivals", lambda *_: [])
            patch.setattr(Kernel, "_quiet_arrivals", lambda _: [])
            assert _tables(model, session, player, jobs) == in_one_go
        assert len(passed) == count

    with pytest.MonkeyPatch.context() as patch:
        whole = FluidEngine.advance_through
        patch.setattr(FluidEngine, "advance_through", lambda *given: (passed.append(1), whole(*given))[1])
        both()
    assert passed, "no messages were passed in one go"


def _tables(
    model: str, session: dict[str, str], player: Player, jobs: list[tuple[int, int, float, int, int, int | None, bool]]
) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        options = OPTIONS.get(model, [{}])[0]
        [run] = runs(root, model, workload(model, jobs), ["easy"], players=(player,), options=options, session=session)
        run_task(Task(run, root, 600.0))
        return {path.name: path.read_bytes() for path in (root / run.id).iterdir() if path.suffix == ".csv"}
