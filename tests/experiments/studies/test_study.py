"""Studies from the command line: points kept and checked, readings compared, forged numbers noticed."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from tests.kit.tables import csv_by

DOCS = Path(__file__).parents[3] / "docs" / "studies.md"

SMALL = """
from spillway.experiments.studies import Choice, Claim, ComputedPoints, Parameter, Study, at_least, mean, within

def play(point):
    wait = 10.0 + 0.01 * point.whole("seed") + (5.0 if point["queue"] == "scan" else 0.0)
    return {"wait_s": wait, "gain": 2.0 * wait}

STUDY = Study(
    name="small",
    title="A small study",
    source="a paper that was never written",
    play=ComputedPoints(play),
    grids=[{"load": [0.2, 0.8], "seed": range(5)}],
    claims=[
        Claim("wait", "section 3", "jobs wait 10 s", within(10, 0.5), mean("wait_s"), "s"),
        Claim("gain", "section 4", "a gain of 25 or more", at_least(25), mean("gain"), depends=("queue",)),
    ],
    choices=[Choice("queue", "who is next (section 2)?", {"stop": "the first", "scan": "the first that fits"})],
    crossing={"load": [0.8]},
    quick={"load": [0.2], "seed": [0, 1]},
)
"""


def study(tmp_path: Path, text: str = SMALL) -> str:
    """Write the study's file; return its name."""
    path = tmp_path / "small.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def claims(out: Path) -> dict[str, Mapping[str, str]]:
    """Rows of ``claims.csv`` by statement."""
    return csv_by(out / "claims.csv", "claim")


def test_a_study_plays_judges_and_compares_its_readings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables, sentences and page of two readings, each of which gives one of two statements."""
    out = tmp_path / "out"
    assert main(["study", study(tmp_path), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "2 claims: 1 reproduced, 0 fits one run, 0 fitted, 1 not reproduced, 0 not judged" in printed
    assert (
        "2 readings were compared. No reading tried gives all statements; the most that one gives is 1 of 2" in printed
    )
    assert claims(out)["jobs wait 10 s"]["published"] == "10 ± 0.5 s"
    readings = (out / "readings.csv").read_text().splitlines()
    assert readings == ["queue,wait,gain,hold", "stop,yes,no,1", "scan,no,yes,1"]
    page = (out / "report.html").read_text()
    assert "Readings by statement" in page
    assert "a paper that was never written" in page


def test_points_that_are_the_same_run_are_played_once(tmp_path: Path) -> None:
    """An axis that does not matter to some points: both readings have them, and there is one file for each."""
    text = SMALL.replace("grids=", 'effects={"queue": {"load": [0.8]}},\n    grids=')
    text = text.replace('crossing={"load": [0.8]}', "crossing={}")
    out = tmp_path / "out"
    assert main(["study", study(tmp_path, text), "--out", str(out)]) == 0
    assert len(list((out / "points").iterdir())) == 15
    assert len((out / "points.csv").read_text().splitlines()) == 1 + 20
    assert (out / "readings.csv").read_text().splitlines()[2].startswith("scan,no,")


def test_a_quick_run_judges_the_cases_that_it_plays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five seeds at one of the study's loads; it does not enter the table of all studies."""
    out, text = tmp_path / "out", SMALL.replace('quick={"load": [0.2], "seed": [0, 1]}', 'quick={"load": [0.2]}')
    assert main(["study", study(tmp_path, text), "--quick", "--out", str(out)]) == 0
    assert "2 claims: 1 reproduced, 0 fits one run, 0 fitted, 1 not reproduced" in capsys.readouterr().out
    assert claims(out)["jobs wait 10 s"]["published"] == "10 ± 0.5 s"
    assert "A quick run" in (out / "report.md").read_text()
    assert len((out / "points.csv").read_text().splitlines()) == 1 + 5
    assert not (out / "claims.json").exists()


def test_a_forged_number_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The point is played again."""
    out, name = tmp_path / "out", study(tmp_path)
    main(["study", name, "--out", str(out), "--no-readings"])
    point = sorted((out / "points").iterdir())[0]
    text = point.read_text()
    point.write_text(text.replace("10.0", "99.0", 1))
    assert point.read_text() != text
    capsys.readouterr()
    assert main(["study", name, "--out", str(out), "--no-readings"]) == 0
    assert "1 of 10 kept points are damaged" in capsys.readouterr().out
    assert point.read_text() == text


def test_a_forged_verdict_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table of all studies leaves the study out with a note."""
    out = tmp_path / "small"
    main(["study", study(tmp_path), "--out", str(out)])
    capsys.readouterr()
    assert main(["study", "verdicts", "--out", str(tmp_path)]) == 0
    assert "small" in capsys.readouterr().out
    kept = out / "claims.json"
    kept.write_text(kept.read_text().replace("not reproduced", "reproduced"))
    assert main(["study", "verdicts", "--out", str(tmp_path)]) == 1
    assert "changed after it was written" in capsys.readouterr().out


