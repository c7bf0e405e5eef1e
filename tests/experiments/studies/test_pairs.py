"""Statements that no reading gives together: readings of two questions are joined, and the remaining ones are named."""

import csv
from pathlib import Path

from spillway.experiments.cli import main

TWO = """
from spillway.experiments.studies import Choice, Claim, ComputedPoints, Study, at_least, mean

def play(point):
    scan, least = point["queue"] == "scan", point["order"] == "least"
    return {"wait": 1.0 * scan, "gain": 1.0 * (least and not (SPOILS and scan)), "use": 1.0 * (not scan)}

SPOILS = False
STUDY = Study(
    name="two",
    title="Two questions",
    play=ComputedPoints(play),
    grids=[{"seed": range(5)}],
    claims=[Claim(name, "section 1", name, at_least(1), mean(name), exact=True) for name in ("wait", "gain", "use")],
    choices=[
        Choice("queue", "who is next (section 2)?", {"stop": "the first", "scan": "what fits"}, crossed=False),
        Choice("order", "in which order (section 3)?", {"come": "as they come", "least": "least first"}, crossed=False),
    ],
    crossing={},
)
"""


def tables(tmp_path: Path, text: str) -> tuple[list[str], list[list[str]], str]:
    """Lines of ``readings.csv``, rows of ``pairs.csv`` and the page of a study."""
    file, out = tmp_path / "two.py", tmp_path / "out"
    file.write_text(text, encoding="utf-8")
    assert main(["study", str(file), "--out", str(out)]) == 0
    with (out / "pairs.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    return (out / "readings.csv").read_text().splitlines(), rows[1:], (out / "report.md").read_text()


def test_readings_that_give_one_of_two_statements_are_joined(tmp_path: Path) -> None:
    """``scan`` gives the wait, ``least`` the gain: both together give both. No reading of one question has two answers,
    so that the wait and the use, which only ``stop`` gives, are left."""
    readings, pairs, page = tables(tmp_path, TWO)
    assert readings == [
        "queue,order,wait,gain,use,hold", "stop,come,no,no,yes,1", "scan,come,yes,no,no,1", "stop,least,no,yes,yes,2",
        "scan,least,yes,yes,no,2",
    ]  # fmt: skip
    assert pairs == [["wait", "use", "2", "2", "queue", "no other"]]
    assert "who is next (section 2)?" in page


def test_a_joined_reading_may_not_give_both(tmp_path: Path) -> None:
    """Under ``scan`` the least first gains nothing: the pair stays, with the reading that was compared."""
    readings, pairs, _ = tables(tmp_path, TWO.replace("SPOILS = False", "SPOILS = True"))
    assert readings[-1] == "scan,least,yes,no,no,1"
    assert ["wait", "gain", "2", "1", "queue", "1 compared"] in pairs
