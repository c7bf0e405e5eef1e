"""A finished campaign in which every name is an attempt to get markup or a script into a page."""

import csv
import io
import json
from pathlib import Path

NAMES = {
    "campaign": "<img src=x onerror=hacked('campaign')> $title {cell}",
    "platform": "<svg onload=hacked('platform')>",
    "policy": "</option></select><img src=x onerror=hacked('policy')>|`a`",
    "workload": "</script><script>hacked('workload')</script><!--",
    "model": "\"'><iframe srcdoc=x onload=hacked('model')>",
    "job": "<svg/onload=hacked('job')>\u2028&lt;b&gt;",
    "user": "<b onmouseover=hacked('user')>Bobby</b>",
    "storage": "<style>*{display:none}</style>",
    "blocker": "</b><script>hacked('blocker')</script>",
    "repeat": "</pre><script>hacked('repeat')</script>",
    "version": "<object data=x onerror=hacked('version')>",
    "commit": "</code><meta http-equiv=refresh content=0>",
}
"""Names of a campaign by their place, each with an attempt of its own."""

BASELINE = "<script>hacked('baseline')</script>easy"
JOBS_HEADER = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,"
    "metadata"
)


def write_hostile_campaign(parent: Path) -> Path:
    """Write the campaign's folder into ``parent``; return it."""
    folder = parent / NAMES["campaign"].replace("/", "")
    rows: list[list[object]] = [
        [
            "workload",
            "platform",
            "policy",
            "engine",
            "model",
            "seed",
            "jobs",
            "rejected",
            "killed",
            "mean_waiting_time_s",
            "run",
        ]
    ]
    for number, policy in enumerate((BASELINE, NAMES["policy"])):
        run = f"run-{number}"
        _write_run(folder / run, 30 * (number + 1))
        rows.append(
            [NAMES["workload"], NAMES["platform"], policy, "fluid", NAMES["model"], 0, 6, 0, 0, 30.0 * number, run]
        )
    _write_csv(folder / "summary.csv", rows)
    return folder


def _write_run(folder: Path, wait_s: int) -> None:
    folder.mkdir(parents=True)
    jobs: list[list[object]] = [JOBS_HEADER.split(",")]
    held: list[list[object]] = [["job_id", "workload_name", "user", "bb_bytes", "storages"]]
    reasons: list[list[object]] = [["job_id", "workload_name", "time_s", "role", "binding", "estimate_s", "blocker"]]
    for number in range(6):
        name, submit = f"{NAMES['job']}{number}", 100 * number
        start, end = submit + wait_s, submit + wait_s + 50
        state = "COMPLETED_SUCCESSFULLY"
        times = [start, 50, end, wait_s, wait_s + 50, 1.0]
        jobs.append([name, NAMES["workload"], "p", submit, 1, 99, 1, state, *times, number % 2, -1, ""])
        held.append([name, NAMES["workload"], NAMES["user"], 10, "2:1"])
        reasons.append([name, NAMES["workload"], submit, "passed over", NAMES["blocker"], "", NAMES["blocker"]])
        reasons.append([name, NAMES["workload"], start, "backfilled", "", "", ""])
    _write_csv(folder / "jobs.csv", jobs)
    _write_csv(folder / "allocations.csv", held)
    _write_csv(folder / "reasons.csv", reasons)
    machine = {
        "nodes": [{"id": node, "name": NAMES["platform"]} for node in range(2)],
        "storages": [{"id": 2, "name": NAMES["storage"], "capacity_bytes": 100}],
    }
    (folder / "machine.json").write_text(json.dumps(machine))
    record = {
        "repeat": NAMES["repeat"],
        "versions": {NAMES["version"]: NAMES["version"]},
        "commit": NAMES["commit"],
    }
    (folder / "run.json").write_text(json.dumps(record))


def _write_csv(path: Path, rows: list[list[object]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
