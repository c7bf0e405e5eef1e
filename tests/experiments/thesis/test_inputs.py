"""The thesis's inputs: published where there is a copy, drawn where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from experiments.errors import SpecError
from experiments.inputs import Inputs
from experiments.sources import expand
from experiments.thesis import inputs
from experiments.thesis.campaign import MACHINE, Scope, prepare
from experiments.thesis.inputs import find_inputs
from experiments.thesis.models import Model

JOBS = (1766, 1221, 1531, 1745, 1565, 1938, 2234, 1647, 1374, 2036, 2940, 2246, 1893, 1691, 1305, 1336)


@pytest.mark.reference
@pytest.mark.parametrize("model", Model)
def test_published_parts(reference: Path, tmp_path: Path, model: Model) -> None:
    """Part by part the published numbers of jobs; the sample exists for the IO-Aware model only."""
    found = find_inputs(model, [0, 10], reference / "data" / "kth", tmp_path)
    assert found.original
    assert len(found.samples) == (model is Model.IO)
    prepared = Inputs(tmp_path, lambda _: None)
    for number, spec in found.parts.items():
        ((workload, _),) = prepared.pairs([spec], [MACHINE], model, 0)
        assert (workload.name, prepared.jobs(workload)) == (f"part-{number}", JOBS[number])
    assert expand(found.full)[0].name == "full"


def test_missing_data_is_an_error(tmp_path: Path) -> None:
    """A folder that was named must have the files."""
    with pytest.raises(SpecError, match=r"--data .*kth-split-32-parts.tar.xz is missing"):
        find_inputs(Model.ALLOC, [0], tmp_path, tmp_path)


@pytest.fixture
def small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generated log in place of the KTH log, and no published inputs."""
    monkeypatch.delenv(inputs.VARIABLE, raising=False)
    monkeypatch.setattr(inputs, "LOG", "kth-like:jobs=320")


@pytest.mark.usefixtures("small_log")
def test_drawn_parts(tmp_path: Path) -> None:
    """Without the published files the log is converted, cut in 16, and the wanted parts are written."""
    found = find_inputs(Model.IO, [3, 15], None, tmp_path)
    assert not found.original
    assert list(found.parts) == [3, 15]
    assert [Path(spec.source).name for spec in found.parts.values()] == ["part-3.json", "part-15.json"]
    again = find_inputs(Model.IO, [3], None, tmp_path / "again")
    assert Path(again.parts[3].source).read_bytes() == Path(found.parts[3].source).read_bytes()


@pytest.mark.usefixtures("small_log")
def test_runs_of_a_scope(tmp_path: Path) -> None:
    """Seeds multiply what is random only, and only on the parts; the full workload comes last."""
    scope = Scope(models=(Model.ALLOC,), parts=(0, 1), full=True, seeds=(0, 1))
    prepared = prepare(scope, tmp_path, None, Console(quiet=True))
    assert not prepared.original
    assert len(prepared.runs) == 2 * (7 + 2 * 2) + 9
    assert [run.workload.name for run in prepared.runs][-10:] == ["part-1"] + ["full"] * 9
    assert {run.seed for run in prepared.runs if run.policy.label == "fcfs"} == {0}
    assert sum(prepared.jobs.values()) > 320
