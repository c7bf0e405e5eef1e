"""``--site``: the machine unless another is named, the same text in every interface, a clear error if it is wrong."""

import json
import shlex
from pathlib import Path

import pytest

import spillway
from spillway.experiments.cli import main
from spillway.experiments.run.errors import SpecError
from spillway.schedulers.model.site import site_text
from spillway.schedulers.site_file import read_site
from tests.kit.tables import csv_rows

SMALL = Path(__file__).parents[2] / "data" / "site" / "small.toml"
RUN = ["run", "kth-like:jobs=20", "--policy", "fcfs", "--workers", "1", "--no-plots", "--no-uncontended"]


def described(out: Path) -> list[dict]:
    """The descriptions of all runs in a folder of results."""
    return [json.loads(path.read_text())["configuration"] for path in sorted(out.glob("*/run.json"))]


def test_run_on_the_site_s_machine(tmp_path: Path):
    """Its number of nodes, and its whole text in the description of the run; names in the results do not repeat it."""
    assert main([*RUN, "--site", str(SMALL), "--out", str(tmp_path / "out")]) == 0
    (run,) = described(tmp_path / "out")
    assert run["settings"]["site"] == site_text(read_site(SMALL))
    assert run["policy"]["label"] == "fcfs"
    assert run["platform"]["name"] == "nodes-16"


SCHEDULED = """nodes = 16
[priority]
age = 1000
[scheduler]
bf_interval_s = 45.0
bf_window_s = 7200.0
bf_max_job_test = 50
bf_max_time_s = 20.0
bf_continue = true
others = ["nohold_on_prolog_fail", "preempt_youngest_first"]
"""


def test_the_site_s_schedulers_set_the_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Options that are not given are the site's (Slurm's bf_window is in minutes); one note lists them, the given ones
    and those that no option plays. Names of results do not change, and the results' own command, which has all options,
    makes the same run. Other policies keep their options."""
    site, out = tmp_path / "site.toml", tmp_path / "out"
    site.write_text(SCHEDULED)
    policies = ["--policy", "slurm-backfill:bf_max_job_test=7", "--policy", "easy"]
    command = ["run", RUN[1], *policies, *RUN[4:], "--site", str(site)]
    assert main([*command, "--out", str(out)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    note = (
        "policy slurm-backfill: from the site: order=multifactor,bf_interval=45,bf_window=120; given in place of the "
        "site's: bf_max_job_test; not played: bf_max_time, bf_continue, nohold_on_prolog_fail"
    )
    assert said.count(note) == 1
    assert said.count("from the site:") == 1
    easy, slurm = sorted(described(out), key=lambda run: run["policy"]["policy"])
    assert easy["settings"]["order"] == "fcfs"
    assert slurm["policy"]["label"] == "slurm-backfill bf_max_job_test=7"
    names = ("order", "bf_interval", "bf_window", "bf_max_job_test", "bf_resolution")
    assert [slurm["settings"][name] for name in names] == ["multifactor", 45.0, 120.0, 7, 60.0]
    repeat = json.loads((out / slurm["id"] / "run.json").read_text())["repeat"]
    assert "bf_interval=45,bf_max_job_test=7,bf_window=120" in repeat
    assert (
        "parameters of the schedulers: bf_max_time, bf_continue, nohold_on_prolog_fail"
        in (json.loads((out / slurm["id"] / "run.json").read_text())["assumed"]["site"])
    )


def test_another_machine_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Partitions state nodes by place, so that the platform has to have as many."""
    assert main([*RUN, "--site", str(SMALL), "--platform", "thesis", "--out", str(tmp_path / "out")]) == 2
    assert "site 'small' has 16 nodes, platform thesis has 96" in capsys.readouterr().err
    assert main([*RUN, "--site", str(SMALL), "--nodes", "16", "--out", str(tmp_path / "same")]) == 0


def test_a_partition_of_late_nodes(tmp_path: Path):
    """Was refused as outside of the partition: a set is not iterated in order, and the guard searched it."""
    (tmp_path / "site.toml").write_text(
        'nodes = 100\n[[partition]]\nname = "first"\nnodes = "0-84"\n[[partition]]\nname = "2"\nnodes = "85-99"\n'
    )
    row = "{n} {submit} 0 600 4 -1 -1 4 900 -1 1 1 1 -1 2 -1 -1 -1\n"
    log = "".join(row.format(n=number, submit=10 * number) for number in range(1, 5))
    (tmp_path / "log.swf").write_text(f"; MaxNodes: 100\n{log}")
    command = ["run", str(tmp_path / "log.swf"), *RUN[2:], "--no-replay", "--site", str(tmp_path / "site.toml")]
    assert main([*command, "--force", "--out", str(tmp_path / "out")]) == 0
    (jobs,) = (tmp_path / "out").glob("*/jobs.csv")
    assert {row["final_state"] for row in csv_rows(jobs)} == {"COMPLETED_SUCCESSFULLY"}