def test_results_of_another_study_are_not_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The code of the function that plays counts: an edited file makes its results those of other code."""
    out = tmp_path / "out"
    main(["study", study(tmp_path), "--out", str(out), "--no-readings"])
    name = study(tmp_path, SMALL.replace("10.0 +", "20.0 +"))
    capsys.readouterr()
    main(["study", name, "--out", str(out), "--no-readings"])
    assert "were made by other code" in capsys.readouterr().out
    main(["study", name, "--out", str(out), "--no-readings", "--rerun"])
    kept = [json.loads(path.read_text())["result"]["wait_s"] for path in (out / "points").iterdir()]
    assert min(kept) == 20.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--set", "speed=1"], "expected AXIS=VALUE"),
        (["--set", "load=fast"], "expected float values as 0.2, got 'fast'"),
    ],
)
def test_wrong_axes_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str], words: str
) -> None:
    """With the axes that there are, or the type of the values."""
    assert main(["study", study(tmp_path), *given, "--out", str(tmp_path / "out")]) == 2
    assert words in capsys.readouterr().err


OF_DATA = """
from spillway.experiments.studies import Claim, ComputedPoints, Study, mean, within

def play(point):
    return {"wait_s": 10.0 + (0.5 if point["data"] else 0.0) + 0.001 * point.whole("seed") * point.number("load")}

STUDY = Study(
    name="data",
    title="A study of inputs that may be elsewhere",
    play=ComputedPoints(play),
    grids=[{"data": [""], "load": [0.2], "seed": range(5)}],
    more=[{"data": [""], "load": [0.8], "seed": range(5)}],
    claims=[
        Claim("low", "section 3", "jobs wait 10.5 s", within(10.5, 0.1), mean("wait_s", load=0.2)),
        Claim("high", "figure 4", "as long at high load", within(10.5, 0.1), mean("wait_s", load=0.8), group="loads"),
        Claim("both", "figure 5", "10.5 s at all loads", within(10.5, 0.1), mean("wait_s"), group="loads"),
    ],
    data="the inputs that were published",
    lacks=lambda point: "" if point["data"] else "the published inputs are not here",
)
"""


def test_other_inputs_than_the_papers_are_not_judged_and_its_own_may_lie_anywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--data`` names their folder: the same conditions. Without it no published value is printed, nothing judged."""
    path, out = study(tmp_path, OF_DATA), tmp_path / "out"
    assert main(["study", path, "--out", str(out)]) == 0
    assert {row["verdict"] for row in claims(out).values()} == {"not judged"}
    assert "the published inputs are not here" in claims(out)["jobs wait 10.5 s"]["why"]
    assert "10.5 ±" not in (out / "report.md").read_text()
    assert main(["study", path, "--data", str(tmp_path), "--out", str(out)]) == 0
    assert claims(out)["jobs wait 10.5 s"]["verdict"] == "reproduced"
    capsys.readouterr()


def test_what_is_costly_is_played_on_demand_and_many_claims_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not judged without ``--all``; claims of a group are one line on the screen, and rows in the report."""
    path, out = study(tmp_path, OF_DATA), tmp_path / "out"
    arguments = ["study", path, "--data", str(tmp_path), "--out", str(out)]
    assert main(arguments) == 0
    assert claims(out)["as long at high load"]["why"].startswith("not run")
    capsys.readouterr()
    assert main([*arguments, "--all"]) == 0
    printed = capsys.readouterr().out
    assert "[5/5] points" in printed  # the others are kept
    assert claims(out)["as long at high load"]["verdict"] == "reproduced"
    assert "as long at high load" not in printed
    text = (out / "report.md").read_text()
    assert "| loads | 2 | 0 | 0 | 0 |" in text
    assert "as long at high load" in text


def test_a_file_without_a_study_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing in it, or no such file."""
    assert main(["study", study(tmp_path, "STUDY = 1")]) == 2
    assert "expected STUDY = Study(...) there, found int" in capsys.readouterr().err
    assert main(["study", str(tmp_path / "none.py")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_the_study_of_the_documentation_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is under 60 lines and gives points, a table and a picture."""
    text = DOCS.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert len(text.splitlines()) < 60
    out = tmp_path / "out"
    assert main(["study", study(tmp_path, text), "--quick", "--out", str(out)]) == 0
    assert "2 not judged" in capsys.readouterr().out
    assert (out / "figures" / "mean-waiting-time-s-over-seed.png").stat().st_size > 5_000
    assert len((out / "points.csv").read_text().splitlines()) == 9
