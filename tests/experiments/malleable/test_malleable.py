"""The malleability experiment: use cases as the paper describes them, verdicts, resuming, bad input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from experiments.cli import main
from experiments.kept import Standing, keep
from experiments.malleable import figures, four, machine, report, usecases
from experiments.malleable.cells import Cell, Scope, cells_of, execute, load, look, task_of
from experiments.malleable.changes import Interval, changes
from experiments.malleable.measures import colliding_phases, delay_s, io_s, measures
from experiments.malleable.published import Published, Verdict, read_published


def test_use_case_a_predicts_within_a_second() -> None:
    """The eighth phases begin at about 903 and 911 s, predicted a period before within 1 s."""
    run = usecases.run("A", "watch", 1)
    first, second = run["applications"]
    assert first["predicted_s"][7] == pytest.approx(903.2, abs=2.0)
    assert second["predicted_s"][7] == pytest.approx(911.0, abs=2.0)
    for application in (first, second):
        assert abs(application["asked_s"][7] - application["predicted_s"][7]) < 1.0
    assert {conflict["outcome"] for conflict in run["conflicts"]} == {"watch"}


def test_use_case_b_shifts_once() -> None:
    """Application 1 gets some 24 processes for a while; afterwards no phases collide."""
    run = usecases.run("B", "shifting", 3)
    (conflict,) = run["conflicts"]
    assert (conflict["outcome"], conflict["chosen"]) == ("shift", "1")
    assert conflict["extra"] == pytest.approx(24, abs=6)
    sizes = [size for _, size in run["applications"][0]["sizes"]]
    assert sizes == [128, 128 + conflict["extra"], 128]
    assert colliding_phases(run, conflict["time_s"]) == 0
    assert all(application["iterations"] == 2000 for application in run["applications"])


def test_use_case_c_waits_once() -> None:
    """Writes of 4.7 s that begin together take 9.2 s each; exclusive, identical applications wait once; one shift."""
    runs = {scenario: usecases.run("C", scenario, 0) for scenario in ("baseline", "blocking", "shifting")}
    first = [application["ended_s"][0] - application["asked_s"][0] for application in runs["baseline"]["applications"]]
    assert first == pytest.approx([9.2, 9.2], abs=0.3)
    assert 4.0 < delay_s(runs["blocking"]) < 8.0
    (conflict,) = runs["shifting"]["conflicts"]
    assert conflict["outcome"] == "shift"
    assert colliding_phases(runs["shifting"], conflict["time_s"]) == 0


def test_use_case_d_couples_periods() -> None:
    """Exclusive delays, less by shifting and by coupling; 57 to 59 processes after coupling."""
    runs = {scenario: usecases.run("D", scenario, 0) for scenario in ("baseline", "blocking", "shifting", "coupling")}
    assert delay_s(runs["blocking"]) > 20.0 > delay_s(runs["shifting"]) >= delay_s(runs["coupling"])
    assert 57 <= runs["coupling"]["applications"][1]["sizes"][-1][1] <= 59
    assert io_s(runs["baseline"], 0) > io_s(runs["shifting"], 0)
    assert delay_s(runs["baseline"]) == 0.0


def test_table_2_is_met_at_the_initial_sizes() -> None:
    """The fitted applications take Table 2's CPU time, and their I/O ratios are those of the table."""
    for row, ratio in zip(four.TABLE_2, (3.5, 10.8, 6.0, 11.0), strict=True):
        cpu_s = row.iterations * (row.work_s / row.processes + row.comm_s)
        assert cpu_s == pytest.approx(row.cpu_s)
        assert 100 * row.io_s / (row.cpu_s + row.io_s) == pytest.approx(ratio, abs=0.15)


def test_smallest_scenario_gives_all_to_a1() -> None:
    """Eight idle processes: the I/O-based rule (weight 1) gives them to A1; fair gives two each."""
    shares = {}
    for rule in ("fair", "io, weight 1"):
        run = four.run(36, rule, "fifo", 0)
        shares[rule] = [application["processes"] for application in run["applications"]]
    assert shares == {"fair": [8, 10, 10, 8], "io, weight 1": [14, 8, 8, 6]}


def test_whole_machine_small() -> None:
    """A few jobs: none is lost, jobs expand onto idle nodes and turn round faster."""
    rigid = machine.run("kth-like", 25, 0.0, "none", "easy", 2)
    expanded = machine.run("kth-like", 25, 1.0, "expansion", "easy", 2)
    assert rigid["jobs"] == expanded["jobs"] == 25
    assert rigid["lent_percent"] == pytest.approx(0.0, abs=1e-9)
    assert expanded["lent_percent"] > 5.0
    assert expanded["mean_turnaround_s"] < rigid["mean_turnaround_s"]


