"""The table of all claims, and the pages that are made from it."""

import csv
from pathlib import Path

from docs.tools import verdicts
from spillway.analysis.document.text import to_markdown
from spillway.experiments.studies.catalogue import find_study
from spillway.experiments.studies.verdicts import Verdict

ROW = dict.fromkeys(verdicts.COLUMNS, "")


def row(name: str, **cells: str) -> dict[str, str]:
    """A row of the table."""
    return {**ROW, "study": "gang", "name": name, "verdict": "not judged", **cells}


def test_every_study_has_a_page() -> None:
    """All claims of the table are counted, and each without a group has a line."""
    rows = verdicts.read()
    found = {name: to_markdown(blocks) for name, blocks in verdicts.pages(rows).items()}
    assert set(found) == {"index.md", *(f"{study}.md" for study in {claim["study"] for claim in rows})}
    assert f"| all | {len(rows)} |" in found["index.md"]
    for claim in rows:
        if not claim["group"] and claim["study"] != "jeannot":
            assert claim["statement"].replace("|", "\\|") in found[f"{claim['study']}.md"]


def test_the_table_has_the_claims_of_the_studies() -> None:
    """Each claim once, as the study states it; a verdict that is not judged has a reason."""
    rows = verdicts.read()
    for name in dict.fromkeys(claim["study"] for claim in rows):
        stated = {claim.name: claim.statement for claim in find_study(name).claims}
        assert {claim["name"]: claim["statement"] for claim in rows if claim["study"] == name} == stated
    assert {claim["verdict"] for claim in rows} <= {verdict.value for verdict in Verdict}
    assert all(claim["why"] for claim in rows if claim["verdict"] == Verdict.NOT_JUDGED.value)


def test_what_was_not_played_keeps_its_value() -> None:
    """A new value replaces the former; that of a claim that was not run does not."""
    kept = [row("a", ours="1", verdict="reproduced"), row("b", ours="2", why="over the edge")]
    new = [row("a", why="not run: mix 0.1"), row("b", ours="3", verdict="reproduced"), row("c", ours="4")]
    found = verdicts.take_over(kept, new)
    assert [(claim["name"], claim["ours"], claim["verdict"]) for claim in found] == [
        ("a", "1", "reproduced"),
        ("b", "3", "reproduced"),
        ("c", "4", "not judged"),
    ]


def test_the_file_of_all_studies_can_be_taken_over(tmp_path: Path) -> None:
    """A file with fewer columns is read."""
    path = tmp_path / "verdicts.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["study", "name", "verdict"])
        writer.writerow(["gang", "a", "reproduced"])
    assert verdicts.read(path) == [row("a", verdict="reproduced")]
