"""The printed table agrees with the report: jobs and seeds apart, times in hours."""

import io

from rich.console import Console

from spillway.experiments.campaign.folder import summary


def _row(seed: int, policy: str, jobs: int, wait_s: float) -> summary.Row:
    names = {"workload": "log", "platform": "toy", "policy": policy, "engine": "fluid", "model": "rigid", "seed": seed}
    figures = dict.fromkeys((*summary.METRICS, *summary.TIMINGS), 0.0)
    own = {"jobs": jobs, "rejected": 2, "mean_waiting_time_s": wait_s, "compute_utilisation": 0.5}
    return names | figures | own | {summary.OTHER_CODE: 0, "run": f"{policy}{seed}"}


def test_jobs_are_not_added_over_seeds_and_times_are_for_people() -> None:
    """Two seeds of 1,000 jobs are no 2,000; a wait of 2 h and one of 3 h are 2 h 30 min; use is in per cent."""
    printed = io.StringIO()
    rows = [_row(seed, "easy", 998, 7200.0 + 3600 * seed) for seed in (0, 1)]
    summary.print_tables(rows, Console(file=printed, width=120))
    text = printed.getvalue()
    assert "log: means over 2 seeds, 1,000 jobs in each run, platform toy, engine fluid, model rigid" in " ".join(
        text.split()
    )
    cells = {line.split("│")[1].strip(): line.split("│")[2].strip() for line in text.splitlines() if "│" in line}
    assert (cells["jobs a run"], cells["rejected"]) == ("998", "2")
    assert (cells["mean wait"], cells["node use"]) == ("2 h 30 min", "50 %")
    assert len(cells) == len(summary.METRICS) + len(summary.TIMINGS) - 1  # no job was cancelled
