"""One setting at a time against the site's own schedule: the question, the runs, the answer."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from spillway.analysis.answers.whatif import read_table, table_of
from spillway.analysis.document.blocks import Words
from spillway.base.errors import SpillwayError
from spillway.experiments.campaign.campaign import run_grids
from spillway.experiments.campaign.comparison import comparison
from spillway.experiments.campaign.inputs.machines import load
from spillway.experiments.campaign.whatif import questions
from spillway.experiments.campaign.whatif.answer import differing, sentences
from spillway.experiments.campaign.whatif.knobs import parse_knob
from spillway.experiments.campaign.whatif.rows import Outcome, Row, RowRequest, Rows, related
from spillway.experiments.campaign.workers.pool import Pool
from spillway.experiments.cli import main
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.sessions import parse_policy
from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import Conduct, PlatformSpec, WorkloadSpec
from spillway.platforms import parse_platform
from spillway.schedulers.policykit.reservations import starts_of
from spillway.workloads.batsim.json_file import read_batsim
from spillway.workloads.conversion.machine_facts import MachineFacts
from tests.kit.cases import cases
from tests.kit.tables import csv_by, csv_rows

ROW = "{number} {submit} {wait} {run} {size} -1 -1 {size} {wall} -1 1 7 1 1 1 -1 -1 -1\n"


def asked(
    log: Path, changes: list[str], platform: PlatformSpec | None = None, shakes: int | None = None, **how: Any
) -> questions.Question:
    """The question about these changes, under EASY."""
    platform = platform or PlatformSpec(source="auto")
    base = comparison(
        "whatif", how, workloads=[WorkloadSpec(source=str(log))], platform=platform,
        policies=[parse_policy("easy")], models=[], seeds=[0],
    )  # fmt: skip
    return questions.question_of(base, changes, shakes=shakes)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 jobs of a machine of 16 nodes; at the site each waited ten minutes longer than needed."""
    path = tmp_path_factory.mktemp("whatif") / "site.swf"
    rows = [
        ROW.format(number=i, submit=40 * i, wait=600 + 100 * (i // 4), run=100, size=4 + 4 * (i % 3 == 0), wall=200)
        for i in range(1, 121)
    ]
    path.write_text("; MaxProcs: 16\n" + "".join(rows))
    return path


@pytest.fixture(scope="module")
def answered(log: Path) -> tuple[Path, str]:
    """The folder of a question with five settings, and its output."""
    settings = ["storage.capacity=x1.5", "pfs.bandwidth=2GBps", "nodes=x0.5,load=x0.5", "policy=fcfs", "walltime=150s"]
    platform = PlatformSpec(source="auto,burst_buffer_total=180GB")
    question = asked(log, settings, platform, shakes=0, plots=False)
    root = log.parent / "out"
    console = Console(record=True, width=180, force_terminal=False, file=open("/dev/null", "w"))  # noqa: SIM115
    code = run_grids(question.grids, root, Pool(execute, 1), console, Conduct(), question.answer)
    assert code == 0
    return root, console.export_text()


def table(root: Path) -> dict[str, dict[str, str]]:
    """Rows of the written table by setting."""
    return csv_by(root / "whatif.csv", "setting")


def test_the_site_the_policy_and_each_setting(answered: tuple[Path, str]) -> None:
    """A row for each; the site's mean wait is that of the log, the settings' own effect is against the policy."""
    root, printed = answered
    rows = table(root)
    assert list(rows) == [
        "what the site did", "unchanged", "storage.capacity=x1.5", "pfs.bandwidth=2GBps", "nodes=x0.5,load=x0.5",
        "policy=fcfs", "walltime=150s",
    ]  # fmt: skip
    assert rows["what the site did"]["policy"] == "replay"
    waits = [600 + 100 * (i // 4) for i in range(1, 121)]
    assert float(rows["what the site did"]["mean_waiting_time_s"]) == pytest.approx(np.mean(waits), rel=0.3)
    assert float(rows["unchanged"]["to_site_ratio"]) < 0.5
    assert rows["pfs.bandwidth=2GBps"]["to_same_ratio"] == "1.0"
    assert rows["nodes=x0.5,load=x0.5"]["to_site_ratio"] == ""  # the site had other arrivals
    assert {row["to_same_ratio_low"] for row in list(rows.values())[2:]} == {"nan"}  # one short log
    said = (root / "whatif.txt").read_text()
    assert "starts at the same time as without it. Under the job model rigid no job moves bytes" in said
    assert "policy's doing" not in said  # without a band that is open
    assert "Where there is no band, the difference may or may not be chance (--shakes 10 gives one)." in said
    assert all(line in printed for line in said.splitlines())
    assert "notes on machine and jobs are in" in printed
    assert "120 jobs of 120 records" not in printed
    assert "120 jobs of 120 records" in (root / "assumptions.txt").read_text()


def test_a_schedule_that_nearly_fits_has_the_sites_waits(tmp_path: Path) -> None:
    """Was: "the log states a mean wait of 2 h; the replay has 2 h, because", and a difference that is overstated."""
    jobs = [(0, 100, 16), (95, 100, 16), *[(7200 + 600 * number, 50, 1) for number in range(18)]]
    rows = [
        ROW.format(number=i, submit=0, wait=wait, run=run, size=size, wall=200)
        for i, (wait, run, size) in enumerate(jobs, start=1)
    ]
    (tmp_path / "site.swf").write_text("; MaxProcs: 16\n" + "".join(rows))
    ask = ["whatif", str(tmp_path / "site.swf"), "--set", "policy=fcfs", "--shakes", "0", "--no-plots", "--force"]
    assert main([*ask, "--out", str(tmp_path / "out")]) == 0
    said = (tmp_path / "out" / "whatif.txt").read_text().splitlines()[0]
    assert said.startswith("what the site did: the log states a mean wait of 3 h 5 min; the log's schedule does ")
    assert "does not fit the stated machine: 1 of 20 jobs start late (1 for nodes)" in said
    assert "overstated" not in said


def test_a_schedule_with_a_job_that_cannot_run_does_not_fit(tmp_path: Path) -> None:
    """Was: "its schedule fits the machine", though one of 60 jobs was rejected."""
    rows = [
        ROW.format(number=i, submit=200 * i, wait=10, run=100, size=8 if i == 7 else 4, wall=200) for i in range(1, 61)
    ]
    (tmp_path / "site.swf").write_text("; MaxProcs: 8\n" + "".join(rows))
    ask = ["whatif", str(tmp_path / "site.swf"), "--set", "policy=fcfs", "--shakes", "0", "--no-plots", "--nodes", "7"]
    assert main([*ask, "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "whatif.txt").read_text().splitlines()[0] == (
        "what the site did: the log states a mean wait of 10 s; 1 job is rejected here that the site ran; all others "
        "start when they did."
    )


def test_settings_are_tried_on_the_same_jobs(answered: tuple[Path, str]) -> None:
    """Another machine does not change the requests of jobs: there is one workload unless the jobs change."""
    root, _ = answered
    workloads = {path.name.rpartition("-")[0]: read_batsim(path) for path in (root / "inputs").glob("*.json")}
    assert len(workloads) == 3
    same, loaded, capped = (workloads[name] for name in sorted(workloads, key=len))
    if "walltime" in sorted(workloads, key=len)[1]:
        loaded, capped = capped, loaded
    assert [job.res for job in loaded.jobs] == [job.res for job in same.jobs]
    assert loaded.jobs[-1].subtime - 1 == 2 * (same.jobs[-1].subtime - 1)
    assert {job.walltime for job in capped.jobs} == {150.0}
    machines = sorted(len(json.loads(path.read_text())["nodes"]) for path in root.glob("*/machine.json"))
    assert machines == [8, 16, 16, 16, 16, 16, 16]


def test_capacity_that_nobody_states_is_a_curve(log: Path, tmp_path: Path) -> None:
    """Was: "starts at the same time", which cannot be otherwise where the pool is the log's own peak."""
    ask = [
        "whatif",
        str(log),
        "--set",
        "storage.capacity=+40TB",
        "--set",
        "policy=fcfs",
        "--no-plots",
        "--workers",
        "1",
    ]
    assert main([*ask, "--shakes", "14", "--out", str(tmp_path / "out")]) == 0
    settings = ["policy=fcfs", *(f"storage.capacity={factor}" for factor in ("x0.5", "x0.75", "x1.25", "x1.5", "x2"))]
    assert [*table(tmp_path / "out")][2:] == settings
    lines = (tmp_path / "out" / "whatif.txt").read_text().splitlines()
    (said,) = [line for line in lines if line.startswith("storage.capacity")]
    assert "the pool is the log's own peak: more can hardly help; state yours (--burst-buffer-total)" in said
    assert "by pool: x1 " in said
    assert "; the knee is at x" in said


def test_asked_again_nothing_runs(answered: tuple[Path, str], log: Path) -> None:
    """The same question continues at its end; one more setting plays only that one."""
    root, _ = answered
    before = {path: path.stat().st_mtime_ns for path in root.glob("*/manifest.json")}
    platform = PlatformSpec(source="auto,burst_buffer_total=180GB")
    question = asked(log, ["policy=fcfs"], platform, shakes=0, plots=False)
    console = Console(width=180, force_terminal=False, file=open("/dev/null", "w"))  # noqa: SIM115
    assert run_grids(question.grids, root, Pool(execute, 1), console, conclude=question.answer) == 0
    assert {path: path.stat().st_mtime_ns for path in root.glob("*/manifest.json")} == before


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("nodes=x0.9", {"nodes": "x0.9"}),
        ("nodes=120,load=x1.1", {"nodes": "120", "load": "x1.1"}),
        ("policy=easy:depth=2,order=sjf,load=0.9", {"policy": "easy:depth=2,order=sjf", "load": "0.9"}),
    ],
)
def test_settings_are_read(text: str, values: dict[str, str]) -> None:
    """Also several, and a policy's own options."""
    assert parse_knob(text).values == values


@pytest.mark.parametrize(("text", "message"), cases("whatif-questions"))
def test_settings_that_are_refused(text: str, message: str) -> None:
    """With the nearest name, and all that are known."""
    with pytest.raises(SpillwayError) as caught:
        parse_knob(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(("source", "changes", "message"), [
    ("nodes:100", {"nodes": "x-1"}, "nodes=x-1: expected a factor such as x1.2"),
    ("nodes:100", {"nodes": "1.5"}, "expected a whole number of nodes"),
    ("nodes:96", {"storage.bandwidth": "x2"}, "is a Dragonfly"),
    ("cts1-10", {"nodes": "x2"}, "only a machine that is given by its number of nodes"),
    ("nodes:100", {"storage.capacity": "4 elephants"},
     "expected a factor such as x1.2 or +20%, more or less such as +40GB, or a value with its unit such as 40GB"),
    ("uniform-2048", {"storage.capacity": "x2"}, "has no storage nodes"),
    ("nodes:100", {"nodes": "-100"}, "nodes=-100: expected a value above 0 to remain of 100"),
])  # fmt: skip
def test_machines_that_cannot_be_changed_so(source: str, changes: dict[str, str], message: str) -> None:
    """The error names the setting, the machine and what to do."""
    with pytest.raises(SpecError) as caught:
        load(PlatformSpec(source=source, changes=changes))
    assert message in str(caught.value)


def test_a_changed_machine() -> None:
    """Factor or value, both stated; a change of nodes alone leaves file system and storage nodes unchanged."""
    machine = load(PlatformSpec(source="nodes:100", changes={"storage.capacity": "x1.5", "nodes": "x0.8"}))
    assert (machine.facts.nodes, machine.facts.storage_bytes) == (80, 60 * 10**9)
    assert machine.notes == ("it has 80 compute nodes, not 100", "storage.capacity is 60GB, not 40GB")
    assert 'bandwidth="5208MBps"' in machine.xml


def test_a_machine_without_a_master_is_refused(tmp_path: Path) -> None:
    """Before a run; it was a failed run, with exit code 1 and options that 'run' does not have."""
    text = '<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/></zone></platform>'
    (tmp_path / "p.xml").write_text(text)
    with pytest.raises(
        SpecError, match="exactly one host must have the role master, found no host; call it master_host"
    ):
        load(PlatformSpec(source=str(tmp_path / "p.xml")))


@pytest.mark.parametrize(("source", "now"), [("fit:97", 120), ("fit:192", 192), ("fit:1500", 1504)])
def test_a_machine_made_for_a_log_can_be_resized(source: str, now: int) -> None:
    """Of a log without starts; 'answer' asked itself for 10 % more nodes, and ended with an error about it."""
    assert load(PlatformSpec(source=source)).facts.nodes == now
    machine = load(PlatformSpec(source=source, changes={"nodes": "+8"}))
    assert (machine.facts.nodes, machine.notes) == (now + 8, (f"it has {now + 8} compute nodes, not {now}",))


def test_a_plus_adds() -> None:
    """Was: +20 nodes made a machine of 20 nodes, +40TB a pool of 40 TB."""
    machine = load(PlatformSpec(source="nodes:100", changes={"storage.capacity": "+10GB", "nodes": "+20"}))
    assert (machine.facts.nodes, machine.facts.storage_bytes) == (120, 50 * 10**9)
    assert machine.notes == ("it has 120 compute nodes, not 100", "storage.capacity is 50GB, not 40GB")
    assert load(PlatformSpec(source="nodes:100", changes={"nodes": "-20"})).facts.nodes == 80


def test_changed_capacities_of_racks(tmp_path: Path) -> None:
    """Racks that state a capacity of their own take the factor too, and a value instead of it."""
    for change, bytes_each in (
        ("x2", 2 * 3511074291712),
        ("+100%", 2 * 3511074291712),
        ("+1TB", 3511074291712 + 10**12),
        ("5 TB", 5 * 10**12),
    ):
        machine = load(PlatformSpec(source="tuolumne", changes={"storage.capacity": change}))
        assert parse_platform(machine.xml).host("tuolumne256").properties["capacity_bytes"] == str(bytes_each)


def outcome(waits: dict[str, float], **figures: float) -> Outcome:
    """A run with these waits (s); jobs that wait NaN were rejected, those that wait less than 0 are killed."""
    ends = {job: "rejected" if math.isnan(wait) else "killed" if wait < 0 else "" for job, wait in waits.items()}
    ran = {job: abs(wait) for job, wait in waits.items() if not math.isnan(wait)}
    plain = {
        "starved": 0,
        "rejected": sum(end == "rejected" for end in ends.values()),
        "killed": sum(end == "killed" for end in ends.values()),
        "max_waiting_time_s": max(ran.values()),
    }
    return Outcome(ends, ran, plain | figures)


MACHINE = MachineFacts(nodes=8, storage_nodes=1, storage_bytes=10**12)


def row(
    name: str, waits: list[dict[str, float]], policy: str = "easy", machine: MachineFacts = MACHINE, **figures: float
) -> Row:
    """A row with these plays: the log as it is, then its shakes."""
    settings = () if name in ("unchanged", "what the site did") else (name,)
    return Row(
        RowRequest(name, settings), policy, "rigid", [[outcome(waits_s, **figures)] for waits_s in waits], machine
    )


def plays(*means: float) -> list[dict[str, float]]:
    """Plays of two jobs with these mean waits (s)."""
    return [{"1": 0.5 * mean, "2": 1.5 * mean} for mean in means]


HOUR = plays(*[3600.0] * 11)


@pytest.mark.parametrize(("waits", "words"), [
    (plays(2700, *range(2600, 2800, 20)),
     "easy jobs wait 25 % less than without it (23 to 27 % less over 10 shakes): 45 min on average instead"),
    (plays(3500, *range(3000, 4000, 100)),
     "no effect on waiting times can be distinguished from chance (14 % less to 6 % more over 10 shakes)"),
    (plays(14400, *range(14400, 14500, 10)), "easy jobs wait 4.0 times as long as without it (4.0 to 4.0 times over"),
    (plays(3600, *range(2600, 2800, 20)),
     "no effect on waiting times can be distinguished from chance (27 % less to 0 % more over 10 shakes)"),
    (plays(5400), "wait 1 h 30 min on average instead of 1 h without it, which may or may not be chance"),
    (HOUR, "under easy every job starts at the same time as without it."),
])  # fmt: skip
def test_sentences_claim_what_the_band_allows(waits: list[dict[str, float]], words: str) -> None:
    """An effect, no effect, no known effect, no effect at all."""
    found = related([row("unchanged", HOUR[: len(waits)]), row("nodes=9", waits)])
    (said,) = sentences(found)
    assert said.startswith("nodes=9: under easy ")
    assert words in said


def test_the_price_stands_in_the_same_sentence() -> None:
    """With shorter waits, the figures that are worse; with longer ones, all other changes, worse or better."""
    gain = row("policy=plan", plays(*[1800.0] * 11), "plan", max_waiting_time_s=21 * 86400.0, starved=29, killed=1)
    base = row("unchanged", HOUR, max_waiting_time_s=8 * 86400.0, starved=6, killed=3)
    (said,) = sentences(related([base, gain]))
    assert said == (
        "policy=plan: under plan jobs wait 50 % less than under easy (50 to 50 % less over 10 shakes): 30 min on "
        "average instead of 1 h; the price: the longest wait is 21 d instead of 8 d and 29 jobs wait for more than a "
        "week instead of 6."
    )
    crowded = row("unchanged", plays(*[1800.0] * 11), "plan", starved=29, rejected=0)
    (back,) = sentences(related([crowded, row("policy=easy", HOUR, starved=6, rejected=4)]))
    assert back == (
        "policy=easy: under easy jobs wait 2.0 times as long as under plan (2.0 to 2.0 times over 10 shakes): 1 h on "
        "average instead of 30 min; besides: the longest wait is 1 h 30 min instead of 45 min and 4 jobs are rejected "
        "instead of 0; in return: 6 jobs wait for more than a week instead of 29."
    )


def test_compared_are_the_same_jobs() -> None:
    """A job that one setting rejects or kills is compared nowhere; one that all kill alike is."""
    base = row("unchanged", [{"1": 10.0, "2": 20.0, "3": 30.0, "4": -40.0}])
    small = row("nodes=9", [{"1": 10.0, "2": math.nan, "3": 60.0, "4": -40.0}])
    short = row("walltime=1h", [{"1": -1.0, "2": 2.0, "3": 3.0, "4": -4.0}])
    found = related([base, small, short])
    assert (found.compared, found.jobs) == (2, 4)
    assert [list(answer.waits[0][0]) for answer in found.all] == [[30.0, 40.0], [60.0, 40.0], [3.0, 4.0]]
    assert [tuple(left) for left in found.left_out] == [("2", "nodes=9", "rejected"), ("1", "walltime=1h", "killed")]
    assert [answer.value("rejected") for answer in found.all] == [0, 1, 0]


def test_whose_doing_it_is() -> None:
    """The policy's alone only if nothing else differs; else the list, the largest share of node-hours first."""
    site = row("what the site did", plays(7200.0), "replay")
    found: Rows = related([site, row("unchanged", HOUR)])
    assert sentences(found)[0].endswith(" nothing else differs, so the difference is due to the policy.")
    waiting = {"name": "dependencies", "words": "state another job", "jobs": 75, "share": 0.041}
    pooled = {"name": "partitions", "words": "are of 3 partitions", "jobs": 1943, "share": 1.0}
    note = "x: what is known of the jobs: measured: size; imputed: burst buffer; absent: memory"
    assumed = {"omissions": [waiting, pooled], "notes": ["one", note]}
    others = differing(found, {"assumed": assumed}, "12 of 40 jobs start late")
    said = sentences(found, others)[0]
    assert said.endswith(
        "This is not due to the policy alone. Other differences from the site: 1,943 jobs (100.0 % of the node-hours) "
        "are of 3 partitions; 75 jobs (4.1 % of the node-hours) state another job; imputed, because "
        "the log does not state it: burst buffer; the recorded schedule does not fit this machine (see above)."
    )
    assert differing(found, {}, "") == []


def test_a_band_from_shaken_input(log: Path, tmp_path: Path) -> None:
    """Shaken runs are in a folder of their own, the band in table and report; asked again, nothing runs."""
    question = asked(log, ["nodes=x0.75"], shakes=7, figures="svg")
    root = tmp_path / "out"
    console = Console(width=180, force_terminal=False, file=open("/dev/null", "w"))  # noqa: SIM115
    assert run_grids(question.grids, root, Pool(execute, 1), console, conclude=question.answer) == 0
    assert len(list((root / "shakes").glob("*/run.json"))) == 14
    assert len(list(root.glob("*/run.json"))) == 3
    changed = table(root)["nodes=x0.75"]
    assert changed["to_same_over"] == "7 shakes"
    assert (
        1
        < float(changed["to_same_ratio_low"])
        <= float(changed["to_same_ratio"])
        <= float(changed["to_same_ratio_high"])
    )
    page = (root / "report.html").read_text()
    assert "<h2>What would change</h2>" in page
    assert "There is nothing to compare" not in page
    shown = table_of(read_table(root / "whatif.csv"))
    assert shown.headings[-2:] == ["against the site", "against unchanged"]
    assert all(cell.text in page for line in shown.rows for cell in line if isinstance(cell, Words))
    assert main(["verify", str(root)]) == 0
    before = {path: path.stat().st_mtime_ns for path in root.rglob("run.json")}
    again = asked(log, ["nodes=x0.75"], shakes=7, plots=False)
    assert run_grids(again.grids, root, Pool(execute, 1), console, conclude=again.answer) == 0
    assert {path: path.stat().st_mtime_ns for path in root.rglob("run.json")} == before


def test_a_held_job_waits_from_when_it_might_start(tmp_path: Path) -> None:
    """Failed before: the table counted its time in the hold, the summary beside it and the site's mean wait did not."""
    log = tmp_path / "held.swf"
    rows = [ROW.format(number=i, submit=40 * i, wait=0, run=100, size=2, wall=200) for i in range(1, 51)]
    rows[4] = "5 200 900 100 2 -1 -1 2 200 -1 1 7 1 1 1 -1 3 -1\n"  # after job 3, which ends at 220 s
    log.write_text("; MaxProcs: 16\n" + "".join(rows))
    asked = ["--set", "nodes=x2", "--shakes", "0", "--no-plots"]
    assert main(["whatif", str(log), *asked, "--out", str(tmp_path / "out")]) == 0
    for row in table(tmp_path / "out").values():
        assert float(row["compared_wait_s"]) == pytest.approx(float(row["mean_waiting_time_s"]))


def test_when_maintenance_is_cheapest(log: Path, tmp_path: Path) -> None:
    """A window of ten minutes at 1 h, when jobs wait, and at 3 h, when all jobs have ended: the later one costs
    nothing. Begins are named as they are written (before: 3600s). A wrong range is refused with an example."""
    out = tmp_path / "out"
    options = [
        "--set",
        "maintenance=1h..3h/2h 10min",
        "--no-plots",
        "--shakes",
        "0",
        "--out",
        str(out),
        "--workers",
        "1",
    ]
    assert main(["whatif", str(log), *options]) == 0
    assert set(table(out)) >= {"maintenance=1h 10min", "maintenance=3h 10min"}
    said = (out / "whatif.txt").read_text()
    beside = csv_rows(out / "site-waits.csv")
    assert [(row["policy"], float(row["jobs"])) for row in beside] == [("easy", 120.0)]  # without a window
    assert "Of 2 windows maintenance=3h 10min costs least: jobs wait" in said
    assert "0 s more than without a window; maintenance=1h 10min costs most" in said
    assert {row["policy"] for row in table(out).values()} == {"replay", "easy"}
    # under one name their runs were pooled with those without
    names = [row["policy"] for row in csv_rows(out / "summary.csv")]
    assert names == ["replay", "easy", "easy maintenance=1h 10min", "easy maintenance=3h 10min"]
    assert starts_of("2026-12-01T08:00..2026-12-03T08:00/1d")[1:] == [
        "2026-12-02T08:00:00",
        "2026-12-03T08:00:00",
    ]
    for text, words in (
        ("1h..2h 10min", "expected FIRST..LAST/STEP LENGTH, such as '3d..9d/1d 12h'"),
        ("2h..1h/1h 10min", "expected LAST at or after FIRST, and at most 100 windows"),
        ("1h..2026-12-01/1h 10min", "both as times since the begin of the simulation, or both as dates"),
    ):
        with pytest.raises(SpecError) as caught:
            asked(log, [f"maintenance={text}"])
        assert words in str(caught.value)
