"""Sizes of jobs whose number of nodes a log does not state: computed where that is possible, else said."""

from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.workloads import MachineFacts, convert
from spillway.workloads.batsim.json_file import parse_batsim
from spillway.workloads.conversion.convert import ConvertOptions
from spillway.workloads.logs.info import info_rows
from tests.workloads.logs.test_intake import SACCT, lines, read, slurm, swf

MACHINE = MachineFacts(nodes=256)
LISTED = f"{SACCT}|NodeList"


def sizes(text: str, **options: object) -> tuple[list[int], str]:
    """Nodes of each job, and all that is said of the log."""
    workload, report = convert(read(text), MACHINE, ConvertOptions(**options))  # type: ignore[arg-type]
    return [job.res for job in workload.jobs], "\n".join(report.lines())


@pytest.mark.parametrize("nodes", ["N/A", "Unknown", "", "0", "None"])
def test_processors_count_as_nodes_aloud(nodes: str) -> None:
    """By hand: 32 of the 34 node-hours are those of a job of 32 processors."""
    text = lines(slurm("1"), slurm("2", nodes=nodes))
    found, said = sizes(text)
    assert found == [2, 32]
    assert "1 jobs (94.1 % of the node-hours) state processors and no number of nodes: each processor" in said
    assert any(name == "not played" and "processors and no number" in value for name, value in info_rows(read(text)))


def test_all_jobs_of_a_log_of_slurm() -> None:
    """Also where no job states nodes."""
    said = sizes("\n".join(line.replace("|NNodes", "").replace("|2|", "|") for line in lines(slurm("1")).split("\n")))
    assert said[0] == [32]
    assert "1 jobs (100.0 % of the node-hours) state processors" in said[1]


def test_stated_processors_of_a_node() -> None:
    """32 processors are 2 nodes of 16, by the option or, where it is not given, by the site's CPUs."""
    text = lines(slurm("1"), slurm("2", nodes="N/A"))
    for options in ({"processors_per_node": 16}, {"site_cpus": 16}, {"processors_per_node": 16, "site_cpus": 4}):
        found, said = sizes(text, **options)
        assert found == [2, 2]
        assert "each processor" not in said
        assert "1 job states processors and no number of nodes: a node has 16" in said


def test_the_standard_workload_format_counts_processors() -> None:
    """A site's CPUs do not change what such a log counts, and nothing is said: unless some of its jobs state nodes."""
    found, said = sizes(f"{swf(1)}\n", site_cpus=8)
    assert found == [16]
    assert "no number of nodes" not in said


def test_nodes_are_counted_in_their_list() -> None:
    """Jobs that name their nodes have that many."""
    text = lines(
        f"{slurm('1')}|n[1-2]", f"{slurm('2', nodes='N/A')}|n[1-3],m7", f"{slurm('3', nodes='')}|", head=LISTED
    )
    found, said = sizes(text)
    assert found == [2, 4, 32]
    assert "repaired 1 line, 10.5 % of the node-hours: no number of nodes: counted in the list of its nodes" in said


def test_a_run_says_it_and_a_site_knows_better(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Aloud among the notes before the results; with the site's 16 CPUs a node the jobs fit on its four nodes."""
    log = tmp_path / "log.txt"
    log.write_text(lines(slurm("1"), slurm("2", nodes="N/A")))
    (tmp_path / "site.toml").write_text("nodes = 4\n[[cpu]]\ncount = 16\n")
    run = ["run", str(log), "--policy", "fcfs", "--no-plots", "--out"]
    assert main([*run, str(tmp_path / "alone")]) == 0
    assert "each processor counts as a node here (--processors-per-node 16:" in " ".join(
        capsys.readouterr().out.split()
    )
    assert main([*run, str(tmp_path / "with"), "--site", str(tmp_path / "site.toml")]) == 0
    (jobs,) = (tmp_path / "with" / "inputs").glob("log-*.json")
    assert [job.res for job in parse_batsim(jobs.read_bytes(), "log").jobs] == [2, 2]


def test_a_buffer_on_each_node() -> None:
    """Of a job without a number of nodes each processor has one, as each counts as a node."""
    head = f"{SACCT}|SubmitLine"
    line = "sbatch --bb='#DW jobdw type=xfs capacity=1GB' x.sh"
    text = lines(f"{slurm('1')}|{line}", f"{slurm('2', nodes='N/A')}|{line}", head=head)
    table = read(text)
    assert table["burst_buffer_bytes"].tolist() == [2 * 10**9, 32 * 10**9]
    said = "\n".join(table.intake.book.said())
    assert "repaired 1 line: a buffer on each node, and no number of nodes: each processor has one" in said
