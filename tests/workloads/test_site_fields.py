"""Statements of logs for a site's scheduler: partition, account, QOS, licenses and nice, as fields of jobs."""

import json
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.cli import main
from spillway.schedulers import site_file
from spillway.workloads.batsim.json_file import parse_batsim
from spillway.workloads.conversion.convert import ConvertOptions, convert
from spillway.workloads.conversion.machine_facts import MachineFacts
from spillway.workloads.load import load_table
from spillway.workloads.logs.slurm_units import licenses_of
from tests.workloads.logs.forms import records
from tests.workloads.logs.test_formats import read

SACCT = """\
JobID|User|Account|Partition|QOS|Submit|Start|End|ElapsedRaw|Timelimit|NNodes|ReqTRES|SubmitLine
1|ada|physics|standard,long|normal|2026-11-01T00:00:00|2026-11-01T00:00:00|2026-11-01T00:10:00|600|00:20:00|2|cpu=4,\
license/matlab=2|sbatch --nice=-50 x
2|bob|biology|gpu|gpu|2026-11-01T00:01:00|2026-11-01T00:01:00|2026-11-01T00:11:00|600|00:20:00|1|cpu=4|sbatch -L \
comp:1,matlab --nice x
3|bob||gpu||2026-11-01T00:02:00|2026-11-01T00:02:00|2026-11-01T00:12:00|600|00:20:00|1|cpu=4|sbatch --nicely x
"""
FIELDS = ("partition", "account", "qos", "licenses", "nice", "gpus")


def fields(text: str, name: str, **options: Any) -> list[dict[str, Any]]:
    """These fields of each job of a log."""
    chosen = ConvertOptions(site_fields=True, burst_buffers=None, **options)
    workload, _ = convert(read(text, name), MachineFacts(nodes=8), chosen)
    return [{key: job.extras[key] for key in FIELDS if key in job.extras} for job in workload.jobs]


def test_sacct() -> None:
    """Licenses from resources or from the command, where a bare name is one; a bare --nice is 100."""
    assert fields(SACCT, "log.txt") == [
        {
            "partition": "standard,long",
            "account": "physics",
            "qos": "normal",
            "licenses": "matlab:2",
            "nice": -50,
        },
        {
            "partition": "gpu",
            "account": "biology",
            "qos": "gpu",
            "licenses": "comp:1,matlab:1",
            "nice": 100,
        },
        {"partition": "gpu"},
    ]
    column = "JobID|Submit|Start|End|ElapsedRaw|NNodes|Licenses\n1|1|1|2|1|1|a@s=3\n"
    assert fields(column, "log.txt") == [{"licenses": "a@s:3"}]


def test_other_formats() -> None:
    """jobcomp, Eagle's CSV; of SWF the queue, else the partition, and the group, numbers as names."""
    line = (
        "JobId=7 UserId=ann(1) JobState=COMPLETED Partition=p TimeLimit=10 StartTime=2026-01-01T00:00:01 "
        "EndTime=2026-01-01T00:00:09 NodeCnt=1 ProcCnt=1 Tres=cpu=1,license/x=2 Account=a QOS=q "
        "SubmitTime=2026-01-01T00:00:00\n"
    )
    assert fields(line, "log.log") == [{"partition": "p", "account": "a", "qos": "q", "licenses": "x:2"}]
    eagle = (
        "job_id,user,account,partition,qos,wallclock_req,nodes_req,submit_time,start_time,end_time,run_time\n"
        "5,u,a,p,high,60,1,2019-01-01 00:00:00,2019-01-01 00:00:01,2019-01-01 00:00:11,10\n"
    )
    assert fields(eagle, "log.csv") == [{"partition": "p", "account": "a", "qos": "high"}]
    swf = "1 0 0 10 1 -1 -1 1 60 -1 1 5 4 -1 3 2 -1 -1\n2 1 0 10 1 -1 -1 1 60 -1 1 5 -1 -1 -1 2 -1 -1\n"
    assert fields(swf, "log.swf") == [{"partition": "3", "account": "4"}, {"partition": "2"}]


