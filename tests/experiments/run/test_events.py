"""Outages in campaigns: a file of Batsim's external events is played, and its setting has its effect."""

import json
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from tests.kit.tables import csv_rows

OUT = '{"timestamp": 50, "type": "machine_unavailable", "resources": "0-5"}\n'
BACK = '{"timestamp": 500, "type": "machine_available", "resources": "0-5"}\n'


def write_inputs(folder: Path, events: str = OUT + BACK) -> list[str]:
    """A job of four nodes for 100 s on the smallest machine, and events; the command's arguments."""
    job = {"id": 1, "subtime": 0, "res": 4, "profile": "p", "walltime": 300}
    profile = {"type": "parallel_homogeneous", "cpu": 100e9, "com": 0}
    workload = {"nb_res": 4, "jobs": [job], "profiles": {"p": profile}}
    (folder / "jobs.json").write_text(json.dumps(workload))
    (folder / "out.events").write_text(events)
    return [
        *("run", "--workload", str(folder / "jobs.json"), "--platform", "tiny", "--policy", "easy", "--no-plots"),
        *("--events", str(folder / "out.events")),
    ]


def jobs(out: Path) -> list[dict[str, str]]:
    """Rows of the one run."""
    (run,) = out.glob("jobs_*/jobs.csv")
    return csv_rows(run)


def test_in_a_campaign_file(tmp_path: Path) -> None:
    """The file is beside the campaign's; other events are another run."""
    write_inputs(tmp_path)
    campaign = tmp_path / "outage.toml"
    text = (
        'events = "out.events"\nplots = false\n[[workload]]\nsource = "jobs.json"\n[[platform]]\nsource = "tiny"\n'
        '[[policy]]\npolicy = "easy"\nsession = { on_outage = "kill" }\n'
    )
    campaign.write_text(text)
    out = tmp_path / "out"
    assert main([str(campaign), "--out", str(out)]) == 0
    assert jobs(out)[0]["final_state"] == "COMPLETED_KILLED"
    (tmp_path / "out.events").write_text(OUT.replace("50", "200") + BACK)
    assert main([str(campaign), "--out", str(out)]) == 0
    assert len(list(out.glob("jobs_*"))) == 2


@pytest.mark.parametrize(
    ("events", "more", "message"),
    [
        ('{"timestamp": 1}\n', (), "line 1"),
        ('{"timestamp": 1, "type": "flood", "resources": "0"}\n', (), "unknown event type 'flood'"),
        (None, (), "missing.events"),
        ("", ("--on-outage", "kill"), "setting on_outage=kill goes with external events"),
    ],
)
def test_mistakes(
    events: str | None, more: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit code 2: also for a setting that would do nothing."""
    arguments = write_inputs(tmp_path, events or "")
    if events is None:
        arguments[-1] = str(tmp_path / "missing.events")
    elif not events:
        arguments = arguments[:-2]
    assert main([*arguments, *more, "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert len(errors.strip().splitlines()) == 1


@pytest.mark.parametrize("transport", ["direct", "bytes", "zmq"])
def test_a_part_of_the_storage_nodes_is_drained(
    transport: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With every transport: two jobs of 8 GB a node; the run reports that the second waits for the drained part."""
    arguments = write_inputs(tmp_path, drained(5 * 10**9, 1) + drained(0, 700))
    data = json.loads((tmp_path / "jobs.json").read_text())
    data["jobs"][0] |= {"res": 1, "bb": 8 * 10**9}
    data["jobs"].append(data["jobs"][0] | {"id": 2, "subtime": 2})
    (tmp_path / "jobs.json").write_text(json.dumps(data))
    out = tmp_path / "out"
    assert main([*arguments, "--transport", transport, "--explain", "--out", str(out)]) == 0
    first, second = jobs(out)
    assert float(first["execution_time"]) == pytest.approx(100, abs=0.01)
    assert float(second["starting_time"]) == pytest.approx(700, abs=0.01)
    (table,) = out.glob("jobs_*/drains.csv")
    rows = [(float(row["time_s"]), row["drained_bytes"], row["left_bytes"]) for row in csv_rows(table)]
    assert sorted(left for _, _, left in rows[:2]) == ["-3000000000", "5000000000"]
    assert [size for _, size, _ in rows] == ["5000000000"] * 2 + ["0"] * 2
    capsys.readouterr()
    assert main(["verify", str(out)]) == 0
    assert main(["explain", str(table.parent), "2"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Meanwhile storage nodes were drained in part, at most: 5 GB of bb0, 5 GB of bb1." in told


def drained(size: int, time_s: float) -> str:
    """A line that drains bytes of both storage nodes."""
    event = {"timestamp": time_s, "type": "storage_drained", "resources": "8-9", "bytes": size}
    return json.dumps(event) + "\n"


def test_a_host_that_never_comes_back_loses_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run was a deadlock; now the job that lacks the host is named, and the others have ended."""
    arguments = write_inputs(tmp_path, OUT.replace("0-5", "3").replace("50", "1"))
    arguments[arguments.index("tiny")] = "nodes:4"
    workload = json.loads((tmp_path / "jobs.json").read_text())
    workload["jobs"] = [{"id": n, "subtime": 10, "res": n, "profile": "p", "walltime": 300} for n in (1, 4)]
    (tmp_path / "jobs.json").write_text(json.dumps(workload))
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    assert {row["job_id"]: row["final_state"] for row in jobs(tmp_path / "out")} == {
        "1": "COMPLETED_SUCCESSFULLY",
        "4": "REJECTED",
    }
    assert "1 job never started, because hosts were out to the end: 4" in " ".join(capsys.readouterr().out.split())
    (table,) = (tmp_path / "out").glob("jobs_*/rejections.csv")
    assert "4,w0,110.0" in table.read_text()
