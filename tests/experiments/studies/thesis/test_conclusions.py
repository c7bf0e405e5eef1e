"""The study of the thesis's conclusions: its points, and the measures of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.experiments.studies.points import Point
from spillway.experiments.studies.thesis import STUDY
from spillway.experiments.studies.thesis.play import measure, policy
from spillway.experiments.studies.thesis.schedules import CORRECTED


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
