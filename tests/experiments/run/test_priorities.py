"""``explain`` prints priorities as ``sprio`` does: from the site's file to the lines, the same bytes twice."""

from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.experiments.run import manifest
from tests.kit.runs import play_run

SITE = """
[[qos]]
name = "normal"
priority = 1

[[qos]]
name = "high"
priority = 4

[priority]
age = 1000
size = 200
qos = 400
fairshare = 100
longest_age_s = 100.0
period_s = 10.0
"""

STRICT = "fcfs:order=multifactor"


def job(name: int, subtime: float, nodes: int, **more: str | int) -> dict[str, str | int | float]:
    """A job of 99 s."""
    return {"id": str(name), "subtime": subtime, "res": nodes, "walltime": 100, "profile": "p", "user": "u", **more}


JOBS = [job(0, 0, 8), job(1, 5, 4), job(2, 6, 8, qos="high"), job(3, 7, 4, qos="high", nice=30, user="v")]


def play(out: Path, policy: str, *more: str) -> Path:
    """The folder of a run on eight nodes."""
    out.mkdir()
    data = {"nb_res": 8, "jobs": JOBS, "profiles": {"p": {"type": "delay", "delay": 99}}}
    (out / "site.toml").write_text(SITE)
    return play_run(out, data, "--platform", "tiny", "--policy", policy, "--site", str(out / "site.toml"), *more)


def test_a_story_with_priorities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Job 3 requests 4 of 8 nodes and is first seen at 7 s: size 100, QOS 400, nice 30; v is new, and has all of the
    fair share, 100: 570. Job 2, with size 200, comes before it, and runs from 99 s on.

    At 198 s priorities are those of 190 s: job 3 has waited 183 s, so its age is the largest, 1000. u had all of the
    usage, so v keeps 100 of fair share: 1570. Job 1 starts beside it.
    """
    folder = play(tmp_path / "a", STRICT)
    assert not (folder / "priorities.csv").exists()
    capsys.readouterr()
    assert main(["explain", str(folder), "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("As sprio -l:"))
    assert [" ".join(line.split()) for line in lines[first : first + 4]] == [
        "As sprio -l: PRIORITY SITE AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOS NICE TRES",
        "day 0, 00:00:07 570 0 0 0 100 100 0 400 30 0",
        "day 0, 00:03:18 1570 0 1000 0 100 100 0 400 30 0",
        "Assumed for its priority: the site has no associations: all users are equal siblings.",
    ]
    assert not manifest.damage(folder)
    starts = (folder / "jobs.csv").read_text()
    again = play(tmp_path / "b", STRICT, "--explain")
    assert (again / "jobs.csv").read_text() == starts
    assert (again / "priorities.csv").read_bytes() == (folder / "priorities.csv").read_bytes()
    rows = [line.split(",")[:4] for line in (folder / "priorities.csv").read_text().splitlines()]
    assert [row[0] for row in rows[1:]] == ["0", "2", "2", "3", "3", "1", "1"]


def test_without_the_order_there_are_no_priorities(tmp_path: Path) -> None:
    """Only a policy that looks at jobs in this order writes them down."""
    folder = play(tmp_path / "a", "easy", "--explain")
    assert (folder / "reasons.csv").exists()
    assert not (folder / "priorities.csv").exists()
