"""The table of all claims, and the pages that are made from it."""

from __future__ import annotations

import csv
from pathlib import Path

from docs.tools import verdicts
from spillway.experiments.studies.catalogue import find_study
from spillway.experiments.studies.verdicts import Verdict

ROW = dict.fromkeys(verdicts.COLUMNS, "")


def row(name: str, **cells: str) -> dict[str, str]:
    """A row of the table."""
    return {**ROW, "study": "gang", "name": name, "verdict": "not judged", **cells}


def test_the_pages_are_made_of_the_table() -> None:
    """Every table of claims is up to date."""
    found = verdicts.pages(verdicts.read())
    assert len(found) >= 6
    for path, text in found.items():
        assert path.read_text(encoding="utf-8") == text, f"run python -m docs.tools.verdicts: {path.name} is stale"


def test_the_table_has_the_claims_of_the_studies() -> None:
    """Each claim once, as the study states it; a verdict that is not judged has a reason."""
    rows = verdicts.read()
    for name in dict.fromkeys(one["study"] for one in rows):
        stated = {claim.name: claim.statement for claim in find_study(name).claims}
        assert {one["name"]: one["statement"] for one in rows if one["study"] == name} == stated
    assert {one["verdict"] for one in rows} <= {verdict.value for verdict in Verdict}
    assert all(one["why"] for one in rows if one["verdict"] == Verdict.NOT_JUDGED.value)
    assert all(bool(one["moved"]) == (one["before"] not in ("", one["verdict"])) for one in rows)


def test_what_was_not_played_keeps_its_value() -> None:
    """A new value replaces the former; one that was not run does not; the column ``before`` stays."""
    kept = [row("a", ours="1", verdict="reproduced", before="not judged"), row("b", ours="2", why="over the edge")]
    new = [row("a", why="not run: mix 0.1"), row("b", ours="3", verdict="reproduced"), row("c", ours="4")]
    found = verdicts.take_over(kept, new)
    assert [(one["name"], one["ours"], one["verdict"], one["before"]) for one in found] == [
        ("a", "1", "reproduced", "not judged"),
        ("b", "3", "reproduced", ""),
        ("c", "4", "not judged", ""),
    ]
    assert [bool(one["moved"]) for one in found] == [True, False, False]


def test_the_file_of_all_studies_can_be_taken_over(tmp_path: Path) -> None:
    """A file without the columns of former values is read."""
    path = tmp_path / "verdicts.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["study", "name", "verdict"])
        writer.writerow(["gang", "a", "reproduced"])
    assert verdicts.read(path) == [row("a", verdict="reproduced")]
