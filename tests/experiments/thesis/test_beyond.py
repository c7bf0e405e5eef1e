"""The comparison with the best published schedule."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.errors import SpecError
from experiments.spec import WorkloadSpec
from experiments.thesis.beyond import MEASURES, Battle, compare, parse_contender
from experiments.thesis.campaign import MACHINE
from experiments.thesis.ceiling import CLAIRVOYANT
from experiments.thesis.models import Model
from experiments.thesis.published import Key
from tests.experiments.thesis.stub import StubResults


def test_contender_with_options_of_both_kinds() -> None:
    """A policy's options and the session's settings are distinguished."""
    spec = parse_contender("plan:alpha=1.5,storage-order=nearest")
    assert spec.options == {"alpha": 1.5}
    assert spec.session == {"storage_order": "nearest"}
    assert spec.label == "plan:alpha=1.5,storage-order=nearest"


def test_unknown_contender() -> None:
    """Names are checked before anything runs."""
    with pytest.raises(SpecError, match="unknown policy"):
        parse_contender("plam")


def test_ratio_of_means_over_parts_and_seeds() -> None:
    """Parts of 10 and 30 s against 20 and 40 s, two seeds each; a part that lacks a seed is left out."""
    battle = Battle("log", Model.ALLOC, tuple(WorkloadSpec(source="x", name=f"p{n}") for n in range(3)), MACHINE)
    values = {}
    for measure in MEASURES:
        values[Key("alloc", "p0", "ours", measure)] = [9.0, 11.0]
        values[Key("alloc", "p1", "ours", measure)] = [27.0, 33.0]
        values[Key("alloc", "p2", "ours", measure)] = [1.0]
        values[Key("alloc", "p0", "plan-square-0", measure)] = [20.0, 20.0]
        values[Key("alloc", "p1", "plan-square-0", measure)] = [40.0, 40.0]
        values[Key("alloc", "p2", "plan-square-0", measure)] = [5.0, 5.0]
    found = compare(StubResults(values), battle, "ours")
    assert [comparison.measure for comparison in found] == list(MEASURES)
    first = found[0]
    assert first.means == (20.0, 30.0)
    assert first.paired.ratio.value == pytest.approx(2 / 3)
    assert first.paired.ratio.low == pytest.approx(0.5)
    assert first.paired.ratio.high == pytest.approx(0.75)
    assert first.seeds == (pytest.approx(0.6), pytest.approx(22 / 30))
    assert (first.paired.win, first.paired.pairs) == (1.0, 2)


def test_nothing_to_compare() -> None:
    """What has not run gives no comparison."""
    battle = Battle("log", Model.ALLOC, (WorkloadSpec(source="x", name="p0"),), MACHINE)
    assert compare(StubResults({}), battle, "ours") == []


@pytest.mark.slow
def test_command_on_another_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One other log in two periods, one policy of ours, one seed, and what knows the runtimes: four measures each."""
    words = ["kth-like:jobs=420", "parts=2", "load=0.9"]
    arguments = ["thesis", "--holdout", *words, "--policy", "plan:steps=20", "--model", "alloc", "--seeds", "1"]
    arguments.append("--ceiling")
    assert main([*arguments, "--workers", "2", "--out", str(tmp_path)]) == 0
    with (tmp_path / "beyond.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    policies = ["plan:steps=20", *(spec.label for spec in CLAIRVOYANT)]
    assert [(row["policy"], row["measure"]) for row in rows] == list(itertools.product(policies, MEASURES))
    assert {(row["log"], row["parts"]) for row in rows} == {("kth-like", "2")}
    told = json.loads(next(tmp_path.glob("told-kth-like-alloc/*.json")).read_text())["jobs"]
    assert all(0 < job["requested_s"] <= job["walltime"] + 1 for job in told)
    assert all(float(row["low"]) <= float(row["ratio"]) <= float(row["high"]) for row in rows)
    assert "kth-like, Alloc-Only" in (tmp_path / "BEYOND.md").read_text()
    assert "beyond.html" in capsys.readouterr().out
