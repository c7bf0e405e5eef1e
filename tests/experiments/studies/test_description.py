"""Studies as data: what a description may say, and where it is wrong."""

from pathlib import Path

import pytest

from spillway.experiments.run.errors import SpecError
from spillway.experiments.studies import ComputedPoints, Study, at_least, between, less_than, mean, ratio, within
from spillway.experiments.studies.description import read_study, region_of

TEXT = """
name = "orders"
title = "Orders"
quick = {load = [0.2], seed = 5}
[lists]
open = ["queue"]
[[grid]]
load = [0.2, 0.8]
seed = 3
[[choice]]
axis = "queue"
question = "who is next?"
readings = [{value = "stop", words = "the first"}, {value = "scan", words = "any", fitted_to = ["slow: wait"]}]
[[claim]]
for = [{pace = "slow", load = 0.2}, {pace = "fast", load = 0.8}]
name = "{pace}: wait"
place = "3"
statement = "{pace} jobs wait 10 s"
region = "10 ± 0.5"
measure = {mean = "wait_s", axes = {load = "{load}"}}
unit = "s"
depends = "open"
[[claim]]
name = "gain"
place = "4"
statement = "twice"
region = ">= 2"
measure = {ratio = "wait_s", above = {queue = "stop"}, below = {queue = "scan"}}
each = {load = [0.2, 0.8]}
depends = []
"""


def read(tmp_path: Path, text: str = TEXT) -> Study:
    """Read a description."""
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    return read_study(path, ComputedPoints(lambda point: {}), has=lambda axis, value: (axis, value) != ("load", 0.5))


def test_a_description_is_a_study(tmp_path: Path) -> None:
    """Rows of ``for`` are claims of their own, whose values keep their types; measures are those of the code."""
    study = read(tmp_path)
    slow, fast, gain = study.claims
    assert [slow.name, fast.statement] == ["slow: wait", "fast jobs wait 10 s"]
    assert (fast.measure, fast.region, fast.depends) == (mean("wait_s", load=0.8), within(10, 0.5), ("queue",))
    assert gain.measure == ratio("wait_s", {"queue": "stop"}, {"queue": "scan"})
    assert [point["seed"] for point in study.points({"load": [0.2]})] == [0, 1, 2]
    assert study.fitted({"queue": "scan"}) == {"queue": ("slow: wait",)}
    assert len(read(tmp_path, TEXT.replace("[0.2, 0.8]\nseed", "[0.2, 0.5]\nseed")).points()) == 3, "0.5 is not at hand"


def test_regions_are_texts() -> None:
    """Each kind once."""
    assert [region_of(text) for text in (">= 2", "< 0", "55 to 65", "3", "8.5 ± 0.25")] == [
        at_least(2), less_than(0), between(55, 65), within(3, 0), within(8.5, 0.25)
    ]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), [
    ("10 ± 0.5", "about 10", "region 'about 10': expected >= 2"),
    ("mean = ", "median = ", "expected one of mean, occurring, ratio"),
    ('unit = "s"', 'units = "s"', "unknown field `units`"),
    ('"open"', '"opened"', "no list 'opened'"),
    ('"wait_s", above', '"wait_s", over', "unexpected keyword argument 'over'"),
    ("seed = 3", "seed = ", "Invalid value"),
])  # fmt: skip
def test_what_is_wrong_is_named_with_its_file(tmp_path: Path, old: str, new: str, words: str) -> None:
    """A word that nobody reads would be a claim that is silently another."""
    with pytest.raises(SpecError, match=words) as found:
        read(tmp_path, TEXT.replace(old, new, 1))
    assert "study.toml" in str(found.value)
