"""Logs of batch systems from a bare file to runs: the machine, known fields, shared nodes, rejected jobs."""

import json
from pathlib import Path

import pytest

from spillway.experiments.campaign.inputs.sources import expand, with_names
from spillway.experiments.cli import main
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import WorkloadSpec
from tests.kit.tables import csv_rows
from tests.workloads.logs.forms import draw, sacct, swf

QUIET = ("--policy", "fcfs", "--no-plots")


def test_a_log_of_slurm_from_bare_file_to_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The machine is guessed from the most nodes in use; shares and left-out lines are among the assumptions."""
    (tmp_path / "site.txt").write_text(sacct(draw(2, 40)))
    assert main(["run", "--workload", str(tmp_path / "site.txt"), *QUIET, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "nodes (most in use at once by the log's own times; --nodes N states others)" in printed
    assumed = (tmp_path / "out" / "assumptions.txt").read_text()
    assert "site: left out 40 lines: step of a job (its job's line is used)" in assumed
    assert "site: what is known of the jobs: measured: submission, start, end, run time, size" in assumed
    rows = csv_rows(tmp_path / "out" / "summary.csv")
    assert {(row["policy"], row["jobs"]) for row in rows} == {("replay", "40"), ("fcfs", "40")}


@pytest.mark.parametrize(("waits", "more", "policies"), [
    (30, (), {"replay", "fcfs"}),
    (30, ("--no-replay",), {"fcfs"}),
    (30, ("--policy", "replay"), {"replay", "fcfs"}),
    (30, ("--policy", "gang", "--model", "timeshared"), {"replay", "fcfs", "gang"}),
    (-1, (), {"fcfs"}),
])  # fmt: skip
def test_what_the_site_did_is_the_baseline(
    waits: int, more: tuple[str, ...], policies: set[str], tmp_path: Path
) -> None:
    """A log that states when its jobs started is replayed beside the policies, unless that is left out."""
    rows = "".join(
        f"{number} {60 * number} {waits} 100 2 -1 -1 2 200 -1 1 7 1 1 1 -1 -1 -1\n" for number in range(1, 21)
    )
    (tmp_path / "site.swf").write_text(f"; MaxNodes: 24\n{rows}")
    assert main(["run", "--workload", str(tmp_path / "site.swf"), *QUIET, *more, "--out", str(tmp_path / "out")]) == 0
    found = {row["policy"]: float(row["mean_waiting_time_s"]) for row in csv_rows(tmp_path / "out" / "summary.csv")}
    assert set(found) == policies
    if "replay" in policies:
        assert found["replay"] == 30


def test_columns_are_an_option_of_run_and_a_key_of_campaigns(tmp_path: Path) -> None:
    """Refused without it; the same runs with it."""
    (tmp_path / "site.swf").write_text("; MaxNodes: 300\n" + swf(draw(2, 20), " 3 x y"))
    run = ["run", "--workload", str(tmp_path / "site.swf"), *QUIET, "--out", str(tmp_path / "out")]
    assert main(run) == 2
    assert main([*run, "--lenient"]) == 0
    (tmp_path / "c.toml").write_text(
        '[[workload]]\nsource = "site.swf"\nread = { fields = "swf,nodes,-,-" }\n[[policy]]\npolicy = "fcfs"\n'
    )
    assert main([str(tmp_path / "c.toml"), "--out", str(tmp_path / "c")]) == 0
    assert "columns 20, 21 were left out, as --fields says" in (tmp_path / "c" / "assumptions.txt").read_text()
    (tmp_path / "c.toml").write_text(
        '[[workload]]\nsource = "site.swf"\nread = { lenent = true }\n[[policy]]\npolicy = "fcfs"\n'
    )
    assert main([str(tmp_path / "c.toml"), "--out", str(tmp_path / "d")]) == 2


def test_seeds_of_a_generator_are_workloads_of_their_own() -> None:
    """Named by the options in which they differ; the same one twice is an error."""
    texts = ("kth-like:jobs=100,seed=1", "kth-like:jobs=100,seed=2", "kth-like:seed=2,jobs=9")
    sources = with_names([source for text in texts for source in expand(WorkloadSpec(source=text))])
    assert [source.name for source in sources] == [
        "kth-like:jobs=100,seed=1",
        "kth-like:jobs=100,seed=2",
        "kth-like:jobs=9,seed=2",
    ]
    two = [source for text in texts[:2] for source in expand(WorkloadSpec(source=text))]
    assert [source.name for source in with_names(two)] == ["kth-like:seed=1", "kth-like:seed=2"]
    with pytest.raises(SpecError, match="two workloads are called 'kth-like'"):
        with_names([*expand(WorkloadSpec(source=texts[0])), *expand(WorkloadSpec(source=texts[0]))])


LOG = """\
JobID|Submit|Start|End|ElapsedRaw|NNodes|NodeList
1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|3600|1|n1
2|2024-01-01T00:00:00|2024-01-01T00:10:00|2024-01-01T01:10:00|3600|2|n[1-2]
3|2024-01-01T00:00:00|2024-01-01T00:20:00|2024-01-01T01:20:00|3600|1|n2
"""


@pytest.mark.parametrize("command", [("run",), ("whatif", "--set", "load=x1.1", "--shakes", "0")])
@pytest.mark.parametrize("force", [False, True])
def test_shared_nodes_are_said_without_notes(
    command: tuple[str, ...], force: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was one of the notes that only ``--notes`` prints; the site's schedule is played with ``--force``."""
    (tmp_path / "log.txt").write_text(LOG)
    forced = ("--force",) if force else ()
    options = ("-p", "easy", "--no-plots", *forced, "--out", str(tmp_path / "out"))
    assert main([command[0], str(tmp_path / "log.txt"), *command[1:], *options]) == 0
    printed = "".join(capsys.readouterr())
    words = "3 jobs (100.0 % of the node-hours) share nodes with other jobs, 100.0 % of all: played as whole nodes"
    assert words in " ".join(printed.split())
    if command[0] == "run":
        assert bool(list((tmp_path / "out").glob("*replay*"))) is force


PAIR = {"type": "composed", "repeat": 1, "seq": ["p", "p"]}

"""Runs, but not in slices."""


def test_a_run_that_rejects_every_job_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Failed before: the table had dashes, and the reason stood in rejections.csv only. It is a result: exit code 0."""
    fields = {"subtime": 0, "res": 1, "walltime": 100, "profile": "p"}
    jobs = [{"id": str(i), **fields, "profile": "pair"} for i in range(2)] + [{"id": "2", **fields, "res": 9999}]
    workload = {"nb_res": 9999, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 10}, "pair": PAIR}}
    (tmp_path / "w.json").write_text(json.dumps(workload))
    where = ["--workload", str(tmp_path / "w.json"), "--platform", "thesis", "--no-plots", "--workers", "1"]
    assert main(["run", *where, "--policy", "gang", "--policy", "easy", "--out", str(tmp_path / "out")]) == 0
    (note,) = [line for line in capsys.readouterr().out.splitlines() if "were rejected" in line]
    assert "w_gang" in note
    assert "all 3 jobs were rejected: a profile of type 'composed' cannot be run in slices" in note
    assert note.endswith("(2 times; other reasons: 1)")
