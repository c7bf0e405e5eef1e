"""The reasons for a job's wait, in words."""

from pathlib import Path

import pytest

from spillway.analysis.answers.story import _WORDS, Reason, clock, divide, first_promises, tell
from spillway.analysis.errors import AnalysisError
from spillway.schedulers.model.explanations import Binding

NAN = float("nan")


def test_division_of_the_waiting_time() -> None:
    """Each note holds until the next; before the first the job waited for its turn."""
    reasons = [
        Reason(20, "passed over", "reservation", NAN, "a"),
        Reason(50, "passed over", "nodes", NAN, ""),
        Reason(80, "reserved", "nodes", 120, ""),
        Reason(90, "reserved", "burst buffers", 130, ""),
        Reason(100, "started in order", "", 100, ""),
    ]
    waiting = divide(reasons, 10, 100)
    assert waiting.seconds == {"its turn": 10, "reservation": 30, "nodes": 40, "burst buffers": 10}
    assert waiting.blockers == {"a": 30}
    assert waiting.estimates == [(80, 120), (90, 130)]
    assert sum(waiting.seconds.values()) == 90


def test_story_of_a_job_that_waited(run_folder: Path) -> None:
    """Request, waiting time by cause, expected and actual start, jobs that overtook it, its end."""
    (run_folder / "reasons.csv").write_text(
        "job_id,workload_name,time_s,role,binding,estimate_s,blocker\n"
        "b,w0,10.0,reserved,nodes,200.0,\n"
        "b,w0,50.0,reserved,burst buffers,110.0,\n"
        "b,w0,100.0,started in order,,100.0,\n"
    )
    story = " ".join(tell(run_folder, "b"))
    assert "requested 4 compute nodes for at most 20 s" in story
    assert "waited 1 min 30 s, until day 0, 00:01:40, and started in its turn" in story
    assert "50 s (56%) for free bytes in the burst buffers; 40 s (44%) for free compute nodes" in story
    assert "a start at day 0, 00:03:20 was predicted for it; it started 1 min 40 s earlier" in story
    assert "1 job submitted after it started before it" in story
    assert "ran 10 s on nodes 0-3, and completed" in story


def test_first_promises(run_folder: Path) -> None:
    """Job b was first promised a start at 200 s, 190 s after its submission; it waited 90 s."""
    (run_folder / "reasons.csv").write_text(
        "job_id,workload_name,time_s,role,binding,estimate_s,blocker\n"
        "b,w0,10.0,reserved,nodes,200.0,\nb,w0,50.0,reserved,nodes,110.0,\nb,w0,100.0,started in order,,100.0,\n"
        "a,w0,0.0,started in order,,0.0,\n"
    )
    promised, actual = first_promises(run_folder)
    assert promised.tolist() == [190]
    assert actual.tolist() == [90]


def test_story_of_a_rejected_job(run_folder: Path) -> None:
    """The inequality that cannot hold is named."""
    (run_folder / "rejections.csv").write_text(
        'job_id,workload_name,time_s,reason\nd,w0,30.0,"it requests 9 nodes, the machine has 4"\n'
    )
    assert tell(run_folder, "w0!d")[-1] == "It was rejected: it requests 9 nodes, the machine has 4."


def test_story_of_a_job_that_did_not_wait(run_folder: Path) -> None:
    """Nothing to explain is said, too."""
    (run_folder / "reasons.csv").write_text(
        "job_id,workload_name,time_s,role,binding,estimate_s,blocker\na,w0,0.0,backfilled,,0.0,\n"
    )
    story = " ".join(tell(run_folder, "a"))
    assert "It did not wait: it started at once, was backfilled" in story
    assert "burst buffers on storage nodes s0 (2)" in story


def test_unknown_job_and_missing_reasons(run_folder: Path) -> None:
    """Both are said plainly."""
    with pytest.raises(AnalysisError, match="no job 'z'; it has 4 jobs: a, b, c, d"):
        tell(run_folder, "z")
    with pytest.raises(AnalysisError, match="kept no reasons"):
        tell(run_folder, "b")


def test_times() -> None:
    """Simulated times in words."""
    assert clock(90_061) == "day 1, 01:01:01"


def test_each_resource_is_named_in_words() -> None:
    """A sentence names the resource or the reason for which a job waited, never the bare name of a binding."""
    assert {binding.value for binding in Binding} <= _WORDS.keys()
