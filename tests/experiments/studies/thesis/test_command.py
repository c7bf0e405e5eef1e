"""The thesis's studies: inputs, schedules, conclusions, and the command from end to end."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from spillway.experiments.campaign.inputs.input_files import Inputs
from spillway.experiments.campaign.inputs.sources import expand
from spillway.experiments.cli import main
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.sessions import build_policy
from spillway.experiments.run.spec import ModelSpec, PlatformSpec
from spillway.experiments.studies.points import Point
from spillway.experiments.studies.thesis import STUDY, inputs
from spillway.experiments.studies.thesis.inputs import DRAWS, FULL, PARTS, SAMPLE, find_inputs
from spillway.experiments.studies.thesis.play import lacks, measure, policy, workload
from spillway.experiments.studies.thesis.schedules import ALIASES, CORRECTED, spec_of
from tests.kit.tables import csv_rows

SCHEDULES = "policy=no-future-1;backfill-1;backfill-sjf-1"

ARGUMENTS = [
    "study",
    "thesis",
    "--quick",
    "--set",
    "model=rigid",
    "--set",
    "workload=part-0;part-2",
    "--set",
    SCHEDULES,
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study on inputs that had to be drawn, reported on again by a second command.

    Figures are drawn by the second command only: the first leaves out the half of its CPU time that goes into the same.
    """
    folder = tmp_path_factory.mktemp("thesis")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(inputs.VARIABLE, raising=False)
        patch.setattr(inputs, "LOG", "kth-like:jobs=240")
        with pytest.MonkeyPatch.context() as undrawn:
            undrawn.setattr(Figure, "savefig", lambda _figure, stream, **_kind: stream.write(b"not drawn yet"))
            assert main([*ARGUMENTS, "--out", str(folder)]) == 0
        assert main([*ARGUMENTS, "--out", str(folder)]) == 0
    assert not [path for path in folder.rglob("*.png") if path.read_bytes()[:4] != b"\x89PNG"]
    return folder


@pytest.mark.slow
def test_nothing_is_judged(report: Path) -> None:
    """Quick conditions are not the paper's; no published value is printed beside ours."""
    rows = csv_rows(report / "claims.csv")
    assert {row["verdict"] for row in rows} == {"not judged"}
    assert "published" not in rows[0]
    assert any(row["ours [95 %]"] for row in rows)


@pytest.mark.slow
def test_every_kind_of_figure_is_there(report: Path) -> None:
    """Distributions, parts and ratios, each in the report."""
    text = (report / "report.md").read_text()
    wait = "mean_waiting_time_s"
    for stem in (
        f"4.2.1-rigid-{wait}-full",
        f"4.2.1-rigid-{wait}-parts",
        "4.6.1-rigid-mean_turnaround_time_s-normalised",
    ):
        assert (report / "figures" / f"{stem}.png").is_file(), stem
        assert f"figures/{stem}.svg" in text
    assert not list((report / "figures").glob("*-io-*"))


def point(name: str) -> Point:
    """A point with the schedule of this name."""
    return STUDY.points()[0].replaced(policy=name)


def test_depths_are_played_by_the_published_code_and_as_the_text_has_them() -> None:
    """The code never starts a reserved job in the pass; the text starts it when its reservation begins."""
    literal, corrected = policy(point("backfill-2")), policy(point("backfill-2" + CORRECTED))
    assert (literal.options["depth"], literal.literal, literal.options.get("literal_depth")) == (2, True, None)
    assert (corrected.options["depth"], corrected.literal, corrected.options["literal_depth"]) == (2, True, False)
    assert policy(point("plan-start" + CORRECTED)).policy == "plan-start"


def test_each_of_the_six_conclusions_has_claims() -> None:
    """And the four further points of the issue have theirs."""
    places = [claim.place for claim in STUDY.claims]
    assert {number for number in "123456" if any(f"conclusion {number}" in place for place in places)} == set("123456")
    assert {"figure 4.41", "figure 4.3", "figure 4.34"} <= set(places)
    assert len({claim.name for claim in STUDY.claims}) == len(STUDY.claims)


def test_storage_utilisation_as_published_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One job of 2 nodes with 10 GB on each for 100 s, submitted at 0.

    Held are 20 GB of 480 GB all the time: 1/24. The published code counts 10 GB over 60 GB: 1/6.
    """
    jobs = tmp_path / "one.json"
    jobs.write_text(
        '{"nb_res": 96, "jobs": [{"id": "1", "subtime": 0, "walltime": 200, "res": 2, "profile": "p"}],'
        '"profiles": {"p": {"type": "delay", "delay": 100, "bb": 10000000000}}}'
    )
    out = tmp_path / "out"
    main(["run", "--workload", str(jobs), "--policy", "easy", "--no-plots", "--out", str(out)])
    capsys.readouterr()
    [folder] = [path.parent for path in out.glob("*/jobs.csv")]
    found = measure(folder)
    assert found["storage_utilisation"] == pytest.approx(1 / 24, rel=1e-3)
    assert found["storage_utilisation_published"] == pytest.approx(1 / 6, rel=1e-3)


NAMES = sorted({point.text("policy") for point in STUDY.points(whole=True)})


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith(CORRECTED)])
def test_every_schedule_can_be_built(name: str) -> None:
    """Names carry depth and balance factor; all follow the published code."""
    spec = spec_of(name)
    build_policy(spec)
    assert spec.literal
    assert spec.label == ALIASES.get(name, name)


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