def test_buffers_beside_the_site(tmp_path: Path):
    """Stated burst buffers are added to the site's nodes."""
    command = [*RUN, "--site", str(SMALL), "--burst-buffer-total", "1TB", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    assert described(tmp_path / "out")[0]["platform"]["name"] == "nodes-16,burst_buffer_total=1TB"


def test_buffers_that_the_log_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """With a site as without one: a pool for the largest request. It was 40 GB for every 8 nodes, the log refused."""
    log = tmp_path / "jobs.txt"
    log.write_text(
        "JobID|Partition|State|Submit|Start|End|Timelimit|NNodes|ReqTRES\n"
        "1|standard|COMPLETED|2026-11-01T08:00:00|2026-11-01T08:00:05|2026-11-01T08:10:05|01:00:00|2|bb/lua=300G,node=2\n"
        "2|standard|COMPLETED|2026-11-01T08:01:00|2026-11-01T08:01:05|2026-11-01T08:10:05|01:00:00|2|bb/lua=700G,node=2\n"
    )
    command = ["run", str(log), "--policy", "fcfs", "--workers", "1", "--no-plots", "--no-uncontended", "--no-replay"]
    assert main([*command, "--notes", "--site", str(SMALL), "--out", str(tmp_path / "out")]) == 0
    assert described(tmp_path / "out")[0]["platform"]["name"] == "nodes-16,burst_buffer_total=1.1TB"
    said = " ".join(capsys.readouterr().out.split())
    assert "machine: 16 nodes (those of the site), 1.1TB of burst buffers in one pool (requests of 2 jobs" in said
    assert "where partition" not in said


def test_an_unknown_qos_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Jobs may name a QOS that is gone from the site: they run without one, and it is said."""
    jobs = [{"id": number, "subtime": 0, "res": 1, "walltime": 9, "profile": "p", "qos": "gone"} for number in (1, 2)]
    (tmp_path / "w.json").write_text(
        json.dumps({"nb_res": 16, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 1}}})
    )
    command = ["run", str(tmp_path / "w.json"), *RUN[2:], "--notes", "--site", str(SMALL), "--begins", "2026-11-01"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    words = "w: 2 jobs name the QOS 'gone', which the site does not have: they have no priority and no limits of one"
    assert words in " ".join(capsys.readouterr().out.split())
    assert words in (tmp_path / "out" / "assumptions.txt").read_text()
    (tmp_path / "w.json").write_text(
        json.dumps({"nb_res": 16, "jobs": jobs[:1], "profiles": {"p": {"type": "delay", "delay": 1}}})
    )
    assert main([*command, "--out", str(tmp_path / "one")]) == 0
    words = "w: 1 job names the QOS 'gone', which the site does not have: it has no priority and no limits of one"
    assert words in " ".join(capsys.readouterr().out.split())


def test_explain_names_the_reservation(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The cause of a job's wait for its reservation was "for free compute nodes" only. Nodes have the machine's names,
    since Batsim numbers hosts by their names' letters: node_2 of these twelve is its host 4."""
    (tmp_path / "site.toml").write_text(
        "nodes = 12\n[[partition]]\nname = 'p'\n[[reservation]]\nname = 'course'\nstart = 2026-11-01T09:00:00\n"
        "length_s = 3600\nnodes = '2-3'\nusers = ['ann']\n"
    )
    (tmp_path / "jobs.txt").write_text(
        "JobID|User|Partition|Reservation|State|Submit|Start|End|Timelimit|NNodes\n"
        "1|ann|p|course|COMPLETED|2026-11-01T08:00:00|2026-11-01T09:00:00|2026-11-01T09:10:00|00:30:00|2\n"
    )
    options = ["--site", str(tmp_path / "site.toml"), "--workers", "1", "--no-plots", "--no-uncontended", "--no-replay"]
    options += ["--policy", "fcfs", "--explain", "--out", str(tmp_path / "out")]
    assert main(["run", str(tmp_path / "jobs.txt"), *options]) == 0
    (folder,) = (found.parent for found in (tmp_path / "out").glob("*/run.json"))
    capsys.readouterr()
    assert main(["explain", str(folder), "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "It was for reservation course: 1 h from day 0, 01:00:01 on." in said
    assert "on node_[2-3] of partition p" in said


def test_the_key_of_a_campaign_file(tmp_path: Path):
    """Relative to the file; a policy may have a site of its own, of as many nodes."""
    (tmp_path / "site.toml").write_text("nodes = 16")
    (tmp_path / "other.toml").write_text("nodes = 16\nname = 'other'")
    campaign = tmp_path / "campaign.toml"
    campaign.write_text(
        'site = "site.toml"\nplots = false\nuncontended = false\n[[workload]]\nsource = "kth-like:jobs=20"\n'
        '[[policy]]\npolicy = "fcfs"\n[[policy]]\npolicy = "easy"\nsession = { site = "other.toml" }\n'
    )
    assert main(["campaign", str(campaign), "--workers", "1", "--out", str(tmp_path / "out")]) == 0
    texts = {run["policy"]["label"]: run["settings"]["site"] for run in described(tmp_path / "out")}
    assert texts == {"fcfs": '{"nodes":16}', "easy": '{"name":"other","nodes":16}'}
    (tmp_path / "other.toml").write_text("nodes = 17")
    assert main(["campaign", str(campaign), "--workers", "1", "--out", str(tmp_path / "out")]) == 2


def test_a_run_is_repeated_from_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its command names the copy of the site there: the site's own file may be gone, and longer than a command line."""
    path = tmp_path / "site.toml"
    path.write_text(SMALL.read_text())
    assert main([*RUN, "--site", str(path), "--out", str(tmp_path / "out")]) == 0
    path.unlink()
    monkeypatch.chdir(tmp_path / "out")
    (folder,) = (found.parent for found in Path().glob("*/run.json"))
    command = shlex.split(json.loads((folder / "run.json").read_text())["repeat"])
    (copy,) = Path("inputs").glob("site-*.json")
    assert command[command.index("--site") + 1] == str(copy)
    assert read_site(copy) == read_site(SMALL)
    assert main(command[1:]) == 0
    (again,) = Path("repeated").glob("*/jobs.csv")
    assert again.read_text() == (folder / "jobs.csv").read_text()


SUSPENDING = """nodes = 8
[scheduler]
preempt = "partition_prio"
preempts = "suspend"
[[partition]]
name = "low"
default = true
[[partition]]
name = "high"
tier = 2
"""


def test_whatif_of_a_site_that_suspends(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Job 1 has all eight nodes for 100 s, job 2 of the higher tier comes at 10 s: it starts then (mean wait of jobs 1
    and 2: 0 s, and 20 s of the attempt after it, which ran in vain), or at 100 s (45 s) without preemption. The
    policies' names state how it is played; without the option an error names the possible ones."""
    jobs = [
        {"id": "1", "subtime": 0, "res": 8, "walltime": 200, "profile": "a", "partition": "low"},
        {"id": "2", "subtime": 10, "res": 8, "walltime": 30, "profile": "b", "partition": "high"},
    ]
    profiles = {"a": {"type": "delay", "delay": 100}, "b": {"type": "delay", "delay": 20}}
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    (tmp_path / "site.toml").write_text(SUSPENDING)
    ask = ["whatif", str(tmp_path / "w.json"), "--site", str(tmp_path / "site.toml"), "--burst-buffer-total", "0"]
    ask += ["--set", "policy=fcfs", "--shakes", "0", "--no-plots", "--workers", "1"]
    assert main([*ask, "--out", str(tmp_path / "refused")]) == 2
    assert "set suspend=suspend (with --model rigid), requeue, cancel or off (--suspend)" in capsys.readouterr().err
    for how, wait_s in (("requeue", 20 / 3), ("off", 45.0)):
        assert main([*ask, "--suspend", how, "--out", str(tmp_path / how)]) == 0
        rows = [(row["policy"], float(row["mean_waiting_time_s"])) for row in csv_rows(tmp_path / how / "summary.csv")]
        assert rows == [(f"{name} suspend={how}", pytest.approx(wait_s, abs=0.01)) for name in ("easy", "fcfs")]


def test_whatif_and_the_api(tmp_path: Path):
    """Both take the file; a knob on the machine's nodes contradicts the site's."""
    ask = ["whatif", "kth-like:jobs=20", "--policy", "fcfs", "--seeds", "1", "--shakes", "0", "--no-plots", "--force"]
    ask += ["--workers", "1", "--no-uncontended", "--site", str(SMALL)]
    assert main([*ask, "--set", "load=x1.1", "--out", str(tmp_path / "asked")]) == 0
    text = site_text(read_site(SMALL))
    assert {run["settings"]["site"] for run in described(tmp_path / "asked")} == {text}
    assert main([*ask, "--set", "nodes=x0.5", "--out", str(tmp_path / "less")]) == 2
    spillway.compare("kth-like:jobs=20", "fcfs", site=SMALL, workers=1, progress=False, folder=tmp_path / "compared")
    assert described(tmp_path / "compared")[0]["settings"]["site"] == text
    with pytest.raises(SpecError, match="site 'small' has 16 nodes"):
        spillway.compare("kth-like:jobs=20", "fcfs", site=str(SMALL), machine="thesis", progress=False)
