"""Starvation for a second resource, in each case and under each of our policies."""

import json
import math
import sys
from pathlib import Path

import pytest

from spillway.analysis.plots.intervals import excess_bars
from spillway.experiments.cli import main
from spillway.experiments.trials import starvation_report
from spillway.experiments.trials.starvation import (
    CASES,
    LARGE,
    VARIANTS,
    BuiltinPolicy,
    LargeJobDelay,
    StarvationCase,
    suffered,
)
from spillway.schedulers.policies import POLICIES

LICENCE, BUFFER, TWO_POOLS = CASES
OURS = {entry.name: entry for entry in (*(BuiltinPolicy.of(name) for name in POLICIES), *VARIANTS)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_case_is(case: StarvationCase) -> None:
    """At most eight jobs of one node, which all fit; the large job needs all that there is, the others half."""
    world = case.world
    assert len(world.jobs) <= 8
    assert all(job.nodes == 1 and world.fits(job) for job in world.jobs)
    for number, job in enumerate(world.jobs, 1):
        share = 1 if number == LARGE else 2
        assert job.gb in ({world.gb // share} if number <= LARGE else {0, world.gb // share})
        assert job.licenses in ({case.licenses // share} if number <= LARGE else {0, case.licenses // share})


@pytest.mark.parametrize("name", ["fcfs", "easy", "sjf-easy", "list", "conservative", "easy:spare=false"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_reservations_that_cover_all(name: str, case: StarvationCase) -> None:
    """Job 2 comes at 1 s and runs for 35 s: then all is free, and the large job starts, before all that came later."""
    found = suffered(OURS[name].starts(case), case.covered_s)
    assert (found.start_s, found.later_s, found.passed) == (36, 0, 0)
    assert (found.delayed, str(found)) == (False, "36 s")


@pytest.mark.parametrize("case", [LICENCE, BUFFER], ids=lambda case: case.name)
def test_one_pool_without_a_reservation(case: StarvationCase) -> None:
    """Halves become free at 20 and 36 s, and each later job keeps one for 30 s: the last until 110 s."""
    for name in ("easy-no-bb", "filler", "slurm-backfill"):
        starts = OURS[name].starts(case)
        assert starts == {1: 0, 2: 1, 4: 20, 5: 36, 6: 50, 7: 66, 8: 80, LARGE: 110}
        found = suffered(starts, case.covered_s)
        assert (found.later_s, found.passed, str(found)) == (74, 5, "110 s (+74 s, 5 pass)")


@pytest.mark.parametrize(
    ("name", "start_s", "passed"),
    [
        # Licences: jobs 4 and 6 from 20 and 36 s on, then 8 at 50 until 80 s.
        ("easy-no-bb", 80, 5),
        # Buffers, which are reserved, are free from 36 s on, so that jobs 5 and 7 wait; licences as above.
        ("easy:covered=nodes+bb", 80, 3),
        ("slurm-backfill", 80, 5),
    ],
)
def test_two_pools(name: str, start_s: float, passed: int) -> None:
    """A reservation that leaves out one of two pools is no help."""
    found = suffered(OURS[name].starts(TWO_POOLS), TWO_POOLS.covered_s)
    assert (found.start_s, found.passed) == (start_s, passed)


def test_a_job_that_never_starts() -> None:
    """All that started passed it."""
    found = suffered({1: 0.0, 2: 1.0, 4: 20.0}, 36.0)
    assert found == LargeJobDelay(math.inf, math.inf, 1)
    assert found.delayed


def test_it_is_said_in_words_a_table_and_a_figure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Of one scheduler: exit code 1 if the large job waits for later ones; files are written."""
    files = {name: tmp_path / f"{name}.{kind}" for name, kind in (("out", "md"), ("json", "json"), ("figure", "png"))}
    given = [f"--{name}={path}" for name, path in files.items()]
    assert main(["conformance", "slurm", "--policy", "easy:covered=nodes+bb", *given]) == 1
    printed = capsys.readouterr().out
    words = (
        "licence: job 3, first in the queue, needs all 4 licences. Where its reservation covers them, it starts at 36"
    )
    assert f"{words} s. It starts later at 110 s (+74 s, 5 pass) under easy:covered=nodes+bb." in printed
    page = files["out"].read_text(encoding="utf-8")
    assert "| easy:covered=nodes+bb | 110 s (+74 s, 5 pass) | 36 s | 80 s (+44 s, 3 pass) |" in page
    members = json.loads(files["json"].read_text(encoding="utf-8"))
    assert members["easy:covered=nodes+bb"]["buffer"] == {"start_s": 36.0, "later_s": 0.0, "passed": 0}
    assert files["figure"].read_bytes().startswith(b"\x89PNG")
    assert main(["conformance", "slurm", "--policy", "easy"]) == 0


def test_a_command_that_speaks_batsims_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    """The protocol has no licences, so that only the buffer is played."""
    serve = [sys.executable, "-m", "spillway", "serve", "easy-no-bb", "--bind", "{socket}"]
    assert main(["conformance", "slurm", "--", *serve]) == 1
    printed = capsys.readouterr().out
    assert "buffer: job 3" in printed
    assert "licence: job 3" not in printed
    assert "110 s (+74 s, 5 pass)" in printed
    assert printed.endswith("serve easy-no-bb --bind {socket}: Batsim's protocol has no licences.\n")


def test_bars_up_to_a_limit_and_beyond() -> None:
    """Within the limit one colour, beyond it another; an unplayed case has no bar, an endless wait the longest."""
    ax = excess_bars({"a": 36.0, "b": 38.0, "c": 110.0, "d": math.nan, "e": math.inf}, 36.0, title="t", least=5.0)
    widths = [round(bar.get_width()) for bar in ax.patches]
    assert widths == [36, 0, 38, 0, 36, 74, 36, 74]
    assert [text.get_text() for text in ax.texts] == ["36", "38", "110 (+74)", "not played", "never"]


def test_a_scheduler_that_is_not_played_for_two_reasons_is_named_once() -> None:
    """Failed before: gang scheduling had a line for cases with a site and another for those without."""
    case, other = (case.name for case in CASES[:2])
    found: dict[str, dict[str, LargeJobDelay | str]] = {
        "gang": {case: "no site", other: "no rigid jobs"},
        "gang-io": {case: "no site", other: "no rigid jobs"},
        "replay": {case: "no waits", other: "no waits"},
    }
    assert starvation_report._reasons(found) == [
        "Not played: gang, gang-io: no site; no rigid jobs.",
        "Not played: replay: no waits.",
    ]
