"""The transfer study: its periods and loads by hand, ratios over logs and periods, and the list of looks."""

import math
import re
from pathlib import Path

import pytest

from spillway.experiments.run.errors import SpecError
from spillway.experiments.studies import statistics
from spillway.experiments.studies.points import Point
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.tables import Ratios
from spillway.experiments.studies.transfer import CHOOSING, STUDY, logs, play
from spillway.experiments.studies.transfer.measures import WAIT
from spillway.workloads.swf import SwfRecord
from tests.kit.tables import csv_rows

ROOT = Path(__file__).parents[3]


def record(number: int, submit_s: int, run_s: int, processors: int) -> SwfRecord:
    """A record of a log."""
    return SwfRecord(number=number, submit_s=submit_s, run_s=run_s, processors=processors)


def test_gaps_are_stretched_to_the_load() -> None:
    """400 + 100 node-seconds (the second job needs one node of 8) on 10 nodes at 0.5: a span of 100 s, not of 50."""
    found = logs.at_load([record(1, 1000, 200, 16), record(2, 1020, 60, 3), record(3, 1050, 40, 8)], 0.5, 10, 8)
    assert [job.submit_s for job in found] == [0, 40, 100]


def test_periods_have_no_job_in_common() -> None:
    """Of a generator they are its seeds; too many jobs for a log are refused."""
    one, other = (logs.window("lublin", number, 50) for number in (0, 1))
    assert len(one) == len(other) == 50
    assert one != other


@pytest.mark.reference
def test_periods_of_a_log_begin_an_eighth_apart(reference: Path) -> None:
    """KTH's 28,476 records: 3,559 for a period."""
    assert reference
    numbers = [logs.window("kth", number, 300)[0].number for number in range(2)]
    assert 3400 < numbers[1] - numbers[0] < 3700
    with pytest.raises(SpecError, match="jobs for each of 8 periods, expected at least 9999"):
        logs.window("kth", 0, 9999)


def test_what_chooses_is_never_reported() -> None:
    """Odd and even periods; both studies have all policies that are compared."""
    chosen = {str(point["period"]) for point in CHOOSING.points()}
    reported = {str(point["period"]) for point in STUDY.points()}
    assert not chosen & reported
    assert {int(name.split()[-1]) % 2 for name in chosen} == {1}
    for study in (STUDY, CHOOSING):
        compared = list(play.POLICIES)[: list(play.POLICIES).index("learned") + 1]
        assert {*compared} <= {point["policy"] for point in study.points()}
        for point in study.points():
            play.policy(point)


def made_up(waits: dict[str, dict[str, float]]) -> Results:
    """Results by period and policy."""
    return Results(
        {
            Point((("period", period), ("policy", policy))): {WAIT: wait}
            for period, found in waits.items()
            for policy, wait in found.items()
        },
        "period",
    )


WAITS = {
    "kth 0": {play.LITERAL: 100.0, "plan": 50.0, "easy": 80.0, "sjf-easy": 40.0},
    "kth 2": {play.LITERAL: 100.0, "plan": 200.0, "easy": 150.0, "sjf-easy": 250.0},
    "nasa 0": {play.LITERAL: 100.0, "plan": 25.0, "easy": 50.0, "sjf-easy": 100.0},
}


def test_every_log_counts_alike() -> None:
    """KTH: 1/2 and 2, together 1; NASA: 1/4. So 1/2 for plan, which is better in two of three periods."""
    table = Ratios("t", {WAIT: "wait"}, ("policy",), {"policy": play.LITERAL}, grouped=True)
    found = table.estimates(made_up(WAITS))[("plan",)][WAIT]
    assert found.value == pytest.approx(0.5)
    assert (found.units, found.low <= 0.5 <= found.high) == (3, True)
    assert ("plan", "0.5", "2 of 3") in [tuple(map(str, row)) for row in table(made_up(WAITS)).rows]


def test_the_bootstrap_repeats_and_widens_with_the_logs() -> None:
    """Alike within logs and unlike between them: the interval spans the logs; no ratio of nothing."""
    found = statistics.resampled([[0.5, 0.5], [2.0, 2.0], [1.0, 1.0]])
    assert found == statistics.resampled([[0.5, 0.5], [2.0, 2.0], [1.0, 1.0]])
    assert (round(found.value, 9), found.low < 0.7, found.high > 1.4) == (1.0, True, True)
    assert math.isnan(statistics.resampled([[0.0, 1.0]]).value)


def test_every_look_is_listed_and_counted() -> None:
    """The page states the number of looks at even periods of the study: one commit, one look."""
    looks = csv_rows(ROOT / "experiments/studies/transfer/looks.csv")
    assert all(row["date"] and row["log"] and row["what was seen"] for row in looks)
    counted = {row["commit"] for row in looks if row["for"] == "reporting"}
    assert {row["for"] for row in looks} == {"exploring", "choosing", "reporting"}
    [said] = re.findall(
        r"even periods of the study were looked at \*\*(\d+)\*\* times", (ROOT / "docs/transfer.md").read_text("utf-8")
    )
    assert int(said) == len(counted)