def test_pm100(tmp_path: Path) -> None:
    """Its columns are read if they are there; a group takes the place of an account."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    columns = {
        "job_id": [1], "submit_time": [10], "start_time": [20], "end_time": [30], "num_nodes_alloc": [1],
        "time_limit": [5], "partition": ["1"], "qos": ["3"], "group_id": [25200],
    }  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    (record,) = records(load_table(tmp_path / "log.parquet")[0])
    assert (record.partition, record.qos, record.account) == ("1", "3", "25200")


@pytest.mark.parametrize(
    ("text", "stated"), [("a", "a:1"), ("a:2,b=3", "a:2,b:3"), ("a@s:4;b", "a@s:4,b:1"), ("", ""), (" a:1 , ", "a:1")]
)
def test_licenses(text: str, stated: str) -> None:
    """All of Slurm's ways to count them."""
    assert licenses_of(text) == stated


def test_gpus_of_each_node() -> None:
    """Seven GPUs on two nodes are four on each, so that there are enough; a job that states no GPU needs no GPU."""
    log = "JobID|Submit|Start|End|ElapsedRaw|NNodes|ReqTRES\n1|1|1|2|1|2|gres/gpu:a100=7\n2|1|1|2|1|2|cpu=4\n"
    assert fields(log, "log.txt") == [{"gpus": 4}, {}]


def test_only_where_they_are_asked_for() -> None:
    """Without a site, jobs do not change: the same bytes."""
    workload, report = convert(read(SACCT, "log.txt"), MachineFacts(nodes=8), ConvertOptions(burst_buffers=None))
    assert [set(job.extras) for job in workload.jobs] == [{"user"}] * 3
    omitted = {omission.name: omission.jobs for omission in report.omissions}
    assert omitted == {"partitions": 3, "licenses": 2}


def test_tables_that_are_played_are_no_omissions() -> None:
    """Each table separately."""
    for tables, left in ((("partition",), {"licenses"}), (("license", "partition"), set())):
        options = ConvertOptions(burst_buffers=None, site_tables=tables)
        _, report = convert(read(SACCT, "log.txt"), MachineFacts(nodes=8), options)
        assert {omission.name for omission in report.omissions} == left


def test_where_qos() -> None:
    """Jobs can be chosen by their QOS."""
    from spillway.workloads.logs.where import narrowed

    assert narrowed(read(SACCT, "log.txt"), ("qos=gpu",))["number"].tolist() == [2]


def test_convert_keeps_them(tmp_path: Path) -> None:
    """The file has them, and reads as it was written."""
    (tmp_path / "log.txt").write_text(SACCT)
    out = tmp_path / "jobs.json"
    assert main(["workload", "convert", str(tmp_path / "log.txt"), "--nodes", "8", "--out", str(out)]) == 0
    jobs = parse_batsim(out.read_bytes(), "x").jobs
    assert [job.extras.get("nice") for job in jobs] == [-50, 100, None]
    assert jobs[0].extras["partition"] == "standard,long"


def test_runs_with_a_site_keep_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And tables that the site states and sessions play are no longer among the omissions."""
    (tmp_path / "log.txt").write_text(SACCT)
    (tmp_path / "site.toml").write_text(
        "nodes = 8\n[[partition]]\nname = 'standard'\n[[partition]]\nname = 'long'\n[[partition]]\nname = 'gpu'\n"
    )
    command = ["run", str(tmp_path / "log.txt"), "--policy", "fcfs", "--no-plots", "--no-replay", "--no-uncontended"]
    command += ["--workers", "1"]
    for name, given, played in (("without", [], ()), ("with", ["--site", str(tmp_path / "site.toml")], ("partition",))):
        monkeypatch.setattr(site_file, "PLAYED", frozenset(played))
        out = tmp_path / name
        assert main([*command, *given, "--nodes", "8", "--out", str(out)]) == 0
        (path,) = (out / "inputs").glob("log-*.json")
        kept = [job.get("partition") for job in json.loads(path.read_text())["jobs"]]
        assert kept == (["standard,long", "gpu", "gpu"] if given else [None] * 3)
        (run,) = out.glob("*/run.json")
        omitted = {entry["name"] for entry in json.loads(run.read_text())["assumed"]["omissions"]}
        assert omitted == ({"licenses"} if given else {"partitions", "licenses"})
