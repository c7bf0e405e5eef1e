"""The thesis's inputs: published if there is a copy, else drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from spillway.experiments.campaign.inputs.input_files import Inputs
from spillway.experiments.campaign.inputs.sources import expand
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import ModelSpec, PlatformSpec
from spillway.experiments.studies.thesis import STUDY, inputs
from spillway.experiments.studies.thesis.inputs import DRAWS, FULL, PARTS, SAMPLE, find_inputs
from spillway.experiments.studies.thesis.play import lacks, workload

JOBS = (1766, 1221, 1531, 1745, 1565, 1938, 2234, 1647, 1374, 2036, 2940, 2246, 1893, 1691, 1305, 1336)


@pytest.mark.reference
@pytest.mark.parametrize("model", ["rigid", "io"])
def test_published_parts(reference: Path, tmp_path: Path, model: str) -> None:
    """Part by part the published numbers of jobs; the sample exists for the IO-Aware model only."""
    found = find_inputs(model, reference / "data" / "kth", tmp_path)
    assert (SAMPLE in found) == (model == "io")
    prepared = Inputs(tmp_path, lambda _: None)
    for number in (0, 10):
        spec = found[PARTS[number]]
        ((part, _),) = prepared.pairs([spec], [PlatformSpec(source="thesis")], ModelSpec(name=model), 0)
        assert (part.name, prepared.jobs(part)) == (f"part-{number}", JOBS[number])
    assert expand(found[FULL])[0].name == FULL


def test_missing_data_is_an_error(tmp_path: Path) -> None:
    """A folder that was named must have the files."""
    with pytest.raises(SpecError, match=r"--data .*kth-split-32-parts.tar.xz is missing"):
        find_inputs("rigid", tmp_path, tmp_path)


@pytest.mark.reference
def test_inputs_are_the_published_ones_where_they_are(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder that was named, or below the environment's; else nothing is judged, with the reason."""
    [point, *_] = STUDY.points()
    monkeypatch.delenv(inputs.VARIABLE, raising=False)
    assert "drawn anew from the KTH log" in lacks(point)
    assert lacks(point.replaced(data=str(reference / "data" / "kth"))) == ""
    monkeypatch.setenv(inputs.VARIABLE, str(reference))
    assert lacks(point) == ""


@pytest.fixture
def small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generated log in place of the KTH log, and no published inputs."""
    monkeypatch.delenv(inputs.VARIABLE, raising=False)
    monkeypatch.setattr(inputs, "LOG", "kth-like:jobs=320")


@pytest.mark.usefixtures("small_log")
def test_drawn_parts(tmp_path: Path) -> None:
    """Without the published files the log is converted and cut in 16; the same files every time."""
    found = find_inputs("io", None, tmp_path)
    assert list(found) == [*PARTS, FULL, SAMPLE, *DRAWS]
    again = find_inputs("io", None, tmp_path / "again")
    for name in (*PARTS, FULL, SAMPLE):
        spec = found[name]
        assert Path(spec.source).name == f"{name}.json"
        assert Path(spec.source).read_bytes() == Path(again[name].source).read_bytes()


@pytest.mark.usefixtures("small_log")
def test_the_whole_log_is_drawn_five_times(tmp_path: Path) -> None:
    """The original files are lost: the log itself, with burst buffers of five seeds, for both models."""
    for model in ("rigid", "io"):
        specs = find_inputs(model, None, tmp_path)
        assert [(specs[name].source, specs[name].seed) for name in DRAWS] == [(inputs.LOG, seed) for seed in range(5)]
    grids = [point for point in STUDY.points(whole=True) if point["scale"] == FULL]
    assert {point["workload"] for point in grids} == set(DRAWS)


@pytest.mark.usefixtures("small_log")
def test_unknown_workload(tmp_path: Path) -> None:
    """The sample of 1,000 jobs is IO-Aware only; the error names the workloads that there are."""
    point = STUDY.points()[0].replaced(workload=SAMPLE)
    with pytest.raises(SpecError, match=r"workload 'io-aware-1000': expected one of part-0, .* with model rigid"):
        workload(point, tmp_path)
