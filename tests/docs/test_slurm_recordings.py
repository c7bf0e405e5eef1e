"""The table of recordings of real Slurms has a row for each recording of the tests."""

from pathlib import Path

from tests.experiments.slurm.test_replay import DATA, DIFFERENT, MISSED
from tests.kit.tables import csv_by, csv_rows

TABLE = Path(__file__).parents[2] / "docs" / "slurm-recordings.csv"


def test_the_table_names_every_recording() -> None:
    """Each once, with the numbers of priorities that the replay's tests hold."""
    rows = csv_by(TABLE, "recording")
    assert sorted(rows) == sorted(path.name.partition(".json")[0] for path in DATA.iterdir())
    for name, row in rows.items():
        if not row["priorities"]:
            continue
        file_name = f"{name}.json.xz"
        missed = MISSED.get(file_name)
        different = missed[1].different if missed else DIFFERENT.get(file_name, 0)
        assert int(row["priorities"]) - int(row["priorities_equal"]) == different, name


def test_deviations_of_missed_recordings_are_those_of_the_replay() -> None:
    """Median, 95th percentile and largest deviation."""
    rows = {f"{row['recording']}.json.xz": row for row in csv_rows(TABLE)}
    for name, (printed, _) in MISSED.items():
        row = rows[name]
        assert printed == f"median {row['median_s']} s, p95 {row['p95_s']} s, largest {row['largest_s']} s"