def test_verdicts_by_rule() -> None:
    """Within the tolerance, at most, at least; what was not run is no verdict."""

    def one(rule: str) -> Published:
        return Published("x", 10.0, rule, 2.0, "s", "5", "")

    assert [one("within").judge(ours) for ours in (8.0, 12.1)] == [Verdict.KEPT, Verdict.MISSED]
    assert [one("at most").judge(ours) for ours in (0.0, 12.1)] == [Verdict.KEPT, Verdict.MISSED]
    assert [one("at least").judge(ours) for ours in (99.0, 7.9)] == [Verdict.KEPT, Verdict.MISSED]
    assert one("within").judge(None) is Verdict.MISSING


def test_changes_are_seed_by_seed() -> None:
    """Waiting 10 to 5 s and 100 to 75 s: -50 and -25 %; nodes held +2 and +4 points. Nothing to compare: none."""

    def one(control: str, seed: int, wait_s: float, held: float) -> tuple[Cell, dict[str, float]]:
        share = 0.0 if control == "none" else 1.0
        arguments = (("policy", "easy"), ("control", control), ("share", share), ("seed", seed))
        values = {"mean_turnaround_s": 1.0, "mean_delay_s": 0.0, "delayed_percent": 0.0}
        return Cell("machine", arguments), {"mean_wait_s": wait_s, "utilisation_percent": held} | values

    before = [one("none", 0, 10.0, 60.0), one("none", 1, 100.0, 50.0)]
    after = [one("both", 0, 5.0, 62.0), one("both", 1, 75.0, 54.0)]
    found = changes(dict([*before, *after]))["easy", "both", 1.0]
    assert found["mean_wait_s"] == Interval(-37.5, -50.0, -25.0)
    assert found["utilisation_percent"] == Interval(3.0, 2.0, 4.0)
    assert str(found["utilisation_percent"]) == "+3.0 (+2.0 to +4.0)"
    assert found["mean_delay_s"] == Interval(0.0, 0.0, 0.0)
    assert changes(dict(after)) == {}


def test_every_statement_has_a_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the runs of one seed every published name is computed, printed, written and drawn."""
    monkeypatch.setattr(four, "SPAN_S", 900.0)
    scope = Scope(
        seeds=1, totals=(36,), four_seeds=1, log="kth-like", jobs=12, shares=(0.0, 1.0), controls=("none", "both"),
        machine_seeds=1, policies=("easy",),
    )  # fmt: skip
    results = {}
    for cell in cells_of(scope):
        task = task_of(cell, tmp_path)
        execute(task)
        results[cell] = load(task)
    assert measures(results).keys() == {one.name for one in read_published()}
    console = Console(width=200, record=True, quiet=True)
    judged = report.show(results, console)
    assert not any(verdict is Verdict.MISSING for *_, verdict in judged)
    assert [path.name for path in report.write(results, judged, tmp_path)] == [
        "verdicts.csv",
        "four.csv",
        "machine.csv",
    ]
    drawn = {path.name for path in figures.draw(results, tmp_path / "figures")}
    assert {"case-b.png", "io-times.svg", "four.png", "machine.svg"} <= drawn


def test_a_finished_cell_is_kept(tmp_path: Path) -> None:
    """Its file is taken as it is; one of another cell, of other code or with another result in it is not."""
    task = task_of(Cell("case", (("case", "B"), ("scenario", "shifting"), ("seed", 0))), tmp_path)
    assert look(task).standing is Standing.MISSING
    keep(task.path, task.asked, task.code, {"a": 1})
    assert (look(task).standing, load(task)) == (Standing.CURRENT, {"a": 1})
    assert look(replace(task, code="other")).standing is Standing.OTHER_CODE
    assert look(replace(task, asked="other")).standing is Standing.NO_RESULT
    task.path.write_text(task.path.read_text().replace('"a":1', '"a":999.0'))
    assert look(task).standing is Standing.NO_RESULT
    task.path.write_text("{")
    assert look(task).standing is Standing.NO_RESULT


def test_cells_whose_numbers_differ_late_have_files_of_their_own(tmp_path: Path) -> None:
    """The sixth digit is not the last; a log counts with its contents."""
    log = tmp_path / "x.swf"
    log.write_text("; one")
    given = (("log", str(log)), ("jobs", 1_000_001), ("share", 0.5), ("control", "both"), ("policy", "easy"))
    cell = Cell("machine", (*given, ("seed", 0)))
    assert "_1000001_" in cell.id
    first = task_of(cell, tmp_path)
    log.rename(tmp_path / "elsewhere.swf")
    moved = Cell("machine", (("log", str(tmp_path / "elsewhere.swf")), *given[1:], ("seed", 0)))
    assert task_of(moved, tmp_path).asked == first.asked


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seeds", "0"], "--seeds must be at least 1, got 0"),
        (["--control", "magic"], "expected one of"),
        (["--frobnicate"], "unknown option '--frobnicate'"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2 and one line that says what was expected."""
    assert main(["malleable", *arguments]) == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1
