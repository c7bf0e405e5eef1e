"""The study of Zhang et al. from the command line, and runs that its points share."""

from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.experiments.studies.gang import STUDY
from spillway.experiments.studies.gang.measures import ShareOfGain
from spillway.experiments.studies.gang.play import ADAPTIVE, GS, MIGRATE, same, seen
from spillway.experiments.studies.points import Point
from spillway.experiments.studies.results import Results
from tests.kit.tables import csv_rows

QUICK = ["study", "gang", "--quick", "--seeds", "1", "--set", "jobs=30", "--workers", "1", "--figures", "png"]


def test_a_quick_study_judges_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Thirty jobs hardly wait: ratios of waits of 0 s are not defined; +3,166,817,386 % was printed."""
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    count = len(STUDY.claims)
    assert f"{count} claims: 0 reproduced, 0 fits one run, 0 fitted, 0 not reproduced, {count} not judged" in printed
    ours = {row["claim"]: row["ours [95 %]"] for row in csv_rows(tmp_path / "claims.csv")}
    assert "not defined" in ours["intensity 0.1: GS always better than IOGS in wait"]
    assert (tmp_path / "figures" / "figure-9-slowdown.png").exists()


def point(policy: str, **axes: str | float) -> Point:
    """A point of the study's main grid."""
    [found] = [item for item in STUDY.points({"seed": [0]})[:16] if item["policy"] == policy and item["mix"] == "0.5"][
        :1
    ]
    return found.replaced(**axes)


def test_points_that_are_one_run() -> None:
    """Migration's options matter only if jobs migrate; without a task to move that is the adaptive policy."""
    assert same(point(GS, migration_start="at-once", response="start")) == point(GS)
    assert same(point(MIGRATE, limit=0, cost=30.0)) == point(ADAPTIVE)
    assert same(point(MIGRATE, migration_start="at-once")) == point(MIGRATE, migration_start="at-once")


def test_a_response_from_the_start_leaves_the_wait_out() -> None:
    """Its slowdown is the one of the printed formula."""
    values = {"slowdown": 9.0, "slowdown_from_start": 2.0, "response_s": 100.0, "wait_s": 70.0}
    shown = seen(point(GS, response="start"), values)
    assert (shown["slowdown"], shown["response_s"]) == (2.0, 30.0)
    assert seen(point(GS), values) == values


def test_the_share_of_a_gain() -> None:
    """From 10 without migration to 2 without a limit, 4 at 64 tasks: three quarters; nothing gained has no share."""

    def results(slowdowns: dict[int, float]) -> Results:
        return Results({point(MIGRATE, limit=limit): {"slowdown": value} for limit, value in slowdowns.items()})

    share = ShareOfGain({"policy": MIGRATE})
    assert share(results({0: 10.0, 64: 4.0, 320: 2.0})).values == (0.75,)
    assert not share(results({0: 10.0, 64: 10.0, 320: 10.0})).defined


def test_what_the_paper_says_of_which_load() -> None:
    """ "From 2,000 s on" are three of the four loads played, "up to 2,500 s" two, and the counts have their own."""
    loads = {claim.name: tuple(claim.each.get("time", ())) for claim in STUDY.claims}
    assert loads["200 %"] == (2068, 2585, 3102)
    assert loads["best 0.5"] == (1723, 2068)
    assert loads["Migrate 0.5 wait"] == (2585, 3102)
    assert {item["time"] for item in STUDY.points()} == {1723, 1800, 2068, 2585, 3102}


@pytest.mark.parametrize("wrong", [["--set", "jobs=many"], ["--figure", "7"]])
def test_wrong_options(wrong: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 2."""
    assert main(["study", "gang", "--quick", *wrong, "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
